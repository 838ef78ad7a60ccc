"""Paired comparisons as a table and as sentences (paper: the two paired tables)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from cfr.analysis.figure.figure import Caption
from cfr.analysis.notation import decimal, interval, p_value, points, several
from cfr.analysis.statistics.comparison import POOLED, Comparison, Pair
from cfr.analysis.study.decoding import tell_apart
from cfr.analysis.study.study import benchmark_label, model_label
from cfr.analysis.table.gain import delta
from cfr.analysis.table.table import Cell, Column, Row, Table, row

__all__ = ["PAIRED", "headlines", "paired_table", "sentence"]

PAIRED: Final = Caption("paired", "Paired comparison, problem by problem")


def paired_table(comparison: Comparison, caption: Caption = PAIRED) -> Table:
    """Tabulate a family of paired tests, a heading for each method, model and decoding."""
    rows: list[Row] = []
    heading = None
    decodings = tell_apart([pair.decoding for pair in comparison.pairs])
    for pair in comparison.pairs:
        setting = decodings[pair.decoding] if len(decodings) > 1 else ""
        if heading != (heading := _heading(pair, setting)):
            rows.append(row(heading, kind="heading"))
        rows.append(_row(pair))
    return Table(
        caption.name,
        caption.title,
        (
            Column("Benchmark", "left"),
            Column("n"),
            Column("Runs"),
            Column("Baseline"),
            Column("Method"),
            Column("Gain [95 %]"),
            Column("Impr. / tied / degr."),
            Column("p"),
            Column("Holm p"),
            Column("Test", "left"),
            Column("MDD"),
        ),
        tuple(rows),
        tuple(_notes(comparison)),
        ("tab:paired-ds", "tab:paired-qwen"),
    )


def _heading(pair: Pair, setting: str) -> str:
    baseline, method = pair.labels
    return ", ".join(
        filter(None, (f"{method} against {baseline}", model_label(pair.model), setting))
    )


def _row(pair: Pair) -> Row:
    p = Cell(p_value(pair.p_holm), bold=pair.significant)
    benchmark = benchmark_label(pair.benchmark)
    return row(
        Cell(benchmark or "all", bold=pair.benchmark == POOLED),
        f"{pair.n:,}",
        _runs(pair),
        decimal(pair.before),
        decimal(pair.after),
        delta(pair.gain, pair.interval),
        f"{pair.improved} / {pair.tied} / {pair.degraded}",
        p_value(pair.p),
        p,
        pair.test,
        decimal(pair.detectable),
    )


def _notes(comparison: Comparison) -> list[str]:
    family = several(comparison.family, "test")
    notes = [
        f"Holm's correction is for a family of {family}; bold is below 0.05.",
        "Gain and MDD, the smallest gain that such a set shows four times in five, are in points.",
    ]
    if any(pair.test.startswith("exact") for pair in comparison.pairs):
        notes.append("Exact: every sign flip was counted, none was sampled.")
    by_note: dict[str, list[Pair]] = {}
    for pair in comparison.pairs:
        for note in pair.notes:
            by_note.setdefault(note, []).append(pair)
    for note, pairs in by_note.items():
        everywhere = len(pairs) == len(comparison.pairs)
        notes.append(note if everywhere else f"{_rows_named(pairs)}: {note}")
    return [*notes, *comparison.notes]


def _runs(pair: Pair) -> str:
    return str(pair.runs) if pair.fewest == pair.runs else f"{pair.fewest}–{pair.runs}"


def _rows_named(pairs: Sequence[Pair]) -> str:
    """Name rows of the table: each method with its benchmarks."""
    found: dict[str, list[str]] = {}
    for pair in pairs:
        found.setdefault(pair.labels[1], []).append(benchmark_label(pair.benchmark) or "all")
    return "; ".join(
        f"{method} ({', '.join(dict.fromkeys(places))})" for method, places in found.items()
    )


def sentence(pair: Pair, *, named: bool = False) -> str:
    """Say what a comparison shows, and no more; ``named`` says with which model."""
    baseline, method = pair.labels
    where = ", ".join(map(benchmark_label, pair.pooled)) + " together" if pair.pooled else ""
    where = where or benchmark_label(pair.benchmark) or "this set"
    where += f" with {model_label(pair.model)}" if named else ""
    size = f"{several(pair.n, 'problem')}, {_runs(pair)} {'run' if pair.runs == 1 else 'runs'}"
    bounds = f"95 %{interval(pair.interval)}" if pair.interval else "no interval"
    if not pair.improved + pair.degraded:
        return f"{method} and {baseline} do not differ on any problem of {where} ({size})."
    said = f"{method} against {baseline} on {where}: {points(pair.gain)} points ({bounds}; {size})"
    p = p_value(pair.p)
    verdict = f"p {p if p.startswith('<') else f'= {p}'}, {p_value(pair.p_holm)} after correction"
    if pair.significant:
        return f"{said}; {verdict}."
    low, high = pair.ci
    doubt = "the interval includes zero, so " if low <= 0 <= high else ""
    return f"{said}; {verdict}: {doubt}no difference is claimed."


def headlines(comparison: Comparison) -> list[Pair]:
    """Choose what to say first: benchmarks taken together, and those that stand alone."""
    within = {
        (pair.method, pair.model, pair.decoding, name)
        for pair in comparison.pairs
        for name in pair.pooled
    }
    return [
        pair
        for pair in comparison.pairs
        if (pair.method, pair.model, pair.decoding, pair.benchmark) not in within
    ]
