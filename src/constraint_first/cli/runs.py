"""``cfr runs``: the contents of a store."""

from __future__ import annotations

import csv
import gzip
import importlib
import io
import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack
from itertools import count, islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final

import click

from constraint_first.cli import print_json, print_note, print_text
from constraint_first.cli.options import A_PATH, json_option, option, store_argument, store_option
from constraint_first.error import InputError, OutputError
from constraint_first.file.rows import spreadsheet_text
from constraint_first.file.safe import atomic_file, one_line, printable_json

if TYPE_CHECKING:
    from rich.console import RenderableType

    from constraint_first.problem import Json
    from constraint_first.report.exhibit.stage1 import PairPrompt
    from constraint_first.store.merge import Prefer
    from constraint_first.store.query import Failure, SeriesResult, StoredAttempt


@click.command("runs")
@store_argument
@json_option
@option("--regrade", "Grade every stored answer anew; asks no model.", is_flag=True)
@option("--failures only_failures", "List why attempts failed instead.", is_flag=True)
def runs_command(store: str, *, as_json: bool, regrade: bool, only_failures: bool) -> None:
    """List what a store holds: each method on each benchmark, with its score and its cost.

    RUNS is a store: runs.db unless named, another file, or postgresql://…. The number before a
    series is its name for 'cfr show'.

    \b
    cfr runs
    cfr runs results.db --json
    cfr runs --regrade
    cfr runs --failures
    """
    from constraint_first.report.reader import existing_store
    from constraint_first.store import query

    with existing_store(store) as opened:
        if regrade:
            print_note(f"{query.regrade(opened)} verdict(s) changed")
        if only_failures:
            _print_failures(opened.url, query.failures(opened), as_json=as_json)
        else:
            _print_series(opened.url, query.summaries(opened), as_json=as_json)


def _print_series(url: str, found: list[SeriesResult], *, as_json: bool) -> None:
    if as_json:
        print_json([_to_json(summary) for summary in found])
    elif not found:
        print_text(f"{url}: nothing has been run yet")
    else:
        from constraint_first.cli.console import SafeConsole
        from constraint_first.cli.progress import COST_NOTE, series_table
        from constraint_first.model.limit import sum_costs

        console = SafeConsole()
        console.print(series_table(found, numbered=True))
        if (cost := sum_costs(one.tally.cost for one in found)) is not None:
            console.print(f"\nAll together {cost}, {COST_NOTE}.")


def _to_json(summary: SeriesResult) -> dict[str, Json]:
    from constraint_first.report.comparison import score_problems

    scored = score_problems(summary.scores)
    ends: Json = [end / 100 for end in scored.interval] if scored else None
    return summary.to_json() | {"interval": ends}


def _print_failures(url: str, found: list[Failure], *, as_json: bool) -> None:
    if as_json:
        print_json([failure.to_json() for failure in found])
        return
    for one in found:
        first = f"{one.method} on {one.benchmark} with {one.model}, problem {one.problem}"
        print_text(one_line(f"{one.count:,} failed: {one.reason}"))
        print_text("    " + one_line(f"the first: {first}, run {one.run}"))
        print_text("    " + one_line(f"way out: {one.way_out}"))
    if not found:
        print_text(f"{url}: no attempt failed")


# ``cfr show``: one stored attempt in full.

_CHECKED: Final = ("checks", "confidence", "interventions")
_SHOWN_BEFORE: Final = (*_CHECKED, "programs")


