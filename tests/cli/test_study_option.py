import json
from pathlib import Path

import click
import pytest
from click.testing import CliRunner
from hand_made import arm, study, texts
from sums import right, write_sums

from constraint_first.attempt.drive import Scripted
from constraint_first.cli.options import (
    ErrorRuleOptions,
    StudyPart,
    error_rule_options,
    open_part,
    part_options,
    runs_argument,
)
from constraint_first.report.exhibit.marks import ErrorRule
from constraint_first.report.study import StudyError
from constraint_first.run.grid import RunOptions
from constraint_first.run.run import evaluate

EVERYTHING = StudyPart()


def write_outcomes(path: Path, benchmark: str, model: str = "m") -> str:
    rows = [
        {"problem": str(n), "method": method, "run": 0, "correct": n == 0, "model": model}
        for n in range(2)
        for method in ("direct", "cfr")
    ]
    path.write_text("".join(json.dumps(r | {"benchmark": benchmark}) + "\n" for r in rows))
    return str(path)


@pytest.fixture
def store(tmp_path: Path) -> str:
    """A store in which a model answered three sums."""
    sums, name = write_sums(tmp_path / "sums.jsonl", 3), str(tmp_path / "runs.db")
    evaluate(str(sums), "direct", runs=1, engine=Scripted(right), options=RunOptions(store=name))
    return name


def test_the_options_reach_a_command_as_values() -> None:
    seen: list[tuple[tuple[str, ...], StudyPart, ErrorRuleOptions]] = []

    @click.command()
    @runs_argument
    @part_options
    @error_rule_options
    def command(runs: tuple[str, ...], part: StudyPart, error_rule: ErrorRuleOptions) -> None:
        seen.append((runs, part, error_rule))

    assert CliRunner().invoke(command, []).exit_code == 0
    given = (
        "a.db --store b.jsonl --benchmark x --benchmark y --model m --rule first --classes c.jsonl"
    )
    assert CliRunner().invoke(command, given.split()).exit_code == 0
    assert CliRunner().invoke(command, ["--rule", "last"]).exit_code == 2
    assert seen == [
        ((), StudyPart(), ErrorRuleOptions("any", None)),
        (
            ("a.db", "b.jsonl"),
            StudyPart(("x", "y"), ("m",)),
            ErrorRuleOptions("first", Path("c.jsonl")),
        ),
    ]


def test_a_file_of_classes_is_read_where_there_is_one(tmp_path: Path) -> None:
    made = study(arm("direct", {"1": "-"}), problems=texts({"1": "P"}))
    rule = ErrorRuleOptions("first", None).read(made)
    assert rule == ErrorRule("first")
    path = tmp_path / "classes.jsonl"
    path.write_text('{"problem": "1", "class": "arithmetic"}\n')
    found = ErrorRuleOptions("any", path).read(made).classes
    assert found.find(("set", "1"), "direct") == "arithmetic"


def test_runs_db_is_read_where_nothing_is_named(
    store: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    found = open_part((), EVERYTHING)
    (only,) = found.arms
    assert (only.benchmark, only.method, only.model) == ("sums", "direct", "scripted")
    assert only.accuracy == 1.0
    assert len(found.problems) == 3


def test_stores_and_files_are_one_study(store: str, tmp_path: Path) -> None:
    outcomes = write_outcomes(tmp_path / "A.JSONL", "aime24")
    found = open_part((store, outcomes), EVERYTHING)
    assert found.names("benchmark") == ["sums", "aime24"]
    assert [arm.method for arm in found.arms] == ["direct", "direct", "cfr"]


def test_a_part_of_a_study(tmp_path: Path) -> None:
    runs = [write_outcomes(tmp_path / f"{n}.jsonl", f"set{n}", f"m{n % 2}") for n in range(4)]
    found = open_part(runs, StudyPart(("set1", "set2")))
    assert found.names("benchmark") == ["set1", "set2"]
    found = open_part(runs, StudyPart(models=("m1",)))
    assert found.names("benchmark") == ["set1", "set3"]
    found = open_part(runs, StudyPart(("set1", "set2"), ("m0",)))
    assert [(arm.benchmark, arm.model) for arm in found.arms] == [("set2", "m0")] * 2


def test_what_is_not_there_is_named_with_what_is(tmp_path: Path) -> None:
    outcomes = write_outcomes(tmp_path / "o.jsonl", "aime24")
    for part, said in (
        (StudyPart(("aime25",)), "has no benchmark 'aime25'; it has aime24"),
        (StudyPart(models=("gpt",)), "has no model 'gpt'; it has m"),
    ):
        with pytest.raises(StudyError, match=said):
            open_part((outcomes,), part)


def test_a_study_without_attempts(tmp_path: Path) -> None:
    empty = tmp_path / "empty.jsonl"
    empty.touch()
    with pytest.raises(StudyError, match=r"empty\.jsonl: no attempts yet; run 'cfr eval' first"):
        open_part((str(empty),), EVERYTHING)
