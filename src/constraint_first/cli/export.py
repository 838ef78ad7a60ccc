"""``cfr export``: the attempts of a store as a file for other programs."""

from __future__ import annotations

import csv
import gzip
import importlib
import io
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final

import click

from constraint_first.cli.option import grouped, store_argument
from constraint_first.cli.output import print_note
from constraint_first.error import InputError, OutputError
from constraint_first.file.atomic import atomic_file
from constraint_first.file.csv_file import spreadsheet_text
from constraint_first.file.printable import printable_json

if TYPE_CHECKING:
    from constraint_first.analysis.audit.stage1.training_pair import PairPrompt

__all__ = ["PairChoice", "command"]

_ROWS_AT_ONCE: Final = 10_000


@dataclass(frozen=True, slots=True)
class PairChoice:
    """Whether pairs for training are wanted, and which."""

    pairs: bool
    labels: tuple[Path, ...]
    right: bool
    prompt: PairPrompt

    @property
    def given(self) -> str:
        """The first option that says something of pairs; empty where none does."""
        said = {"--labels": self.labels, "--right": self.right, "--prompt": self.prompt != "stage1"}
        return next((name for name, value in said.items() if value), "")


_pair_options: Final = grouped(
    "choice",
    lambda: PairChoice,
    click.option("--pairs", is_flag=True, help="Pairs of a problem and its constraints instead."),
    click.option(
        "--labels",
        multiple=True,
        type=click.Path(path_type=Path),
        help="Marks from 'cfr audit mark' that pairs must stand up to; repeatable.",
    ),
    click.option("--right", is_flag=True, help="Pairs of attempts alone that ended right."),
    click.option(
        "--prompt",
        type=click.Choice(["stage1", "problem"]),
        default="stage1",
        show_default=True,
        help="What the user says in a pair: what Stage 1 of its method asks, or the problem alone.",
    ),
)


@click.command("export")
@click.argument(
    "path", metavar="FILE.jsonl|.jsonl.gz|.csv|.parquet", type=click.Path(path_type=Path)
)
@store_argument
@click.option(
    "--outcomes",
    is_flag=True,
    help="Outcomes and costs alone, no texts: small enough to publish (.jsonl, .jsonl.gz).",
)
@_pair_options
def command(path: Path, store: str, choice: PairChoice, *, outcomes: bool) -> None:
    """Write every attempt of a store to a JSON Lines, CSV or Parquet file.

    RUNS is a store: runs.db unless named, another file, or postgresql://…. 'cfr compare', 'report',
    'audit' and 'calibrate' read what is written here in its place.

    CSV is made safe for spreadsheets: a text that one would compute has an apostrophe before it,
    and control characters are made visible. The other formats keep every text as it is.

    --pairs writes what a model can be trained on that extracts constraints: a conversation a line,
    {"messages": [user, assistant]}. Attempts without a Stage 1 are passed over. A pair is dropped
    where its reply was damaged or its constraints are false of the gold answer, contradict the
    problem's text, or (--labels) were not all marked as entailed. RUNS may be an export, too.

    \b
    cfr export attempts.jsonl
    cfr export attempts.parquet results.db
    cfr export outcomes.jsonl.gz --outcomes
    cfr export pairs.jsonl results.db --pairs --right --labels labels.jsonl
    """
    kind = ".jsonl.gz" if path.name.lower().endswith(".jsonl.gz") else path.suffix.lower()
    if kind not in _WRITERS:
        raise OutputError(f"{path}: end the name in {', '.join(_WRITERS)}")
    if choice.pairs:
        _export_pairs(path, kind, store, choice, outcomes=outcomes)
        return
    if given := choice.given:
        raise click.UsageError(f"{given} goes with --pairs")
    from constraint_first.analysis.study.reader import existing_store
    from constraint_first.evaluation.record import attempt_rows

    if outcomes and not kind.startswith(".jsonl"):
        raise OutputError(f"{path}: --outcomes are written as .jsonl or .jsonl.gz")
    with existing_store(store) as opened, atomic_file(path) as temporary:
        rows = _Counted(_outcome_lines(opened) if outcomes else attempt_rows(opened))
        _WRITERS[kind](temporary, rows)
    print_note(f"{rows.count:,} attempts written to {path}")


