from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import pytest

from constraint_first.benchmark.constraintbench import make as verify
from constraint_first.benchmark.constraintbench.family import (
    SOURCE,
    Item,
    encode,
    load,
    split_bytes,
)
from constraint_first.benchmark.constraintbench.make import (
    FAMILIES,
    LevelCheck,
    MeasuredLevels,
    Shortcut,
    check_file,
    check_levels,
    generate,
    measured_levels,
    numbers_of,
    shortcuts,
    text_without_names,
)
from constraint_first.file.rows import FieldError

# --- verify


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


def first(row: dict[str, Any], field: str, **changes: Any) -> dict[str, Any]:
    """Change the first gold constraint, or the first tempting answer."""
    return row | {field: [row[field][0] | changes, *row[field][1:]]}


def other_answer(row: dict[str, Any]) -> dict[str, Any]:
    return row | {"answer": row["tempting"][0]["answer"]}


def other_words(row: dict[str, Any]) -> dict[str, Any]:
    return row | {"problem": row["problem"].replace("a", "e", 1)}


NO_BOUNDS = {"op": "between", "low": None, "high": None}
NOBODY = {"family": "nobody", "id": "nobody-3-11-0"}
TAMPERED: list[tuple[Callable[[dict[str, Any]], dict[str, Any]], str]] = [
    (other_answer, "does not satisfy"),
    (other_answer, "is the answer itself"),
    (other_answer, "draws another 'answer'"),
    (other_words, "draws another 'problem'"),
    (lambda row: first(row, "tempting", answer=row["answer"]), "is the answer itself"),
    (lambda row: row | {"tempting": []}, "rejects no tempting answer"),
    (lambda row: first(row, "constraints", span="in no text"), "is not in the text"),
    (lambda row: row | NOBODY | {"level": 3, "index": 0}, "no family is called 'nobody'"),
    (
        lambda row: first(row, "constraints", predicate={"op": "nonsense"}),
        "no predicate is called 'nonsense'",
    ),
    (lambda row: {k: v for k, v in row.items() if k != "tier"}, "needs 'tier', one of"),
    (
        lambda row: first(row, "tempting", answer="1/7", error="forgot_modular_reduction"),
        "1/7 is not 'forgot_modular_reduction'",
    ),
    (
        lambda row: row | {"constraints": [one | {"pins": True} for one in row["constraints"]]},
        "no constraint can be known without solving",
    ),
    (
        lambda row: first(
            row, "constraints", predicate={"op": "rounded", "value": row["answer"], "unit": 1}
        ),
        "pins the answer and is not marked",
    ),
    (
        lambda row: first(row, "constraints", predicate=NO_BOUNDS, pins=True),
        "pins the answer and accepts",
    ),
]


@pytest.mark.parametrize(("tamper", "says"), TAMPERED)
def test_a_tampered_row_is_found_and_its_line_named(
    tmp_path: Path, tamper: Callable[[dict[str, Any]], dict[str, Any]], says: str
) -> None:
    values = rows()
    values[2] = tamper(values[2])
    found = faults(tmp_path, values)
    assert {line for line, _ in found} == {3}
    assert any(says in message for _, message in found)


def test_a_repeated_text_names_the_first_line(tmp_path: Path) -> None:
    values = rows()
    assert faults(tmp_path, []) == [(1, "no problems in the file")]
    assert faults(tmp_path, [*values, values[1]]) == [(5, "the same text as line 2")]


def test_version_1_is_checked_but_not_drawn_again(tmp_path: Path) -> None:
    values = [json.loads(line) for line in split_bytes("public@1").splitlines()]
    report = check_file(written(tmp_path, [json.dumps(value) for value in values]))
    assert (report.count, report.not_drawn, report.faults) == (480, 480, ())
    values[2] = other_answer(values[2])
    assert {line for line, _ in faults(tmp_path, values)} == {3}


def test_a_shortcut_is_a_fault(tmp_path: Path) -> None:
    values = rows(400)
    for value in values:
        value["problem"] += f" The answer is ${value['answer']}$."
    found = faults(tmp_path, values)
    assert any("a shortcut: leak, the answer is the last number" in message for _, message in found)


def test_a_line_that_is_not_json_does_not_hide_the_rest(tmp_path: Path) -> None:
    values = rows()
    values[3] = other_words(values[3])
    lines = [json.dumps(value) for value in values]
    report = check_file(written(tmp_path, [lines[0], "{oops", *lines[1:]]))
    assert [fault.line for fault in report.faults] == [2, 5]
    assert report.count == 4


# --- measured


MEASURED = MeasuredLevels(
    "a model",
    "Direct CoT",
    "2026-11-15",
    9,
    {"falls": (9, 5, 1), "ends": (5, 7, 2), "no": (3, 2, 3)},
)


def test_families_are_counted_by_how_their_levels_were_solved() -> None:
    check = LevelCheck(MEASURED, ("falls", "ends", "no"))
    assert (check.harder, check.falling) == (("falls", "ends"), ("falls",))
    assert "2 of 3 families, falling at each: 1 (Direct CoT, a model, 2026-11-15)" in str(check)


def test_nine_of_ten_must_become_harder() -> None:
    assert not LevelCheck(MEASURED, ("falls",) * 8 + ("no",)).passed
    assert LevelCheck(MEASURED, ("falls",) * 9 + ("no",)).passed


