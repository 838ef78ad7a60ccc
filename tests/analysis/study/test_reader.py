import json
from pathlib import Path
from typing import Any

import pytest
from sums import right, sums

from cfr.analysis.study.reader import read_file, read_store, read_study
from cfr.analysis.study.study import StudyError
from cfr.engine.scripted import Scripted
from cfr.error import InputError
from cfr.evaluation.runner import prepare, run
from cfr.evaluation.series import Series
from cfr.evaluation.store import Store


def write(path: Path, *rows: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def outcome(problem: str, method: str, correct: object, run: int = 0) -> dict[str, Any]:
    return {"problem": problem, "method": method, "run": run, "correct": correct}


def test_anyones_outcomes(tmp_path: Path) -> None:
    rows = [outcome("1", "direct", True), outcome("1", "direct", 0, 1), outcome("2", "mine", None)]
    study = read_file(write(tmp_path / "o.jsonl", *rows))
    direct, mine = study.arms
    assert (direct.label, mine.label) == ("Direct CoT", "mine")
    assert direct.scores == {"1": (1, 2)}
    assert direct.accuracy == 0.5
    assert (mine.scores, mine.accuracy, mine.statuses) == ({}, None, {"failed": 1})


def test_runs_are_numbered_where_they_are_not_named(tmp_path: Path) -> None:
    rows = [{"problem": 1, "method": "a", "correct": value} for value in (True, True, False)]
    (arm,) = read_file(write(tmp_path / "o.jsonl", *rows)).arms
    assert [attempt.run for attempt in arm.attempts["1"]] == [0, 1, 2]
    assert arm.scores == {"1": (2, 3)}


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"method": "a", "correct": True}, "needs 'problem'"),
        ({"problem": "1", "correct": True}, "needs 'method'"),
        ({"problem": "1", "method": "a"}, "needs 'correct'"),
        ({"problem": "1", "method": "a", "correct": "yes"}, "'correct' must be true or false"),
        ({"problem": "1", "method": "a", "correct": 1, "run": "x"}, "'run' must be a whole"),
        (
            {"problem": "1", "method": "a", "correct": 1, "status": "odd"},
            "'status' must be one of ok",
        ),
        ({"problem": True, "method": "a", "correct": 1}, "'problem' must be a text or a number"),
        ({"problem": "1", "method": "a", "verdict": "fine"}, "needs 'correct'"),
        ({"problem": "1", "method": "a", "correct": 1, "seconds": 1e400}, "'seconds' must be"),
        ({"problem": "1", "method": "a", "correct": 1, "output_tokens": "9"}, "'output_tokens'"),
        (
            {"problem": "1", "method": "a", "correct": 1, "stages": {"s": {"calls": -1}}},
            "'calls' must be a number",
        ),
    ],
)
def test_a_bad_line_is_named(tmp_path: Path, row: dict[str, Any], said: str) -> None:
    path = write(tmp_path / "o.jsonl", outcome("0", "a", True), row)
    with pytest.raises(InputError, match=f"line 2: .*{said}"):
        read_file(path)


def test_fields_of_other_types_are_read_as_text(tmp_path: Path) -> None:
    odd = {
        "answer": 42,
        "gold": [1, 2],
        "text": {"a": 10**30},
        "model": 7,
        "label": 3,
        "details": "x",
    }
    odd |= {"input_tokens": 12.0, "seconds": None, "stages": [], "decoding": "hot"}
    study = read_file(write(tmp_path / "o.jsonl", outcome("1", "a", True) | odd))
    (arm,) = study.arms
    assert (arm.model, arm.label, arm.decoding) == ("7", "3", "{}")
    assert (arm.attempts["1"][0].answer, arm.attempts["1"][0].input_tokens) == ("42", 12)
    key = (*arm.key, "1", 0)
    assert study.transcripts([key])[key].text == '{"a": 1000000000000000000000000000000}'


def test_a_failed_attempt_is_not_wrong_whatever_stands_beside_it(tmp_path: Path) -> None:
    rows = [outcome("1", "a", False, run) | {"status": "failed"} for run in range(2)]
    (arm,) = read_file(write(tmp_path / "o.jsonl", *rows)).arms
    assert (arm.scores, arm.statuses) == ({}, {"failed": 2})


def test_settings_are_the_same_in_any_order(tmp_path: Path) -> None:
    one = {"decoding": {"temperature": 1e-05, "seed": 1}}
    other = {"decoding": {"seed": 1, "temperature": 0.00001}}
    rows = [outcome("1", "a", True) | one, outcome("1", "a", True, 1) | other]
    (arm,) = read_file(write(tmp_path / "o.jsonl", *rows)).arms
    assert arm.decoding == '{"temperature":0.00001,"seed":1}'


def test_an_attempt_that_is_there_twice_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "o.jsonl", outcome("1", "a", True), outcome("1", "a", False))
    with pytest.raises(InputError, match=r"line 2: run 0 of problem 1 by a is there twice"):
        read_file(path)


async def stored(path: Path, model: str = "model-a", runs: int = 2) -> Store:
    store, series = Store(str(path)), Series("sums", "cfr", model)
    await run(store, [prepare(store, series, sums(5), runs, Scripted(right))], width=4)
    return store


async def test_a_store_and_its_export_are_the_same_study(tmp_path: Path) -> None:
    from click.testing import CliRunner

    from cfr.cli.export import command

    with await stored(tmp_path / "r.db") as store:
        one = read_store(store)
        key = (*one.arms[0].key, sums(5)[0].id, 0)
        said = one.transcripts([key])[key]
    exported = str(tmp_path / "r.jsonl")
    result = CliRunner().invoke(command, [exported, "--store", str(tmp_path / "r.db")])
    assert result.exit_code == 0
    other = read_file(Path(exported))
    assert other.arms == one.arms
    assert other.problems == one.problems
    assert other.transcripts([key])[key] == said
    assert said.text
    (arm,) = one.arms
    assert arm.stages
    assert sum(spent.calls for spent in arm.stages.values()) >= 10


async def test_several_sources_are_one_study_unless_they_overlap(tmp_path: Path) -> None:
    with (
        await stored(tmp_path / "a.db") as a,
        await stored(tmp_path / "b.db", "model-b") as b,
        await stored(tmp_path / "c.db") as c,
    ):
        both = read_study([a, b])
        assert both.names("model") == ["model-a", "model-b"]
        keys = [(*arm.key, sums(5)[0].id, 1) for arm in both.arms]
        assert len(both.transcripts(keys)) == 2
        with pytest.raises(InputError, match=r"cfr on sums with model-a is in .*a\.db too"):
            read_study([a, c])
        narrowed = both.only(model=["model-b"])
        assert [arm.model for arm in narrowed.arms] == ["model-b"]
        assert len(narrowed.problems) == 5
        with pytest.raises(StudyError, match="has no model 'x'; it has model-a, model-b"):
            both.only(model=["x"])


def test_a_narrowed_study_forgets_the_problems_of_the_rest(tmp_path: Path) -> None:
    rows = [
        outcome("1", "a", True) | {"benchmark": name, "problem_text": "How many?"}
        for name in ("aime24", "aime25")
    ]
    found = read_file(write(tmp_path / "o.jsonl", *rows)).only(benchmark=["aime24"])
    assert list(found.problems) == [("aime24", "1")]
