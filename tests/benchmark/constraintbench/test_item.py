from __future__ import annotations

import json
from typing import Any

import pytest

from constraint_first.benchmark.constraintbench.item import SOURCE, Item, load
from constraint_first.constraint import stage1 as spec
from constraint_first.constraint.stage1 import KINDS
from constraint_first.file.fields import FieldError

CONSTRAINT: dict[str, Any] = {"kind": "domain", "description": "d", "predicate": {}}


def row() -> dict[str, Any]:
    return json.loads(json.dumps(load("mini")[0].to_json()))


@pytest.mark.parametrize("item", [*load("mini"), *load("mini@1")], ids=lambda item: item.id)
def test_survives_json(item: Item) -> None:
    again = Item.from_json(json.loads(json.dumps(item.to_json())))
    assert again == item
    assert again.to_json() == item.to_json()


def test_the_fields_that_every_reader_knows_are_texts() -> None:
    value = row()
    assert all(isinstance(value[name], str) for name in ("id", "problem", "answer", "source"))


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


def test_the_kinds_are_those_of_stage_1() -> None:
    assert KINDS == spec.KINDS
