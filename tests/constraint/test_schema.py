import json
from collections.abc import Iterator
from typing import Any

import pytest

from constraint_first.constraint.stage1 import FEW, KINDS, Limit, read_limit, schema_for


def nodes(node: Any) -> Iterator[Any]:
    """Go through a schema and all schemas in it."""
    yield node
    for child in (*node.get("properties", {}).values(), *filter(None, [node.get("items")])):
        yield from nodes(child)


def test_the_schema_bounds_every_string_and_list() -> None:
    schema = json.loads(schema_for(FEW))
    for node in nodes(schema):
        assert node.get("type") != "string" or node["maxLength"] > 0
        assert node.get("type") != "array" or node["maxItems"] > 0
    kinds = schema["properties"]["raw_constraints"]["items"]["properties"]["type"]["enum"]
    assert tuple(kinds) == KINDS
    assert len(KINDS) == 8


@pytest.mark.parametrize("limit", [FEW, Limit(8, 5), Limit(99, 0)])
def test_a_limit_is_what_the_lists_may_hold(limit: Limit) -> None:
    lists = json.loads(schema_for(limit))["properties"]
    assert lists["raw_constraints"]["maxItems"] == limit.raw
    assert lists["propagated_constraints"]["maxItems"] == limit.propagated


def test_without_a_limit_no_list_is_bounded_but_every_string_is() -> None:
    for node in nodes(json.loads(schema_for(None))):
        assert "maxItems" not in node
        assert node.get("type") != "string" or node["maxLength"] > 0


def test_the_danger_note_may_be_left_out_where_nobody_asks_for_it() -> None:
    asked, unasked = (json.loads(schema_for(None, danger_note=note)) for note in (True, False))
    assert asked["properties"] == unasked["properties"]
    assert asked["required"] == [*unasked["required"], "danger_note"]


@pytest.mark.parametrize(
    ("text", "limit"), [("6+3", FEW), ("8+5", Limit(8, 5)), ("12+0", Limit(12, 0)), ("all", None)]
)
def test_a_limit_as_it_is_written_in_a_name(text: str, limit: Limit | None) -> None:
    assert read_limit(text) == limit


@pytest.mark.parametrize("text", ["", "6", "6+", "0+3", "six", "6 + 3", "-1+3", "100+3", "none"])
def test_another_text_is_no_limit(text: str) -> None:
    with pytest.raises(ValueError, match="'all' or two numbers such as '6\\+3'"):
        read_limit(text)
