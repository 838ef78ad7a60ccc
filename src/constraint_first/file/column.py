"""Columns of a file of rows: which of them holds which field, found by name or chosen."""

from __future__ import annotations

import difflib
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from constraint_first.error import InputError
from constraint_first.file.jsonl import JsonLine

__all__ = ["ColumnUse", "Columns"]

_MOST_NAMES = 20


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns that hold a command's fields: the usual names, unless one is chosen."""

    usual: Mapping[str, Sequence[str]]
    """For each field the names that its column may have, the best first; case does not matter."""
    chosen: Mapping[str, str] = field(default_factory=dict[str, str])
    """For some fields the one column that holds it."""

    def __post_init__(self) -> None:
        for name in self.chosen:
            if name not in self.usual:
                raise InputError(
                    f"--columns {name}=…: nothing here is called {name!r}; "
                    f"choose from {', '.join(self.usual)}"
                )

    def check(self, path: Path, rows: Sequence[JsonLine], needed: Sequence[str] = ()) -> None:
        """Refuse a file where no row has a chosen column, or any for a field that is needed."""
        names = dict.fromkeys(name for row in rows for name in row.value)
        for name, column in self.chosen.items():
            if rows and column.lower() not in _by_name(tuple(names)):
                close = difflib.get_close_matches(column, names, n=1)
                hint = f"did you mean {close[0]!r}? It has" if close else "it has"
                raise InputError(
                    f"{path}: no column is called {column!r} (--columns {name}=…); {hint} "
                    f"{_list(names)}"
                )

        for name in needed if rows else ():
            if next(self.find(names, name), None) is None:
                raise InputError(f"{path}: {self.absent(names, name)}")

    def find(self, row: Mapping[str, object], name: str) -> Iterator[str]:
        """List the columns of a row that may hold a field, the best first."""
        wanted = (self.chosen[name],) if name in self.chosen else self.usual[name]
        there = _by_name(tuple(row))
        others = {one.lower() for field, one in self.chosen.items() if field != name}
        return (there[one] for one in map(str.lower, wanted) if one in there and one not in others)

    def absent(self, row: Mapping[str, object], name: str) -> str:
        """Say that a row has nothing for a field, what it has, and the way out."""
        if name in self.chosen:
            return f"has no text under {self.chosen[name]!r}"
        first, *others = self.usual[name]
        usual = f"{first!r} (or {', '.join(map(repr, others))})"
        return f"has no text under {usual}; choose one of {_list(row)} with --columns {name}=NAME"


@lru_cache(maxsize=64)  # the rows of a file mostly have the same columns
def _by_name(columns: tuple[str, ...]) -> dict[str, str]:
    return {column.strip().lower(): column for column in reversed(columns)}


def _list(names: Mapping[str, object]) -> str:
    shown = [repr(name[:60]) for name in [*names][:_MOST_NAMES]]
    more = f" and {len(names) - len(shown)} more" if len(names) > len(shown) else ""
    return ", ".join(shown) + more if shown else "none"


class ColumnUse:
    """A count of what was read from which column, told in one line."""

    def __init__(self, path: Path, noun: str) -> None:
        self._path = path
        self._noun = noun
        self._found: defaultdict[str, Counter[tuple[str, str]]] = defaultdict(Counter)

    def add(self, name: str, column: str, how: str = "") -> None:
        """Count one value, and in which way it was cut out of its cell."""
        self._found[name][column, how] += 1

    def saw(self, name: str) -> bool:
        """Tell whether any row has the field."""
        return name in self._found

    def describe(self, count: int, fields: Sequence[str]) -> str:
        """Say what was taken from a file of so many rows."""
        noun = self._noun.removesuffix("s") if count == 1 else self._noun
        told = [self._field(name, count) for name in fields if self.saw(name)]
        return f"{self._path}: {count:,} {noun}" + (f"; {', '.join(told)}" if told else "")

    def _field(self, name: str, count: int) -> str:
        found = self._found[name]
        columns = " or ".join(repr(one[:60]) for one in dict.fromkeys(one for one, _ in found))
        hows = Counter[str]()
        for (_, how), number in found.items():
            hows[how] += number
        parts = [f"{number:,} {how or 'as written'}" for how, number in hows.items()]
        if len(hows) == 1:
            parts = [how for how in hows if how]
        if hows.total() < count:
            parts.append(f"in {hows.total():,} of {count:,}")
        return f"{name} from {columns}" + (f" ({', '.join(parts)})" if parts else "")
