from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from constraint_first.benchmark.constraintbench.item import SHA256, load
from constraint_first.benchmark.constraintbench.make import FAMILIES
from constraint_first.cli.assets import bench_command as command

from .conftest import Run

ROOT = Path(__file__).parents[2]


def invoke(*arguments: str | Path) -> Result:
    return CliRunner().invoke(command, [str(one) for one in arguments], catch_exceptions=True)


def test_generate_then_check(tmp_path: Path) -> None:
    path = tmp_path / "fresh.jsonl"
    assert invoke("generate", "--seed", "7", "--n", "50", "-o", path).exit_code == 0
    assert len(path.read_text(encoding="utf-8").splitlines()) == 50
    result = invoke("check", path)
    assert result.exit_code == 0
    assert "50 problems, all as they should be" in result.output
    assert "each answer computed in two ways: 50 of 50" in result.output
    assert "guess, the most frequent answer" in result.output


def test_check_of_a_split() -> None:
    result = invoke("check", "--split", "mini@1")
    assert result.exit_code == 0
    assert "mini@1: 24 problems, all as they should be" in result.output
    assert "of version 1, whose families this package no longer has: 24" in result.output


@pytest.mark.parametrize("arguments", [[], ["mine.jsonl", "--split", "mini"]])
def test_check_wants_a_file_or_a_split(arguments: list[str]) -> None:
    result = invoke("check", *arguments)
    assert result.exit_code == 2
    assert "name a file, or one split" in result.output


def test_export_writes_a_dataset_once(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "dataset"
    assert invoke("export", folder, "--split", "mini").exit_code == 0
    assert (folder / "README.md").read_text(encoding="utf-8").startswith("---\n")
    lines = (folder / "data" / "mini.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["id"] for line in lines] == [item.id for item in load("mini")]
    assert invoke("export", folder, "--split", "mini").exit_code != 0
    assert invoke("export", folder, "--force").exit_code == 0
    assert {path.name for path in (folder / "data").iterdir()} == {
        "public.jsonl",
        "mini.jsonl",
        "hard.jsonl",
    }


def test_export_into_a_file_is_one_line(cfr: Run, tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("mine", encoding="utf-8")
    ran = cfr("bench", "export", "taken")
    assert (ran.code, ran.err.count("\n")) == (2, 1)
    assert "taken: cannot be made" in ran.err


def test_generate_takes_families_tiers_and_levels(tmp_path: Path) -> None:
    path = tmp_path / "few.jsonl"
    wish = ("--tier", "joint", "--level", "3", "--level", "1")
    assert invoke("generate", "--seed", "1", "--n", "16", "-o", path, *wish).exit_code == 0
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert {row["tier"] for row in rows} == {"joint"}
    assert {row["level"] for row in rows} == {1, 3}


def test_generate_does_not_overwrite_unless_forced(tmp_path: Path) -> None:
    path = tmp_path / "kept.jsonl"
    path.write_text("mine", encoding="utf-8")
    assert invoke("generate", "--seed", "7", "--n", "5", "-o", path).exit_code != 0
    assert path.read_text(encoding="utf-8") == "mine"
    assert invoke("generate", "--seed", "7", "--n", "5", "-o", path, "--force").exit_code == 0
    assert len(path.read_text(encoding="utf-8").splitlines()) == 5


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--n", "0"], "cannot generate 0 problems; ask for at least 1"),
        (["--n", "5", "--family", "ratio_cod"], "did you mean ratio_code"),
        (["--n", "9999", "--family", "digit_swap", "--level", "1"], "has only about"),
        (["--n", "5", "--family", "minute_display", "--tier", "joint"], "is in tier joint"),
    ],
)
def test_nonsense_is_one_line_and_nothing_is_written(
    cfr: Run, tmp_path: Path, arguments: list[str], says: str
) -> None:
    ran = cfr("bench", "generate", "--seed", "1", "-o", "out.jsonl", *arguments)
    assert ran.code == 2
    assert says in ran.err.splitlines()[-1]
    assert "Traceback" not in ran.err
    assert list(tmp_path.iterdir()) == []


def test_an_unwritable_path_is_one_line(cfr: Run) -> None:
    ran = cfr("bench", "generate", "--seed", "1", "--n", "3", "-o", "nowhere/out.jsonl")
    assert (ran.code, ran.err.count("\n")) == (2, 1)
    assert "there is no folder" in ran.err


def test_a_tampered_file_names_line_and_fault(cfr: Run, tmp_path: Path) -> None:
    path = tmp_path / "fresh.jsonl"
    invoke("generate", "--seed", "7", "--n", "6", "-o", path)
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    rows[3]["answer"] = "123456"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    ran = cfr("bench", "check", "fresh.jsonl")
    assert (ran.code, ran.err.count("\n")) == (1, 1)
    assert "line 4: the answer 123456 does not satisfy" in ran.err
    assert "more fault" in ran.err


def test_show_prints_families_counts_and_examples() -> None:
    result = invoke("show")
    assert result.exit_code == 0
    assert all(name in result.output.replace("\n", "") for name in FAMILIES)
    shipped = len(load("public")) + len(load("hard"))
    title = f"{len(FAMILIES)} families, {shipped} problems"
    assert title in " ".join(result.output.split())


def test_a_chosen_tier_is_counted_by_itself() -> None:
    shown = " ".join(invoke("show", "--tier", "implicit").output.split())
    families = sum(family.tier == "implicit" for family in FAMILIES.values())
    size = sum(item.tier == "implicit" for item in load("public"))
    assert f"{families} families, {size} problems" in shown


def test_show_as_json() -> None:
    rows = json.loads(invoke("show", "--tier", "implicit", "--json").output)
    assert len(rows) >= 8
    assert {row["shipped"] for row in rows} == {15}
    assert all(row["example"]["family"] == row["family"] for row in rows)


def test_the_data_card_holds_what_show_and_check_print() -> None:
    card = (ROOT / "docs" / "constraintbench.md").read_text(encoding="utf-8")
    assert invoke("show", "--markdown").output.strip() in card
    for split in ("public", "hard", "public@1"):
        found = invoke("check", "--split", split).output
        assert f"$ cfr bench check --split {split}\n{found}" in card
    assert all(sha256[:16] in card for sha256 in SHA256.values())
