import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from instructed import requests
from sums import right, sums

from constraint_first.attempt.drive import Scripted
from constraint_first.benchmark.source import GoldInstruction, write_instructions
from constraint_first.error import InputError
from constraint_first.problem import Problem
from constraint_first.report.reader import existing_store, open_study, read_file, read_store
from constraint_first.run.job import prepare, run
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


async def test_a_store_and_its_export_are_the_same_study(tmp_path: Path) -> None:
    from constraint_first.cli.runs import export_command as command

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


async def test_files_and_stores_are_told_apart_by_their_names(tmp_path: Path) -> None:
    with await stored(tmp_path / "r.db"):
        pass
    mine = write(tmp_path / "MINE.JSONL", outcome("1", "mine", True))
    study = open_study([tmp_path / "r.db", str(mine)])
    assert study.names("method") == ["cfr", "mine"]
    assert study.source == f"{tmp_path / 'r.db'}, {mine}"


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
