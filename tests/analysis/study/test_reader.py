import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from instructed import requests
from stored import attempt
from sums import right, sums

from constraint_first.attempt.drive import Scripted
from constraint_first.benchmark.registry import GoldInstruction, write_instructions
from constraint_first.cli.runs import export_command as command
from constraint_first.error import InputError
from constraint_first.problem import Problem
from constraint_first.report.reader import (
    existing_store,
    open_study,
    outcome_lines,
    read_file,
    read_store,
    stage_cost,
)
from constraint_first.report.study import StageCost
from constraint_first.run.job import prepare, run
from constraint_first.store import database as schema
from constraint_first.store.database import StoreError
from constraint_first.store.series import Series
from constraint_first.store.store import Store


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


def test_an_attempt_that_is_there_twice_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "o.jsonl", outcome("1", "a", True), outcome("1", "a", False))
    with pytest.raises(InputError, match=r"line 2: run 0 of problem 1 by a is there twice"):
        read_file(path)


def test_the_kinds_that_stage_1_calls_critical(tmp_path: Path) -> None:
    raw = [{"id": f"C{n}", "type": kind, "description": "d"} for n, kind in enumerate("abc")]
    derived = [{"id": "P1", "derived_from": ["C1"], "description": "d"}]
    spec: dict[str, Any] = {"raw_constraints": raw, "propagated_constraints": derived}
    spec["critical_constraints"] = ["P1", "C2", "none"]
    row = outcome("1", "cfr", True) | {"details": {"rung": "parsed", "constraints": spec}}
    (arm,) = read_file(write(tmp_path / "o.jsonl", row)).arms
    found = arm.attempts["1"][0].extraction
    assert found
    assert (found.kinds, found.propagated, found.critical) == (("a", "b", "c"), 1, ("b", "c"))


@pytest.mark.parametrize(
    ("rung", "spec", "counted"),
    [
        ("parsed", {"answer_format": "integer"}, "parsed"),
        ("parsed", {"problem_summary": "a sum", "raw_constraints": []}, "empty"),
        ("repaired", {"answer_format": "integer", "problem_summary": "a sum"}, "fallback"),
        ("repaired", {"answer_format": "integer", "likely_answer_range": "0-9"}, "repaired"),
        ("fields", {"answer_format": "integer"}, "fallback"),
        ("guessed", {}, "guessed"),
    ],
)
def test_replies_of_old_runs_count_as_they_would_today(
    rung: str, spec: dict[str, Any], counted: str, tmp_path: Path
) -> None:
    row = outcome("1", "cfr", True) | {"details": {"rung": rung, "constraints": spec}}
    (arm,) = read_file(write(tmp_path / "o.jsonl", row)).arms
    found = arm.attempts["1"][0].extraction
    assert found
    assert found.rung == counted


async def stored(path: Path, model: str = "model-a", runs: int = 2) -> Store:
    store, series = Store(str(path)), Series("sums", "cfr", model)
    await run(store, [prepare(store, series, sums(5), runs, Scripted(right))], width=4)
    return store


async def test_several_sources_are_one_study_unless_they_overlap(tmp_path: Path) -> None:
    with (
        await stored(tmp_path / "a.db") as a,
        await stored(tmp_path / "b.db", "model-b") as b,
        await stored(tmp_path / "c.db") as c,
    ):
        both = open_study([a, b])
        assert both.names("model") == ["model-a", "model-b"]
        keys = [(*arm.key, sums(5)[0].id, 1) for arm in both.arms]
        assert len(both.transcripts(keys)) == 2
        with pytest.raises(InputError, match=r"cfr on sums with model-a is in .*a\.db too"):
            open_study([a, c])


async def test_a_named_store_is_opened_anew_for_its_transcripts(tmp_path: Path) -> None:
    path = tmp_path / "r.db"
    with await stored(path) as store:
        opened = open_study(store)
        key = (*opened.arms[0].key, sums(5)[0].id, 0)
        said = opened.transcripts([key])
    for source in (path, str(path), [path], opened):
        study = open_study(source)
        assert study.source == str(path)
        assert study.arms == opened.arms
        assert study.problems == opened.problems
    closed = open_study(path)
    assert closed.transcripts([key]) == said
    assert said[key].text
    path.unlink()
    with pytest.raises(StoreError, match=r"r\.db: there is no such store"):
        closed.transcripts([key])


