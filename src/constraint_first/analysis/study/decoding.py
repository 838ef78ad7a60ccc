"""Decoding settings as stores and outcome files write them: a JSON object in one order."""

from __future__ import annotations

import json
from typing import Any, Final, cast

import orjson

__all__ = ["read_decoding", "write_decoding"]

_ORDER: Final = ("temperature", "top_p", "seed", "system")


def read_decoding(decoding: str) -> dict[str, Any]:
    """Read the settings of an arm; nothing where none are on record."""
    found: object = json.loads(decoding)
    return cast("dict[str, Any]", found) if isinstance(found, dict) else {}


def write_decoding(value: object) -> str:
    """Write settings as stores do, in one order of names; an empty object where there are none."""
    if not isinstance(value, dict):
        return "{}"
    given = cast("dict[str, Any]", value)
    names = [*(name for name in _ORDER if name in given), *sorted(given.keys() - {*_ORDER})]
    ordered = {name: _as_stored(name, given[name]) for name in names}
    try:
        return orjson.dumps(ordered).decode()
    except TypeError:  # a number that is too large for it
        return json.dumps(ordered)


def _as_stored(name: str, value: Any) -> Any:
    whole = isinstance(value, int) and not isinstance(value, bool)
    return float(value) if whole and name in ("temperature", "top_p") else value
