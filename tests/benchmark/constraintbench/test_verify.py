from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from constraint_first.benchmark.constraintbench.item import encode, split_bytes
from constraint_first.benchmark.constraintbench.make import check_file, generate


def rows(n: int = 4) -> list[dict[str, Any]]:
    return [json.loads(line) for line in encode(generate(11, n)).splitlines()]


def written(tmp_path: Path, lines: list[str]) -> Path:
    path = tmp_path / "problems.jsonl"
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def faults(tmp_path: Path, values: list[dict[str, Any]]) -> list[tuple[int, str]]:
    report = check_file(written(tmp_path, [json.dumps(value) for value in values]))
    return [(fault.line, fault.message) for fault in report.faults]


def test_a_fresh_file_is_faultless(tmp_path: Path) -> None:
    assert faults(tmp_path, rows(40)) == []


def _other_answer(row: dict[str, Any]) -> None:
    row["answer"] = row["tempting"][0]["answer"]


def _lure_is_answer(row: dict[str, Any]) -> None:
    row["tempting"][0]["answer"] = row["answer"]


def _no_lures(row: dict[str, Any]) -> None:
    row["tempting"] = []


def _foreign_span(row: dict[str, Any]) -> None:
    row["constraints"][0]["span"] = "words that stand nowhere"


def _other_words(row: dict[str, Any]) -> None:
    row["problem"] = row["problem"].replace("a", "e", 1)


def _no_such_family(row: dict[str, Any]) -> None:
    row["family"] = "nobody"
    row["id"] = f"nobody-{row['level']}-{row['seed']}-{row['index']}"


def _no_such_op(row: dict[str, Any]) -> None:
    row["constraints"][0]["predicate"] = {"op": "nonsense"}


def _missing_field(row: dict[str, Any]) -> None:
    del row["tier"]


def _all_pinned(row: dict[str, Any]) -> None:
    for constraint in row["constraints"]:
        constraint["pins"] = True


def _unmarked_pin(row: dict[str, Any]) -> None:
    row["constraints"][0]["predicate"] = {"op": "rounded", "value": row["answer"], "unit": 1}
    row["constraints"][0]["pins"] = False


def _weak_pin(row: dict[str, Any]) -> None:
    row["constraints"][0] |= {"predicate": {"op": "between", "low": None, "high": None}}
    row["constraints"][0]["pins"] = True


def _wrong_label(row: dict[str, Any]) -> None:
    row["tempting"][0] |= {"answer": "1/7", "error": "forgot_modular_reduction"}


@pytest.mark.parametrize(
    ("tamper", "says"),
    [
        (_other_answer, "does not satisfy"),
        (_other_answer, "is the answer itself"),
        (_other_answer, "draws another 'answer'"),
        (_lure_is_answer, "is the answer itself"),
        (_no_lures, "rejects no tempting answer"),
        (_foreign_span, "is not in the text"),
        (_other_words, "draws another 'problem'"),
        (_no_such_family, "no family is called 'nobody'"),
        (_no_such_op, "no predicate is called 'nonsense'"),
        (_missing_field, "needs 'tier', one of"),
        (_wrong_label, "1/7 is not 'forgot_modular_reduction'"),
        (_all_pinned, "no constraint can be known without solving"),
        (_unmarked_pin, "pins the answer and is not marked"),
        (_weak_pin, "pins the answer and accepts"),
    ],
)
def test_a_tampered_row_is_found_and_its_line_named(
    tmp_path: Path, tamper: Callable[[dict[str, Any]], None], says: str
) -> None:
    values = rows()
    tamper(values[2])
    found = faults(tmp_path, values)
    assert {line for line, _ in found} == {3}
    assert any(says in message for _, message in found)


def test_a_repeated_text_names_the_first_line(tmp_path: Path) -> None:
    values = rows()
    assert faults(tmp_path, [*values, values[1]]) == [(5, "the same text as line 2")]


def test_version_1_is_checked_but_not_drawn_again(tmp_path: Path) -> None:
    values = [json.loads(line) for line in split_bytes("public@1").splitlines()]
    report = check_file(written(tmp_path, [json.dumps(value) for value in values]))
    assert (report.count, report.not_drawn, report.faults) == (480, 480, ())
    _other_answer(values[2])
    assert {line for line, _ in faults(tmp_path, values)} == {3}


def test_a_shortcut_is_a_fault(tmp_path: Path) -> None:
    values = rows(400)
    for value in values:
        value["problem"] += f" The answer is ${value['answer']}$."
    found = faults(tmp_path, values)
    assert any("a shortcut: leak, the answer is the last number" in message for _, message in found)


def test_a_line_that_is_not_json_does_not_hide_the_rest(tmp_path: Path) -> None:
    values = rows()
    _other_words(values[3])
    lines = [json.dumps(value) for value in values]
    report = check_file(written(tmp_path, [lines[0], "{oops", *lines[1:]]))
    assert [fault.line for fault in report.faults] == [2, 5]
    assert report.count == 4


def test_an_empty_file_is_a_fault(tmp_path: Path) -> None:
    assert [fault.message for fault in check_file(written(tmp_path, [])).faults] == [
        "no problems in the file"
    ]
