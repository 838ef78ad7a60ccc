"""Fields of a JSON or TOML object, read by type.

An error names the field, the type that it must have and the value found instead. ``within`` adds
the place: the path, and the line or the table.
"""

from __future__ import annotations

import difflib
import re
import reprlib
import tomllib
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Generic, TypeVar, cast

from constraint_first.error import InputError
from constraint_first.pattern import lazy_pattern
from constraint_first.problem import Json

T = TypeVar("T")


class FieldError(InputError):
    """A field that is missing, not known, or not of its type."""

    def __init__(self, message: str, field: str = "") -> None:
        super().__init__(message)
        self.field = field
        """The name of the field, where that is known."""


@dataclass(frozen=True, slots=True)
class FieldType(Generic[T]):
    """A type that a field may have: its name in a message, and the test for it."""

    name: str
    fits: Callable[[Any], bool]


# By their very type: for isinstance, true is a whole number.
TEXT: Final[FieldType[str]] = FieldType("a text", lambda value: type(value) is str)
FILLED: Final[FieldType[str]] = FieldType(
    "a text that is not blank", lambda value: type(value) is str and value.strip() != ""
)
TRUTH: Final[FieldType[bool]] = FieldType("true or false", lambda value: type(value) is bool)
WHOLE: Final[FieldType[int]] = FieldType("a whole number", lambda value: type(value) is int)
NUMBER: Final[FieldType[float]] = FieldType(
    "a number", lambda value: type(value) is int or type(value) is float
)
OBJECT: Final[FieldType[dict[str, Json]]] = FieldType(
    "an object", lambda value: type(value) is dict
)
_ABSENT: Final = object()
_NO_CHARACTER: Final = lazy_pattern("[\0\ud800-\udfff]")


def one_of(values: Sequence[T]) -> FieldType[T]:
    """Give the type of a field that is one of a few words or numbers, or null."""
    types = {type(value) for value in values}
    names = ", ".join("null" if value is None else str(value) for value in values)
    return FieldType(f"one of {names}", lambda value: type(value) in types and value in values)


def list_of(kind: FieldType[T], names: str) -> FieldType[list[T]]:
    """Give the type of a list, which may be empty; ``names`` are its values in a message."""
    return FieldType(
        f"a list of {names}",
        lambda value: type(value) is list and all(map(kind.fits, cast("list[Any]", value))),
    )


def read_field(row: Mapping[str, Any], name: str, kind: FieldType[T]) -> T:
    value: Any = row.get(name, _ABSENT)
    if kind.fits(value):
        return value
    if value is _ABSENT:
        raise FieldError(f"needs {name!r}, {kind.name}", name)
    # Cut short: the value may be of any length and depth.
    raise FieldError(f"{name!r} must be {kind.name}, not {reprlib.repr(value)}", name)


def read_objects(
    row: Mapping[str, Any], name: str, reader: Callable[[dict[str, Json]], T]
) -> tuple[T, ...]:
    """Read a list of objects, each by the same reader; an error says in which one it is."""
    found: list[T] = []
    for number, one in enumerate(read_field(row, name, list_of(OBJECT, "objects")), start=1):
        try:
            found.append(reader(one))
        except FieldError as error:
            raise FieldError(f"{name} {number}: {error}") from None
    return tuple(found)


def check_fields(row: Mapping[str, Any], kinds: Mapping[str, FieldType[Any]]) -> None:
    """Refuse a field that is not known or not of its type; none of them must be there."""
    for name in row:
        if name not in kinds:
            close = difflib.get_close_matches(name, kinds, n=1)
            hint = f"did you mean {close[0]!r}?" if close else f"choose from {', '.join(kinds)}"
            raise FieldError(f"there is no {reprlib.repr(name)}; {hint}", name)
        read_field(row, name, kinds[name])


def check_text(text: str, name: str, longest: int) -> str:
    """Return a text that every database and endpoint takes, or say why it is none."""
    if found := _NO_CHARACTER.search(text):
        what = "a NUL character" if found[0] == "\0" else "half a surrogate pair"
        raise FieldError(f"{name!r} has {what} as character {found.start() + 1}; replace it", name)
    if len(text) > longest:
        raise FieldError(f"{name!r} has {len(text):,} characters; {longest:,} are the most", name)
    return text


@contextmanager
def within(where: object) -> Generator[None]:
    """Say where the fields are that are read in this context."""
    try:
        yield
    except FieldError as error:
        raise FieldError(f"{where}: {error}", error.field) from None


# TOML files that a person writes.

_LONGEST: Final = 2**22


def parse_toml(where: Path | str, text: str) -> dict[str, Any]:
    """Parse the text of a TOML file that is called ``where`` in a message."""
    if len(text) > _LONGEST:
        raise InputError(f"{where}: longer than {_LONGEST // 2**20} MB, the most that is read")
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # also a number of more digits than Python reads
        reason = str(error).split(";")[0]
        raise InputError(f"{where}: not TOML ({reason}); correct the file") from None


def line_of(text: str, name: str, start: int = 0) -> str:
    """Find the line of a setting, as ``, line 3``; the library that reads TOML keeps none.

    Empty where there is no such setting from ``start`` on.
    """
    setting = re.compile(rf"""^[ \t]*["']?{re.escape(name)}["']?\s*=""", re.MULTILINE)
    found = setting.search(text, start) if name else None
    return f", line {text.count(chr(10), 0, found.end()) + 1}" if found else ""
