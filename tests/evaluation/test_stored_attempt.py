import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from instructed import request_store
from stored import attempt
from sums import right, sums

from constraint_first.attempt.drive import Scripted
from constraint_first.error import InputError
from constraint_first.problem import Problem
from constraint_first.protocol import Call, Completion, Usage
from constraint_first.run.job import prepare, run
from constraint_first.store import schema
from constraint_first.store.query import SeriesName, explain_ending, read_attempt
from constraint_first.store.series import Series
from constraint_first.store.store import Store

PROGRAM = "```python\nprint(2)\n```"


def reply(call: Call) -> Completion:
    text = PROGRAM if call.stage == "program" else right(call)
    return Completion(text, usage=Usage(7, 3, 1, 0), reasoning="Hm.")


def fill(store: Store) -> None:
    """Run a method that makes a call and a program, and one that only calls."""
    for method in ("program", "direct"):
        job = prepare(store, Series("sums", method, "m"), sums(2), 1, Scripted(reply))
        asyncio.run(run(store, [job], 1))


def test_everything_that_is_stored_of_an_attempt(url: str) -> None:
    with Store(url) as store:
        fill(store)
        found = read_attempt(store, SeriesName("program"), "p1", 0)
    assert found.series["id"] == 1
    assert found.series["decoding"] == {"temperature": 0.7, "top_p": 0.95, "seed": None}
    assert found.problem == {"id": "p1", "number": 2, "text": "What is 1 + 1?", "gold": "2"}
    call, program = found.steps
    named = ("stage", "reply", "reasoning", "finish", "input_tokens", "reasoning_tokens")
    assert [call[name] for name in named] == ["program", PROGRAM, "Hm.", "stop", 7, 1]
    assert "What is 1 + 1?" in str(call["messages"])
    assert (program["program"], program["output"], program["error"]) == ("print(2)\n", "2\n", "")
    written = found.to_json()
    assert (written["status"], written["answer"], written["verdict"]) == ("ok", "2", "correct")
    assert written["steps"] == [call, program]


def test_a_series_goes_by_its_number_its_method_its_label_or_its_family(tmp_path: Path) -> None:
    with Store(str(tmp_path / "runs.db")) as store:
        for method in ("direct", "cfr(reply=json)"):
            known = store.register(Series("sums", method, "m"), sums(2))
            row = attempt(known.series, known.problems["p0"])
            store.change(lambda c, row=row: c.execute(schema.attempts.insert(), row))
        for name, number in (("2", 2), ("direct", 1), ("direct cot", 1), ("cfr", 2)):
            assert read_attempt(store, SeriesName(name), "1", 0).series["id"] == number


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """A store in which a method was run on two benchmarks, and another was begun."""
    with Store(str(tmp_path / "runs.db")) as opened:
        numbered = (Problem("Which?", id="2", answer="1"), Problem("What?", id="x", answer="1"))
        for benchmark, problems in (("sums", sums(2)), ("names", numbered)):
            known = opened.register(Series(benchmark, "direct", "m"), problems)
            number = next(iter(known.problems.values()))
            row = attempt(known.series, number, 1)
            opened.change(lambda c, row=row: c.execute(schema.attempts.insert(), row))
        yield opened


def test_an_id_comes_before_a_place(store: Store) -> None:
    found = read_attempt(store, SeriesName("2"), "2", 1)
    assert (found.problem["text"], found.problem["number"]) == ("Which?", 1)
    found = read_attempt(store, SeriesName("direct", benchmark="names", model="m"), "1", 1)
    assert found.problem["text"] == "Which?"


@pytest.mark.parametrize(
    ("named", "problem", "run", "said"),
    [
        (SeriesName("direct"), "1", 1, r"'direct' is 2 series: 1 \(sums, m\), 2 \(names, m\); na"),
        (SeriesName("direkt"), "1", 1, r"no series 'direkt' \('cfr runs' .*did you mean 'direct'"),
        (SeriesName("7"), "1", 1, r"no series '7' .*; choose from 1, 2"),
        (SeriesName("1", model="n"), "1", 1, "has no model 'n'; choose from m"),
        (SeriesName("1", benchmark="sum"), "1", 1, "no benchmark 'sum'; did you mean 'sums'"),
        (SeriesName("2", benchmark="sums"), "1", 1, "has no series '2'"),
        (
            SeriesName("1"),
            "9",
            1,
            r"sums has no problem '9'; give its id \(the first is 'p0'\) or ",
        ),
        (SeriesName("1"), "p00", 1, "no problem 'p00'; did you mean 'p0'"),
        (SeriesName("1"), "p0", 4, r"series 1 \(direct\) has no run 4 of problem p0; it has 1"),
        (SeriesName("1"), "p1", 0, "has no attempt at problem p1 yet; 'cfr eval' makes it"),
    ],
)
def test_what_is_not_there_is_told_with_what_is(
    named: SeriesName, problem: str, run: int, said: str, store: Store
) -> None:
    with pytest.raises(InputError, match=said):
        read_attempt(store, named, problem, run)


def test_an_empty_store_has_nothing_to_show(tmp_path: Path) -> None:
    with (
        Store(str(tmp_path / "e.db")) as store,
        pytest.raises(InputError, match="nothing has been"),
    ):
        read_attempt(store, SeriesName("1"), "1", 0)


def test_an_attempt_that_was_broken_off_has_its_calls(tmp_path: Path) -> None:
    with Store(str(tmp_path / "runs.db")) as store:
        fill(store)
        store.change(lambda connection: connection.execute(schema.attempts.delete()))
        found = read_attempt(store, SeriesName("direct"), "p0", 0)
    assert found.ending is None
    assert len(found.steps) == 1
    assert found.to_json()["status"] is None


def test_gold_instructions_are_told_in_words(url: str) -> None:
    request_store(url, 4, runs=1)
    with Store(url) as store:
        found = read_attempt(store, SeriesName("direct"), "r3", 0)
        right = read_attempt(store, SeriesName("direct"), "r1", 0)
    assert found.gold_name == "gold instructions"
    assert found.gold_shown.startswith("The reply does without “,”. The reply has at most 9")
    verdict, *_ = explain_ending(found)
    assert verdict.startswith("incorrect: it follows 2 of 3 instructions; broken: The reply has a")
    assert next(explain_ending(right)) == "correct: it follows 3 of 3 instructions"
    assert found.to_json()["tier"] == "instructions"