@click.command("show")
@click.argument("series", metavar="SERIES")
@click.argument("problem", metavar="PROBLEM")
@click.argument("run", metavar="[RUN]", type=click.IntRange(0, 2**31 - 1), default=0)
@store_option
@option("--benchmark", "The series on this benchmark.")
@option("--model", "The series with this model.")
@json_option
def show_command(
    series: str,
    problem: str,
    run: int,
    store: str,
    benchmark: str | None,
    model: str | None,
    *,
    as_json: bool,
) -> None:
    """Show one stored attempt in full: the problem, every call, checks and the verdict.

    SERIES is the number that 'cfr runs' lists, or a method's name where only one series has it.
    PROBLEM is a problem's id, or its place in the benchmark from 1 on. RUN counts from 0, which is
    the one that is shown where none is named.

    \b
    cfr show 2 aime24-7
    cfr show cfr 7 3 --benchmark aime24 --store results.db
    cfr show 2 7 --json
    """
    from constraint_first.cli.console import SafeConsole
    from constraint_first.report.reader import existing_store
    from constraint_first.store.query import SeriesName, read_attempt

    with existing_store(store) as opened:
        found = read_attempt(opened, SeriesName(series, benchmark, model), problem, run)
    if as_json:
        print_json(found.to_json())
        return
    console = SafeConsole()
    for part in _parts(found):
        console.print(part)


def _parts(found: StoredAttempt) -> Iterator[RenderableType]:
    from constraint_first.cli.console import shown_checks
    from constraint_first.file.safe import one_line, printable_json
    from constraint_first.store.query import explain_ending

    series, details = found.series, found.details
    yield _heading(f"{series['label']} on {series['benchmark']} with {series['model']}")
    settings = {**series["decoding"]} if isinstance(series["decoding"], dict) else {}
    system = settings.pop("system", None)
    named = ", ".join(f"{name} {value}" for name, value in settings.items() if value is not None)
    yield _text(one_line(f"series {series['id']} ({series['method']}), {named}"))
    if system:
        yield _section("System message, ahead of every call", system)
    own = series["prompts"] if isinstance(series["prompts"], dict) else {}
    for name, text in own.items():
        yield _section(f"Own prompt {name}.txt", text)
    yield _section(f"Problem {found.problem['id']}, run {found.run}", found.problem["text"])
    yield _section(found.gold_name.capitalize(), found.gold_shown)
    for number, step in enumerate(found.steps, start=1):
        yield from _program(number, step) if "program" in step else _call(number, step)
    if any(name in details for name in _CHECKED):
        yield _heading("\nChecks")
        yield shown_checks(details, str(found.problem["text"]))
    if rest := {n: value for n, value in details.items() if n not in _SHOWN_BEFORE}:
        yield _section("Details", printable_json(rest, indent=2))
    yield _section("Verdict", "\n".join(explain_ending(found)))


def _call(number: int, step: dict[str, Any]) -> Iterator[RenderableType]:
    from constraint_first.store.query import describe_cost

    by = f" by {step['model']}" if "model" in step else ""
    yield _heading(f"\nCall {number}: {step['stage']}{by}")
    for message in step["messages"]:
        yield _labelled(message["role"], message["content"])
    if step["reasoning"]:
        yield _labelled("reasoning", step["reasoning"])
    yield _labelled("reply", step["reply"])
    yield _labelled("", describe_cost(step))


def _program(number: int, step: dict[str, Any]) -> Iterator[RenderableType]:
    from constraint_first.store.query import write_seconds

    yield _heading(f"\nProgram {number}: {step['stage']}")
    yield _labelled("source", step["program"].strip("\n"))
    yield _labelled("output", step["output"].rstrip("\n") or "nothing")
    if step["error"]:
        yield _labelled("error", step["error"])
    yield _labelled("", write_seconds(step))


def _section(title: str, text: Json) -> RenderableType:
    from rich.console import Group

    return Group(_heading(f"\n{title}"), _text(text))


def _labelled(label: str, text: Json) -> RenderableType:
    from rich.console import Group

    return Group(_text(f"[{label}]", "dim"), _text(text)) if label else _text(text, "dim")


def _heading(title: str) -> RenderableType:
    return _text(title, "bold")


def _text(text: Json, style: str = "") -> RenderableType:
    """Wrap a text at the width of a terminal; in a file or a pipe its lines are unchanged."""
    from rich.text import Text

    from constraint_first.cli.console import Folded
    from constraint_first.file.safe import printable

    return Folded(Text(printable(str(text)), style))


