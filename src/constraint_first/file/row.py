"""Files of rows in all formats that people keep them in: the one reader for every command."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from constraint_first.file.csv_file import scan_csv
from constraint_first.file.json_file import scan_json
from constraint_first.file.jsonl import BadLine, JsonLine, require_good, scan
from constraint_first.file.parquet_file import scan_parquet

__all__ = ["FORMATS", "all_rows", "row_format", "row_stem", "scan_rows"]

_SCANS: Final[dict[str, Callable[[Path], Iterator[JsonLine | BadLine]]]] = {
    ".jsonl": scan,
    ".ndjson": scan,
    ".json": scan_json,
    ".csv": scan_csv,
    ".tsv": scan_csv,
    ".parquet": scan_parquet,
}
FORMATS: Final = tuple(_SCANS)
"""The endings of files of rows; ``.gz`` may follow any of them."""


def scan_rows(path: Path) -> Iterator[JsonLine | BadLine]:
    """Read a file of rows by its ending, any other as JSON Lines; bad rows are yielded."""
    return _SCANS.get(row_format(path), scan)(path)


def all_rows(path: Path) -> Iterator[JsonLine]:
    """Read a file of rows, none of which may be bad."""
    return require_good(path, scan_rows(path))


def row_format(path: Path) -> str:
    """Name the format of a file of rows by its ending; empty where it is no such file."""
    ending = _unpacked(path).suffix.lower()
    return ending if ending in _SCANS else ""


def row_stem(path: Path) -> str:
    """Name a file without the endings of its format and packing."""
    return _unpacked(path).stem


def _unpacked(path: Path) -> Path:
    return path.with_suffix("") if path.suffix.lower() == ".gz" else path
