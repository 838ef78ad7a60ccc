import json
from pathlib import Path
from typing import Any

import pytest

from constraint_first.error import InputError
from constraint_first.report.reader import outcome_lines, stage_cost
from constraint_first.report.study import StageCost


def read(path: Path, *rows: dict[str, Any]) -> list[dict[str, Any]]:
    path = path / "o.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return [row for _, row in outcome_lines(path)]


def outcome(problem: str, method: str, correct: object, run: int = 0) -> dict[str, Any]:
    return {"problem": problem, "method": method, "run": run, "correct": correct}


def test_a_line_of_four_fields_has_all_of_them(tmp_path: Path) -> None:
    (row,) = read(tmp_path, {"problem": 7, "method": "direct", "run": 2, "correct": 1})
    assert row == {
        "problem": "7",
        "method": "direct",
        "label": "Direct CoT",
        "run": 2,
        "benchmark": "",
        "model": "",
        "decoding": "{}",
        "correct": 1,
        "status": "ok",
        "verdict": "correct",
        "details": {},
        "stages": {},
        "problem_text": None,
        "gold": None,
        "answer": None,
        "text": None,
        "input_tokens": 0,
        "output_tokens": 0,
        "shared_tokens": 0,
        "seconds": 0,
        "finished_at": 0,
    }


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
        ({"problem": "1", "method": "a", "correct": 1, "seconds": 1e300}, "'seconds' must be"),
        ({"problem": "1", "method": "a", "correct": float("nan")}, "NaN is no value there"),
        (
            {"problem": "1", "method": "a", "correct": 1, "gold": {}},
            "'gold' must be a text or a number",
        ),
        ({"problem": "1", "method": "a", "correct": 1, "output_tokens": "9"}, "'output_tokens'"),
        (
            {"problem": "1", "method": "a", "correct": 1, "stages": {"s": {"calls": -1}}},
            "'calls' must be a number",
        ),
    ],
)
def test_a_bad_line_is_named(tmp_path: Path, row: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=f"line 2: .*{said}"):
        read(tmp_path, outcome("0", "a", True), row)


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


def test_settings_are_the_same_in_any_order(tmp_path: Path) -> None:
    one = {"decoding": {"temperature": 1e-05, "seed": 1}}
    other = {"decoding": {"seed": 1, "temperature": 0.00001}}
    rows = read(tmp_path, outcome("1", "a", True) | one, outcome("1", "a", True, 1) | other)
    assert {row["decoding"] for row in rows} == {'{"temperature":0.00001,"seed":1}'}


def test_a_method_that_is_not_ours_keeps_its_name(tmp_path: Path) -> None:
    rows = read(tmp_path, outcome("1", "cfr", True), outcome("1", "mine (v2)", True))
    assert [row["label"] for row in rows] == ["CFR (always-on)", "mine (v2)"]
