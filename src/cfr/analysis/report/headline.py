"""Headlines of a report: the comparisons to state first, each in one sentence."""

from __future__ import annotations

from cfr.analysis.notation import interval, p_value, points, several, span
from cfr.analysis.statistics.comparison import Comparison, Pair
from cfr.analysis.study.study import benchmark_label, model_label

__all__ = ["headline", "headline_pairs"]


def headline_pairs(comparison: Comparison) -> list[Pair]:
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


def headline(pair: Pair, *, named: bool = False) -> str:
    """Say what a comparison shows, and no more; ``named`` says with which model."""
    baseline, method = pair.labels
    where = ", ".join(map(benchmark_label, pair.pooled)) + " together" if pair.pooled else ""
    where = where or benchmark_label(pair.benchmark) or "this set"
    where += f" with {model_label(pair.model)}" if named else ""
    runs = f"{span(pair.fewest, pair.runs)} {'run' if pair.runs == 1 else 'runs'}"
    size = f"{several(pair.n, 'problem')}, {runs}"
    if not pair.changed:
        return f"{method} and {baseline} do not differ on any problem of {where} ({size})."
    bounds = f"95 %{interval(pair.interval)}" if pair.interval else "no interval"
    said = f"{method} against {baseline} on {where}: {points(pair.gain)} points ({bounds}; {size})"
    p = p_value(pair.p)
    verdict = f"p {p if p.startswith('<') else f'= {p}'}, {p_value(pair.p_holm)} after correction"
    if pair.significant:
        return f"{said}; {verdict}."
    low, high = pair.ci
    doubt = "the interval includes zero, so " if low <= 0 <= high else ""
    return f"{said}; {verdict}: {doubt}no difference is claimed."
