"""Exported tables: what ``cfr export`` writes, in any of its formats, read back as JSON lines."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final

from constraint_first.evaluation.record import attempt_columns
from constraint_first.file.csv_file import plain_text
from constraint_first.file.jsonl import JsonLine
from constraint_first.file.row import all_rows, row_format
from constraint_first.problem import Json

__all__ = ["read_export"]

_PACKED: Final = ("decoding", "details", "stages")
"""Columns that hold JSON."""
_TRUTH: Final = {"true": True, "false": False, "1": True, "0": False}


def read_export(path: Path) -> Iterator[JsonLine]:
    """Read attempts from a file of rows in any format, in one form."""
    kind = row_format(path)
    rows = all_rows(path)
    if kind in (".csv", ".tsv"):
        kinds = attempt_columns() | {"correct": bool}
        return (replace(row, value=_unpacked(_typed(row.value, kinds))) for row in rows)
    if kind == ".parquet":
        return (replace(row, value=_unpacked(row.value)) for row in rows)
    return rows


def _typed(cells: Mapping[str, Json], kinds: Mapping[str, type]) -> dict[str, Json]:
    named = {name.lower(): cell for name, cell in cells.items()}
    return {
        name: _value(plain_text(str(cell)), kinds.get(name, str)) for name, cell in named.items()
    }


def _value(cell: str, kind: type) -> Json:
    """Read a cell as the type of its column; what is none is left for others to complain of."""
    if not cell:
        return None
    if kind is bool:
        return _TRUTH.get(cell.strip().lower(), cell)
    try:
        return kind(cell)
    except ValueError:
        return cell


def _unpacked(row: Mapping[str, Json]) -> dict[str, Json]:
    """Bring a row of a table into the form of a JSON line."""
    packed = {name: _parsed(row[name]) for name in _PACKED if name in row}
    # A status that is not there is no status; a verdict that is not there is one: not judged.
    return {n: v for n, v in {**row, **packed}.items() if n != "status" or v is not None}


def _parsed(value: Json) -> Json:
    try:
        return json.loads(value) if isinstance(value, str) else value
    except (ValueError, RecursionError):
        return value
