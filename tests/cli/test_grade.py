"""The two commands that judge and read answers, as a person runs them."""

import json
from pathlib import Path

import pytest
from instructed import NO_COMMA

from constraint_first.benchmark.source import write_instructions

from .conftest import Run

ROWS = [
    {"id": "a", "pred": r"so \boxed{\frac12}", "gold": "0.5"},
    {"id": "b", "pred": "x+1", "gold": "1+x"},
    {"id": 3, "pred": None, "gold": "7"},
    {"id": "d", "pred": 8, "gold": "9"},
    {"id": "e", "pred": "10%", "gold": "10", "problem": "What percent is red?"},
]


def write(path: Path, lines: list[str]) -> str:
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path.name


def read(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_a_file_is_graded_in_order(tmp_path: Path, cfr: Run) -> None:
    name = write(tmp_path / "in.jsonl", [json.dumps(row) for row in ROWS])
    done = cfr("grade", name, "-o", "out.jsonl", "--workers", "1")
    rows = read(tmp_path / "out.jsonl")
    assert done.code == 0
    assert [row["id"] for row in rows] == ["a", "b", 3, "d", "e"]
    assert [row["verdict"] for row in rows] == [
        "correct", "correct", "incorrect", "incorrect", "correct",
    ]  # fmt: skip
    assert [row["tier"] for row in rows] == ["exact", "symbolic", "exact", "exact", "exact"]
    assert set(rows[0]) == {"id", "verdict", "tier", "answer", "seconds"}
    assert rows[0]["answer"] == r"\frac12"
    taken = (
        "in.jsonl: 5 rows; pred from 'pred', gold from 'gold', problem from 'problem' (in 1 of 5)"
    )
    assert done.err == f"{taken}, id from 'id'\n3 correct, 2 incorrect, 0 undecided\n"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.jsonl", "out.jsonl"]


def test_a_malformed_line_is_named_and_skipped(tmp_path: Path, cfr: Run) -> None:
    lines = [json.dumps(ROWS[0]), "{oops", '{"id": 1, "pred": "5"}', "[1]", json.dumps(ROWS[3])]
    name = write(tmp_path / "in.jsonl", lines)
    done = cfr("grade", name)
    assert done.code == 0
    assert [json.loads(line)["id"] for line in done.out.splitlines()] == ["a", "d"]
    errors = done.err.splitlines()
    assert [f"line {number}:" in errors[at] for at, number in enumerate((2, 3, 4))] == [True] * 3
    assert errors[-1] == "1 correct, 1 incorrect, 0 undecided, 3 skipped"


@pytest.mark.parametrize(
    ("pred", "gold", "start"),
    [
        (r"\frac{1}{2}", "0.5", "correct (exact tier): "),
        ("-3", "3", "incorrect (exact tier): "),
        ("2x", "x+x", "correct (symbolic tier): "),
    ],
)
def test_one_pair_prints_its_verdict_and_why(pred: str, gold: str, start: str, cfr: Run) -> None:
    done = cfr("grade", pred, gold)
    assert done.code == 0
    assert done.out.startswith(start)
    assert len(done.out) > len(start) + 1


@pytest.mark.parametrize(
    "arguments",
    [
        ("grade", "absent.jsonl"),
        ("extract", "absent.jsonl"),
        ("grade", "in.jsonl", "-o", "no/such/folder/out.jsonl"),
        ("grade", "in.jsonl", "-o", "."),
        ("extract", "latin.jsonl"),
    ],
)
def test_what_cannot_work_is_one_clear_line(
    tmp_path: Path, arguments: tuple[str, ...], cfr: Run
) -> None:
    write(tmp_path / "in.jsonl", [json.dumps(ROWS[0])])
    (tmp_path / "latin.jsonl").write_bytes('{"id": 1, "text": "é"}'.encode("latin-1"))
    done = cfr(*arguments)
    assert done.code == 2
    assert done.out == ""
    assert done.err.startswith("cfr: ")
    assert done.err.count("\n") == 1


def test_output_stays_as_it_was_when_grading_cannot_start(tmp_path: Path, cfr: Run) -> None:
    write(tmp_path / "out.jsonl", ["earlier"])
    cfr("grade", "absent.jsonl", "-o", "out.jsonl")
    assert (tmp_path / "out.jsonl").read_text() == "earlier\n"


def test_gold_instructions_are_checked_on_the_whole_reply(tmp_path: Path, cfr: Run) -> None:
    gold = write_instructions([NO_COMMA])
    rows = [
        {"pred": r"\boxed{7}", "gold": "7"},
        {"pred": "One, two.", "gold": gold},
        {"pred": "Three.", "gold": gold},
        {"pred": None, "gold": gold},
        {"pred": "8", "gold": "7"},
    ]
    name = write(tmp_path / "in.jsonl", [json.dumps(row) for row in rows])
    done = cfr("grade", name, "-o", "out.jsonl")
    assert done.code == 0, done.err
    assert [(row["verdict"], row["tier"]) for row in read(tmp_path / "out.jsonl")] == [
        ("correct", "exact"),
        ("incorrect", "instructions"),
        ("correct", "instructions"),
        ("incorrect", "instructions"),
        ("incorrect", "exact"),
    ]
    one = cfr("grade", "One, two.", gold)
    assert one.out.startswith("incorrect (instructions tier): follows 0 of 1 instructions;")