def test_every_family_with_three_levels_was_measured() -> None:
    usual = [name for name, family in FAMILIES.items() if len(family.levels) == 3]
    assert list(measured_levels().correct) == usual
    assert all(len(counts) == 3 for counts in measured_levels().correct.values())


def test_only_what_occurs_and_was_measured_is_checked() -> None:
    (item, *_) = load("public")
    check = check_levels([item])
    assert check
    assert check.families == (item.family,)
    assert check_levels(load("hard")) is None
    assert check_levels(load("public@1")) is None


def test_levels_that_do_not_order_are_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    (item, *_) = load("public")
    flat = LevelCheck(MEASURED, ("no",))
    monkeypatch.setattr(verify, "check_levels", MagicMock(return_value=flat))
    (fault,) = verify.check_items({1: item}).faults
    assert "0 of 1 families" in fault.message


# --- shortcut


ITEM = load("mini")[0]


def hits(items: list[Item], name: str) -> Shortcut:
    (found,) = [one for one in shortcuts(items) if name in one.name]
    return found


def test_a_fresh_set_has_no_open_shortcut() -> None:
    assert [one.name for one in shortcuts(list(generate(12, 400))) if one.open] == []


def test_a_guess_is_learnt_from_other_problems() -> None:
    items = [replace(ITEM, answer="7", text=f"Find ${n}$.") for n in range(400)]
    assert not hits(items, "of the family among others drawn").open
    old = [replace(item, version=1) for item in items]
    assert hits(old, "guess, the most frequent answer of the family in this set itself").open


def test_the_worst_of_the_large_families_is_named() -> None:
    other = next(item for item in load("mini") if item.family != ITEM.family)
    items = [replace(ITEM, answer=f"{n % 20}") for n in range(300)]
    items += [replace(other, answer=f"{n % 10}") for n in range(300)]
    found = hits(items, f"`{other.family}`")
    assert (found.hits, found.of, found.open) == (30, 300, True)
    assert f"`{ITEM.family}`" not in str(list(shortcuts(items)))


def test_an_answer_that_stands_in_the_text_is_found() -> None:
    items = [replace(ITEM, answer=f"{n}", text=f"From $3$ add ${n}$, $2.5$.") for n in range(9)]
    assert hits(items, "first").hits == 1
    assert hits(items, "last").hits == 0
    assert hits(items, "largest").hits == 6
    assert str(hits(items, "largest")).endswith("number of the text: 6 of 9 (66.7 %)")


def test_a_letter_that_is_right_too_often_is_found() -> None:
    items = [replace(ITEM, answer="ABCDE"[n % 5], form="choice") for n in range(400)]
    assert not hits(items, "letter").open
    assert hits([replace(item, answer="A") for item in items], "letter").open


def test_near_duplicates_are_found() -> None:
    items = [
        replace(ITEM, text="Uma adds $3$ to $45$."),
        replace(ITEM, text="Wen adds $3$ to $45$."),
        replace(ITEM, text="Wen takes $45$ and adds $3$."),
    ]
    assert len({*map(numbers_of, items)}) == 1
    assert len({*map(text_without_names, items)}) == 2
    assert hits(items, "numbers of another").hits == 2
    assert hits(items, "up to names").hits == 1


def test_a_few_problems_are_not_judged() -> None:
    assert not Shortcut("guess", 9, 9).open
    assert Shortcut("guess", 30, 300).open
    assert not Shortcut("guess", 24, 300).open


# --- item


CONSTRAINT: dict[str, Any] = {"kind": "domain", "description": "d", "predicate": {}}


def row() -> dict[str, Any]:
    return json.loads(json.dumps(load("mini")[0].to_json()))


def test_a_method_sees_the_text_alone() -> None:
    item = load("mini")[0]
    problem = item.problem()
    assert (problem.text, problem.answer, problem.id) == (item.text, item.answer, item.id)
    assert problem.benchmark == SOURCE


@pytest.mark.parametrize(
    ("field", "value", "says"),
    [
        ("problem", "", "'problem' must be a text"),
        ("answer", 7, "'answer' must be a text"),
        ("form", "roman", "'form' must be one of integer, fraction"),
        ("tier", None, "'tier' must be one of explicit"),
        ("level", 5, "'level' must be one of 1, 2, 3, 4, not 5"),
        ("level", True, "'level' must be one of 1, 2, 3, 4, not True"),
        ("version", 3, "'version' must be one of 1, 2, not 3"),
        ("seed", "x", "'seed' must be a whole number"),
        ("constraints", ["x"], "'constraints' must be a list of objects"),
        (
            "constraints",
            [{"kind": "domain", "description": "d"}],
            "constraints 1: needs 'predicate', an object",
        ),
        ("constraints", [CONSTRAINT | {"predicate": 3}], "'predicate' must be an object, not 3"),
        (
            "constraints",
            [CONSTRAINT, CONSTRAINT | {"span": 3}],
            "constraints 2: 'span' must be a text",
        ),
        ("tempting", [{"answer": "3", "error": "typo"}], "tempting 1: 'error' must be one of"),
        ("id", "another", "'id' is 'another'"),
        ("kinds", [], "'kinds' is"),
        ("source", "AIME", "'source' is 'AIME'"),
    ],
)
def test_a_bad_field_is_named(field: str, value: Any, says: str) -> None:
    with pytest.raises(FieldError, match=says):
        Item.from_json({**row(), field: value})
