"""Values from outside made fit for a database: the one gate for texts, counts and JSON.

A reply may hold anything. What SQLite, PostgreSQL or a JSON writer would refuse is replaced here;
whatever they take as it stands is returned unchanged.

- text: NUL and half a surrogate pair become U+FFFD, two halves that meet become their character,
  and what goes beyond ``LONGEST`` characters is cut off
- a count: a whole number from 0 to ``MOST``, the largest that an INTEGER column holds everywhere
- JSON: its texts as above, integers beyond 64 bits as text, NaN and infinities as null, values
  nested too deeply as "…", and nothing after the first ``LONGEST`` characters
"""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite
from typing import Any, Final, cast

import orjson

from constraint_first.problem import Json

__all__ = ["LONGEST", "MOST", "storable_count", "storable_json", "storable_text"]

LONGEST: Final = 2**22
"""Characters of a text, or of a JSON value, that are kept: about a million tokens."""
MOST: Final = 2**31 - 1
"""The largest count that is kept; more than any model reads or writes at once."""

_DEEPEST: Final = 100
_INTEGERS: Final = range(-(2**63), 2**63)
_REPLACEMENT: Final = "\N{REPLACEMENT CHARACTER}"


def storable_text(text: str) -> str:
    """Return a text that every database takes, the very same one where it is that already."""
    if "\0" in text:
        text = text.replace("\0", _REPLACEMENT)
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:  # UTF-16 is where halves of a pair can meet
            text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text[:LONGEST]


def storable_count(count: float) -> int:
    """Return the whole number from 0 to ``MOST`` that is nearest to a count; 0 for NaN."""
    return int(min(max(0, count), MOST))


def storable_json(value: object, room: int = LONGEST) -> str:
    """Write a value as JSON text that every database takes and every JSON reader reads."""
    try:
        written = orjson.dumps(value)
    except TypeError:  # an integer too large, half a surrogate pair, nesting too deep, no JSON
        written = b""
    if not written or len(written) > room or b"\\u0000" in written:
        written = orjson.dumps(_Cut(room).kept(value, _DEEPEST))
    return written.decode()


class _Cut:
    """A walk through a value that copies it piece by piece, as long as there is room."""

    def __init__(self, room: int) -> None:
        self._room = room

    def kept(self, value: object, depth: int) -> Json:
        self._room -= 1
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, int):
            return int(value) if value in _INTEGERS else self._text(_digits(value))
        if isinstance(value, float):
            return float(value) if isfinite(value) else None
        if isinstance(value, Mapping | list | tuple):
            return self._members(cast("Any", value), depth - 1) if depth else "…"
        return self._text(str(value))

    def _members(self, value: Mapping[Any, Any] | list[Any] | tuple[Any, ...], depth: int) -> Json:
        if isinstance(value, Mapping):
            return {
                self._text(str(name)): self.kept(member, depth)
                for name, member in value.items()
                if self._room > 0
            }
        return [self.kept(member, depth) for member in value if self._room > 0]

    def _text(self, text: str) -> str:
        kept = storable_text(text)[: max(self._room, 0)]
        self._room -= len(kept)
        return kept


def _digits(value: int) -> str:
    try:
        return str(value)
    except ValueError:  # Python writes so many decimal digits and no more
        return hex(value)
