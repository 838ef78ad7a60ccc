"""What the commands over JSON Lines files share: rows in, rows out, and a sign of life between."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeAlias, TypeVar

import click

from cfr.file.atomic import atomic_file
from cfr.file.jsonl import BadLine, JsonLine, scan
from cfr.problem import Json

__all__ = ["Write", "good_rows", "text_field", "with_progress", "writing"]

T = TypeVar("T")
Write: TypeAlias = Callable[[dict[str, Json]], None]
"""Writes one row."""


def good_rows(path: Path, fields: tuple[str, ...]) -> tuple[list[JsonLine], int]:
    """Read the rows that have all these fields; report the others, and say how many they are."""
    rows: list[JsonLine] = []
    bad = 0
    for row in scan(path):
        reason = row.reason if isinstance(row, BadLine) else _wrong(row, fields)
        if isinstance(row, BadLine) or reason:
            bad += 1
            click.echo(f"cfr: {path}, line {row.number}: {reason}; skipped", err=True)
        else:
            rows.append(row)
    return rows, bad


def _wrong(row: JsonLine, fields: tuple[str, ...]) -> str:
    for name in fields:
        if name not in row.value:
            return f"no field {name!r}"
        value = row.value[name]
        if name != "id" and isinstance(value, bool | list | dict):
            return f"field {name!r} is a {type(value).__name__}, not text"
        if name == "gold" and value is None:
            return "field 'gold' is null"
    return ""


def text_field(row: JsonLine, name: str) -> str | None:
    """Return a field as text: a number as it is written, None for null and for what is absent."""
    value = row.value.get(name)
    return value if isinstance(value, str) or value is None else json.dumps(value)


@contextmanager
def writing(path: Path | None) -> Generator[Write]:
    """Open a file that appears only when it is complete; without a path, standard output."""
    if path is None:
        yield _row_writer(sys.stdout.write)
        return
    with atomic_file(path) as temporary, temporary.open("w", encoding="utf-8") as file:
        yield _row_writer(file.write)


def _row_writer(write: Callable[[str], object]) -> Write:
    def write_row(row: dict[str, Json]) -> None:
        # A lone surrogate in a model's text has no UTF-8; its ASCII escape has.
        line = json.dumps(row, ensure_ascii=False)
        write((line if line.isprintable() or _encodes(line) else json.dumps(row)) + "\n")

    return write_row


def _encodes(line: str) -> bool:
    try:
        line.encode()
    except UnicodeEncodeError:
        return False
    return True


def with_progress(items: Iterable[T], total: int, label: str) -> Iterator[T]:
    """Pass items on, with a bar on standard error where that is a terminal."""
    if not sys.stderr.isatty():
        yield from items
        return
    from rich.console import Console
    from rich.progress import track

    console = Console(stderr=True)
    yield from track(items, label, total, console=console, transient=True)
