"""Paired comparisons as a table and as JSON, with their notes (paper: the two paired tables)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from constraint_first.analysis.notation import decimal, exact_p, p_value, several, span
from constraint_first.analysis.statistics.comparison import Comparison, Pair
from constraint_first.analysis.statistics.paired import fewest_changes
from constraint_first.analysis.study.study import model_label
from constraint_first.analysis.table.decoding import tell_apart
from constraint_first.analysis.table.gain import delta
from constraint_first.analysis.table.table import Cell, Column, Row, Table, row
from constraint_first.file.stem import file_stem
from constraint_first.problem import Json

__all__ = ["comparison_json", "pair_notes", "paired_table"]

_NAME: Final = "paired"
_KINDS: Final = {"bca": "BCa", "percentile": "percentile"}
_TITLE: Final = "Paired comparison, problem by problem"


def paired_table(comparison: Comparison, *, named: bool = False) -> Table:
    """Tabulate a family of paired tests, a heading for each method, model and decoding.

    ``named`` gives the table the name of its model, where there is one for each.
    """
    rows: list[Row] = []
    heading = None
    decodings = tell_apart([pair.decoding for pair in comparison.pairs])
    for pair in comparison.pairs:
        setting = decodings[pair.decoding] if len(decodings) > 1 else ""
        if heading != (heading := _heading(pair, setting)):
            rows.append(row(heading, kind="heading"))
        rows.append(_row(pair))
    model = comparison.pairs[0].model
    return Table(
        file_stem(_NAME, model) if named else _NAME,
        f"{_TITLE}: {model_label(model)}" if named else _TITLE,
        (
            Column("Benchmark", "left"),
            Column("n"),
            Column("Runs", rank=4),
            Column("Baseline"),
            Column("Method"),
            Column("Gain [95 %]"),
            Column("Impr. / tied / degr.", rank=3),
            Column("p", rank=2),
            Column("Holm p"),
            Column("Test", "left", rank=6),
            Column("MDD", rank=5),
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
    return row(
        Cell(pair.where or "all", bold=bool(pair.pooled)),
        f"{pair.n:,}",
        span(pair.fewest, pair.runs),
        decimal(pair.before),
        decimal(pair.after),
        delta(pair.gain, pair.interval),
        f"{pair.improved} / {pair.tied} / {pair.degraded}",
        Cell(p_value(pair.p), exact=exact_p(pair.p)),
        Cell(p_value(pair.p_holm), bold=pair.significant, exact=exact_p(pair.p_holm)),
        pair.test,
        decimal(pair.detectable),
    )


def _notes(comparison: Comparison) -> Iterator[str]:
    family = several(comparison.family, "test")
    yield f"Holm's correction is for a family of {family}; bold is below 0.05."
    yield (
        f"The interval is the {_KINDS[comparison.interval]} interval of a bootstrap over problems. "
        "Gain and MDD are in points; MDD, the minimum detectable difference, is the smallest gain "
        "that a set like this detects with 80 % power."
    )
    if any(pair.test.startswith("exact") for pair in comparison.pairs):
        yield "Exact: every sign flip was counted, none was sampled."
    by_note: dict[str, list[Pair]] = {}
    for pair in comparison.pairs:
        for note in pair_notes(pair):
            by_note.setdefault(note, []).append(pair)
    for note, pairs in by_note.items():
        everywhere = len(pairs) == len(comparison.pairs)
        yield note if everywhere else f"{_rows_named(pairs)}: {note}"
    yield from _missing(comparison)


def _rows_named(pairs: Sequence[Pair]) -> str:
    """Name rows of the table: each method with its benchmarks."""
    found: dict[str, list[str]] = {}
    for pair in pairs:
        found.setdefault(pair.labels[1], []).append(pair.where or "all")
    return "; ".join(
        f"{method} ({', '.join(dict.fromkeys(places))})" for method, places in found.items()
    )


def pair_notes(pair: Pair) -> Iterator[str]:
    """Say in words what a comparison does not show, and what limits it."""
    low, high = pair.ci
    if low <= 0 <= high and pair.changed:
        yield "The interval includes zero: a difference is not shown."
    if pair.interval is None and pair.changed:
        yield "All problems gain alike: how uncertain that is cannot be read from them."
    if not pair.exact:
        yield "The interval was drawn, with a seed: run counts share no unit, or it was asked for."
    if pair.left_out:
        only = several(pair.left_out, "problem")
        yield f"Left out because only one of the two has them judged: {only}."
    if pair.failed:
        yield f"Not judged: {several(pair.failed, 'failed attempt')}; the run is incomplete."
    if pair.fewest != pair.runs:
        yield "Problems differ in how many runs they have; each counts once all the same."
    if pair.runs == 1:
        yield "One run of each problem: how much a rerun would differ is not measured."
    if not pair.changed:
        yield "Every problem is tied: the data show no difference, in either direction."
    elif pair.changed < fewest_changes():
        yield (
            f"Problems that differ: {pair.changed}; below {fewest_changes()} the test cannot reach "
            "p < 0.05 whatever the outcome."
        )


def _missing(comparison: Comparison) -> Iterator[str]:
    base = comparison.pairs[0].baseline
    for name in comparison.missing:
        yield f"{name} shares no judged problem with {base} and is not compared."


def comparison_json(comparison: Comparison) -> dict[str, Json]:
    """Describe a comparison for programs."""
    return {
        "family": comparison.family,
        "correction": "holm",
        "pairs": [_pair_json(pair) for pair in comparison.pairs],
        "notes": [*_missing(comparison)],
    }


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 6)


def _pair_json(pair: Pair) -> dict[str, Json]:
    return {
        "baseline": pair.baseline,
        "method": pair.method,
        "benchmark": pair.benchmark,
        "pooled": [*pair.pooled],
        "group": pair.group,
        "model": pair.model,
        "n": pair.n,
        "runs": pair.runs,
        "baseline_accuracy": round(pair.before, 6),
        "accuracy": round(pair.after, 6),
        "gain": round(pair.gain, 6),
        "improved": pair.improved,
        "tied": pair.tied,
        "degraded": pair.degraded,
        "ci": [round(bound, 6) for bound in pair.ci],
        "ci_percentile": [round(bound, 6) for bound in pair.ci_percentile],
        "ci_exact": pair.exact,
        "p": pair.p,
        "p_holm": pair.p_holm,
        "test": pair.test,
        "detectable": pair.detectable,
        "token_ratios": {name: _rounded(value) for name, value in pair.tokens._asdict().items()},
        "notes": [*pair_notes(pair)],
    }
