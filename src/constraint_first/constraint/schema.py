"""The JSON Schema of a Stage 1 reply, for engines that can enforce one."""

from __future__ import annotations

import json
import re
from typing import Final, NamedTuple

from constraint_first.constraint.spec import KINDS
from constraint_first.problem import Json

__all__ = ["FEW", "Limit", "read_limit", "schema_for"]


class Limit(NamedTuple):
    """The most constraints that Stage 1 may list: of the problem, and derived from those."""

    raw: int
    propagated: int


FEW: Final = Limit(6, 3)
"""As many as a small model can hold on to. The paper sets no limit: its strongest model lists 7.74
and 5.12 on average."""


def read_limit(text: str) -> Limit | None:
    """Read a limit as it is written in a method's name: ``6+3``, or ``all`` for none."""
    if text == "all":
        return None
    if not (numbers := re.fullmatch(r"([1-9]\d?)\+(\d\d?)", text)):
        raise ValueError(f"constraints must be 'all' or two numbers such as '6+3', not {text!r}")
    return Limit(int(numbers[1]), int(numbers[2]))


def schema_for(limit: Limit | None, *, danger_note: bool = True) -> str:
    """Write the schema of a reply, which names its danger where that is asked for.

    Every string is bounded, and every list unless there is no limit: without bounds a small model
    that is held to a grammar repeats itself until its budget is spent.
    """
    few = 4 if limit else None
    fields: dict[str, Json] = {
        "problem_summary": _line(200),
        "raw_constraints": _list(
            _object({"id": _line(4), "type": {"enum": [*KINDS]}, "description": _line(200)}),
            limit.raw if limit else None,
        ),
        "propagated_constraints": _list(
            _object(
                {"id": _line(4), "derived_from": _list(_line(4), few), "description": _line(200)}
            ),
            limit.propagated if limit else None,
        ),
        "likely_answer_range": _line(100),
        "answer_format": _line(100),
        "critical_constraints": _list(_line(4), few),
        "danger_note": _line(200),
    }
    whole = _object(fields)
    if not danger_note:
        whole["required"] = [name for name in fields if name != "danger_note"]
    return json.dumps(whole)


def _line(limit: int) -> dict[str, Json]:
    return {"type": "string", "maxLength": limit}


def _list(item: dict[str, Json], limit: int | None) -> dict[str, Json]:
    bounded: dict[str, Json] = {"type": "array", "items": item}
    if limit is not None:
        bounded["maxItems"] = limit
    return bounded


def _object(fields: dict[str, Json]) -> dict[str, Json]:
    return {
        "type": "object",
        "properties": fields,
        "required": [*fields],
        "additionalProperties": False,
    }
