"""Benchmarks from Hugging Face, with the library ``datasets`` (an optional extra)."""

from __future__ import annotations

import importlib
from typing import Any

from constraint_first.benchmark.entry import Entry
from constraint_first.benchmark.source import LONGEST_ID, LONGEST_TEXT
from constraint_first.error import InputError
from constraint_first.file.field import check_text, within
from constraint_first.file.jsonl import JsonLine
from constraint_first.problem import Problem

__all__ = ["fetch"]


def fetch(entry: Entry, hint: str) -> list[tuple[int, Problem]]:
    """Load a benchmark's problems, each with the number of its row; ``hint`` ends an error."""
    rows = _rows(entry, hint)
    for row in rows:
        if missing := {entry.problem, *entry.gold_fields} - row.value.keys():
            raise InputError(
                f"benchmark {entry.name!r}: row {row.number} of {entry.dataset} has no field "
                f"{', '.join(sorted(missing))} (it has {', '.join(row.value)}); {hint}"
            )
    ids = entry.make_ids([row.value.get(entry.id) for row in rows])
    return [(row.number, _problem(entry, row, name)) for row, name in zip(rows, ids, strict=True)]


def _rows(entry: Entry, hint: str) -> list[JsonLine]:
    try:
        library: Any = importlib.import_module("datasets")
    except ImportError:
        raise InputError(
            f"benchmark {entry.name!r}: the library to fetch it with is not installed; "
            f"pip install 'constraint-first[datasets]', or {hint}"
        ) from None
    try:
        rows = library.load_dataset(entry.dataset, entry.config or None, split=entry.split)
        return [JsonLine(number, dict(row)) for number, row in enumerate(rows, start=1)]
    except Exception as error:  # the library raises whatever its own transports raise
        said = f"{type(error).__name__}: {error}".splitlines()[0][:200]
        raise InputError(
            f"benchmark {entry.name!r}: {entry.dataset} could not be fetched from Hugging Face "
            f"({said}); check the network, or {hint}"
        ) from error


def _problem(entry: Entry, row: JsonLine, name: str) -> Problem:
    text = str(row.value[entry.problem] or "").strip()
    with within(f"benchmark {entry.name!r}: row {row.number} of {entry.dataset}"):
        gold = entry.read_gold(row.value)
        return Problem(
            check_text(text, entry.problem, LONGEST_TEXT),
            check_text(name, entry.id or "id", LONGEST_ID),
            check_text(gold, entry.gold_fields[0], LONGEST_TEXT),
            entry.name,
        )
