"""``cfr export``: the attempts of a store as a file for other programs."""

from __future__ import annotations

import csv
import importlib
import json
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any, Final

import click

from cfr.benchmark.whole import OutputError, whole_file
from cfr.cli.runs import store_option

__all__ = ["command"]

_ROWS_AT_ONCE: Final = 10_000


@click.command("export")
@click.argument("path", metavar="FILE.jsonl|.csv|.parquet", type=click.Path(path_type=Path))
@store_option
def command(path: Path, store: str) -> None:
    """Write every attempt of a store to a JSON Lines, CSV or Parquet file.

    \b
    cfr export attempts.jsonl
    cfr export attempts.parquet --store results.db
    """
    from cfr.cli.opening import open_existing
    from cfr.evaluation.record import attempt_rows

    writers = {".jsonl": _write_jsonl, ".csv": _write_csv, ".parquet": _write_parquet}
    if path.suffix.lower() not in writers:
        raise OutputError(f"{path}: end the name in .jsonl, .csv or .parquet")
    with open_existing(store) as opened, whole_file(path) as temporary:
        rows = _Counted(attempt_rows(opened))
        writers[path.suffix.lower()](temporary, rows)
    click.echo(f"{rows.count:,} attempts written to {path}", err=True)


class _Counted:
    def __init__(self, rows: Iterable[dict[str, Any]]) -> None:
        self._rows = rows
        self.count = 0

    def __iter__(self) -> Iterator[dict[str, Any]]:
        for row in self._rows:
            self.count += 1
            yield row


def _write_jsonl(path: Path, rows: Iterable[dict[str, Any]]) -> None:
    with path.open("w", encoding="utf-8") as file:
        for row in rows:
            parsed = {name: json.loads(row[name]) for name in ("decoding", "details", "stages")}
            file.write(json.dumps(row | parsed, ensure_ascii=False) + "\n")


def _write_csv(path: Path, rows: Iterable[dict[str, Any]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        from cfr.evaluation.record import attempt_columns

        writer = csv.DictWriter(file, list(attempt_columns()))
        writer.writeheader()
        writer.writerows(rows)


def _write_parquet(path: Path, rows: Iterable[dict[str, Any]]) -> None:
    try:
        pa: Any = importlib.import_module("pyarrow")
        pq: Any = importlib.import_module("pyarrow.parquet")
    except ImportError:
        raise OutputError(
            "Parquet needs: pip install 'constraint-first[parquet]'; .jsonl and .csv need nothing"
        ) from None
    from cfr.evaluation.record import attempt_columns

    # Not guessed from the rows: a column may be empty in the first thousands of them, or in all.
    kinds = {str: pa.string(), int: pa.int64(), float: pa.float64()}
    schema = pa.schema([(name, kinds[kind]) for name, kind in attempt_columns().items()])
    source = iter(rows)
    with pq.ParquetWriter(path, schema) as writer:
        while batch := list(islice(source, _ROWS_AT_ONCE)):
            writer.write_table(pa.Table.from_pylist(batch, schema=schema))
