"""What the commands over JSON Lines files share: rows in, rows out, and a sign of life between."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeAlias, TypeVar

from cfr.benchmark.source import read_gold
from cfr.cli.output import print_json, print_note
from cfr.file.atomic import atomic_file
from cfr.file.field import FieldError
from cfr.file.jsonl import BadLine, JsonLine, scan
from cfr.file.printable import printable_json
from cfr.problem import Json

__all__ = ["Write", "good_rows", "text_field", "with_progress", "writing"]

T = TypeVar("T")
Write: TypeAlias = Callable[[dict[str, Json]], object]
"""Writes one row."""


def good_rows(path: Path, fields: tuple[str, ...]) -> tuple[list[JsonLine], int]:
    """Read the rows that have all these fields; report the others, and say how many they are."""
    rows: list[JsonLine] = []
    bad = 0
    for row in scan(path):
        reason = row.reason if isinstance(row, BadLine) else _wrong(row, fields)
        if isinstance(row, BadLine) or reason:
            bad += 1
            print_note(f"cfr: {path}, line {row.number}: {reason}; skipped")
        else:
            rows.append(row)
    return rows, bad


def _wrong(row: JsonLine, fields: tuple[str, ...]) -> str:
    for name in fields:
        if name not in row.value:
            return f"no field {name!r}"
        value = row.value[name]
        if name == "gold":
            return _wrong_gold(value)
        if name != "id" and isinstance(value, bool | list | dict):
            return f"field {name!r} is a {type(value).__name__}, not text"
    return ""


def _wrong_gold(value: Json) -> str:
    try:
        return "field 'gold' is null" if read_gold(value, "gold") is None else ""
    except FieldError as error:
        return str(error)


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

    from cfr.cli.console import SafeConsole

    console = SafeConsole(stderr=True)
    yield from track(items, label, total, console=console, transient=True)
