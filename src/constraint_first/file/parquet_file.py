"""Parquet files, read as the same rows as JSON Lines, with the library ``pyarrow``."""

from __future__ import annotations

import importlib
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, cast

from constraint_first.error import InputError
from constraint_first.file.jsonl import MOST_WHOLE, JsonLine, MemoryBound, read_bytes
from constraint_first.file.printable import one_line
from constraint_first.problem import Json

__all__ = ["scan_parquet"]

_ROWS_AT_ONCE: Final = 100


def scan_parquet(path: Path) -> Iterator[JsonLine]:
    """Read the rows of a Parquet file, numbered from 1; NaN is no value."""
    data, bound = read_bytes(path, MOST_WHOLE), MemoryBound(path)
    try:
        arrow: Any = importlib.import_module("pyarrow")
        parquet: Any = importlib.import_module("pyarrow.parquet")
    except ImportError:
        raise InputError(
            f"{path}: reading Parquet needs pip install 'constraint-first[parquet]'; "
            ".jsonl, .json, .csv and .tsv need nothing"
        ) from None
    try:
        before = 0
        for batch in parquet.ParquetFile(arrow.BufferReader(data)).iter_batches(_ROWS_AT_ONCE):
            # A file of a few bytes may hold one text in a million rows, or rows without a value.
            bound.add(batch.nbytes, batch.num_rows * (batch.num_columns + 1))
            for number, row in enumerate(batch.to_pylist(), start=before + 1):
                plain = {str(name): _plain(value) for name, value in row.items()}
                yield JsonLine(number, plain, "row")
            before += batch.num_rows
    except (arrow.ArrowException, OSError, ValueError) as error:
        said = one_line(str(error))[:100]
        raise InputError(f"{path}: not a Parquet file that can be read ({said})") from None


def _plain(value: Any) -> Json:
    """Write a value as JSON has it: Parquet also holds dates, decimals and bytes."""
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return None if math.isnan(value) else value
    if isinstance(value, list | tuple):
        return [_plain(one) for one in cast("list[Any]", value)]
    if isinstance(value, dict):
        held = cast("dict[Any, Any]", value)
        return {str(name): _plain(one) for name, one in held.items()}
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