async def test_what_no_database_can_hold_is_not_looked_for(tmp_path: Path) -> None:
    with await stored(tmp_path / "r.db") as store:
        study = read_store(store)
        benchmark, method, model, decoding = study.arms[0].key
        good = (benchmark, method, model, decoding, sums(5)[0].id, 0)
        odd = [(*good[:5], 10**30), (*good[:4], "\ud800", 0), ("\0", *good[1:])]
        assert list(study.transcripts([*odd, good])) == [good]  # pyright: ignore


def test_a_mistyped_name_makes_no_store(tmp_path: Path) -> None:
    path = tmp_path / "none.db"
    for opening in (existing_store, open_study):
        with pytest.raises(StoreError, match="there is no such store; run 'cfr eval' first"):
            opening(str(path))
    assert not path.exists()


async def test_instructions_survive_every_export(tmp_path: Path) -> None:
    """Texts of Markdown, quotation marks and what a spreadsheet would run are among them."""
    from constraint_first.cli.runs import export_command as command

    odd = GoldInstruction("startend:end_checker", {"end_phrase": '=1+1, "x";\n#### \\boxed{3}\t'})
    problems = (*requests(3), Problem("End.", "odd", write_instructions([odd])))
    path = str(tmp_path / "runs.db")
    with Store(path) as store:
        said = Scripted(lambda _: "It is \\boxed{7}.")
        job = prepare(store, Series("requests", "direct", "m"), problems, 1, said)
        await run(store, [job], 1)
        ours = read_store(store)
    for name in ("a.jsonl", "a.csv", "a.jsonl.gz"):
        exported = str(tmp_path / name)
        result = CliRunner().invoke(command, [exported, "--store", path])
        assert result.exit_code == 0, result.output
        again = read_file(Path(exported))
        assert again.problems == ours.problems
        assert again.arms == ours.arms
    assert ours.problems["requests", "odd"].instructions == (odd,)
    (only,) = ours.arms
    assert {one.answer for one in only.all_attempts()} == {None}


HOSTILE = ("=cmd|x", "'=cmd|x", "''-x", "@p", "-1", "'", 'say "hi", twice\nor more', "ü")


@pytest.fixture
def store(tmp_path: Path) -> str:
    """A store of attempts whose names and texts a spreadsheet would take for formulas."""
    url = str(tmp_path / "runs.db")
    problems = [Problem(f"{text} {n}", id=text, answer=text) for n, text in enumerate(HOSTILE)]
    details = {"routed": True, "cues": ["=x"], "rung": "fallback"}
    with Store(url) as opened:
        known = opened.register(Series("=b", "direct", "'=m"), problems)
        rows = [
            attempt(known.series, number, run, answer=name, text=name, seconds=0.1 * run)
            | {"details": json.dumps(details), "verdict": "correct" if run else "incorrect"}
            for name, number in known.problems.items()
            for run in range(2)
        ]
        failed = {"status": "failed", "verdict": None, "tier": None, "answer": None, "text": ""}
        rows[-1] |= failed | {"error": "-busy"}
        rows[-3] |= {"text": "x" * 200_000}  # longer than Python's limit for a cell
        with opened.database.begin() as connection:
            connection.execute(schema.attempts.insert(), rows)
    return url


@pytest.mark.parametrize("kind", [".jsonl", ".jsonl.gz", ".csv", ".parquet"])
def test_every_export_is_read_back_as_the_store_was(kind: str, store: str, tmp_path: Path) -> None:
    if kind == ".parquet":
        pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed here")
    path = tmp_path / f"out{kind}"
    done = CliRunner().invoke(command, [str(path), "--store", store])
    assert done.exit_code == 0, done.output
    with Store(store, existing=True) as opened:
        stored, found = read_store(opened), read_file(path)
        assert [vars(arm) for arm in found.arms] == [vars(arm) for arm in stored.arms]
        assert found.problems == stored.problems
        keys = [(*stored.arms[0].key, name, run) for name in HOSTILE for run in range(2)]
        assert found.transcripts(keys) == stored.transcripts(keys)


