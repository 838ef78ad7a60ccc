"""JSON files that hold rows: a list of objects, one object, or an object with such a list."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, cast

from constraint_first.error import InputError
from constraint_first.file.jsonl import (
    MOST_WHOLE,
    BadLine,
    JsonLine,
    MemoryBound,
    NotJson,
    count_values,
    parse_json,
    read_text,
    scan_text,
)

__all__ = ["rows_in", "scan_json"]

# What the list is called in an object that holds it.
_LISTS: Final = ("data", "rows", "problems", "questions", "examples", "items")


def scan_json(path: Path) -> Iterator[JsonLine | BadLine]:
    """Read the rows of a JSON file, numbered from 1; JSON Lines of that name are read as such."""
    text = read_text(path, MOST_WHOLE)
    if not text or text.isspace():
        return
    MemoryBound(path).add(len(text), count_values(text))
    try:
        value = parse_json(text)
    except NotJson as error:
        if "Extra data" not in str(error):
            raise InputError(f"{path}, line {error.line}: {error}; mend it there") from None
        yield from scan_text(text)
        return
    for number, row in enumerate(rows_in(value), start=1):
        if isinstance(row, dict):
            yield JsonLine(number, cast("dict[str, Any]", row), "row")
        else:
            reason = f"JSON, but a {type(row).__name__} and not an object"
            yield BadLine(number, reason, "row")


def rows_in(value: object) -> list[Any]:
    """List the rows of a JSON value: its members, those of the list it holds, or itself alone."""
    if isinstance(value, list):
        return cast("list[Any]", value)
    if isinstance(value, dict):
        for name in _LISTS:
            held = cast("dict[str, Any]", value).get(name)
            if isinstance(held, list) and any(isinstance(one, dict) for one in cast("Any", held)):
                return cast("list[Any]", held)
    return [value]