def _export_pairs(
    path: Path, kind: str, source: str, choice: PairChoice, *, outcomes: bool
) -> None:
    from constraint_first.analysis.audit.manual.label import read_labels
    from constraint_first.analysis.audit.stage1.training_pair import (
        PairRules,
        collect_pairs,
        pair_rows,
    )

    if outcomes:
        raise click.UsageError("write --pairs or --outcomes, one of the two")
    if not kind.startswith(".jsonl"):
        raise OutputError(f"{path}: --pairs are written as .jsonl or .jsonl.gz")
    rules = PairRules(read_labels(choice.labels), choice.right, choice.prompt)
    found = collect_pairs(pair_rows(source), rules, source)
    if not found.kept and not found.dropped:
        raise InputError(
            f"{source}: no attempt has a Stage 1; run 'cfr eval' with the method cfr or routed-cfr"
        )
    with atomic_file(path) as temporary:
        _WRITERS[kind](temporary, ({"messages": one.messages(rules.prompt)} for one in found.kept))
    print_note(f"{len(found.kept):,} pairs written to {path}")
    for reason, count in found.dropped.most_common():
        print_note(f"{count:,} dropped: {reason}")
    if choice.labels:
        print_note(f"{found.marked:,} of them all were judged by people")
    if named := ", ".join(f"{name} ({count:,})" for name, count in found.benchmarks.items()):
        print_note(f"problems are of {named}: a model trained on them cannot be measured on these")


class _Counted:
    def __init__(self, rows: Iterable[dict[str, Any]]) -> None:
        self._rows = rows
        self.count = 0

    def __iter__(self) -> Iterator[dict[str, Any]]:
        for row in self._rows:
            self.count += 1
            yield row


_OUTCOME: Final = ("benchmark", "problem", "method", "label", "model", "decoding", "run", "status")
_COST: Final = ("input_tokens", "shared_tokens", "output_tokens", "finished_at", "names")


def _outcome_lines(store: Any) -> Iterator[dict[str, Any]]:
    """List attempts as ``cfr compare`` and ``cfr report`` need them, without what was said."""
    from constraint_first.evaluation.record import outcome_rows

    for row in outcome_rows(store):
        verdict = row["verdict"]
        correct = None if verdict is None else verdict == "correct"
        head = {name: row[name] for name in _OUTCOME}
        said = {"correct": correct, "answer": _short_answer(row)}
        yield head | said | {name: row[name] for name in _COST}


def _short_answer(row: Mapping[str, Any]) -> str | None:
    """The answer; none where the whole reply is the answer, which is a text."""
    from constraint_first.benchmark.gold_instruction import read_instructions

    whole = read_instructions(row["gold"]) or json.loads(row["details"]).get("whole")
    return None if whole else row["answer"]


def _write_jsonl(path: Path, rows: Iterable[dict[str, Any]]) -> None:
    with path.open("w", encoding="utf-8") as file:
        _write_lines(file, rows)


def _write_gzip(path: Path, rows: Iterable[dict[str, Any]]) -> None:
    # Without a time in its head, the same attempts make the same file.
    with (
        path.open("wb") as raw,
        gzip.GzipFile("", "wb", fileobj=raw, mtime=0) as packed,
        io.TextIOWrapper(packed, encoding="utf-8") as file,
    ):
        _write_lines(file, rows)


def _write_lines(file: IO[str], rows: Iterable[dict[str, Any]]) -> None:
    for row in rows:
        packed = [name for name in ("decoding", "details", "stages") if name in row]
        parsed = {name: json.loads(row[name]) for name in packed}
        file.write(printable_json(row | parsed) + "\n")


def _write_csv(path: Path, rows: Iterable[dict[str, Any]]) -> None:
    from constraint_first.evaluation.record import attempt_columns

    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(attempt_columns()))
        writer.writeheader()
        writer.writerows(map(_for_spreadsheets, rows))


def _for_spreadsheets(row: dict[str, Any]) -> dict[str, Any]:
    return {
        name: spreadsheet_text(value) if isinstance(value, str) else value
        for name, value in row.items()
    }


def _write_parquet(path: Path, rows: Iterable[dict[str, Any]]) -> None:
    try:
        pa: Any = importlib.import_module("pyarrow")
        pq: Any = importlib.import_module("pyarrow.parquet")
    except ImportError:
        raise OutputError(
            "Parquet needs: pip install 'constraint-first[parquet]'; .jsonl and .csv need nothing"
        ) from None
    from constraint_first.evaluation.record import attempt_columns

    # Not guessed from the rows: a column may be empty in the first thousands of them, or in all.
    kinds = {str: pa.string(), int: pa.int64(), float: pa.float64()}
    schema = pa.schema([(name, kinds[kind]) for name, kind in attempt_columns().items()])
    source = iter(rows)
    with pq.ParquetWriter(path, schema) as writer:
        while batch := list(islice(source, _ROWS_AT_ONCE)):
            writer.write_table(pa.Table.from_pylist(batch, schema=schema))


_WRITERS: Final = {
    ".jsonl": _write_jsonl,
    ".jsonl.gz": _write_gzip,
    ".csv": _write_csv,
    ".parquet": _write_parquet,
}
