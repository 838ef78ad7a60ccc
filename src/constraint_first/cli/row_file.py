"""What the commands over files of rows share: rows in, rows out, and a sign of life between."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeAlias, TypeVar

from constraint_first.benchmark.source import GOLD_COLUMNS, final_part, read_gold
from constraint_first.cli.output import print_json, print_note
from constraint_first.file.atomic import atomic_file
from constraint_first.file.column import Columns, ColumnUse
from constraint_first.file.field import FieldError
from constraint_first.file.jsonl import BadLine, JsonLine
from constraint_first.file.printable import printable_json
from constraint_first.file.row import scan_rows
from constraint_first.problem import Json

__all__ = ["GoodRows", "RowFields", "Write", "good_rows", "text_field", "with_progress", "writing"]

T = TypeVar("T")
Write: TypeAlias = Callable[[dict[str, Json]], object]
"""Writes one row."""

_REPLIES: Final = ("reply", "response", "completion", "output", "prediction", "model_answer")
_USUAL: Final = {
    "id": ("id",),
    "run": ("run",),
    "pred": ("pred", *_REPLIES),
    "gold": ("gold", *GOLD_COLUMNS),
    "text": ("text", "pred", *_REPLIES),
    "problem": ("problem", "question", "prompt", "problem_text"),
    "truncated": ("truncated",),
}


@dataclass(frozen=True, slots=True)
class RowFields:
    """The fields that a command reads from each row, and those that no row may be without."""

    read: tuple[str, ...]
    needed: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class GoodRows:
    """The rows of a file that have what is needed, and what is to be said of the file."""

    rows: list[JsonLine]
    """With the fields under their own names, whatever the columns are called."""
    bad: int
    """How many others there are."""
    taken: str
    """One line: what was taken from which column."""


def good_rows(path: Path, fields: RowFields, chosen: Mapping[str, str]) -> GoodRows:
    """Read the rows that have what is needed, and report the others.

    A row without an "id" goes by its number.
    """
    columns = Columns({name: _USUAL[name] for name in fields.read}, chosen)
    scanned = [*scan_rows(path)]
    columns.check(path, [row for row in scanned if isinstance(row, JsonLine)], fields.needed)
    use, rows, bad = ColumnUse(path, "rows"), list[JsonLine](), 0
    for row in scanned:
        found = row.reason if isinstance(row, BadLine) else _read(row, fields, columns, use)
        if isinstance(found, str):
            bad += 1
            print_note(f"cfr: {path}, {row.place}: {found}; skipped")
        else:
            rows.append(JsonLine(row.number, found, row.unit))
    return GoodRows(rows, bad, use.describe(len(rows), fields.read))


def _read(
    row: JsonLine, fields: RowFields, columns: Columns, use: ColumnUse
) -> dict[str, Json] | str:
    """Read the fields of a row, or say why it is of no use."""
    found: dict[str, Json] = {"id": row.number}
    taken: list[tuple[str, str, str]] = []
    for name in fields.read:
        column = next(columns.find(row.value, name), None)
        if column is None:
            if name in fields.needed:
                return f"no field {columns.chosen.get(name, name)!r}"
            continue
        value, how = row.value[column], ""
        try:
            if name == "gold":
                value, how = _read_gold(value, column)
            elif name in fields.needed and isinstance(value, bool | list | dict):
                return f"field {column!r} is a {type(value).__name__}, not text"
        except FieldError as error:
            return str(error)
        found[name] = value
        taken.append((name, column, how))
    for one in taken:
        use.add(*one)
    return found


def _read_gold(value: Json, column: str) -> tuple[str, str]:
    gold = read_gold(value, column)
    if gold is None or not gold.strip():
        raise FieldError(f"field {column!r} is {'null' if gold is None else 'empty'}", column)
    return final_part(gold)


def text_field(row: JsonLine, name: str) -> str | None:
    """Return a field as text: a number as it is written, None for null and for what is absent."""
    value = row.value.get(name)
    return value if isinstance(value, str) or value is None else printable_json(value)


@contextmanager
def writing(path: Path | None) -> Generator[Write]:
    """Open a file that appears only when it is complete; without a path, standard output."""
    if path is None:
        yield print_json
        return
    with atomic_file(path) as temporary, temporary.open("w", encoding="utf-8") as file:
        yield lambda row: file.write(f"{printable_json(row)}\n")


def with_progress(items: Iterable[T], total: int, label: str) -> Iterator[T]:
    """Pass items on, with a bar on standard error where that is a terminal."""
    if not sys.stderr.isatty():
        yield from items
        return
    from rich.progress import track

    from constraint_first.cli.console import SafeConsole

    console = SafeConsole(stderr=True)
    yield from track(items, label, total, console=console, transient=True)
