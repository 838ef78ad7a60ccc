"""Exported tables: the CSV and Parquet files of ``cfr export``, read back as its JSON lines."""

from __future__ import annotations

import csv
import importlib
import io
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from cfr.error import InputError
from cfr.evaluation.record import attempt_columns
from cfr.file.csv_file import plain_text
from cfr.file.jsonl import JsonLine, read_rows, read_text
from cfr.file.storable import LONGEST
from cfr.problem import Json

__all__ = ["EXPORTS", "read_export"]

EXPORTS: Final = (".jsonl", ".jsonl.gz", ".csv", ".parquet")
"""How the names of files end that ``cfr export`` writes and every analysis reads."""

_PACKED: Final = ("decoding", "details", "stages")
"""Columns that hold JSON."""
_TRUTH: Final = {"true": True, "false": False, "1": True, "0": False}
_ROWS_AT_ONCE: Final = 1_000


def read_export(path: Path) -> Iterator[JsonLine]:
    """Read attempts from a file in any format that ``cfr export`` writes, in one form."""
    kind = path.suffix.lower()
    if kind == ".csv":
        return _read_csv(path)
    return _read_parquet(path) if kind == ".parquet" else read_rows(path)


def _read_csv(path: Path) -> Iterator[JsonLine]:
    reader = csv.reader(io.StringIO(read_text(path), newline=""), strict=True)
    kinds = attempt_columns() | {"correct": bool}
    try:
        rows = _rows(reader)
        header = [name.strip().lower() for name in next(rows, list[str]())]
        for cells in rows:
            if len(cells) != len(header):
                wrong = f"has {len(cells)} cells where the header has {len(header)}"
                raise InputError(f"{path}, line {reader.line_num}: {wrong}; export it again")
            named = zip(header, cells, strict=True)
            row = {name: _value(plain_text(cell), kinds.get(name, str)) for name, cell in named}
            yield JsonLine(reader.line_num, _unpacked(row))
    except csv.Error as error:
        where = f"{path}, line {reader.line_num}"
        raise InputError(f"{where}: not CSV ({error}); export it again") from None


def _rows(reader: Iterator[list[str]]) -> Iterator[list[str]]:
    """Pass rows on that are not empty; a reply may be longer than the module's limit for a cell."""
    while True:
        before = csv.field_size_limit(4 * LONGEST)
        try:
            cells = next(reader, None)
        finally:
            csv.field_size_limit(before)
        if cells is None:
            return
        if cells:
            yield cells


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


def _read_parquet(path: Path) -> Iterator[JsonLine]:
    try:
        parquet: Any = importlib.import_module("pyarrow.parquet")
    except ImportError:
        raise InputError(
            f"{path}: to read Parquet: pip install 'constraint-first[parquet]'; .jsonl and .csv "
            "need nothing"
        ) from None
    number = 0
    try:
        with parquet.ParquetFile(path) as file:
            for batch in file.iter_batches(_ROWS_AT_ONCE):
                for row in batch.to_pylist():
                    number += 1
                    yield JsonLine(number, _unpacked(row))
    except (OSError, ValueError) as error:
        why = " ".join(str(error).split())[:160]
        raise InputError(f"{path}: cannot be read as Parquet ({why}); export it again") from None


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