# ``cfr merge``: several stores as one.


@click.command("merge")
@click.argument("runs", metavar="RUNS...", nargs=-1, required=True)
@option(
    "-o --output --store target",
    "The store to merge into, new or not: a file, or postgresql://….",
    metavar="RUNS",
    required=True,
)
@option(
    "--prefer",
    "Where stores differ, keep what the first or the last has.  [stop, and name it]",
    click.Choice(["first", "last"]),
)
def merge_command(runs: tuple[str, ...], target: str, prefer: Prefer | None) -> None:
    """Join stores in one: attempts, failures and every call that was made.

    RUNS are stores: files, or postgresql://…. Series that are the same (benchmark, method, model
    and decoding) are joined; an attempt that two stores have must be the same in both. One that
    failed or was broken off gives way to one that got further. The stores that are read are not
    changed, nor is the one that is written until all of it is there.

    \b
    cfr merge monday.db tuesday.db -o all.db
    cfr merge laptop.db -o runs.db --prefer first
    """
    from constraint_first.cli.console import count_bar
    from constraint_first.report.reader import existing_store
    from constraint_first.store.merge import merge

    with ExitStack() as opened, count_bar("merging") as progress:
        stores = [opened.enter_context(existing_store(url)) for url in runs]
        merged = merge(stores, target, prefer, progress)
    from constraint_first.store.database import StoreError, without_password

    failed = f" ({merged.failed:,} failed)" if merged.failed else ""
    replaced = f", {merged.replaced:,} replaced" if merged.replaced else ""
    known = f", {merged.known:,} in both kept as they were" if merged.known else ""
    print_text(
        f"{without_password(target)}: {merged.series:,} series, {merged.problems:,} problems, "
        f"{merged.attempts:,} attempts{failed}, {merged.calls:,} calls; {merged.added:,} added"
        f"{replaced}{known}"
    )
    if merged.left_out:
        stores = ", ".join(f"{count:,} of {url}" for url, count in merged.left_out)
        raise StoreError(
            f"{stores}: these attempts were left out, since rows of their series or problem are "
            "missing there; all else was merged; restore that store from a copy and merge it again "
            "to add them"
        )


# ``cfr export``: the attempts of a store as a file for other programs.

_ROWS_AT_ONCE: Final = 10_000


@click.command("export")
@click.argument("path", metavar="FILE.jsonl|.jsonl.gz|.csv|.parquet", type=A_PATH)
@store_argument
@option(
    "--outcomes",
    "Outcomes and costs alone, no texts: small enough to publish (.jsonl, .jsonl.gz).",
    is_flag=True,
)
@option("--pairs", "Pairs of a problem and its constraints instead.", is_flag=True)
@option(
    "--labels",
    "Marks made on the page of 'cfr serve': drop pairs that they contradict; repeatable.",
    A_PATH,
    multiple=True,
)
@option("--right", "Pairs of attempts alone that ended right.", is_flag=True)
@option(
    "--prompt",
    "What the user says in a pair: what Stage 1 of its method asks, or the problem alone.",
    click.Choice(["stage1", "problem"]),
    "stage1",
)
def export_command(
    path: Path,
    store: str,
    labels: tuple[Path, ...],
    prompt: PairPrompt,
    *,
    outcomes: bool,
    pairs: bool,
    right: bool,
) -> None:
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
    lines = kind.startswith(".jsonl")
    if pairs:
        if outcomes:
            raise click.UsageError("write --pairs or --outcomes, one of the two")
        if not lines:
            raise OutputError(f"{path}: --pairs are written as .jsonl or .jsonl.gz")
        _export_pairs(path, kind, store, labels, prompt, right=right)
        return
    for name, given in ("labels", labels), ("right", right), ("prompt", prompt != "stage1"):
        if given:
            raise click.UsageError(f"--{name} goes with --pairs")
    from constraint_first.report.reader import existing_store
    from constraint_first.store.query import attempt_rows

    if outcomes and not lines:
        raise OutputError(f"{path}: --outcomes are written as .jsonl or .jsonl.gz")
    with existing_store(store) as opened, atomic_file(path) as temporary:
        counted = count()
        rows = _outcome_lines(opened) if outcomes else attempt_rows(opened)
        _WRITERS[kind](temporary, (row for row, _ in zip(rows, counted, strict=False)))
    print_note(f"{next(counted):,} attempts written to {path}")