def test_outcomes_of_anyone_in_a_table(tmp_path: Path) -> None:
    path = tmp_path / "o.csv"
    path.write_text("Problem,method,run,correct\n1,A,0,True\n1,A,1,0\n\n1,B,0,\n")
    rows = [row for _, row in outcome_lines(path)]
    assert [(r["method"], r["run"], r["verdict"], r["status"]) for r in rows] == [
        ("A", 0, "correct", "ok"),
        ("A", 1, "incorrect", "ok"),
        ("B", 0, None, "failed"),
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("problem,method,run,correct\n1,A,0,maybe\n", "line 2: .*'correct'"),
        ("problem,method,run,correct\n1,A,first,1\n", "line 2: .*'run'"),
        ("problem,method\n1\n", "line 2: has 1 cells where the header has 2"),
        ("problem,correct\n1,1\n", "line 2: .*'method'"),
        ('problem,method\n"1,A\n', "line 2: not CSV"),
    ],
)
def test_what_is_wrong_with_a_table_is_told(text: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "o.csv"
    path.write_text(text)
    with pytest.raises(InputError, match=rf"o\.csv, {said}"):
        list(outcome_lines(path))


def read(path: Path, *rows: dict[str, Any]) -> list[dict[str, Any]]:
    return [row for _, row in outcome_lines(write(path / "o.jsonl", *rows))]


@pytest.mark.parametrize(
    ("given", "status", "verdict"),
    [
        ({"correct": True}, "ok", "correct"),
        ({"correct": 0}, "ok", "incorrect"),
        ({"correct": None}, "failed", None),
        ({"correct": False, "status": "truncated"}, "truncated", "incorrect"),
        ({"correct": True, "status": "failed"}, "failed", None),
        ({"verdict": "undecided"}, "ok", "undecided"),
        ({"verdict": None, "status": "failed"}, "failed", None),
        ({"verdict": "incorrect", "status": "unparsed"}, "unparsed", "incorrect"),
    ],
)
def test_correct_and_verdict_come_to_the_same(
    tmp_path: Path, given: dict[str, Any], status: str, verdict: str | None
) -> None:
    (row,) = read(tmp_path, {"problem": "1", "method": "a"} | given)
    assert (row["status"], row["verdict"]) == (status, verdict)


def test_runs_are_numbered_where_they_are_not_named(tmp_path: Path) -> None:
    line = {"problem": 1, "method": "a", "correct": True}
    rows = read(tmp_path, line, line | {"problem": 2}, line, line | {"model": "m"})
    assert [row["run"] for row in rows] == [0, 0, 1, 0]


def test_stages_are_costs(tmp_path: Path) -> None:
    used = {"calls": 1, "input_tokens": 5, "output_tokens": 7, "seconds": 0.5}
    (row,) = read(tmp_path, outcome("1", "a", True) | {"stages": {"s": used, "t": {}, "u": 3}})
    assert row["stages"] == {"s": StageCost(1, 5, 7, 0.5), "t": StageCost()}
    assert stage_cost(used) == StageCost(1, 5, 7, 0.5)
    assert StageCost(1, 5, 7, 0.5) + StageCost(2, 1, 1, 1.0) == StageCost(3, 6, 8, 1.5)
    assert StageCost(1, 5, 7).tokens == 12


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"problem": None}, "'problem' must be a text or a number"),
        ({"problem": True}, "'problem' must be a text or a number"),
        ({"method": None}, "'method' must be a text or a number"),
        ({"correct": "yes"}, "'correct' must be true or false"),
        ({"correct": float("nan")}, "NaN is no value there"),
        ({"run": "x"}, "'run' must be a whole"),
        ({"status": "odd"}, "'status' must be one of ok"),
        ({"seconds": 1e300}, "'seconds' must be"),
        ({"gold": {}}, "'gold' must be a text or a number"),
        ({"output_tokens": "9"}, "'output_tokens'"),
        ({"stages": {"s": {"calls": -1}}}, "'calls' must be a number"),
    ],
)
def test_a_bad_line_is_named(tmp_path: Path, change: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=f"line 2: .*{said}"):
        read(tmp_path, outcome("0", "a", True), outcome("1", "a", True) | change)


@pytest.mark.parametrize("missing", ["problem", "method", "correct"])
def test_a_line_that_lacks_a_field_is_named(tmp_path: Path, missing: str) -> None:
    row = {"verdict": "fine", **outcome("1", "a", True)}
    del row[missing]
    with pytest.raises(InputError, match=f"line 1: .*needs '{missing}'"):
        read(tmp_path, row)


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
    (row,) = read(tmp_path, outcome("1", "a", True) | odd)
    assert (row["model"], row["label"], row["decoding"]) == ("7", "3", "{}")
    assert (row["answer"], row["gold"], row["input_tokens"]) == ("42", "1, 2", 12)
    assert row["text"] == '{"a": 1000000000000000000000000000000}'
    assert (row["details"], row["stages"], row["seconds"]) == ({}, {}, 0)