def _export_pairs(
    path: Path, kind: str, source: str, labels: tuple[Path, ...], prompt: PairPrompt, *, right: bool
) -> None:
    from constraint_first.report.exhibit.marks import read_labels
    from constraint_first.report.exhibit.stage1 import PairRules, collect_pairs, pair_rows

    rules = PairRules(read_labels(labels), right, prompt)
    found = collect_pairs(pair_rows(source), rules, source)
    if not found.kept and not found.dropped:
        raise InputError(
            f"{source}: no attempt has a Stage 1; run 'cfr eval' with the method cfr or routed-cfr"
        )
    with atomic_file(path) as temporary:
        _WRITERS[kind](temporary, ({"messages": one.messages(prompt)} for one in found.kept))
    print_note(f"{len(found.kept):,} pairs written to {path}")
    for reason, times in found.dropped.most_common():
        print_note(f"{times:,} dropped: {reason}")
    if labels:
        print_note(f"{found.marked:,} of them all were judged by people")
    if named := ", ".join(f"{name} ({times:,})" for name, times in found.benchmarks.items()):
        print_note(f"problems are of {named}: a model trained on them cannot be measured on these")


_OUTCOME: Final = ("benchmark", "problem", "method", "label", "model", "decoding", "run", "status")
_COST: Final = ("input_tokens", "shared_tokens", "output_tokens", "finished_at", "names")


def _outcome_lines(store: Any) -> Iterator[dict[str, Any]]:
    """List attempts as ``cfr compare`` and ``cfr report`` need them, without texts."""
    from constraint_first.store.query import outcome_rows

    for row in outcome_rows(store):
        verdict = row["verdict"]
        correct = None if verdict is None else verdict == "correct"
        head = {name: row[name] for name in _OUTCOME}
        said = {"correct": correct, "answer": _short_answer(row)}
        yield head | said | {name: row[name] for name in _COST}


def _short_answer(row: Mapping[str, Any]) -> str | None:
    """The answer; none if the whole reply is the answer."""
    from constraint_first.benchmark.registry import read_instructions

    whole = read_instructions(row["gold"]) or json.loads(row["details"]).get("whole")
    return None if whole else row["answer"]


def _write_jsonl(path: Path, rows: Iterable[dict[str, Any]]) -> None:
    with path.open("w", encoding="utf-8") as file:
        _write_lines(file, rows)


def _write_gzip(path: Path, rows: Iterable[dict[str, Any]]) -> None:
    # No timestamp in the gzip header: the same attempts make the same file.
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
    from constraint_first.store.query import attempt_columns

    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(attempt_columns()))
        writer.writeheader()
        for row in rows:
            texts = {n: spreadsheet_text(one) for n, one in row.items() if isinstance(one, str)}
            writer.writerow(row | texts)


def _write_parquet(path: Path, rows: Iterable[dict[str, Any]]) -> None:
    try:
        pa: Any = importlib.import_module("pyarrow")
        pq: Any = importlib.import_module("pyarrow.parquet")
    except ImportError:
        raise OutputError(
            "Parquet needs: pip install 'constraint-first[parquet]'; .jsonl and .csv need nothing"
        ) from None
    from constraint_first.store.query import attempt_columns

    # The schema is not inferred from the rows: a column may be empty in thousands of them, or in
    # all.
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
