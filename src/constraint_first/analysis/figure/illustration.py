"""Figures of a study: which audited numbers go into which drawing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from constraint_first.analysis.audit.categories import categories
from constraint_first.analysis.audit.flow import count_flow
from constraint_first.analysis.audit.frontier import MethodCost, frontiers
from constraint_first.analysis.audit.routing import FAMILY_LABELS, RouterAudit, phrase_counts
from constraint_first.analysis.audit.solve_rate import solve_rates
from constraint_first.analysis.figure.categories import CATEGORIES, CategoryBar, draw_categories
from constraint_first.analysis.figure.cloud import draw_cloud
from constraint_first.analysis.figure.drawable import Estimate
from constraint_first.analysis.figure.figure import Caption, Figure
from constraint_first.analysis.figure.flow import FRAMEWORK, draw_flow
from constraint_first.analysis.figure.forest import ForestRow, draw_forest
from constraint_first.analysis.figure.frontier import FRONTIER, FrontierPoint, draw_frontier
from constraint_first.analysis.figure.gains import APPLICABILITY, BY_MODEL, GainBar, draw_gains
from constraint_first.analysis.figure.grid import draw_grid
from constraint_first.analysis.figure.text import listed
from constraint_first.analysis.statistics.comparison import Comparison, Pair
from constraint_first.analysis.study.study import Study, benchmark_label, model_label
from constraint_first.file.stem import file_stem

__all__ = [
    "applicability_figure",
    "category_figures",
    "cloud_figure",
    "flow_figure",
    "forest_figure",
    "frontier_figures",
    "gains_figure",
    "grid_figures",
]


def gains_figure(pairs: Sequence[Pair]) -> Figure | None:
    """Draw the gain of a method by model, a bar for each benchmark or group of benchmarks."""
    shown = _grouped(pairs)
    bars = [
        GainBar(model_label(pair.model), _place(pair), _gain(pair, pairs), pair.n) for pair in shown
    ]
    return draw_gains(bars, _titled(BY_MODEL, pairs, "by model"), _group_notes(shown))


def applicability_figure(pairs: Sequence[Pair]) -> Figure | None:
    """Draw the gain of a method by benchmark or group of benchmarks, a bar for each model."""
    shown = _grouped(pairs)
    bars = [
        GainBar(_place(pair), model_label(pair.model), _gain(pair, pairs), pair.n) for pair in shown
    ]
    return draw_gains(bars, _titled(APPLICABILITY, pairs, "by benchmark"), _group_notes(shown))


def _grouped(pairs: Sequence[Pair]) -> list[Pair]:
    """Put a group in the place of its benchmarks, as the paper has AIME in its figures."""
    groups = {
        (pair.model, pair.decoding, name): pair
        for pair in pairs
        if pair.group
        for name in pair.pooled
    }
    single = (pair for pair in pairs if not pair.pooled)
    return [*dict.fromkeys(groups.get((p.model, p.decoding, p.benchmark), p) for p in single)]


def _gain(pair: Pair, pairs: Sequence[Pair]) -> Estimate:
    """Give a gain; that of a group is the mean of its benchmarks' gains, each counted alike.

    For sets of one size this is the gain on all their problems, whose interval is then its own.
    """
    if not pair.group:
        return Estimate(pair.gain, pair.interval)
    place = (pair.model, pair.decoding)
    members = [p for p in pairs if (p.model, p.decoding) == place and p.benchmark in pair.pooled]
    alike = len({one.n for one in members}) == 1
    mean = sum(one.gain for one in members) / len(members)
    return Estimate(mean, pair.interval if alike else None)


def _group_notes(pairs: Sequence[Pair]) -> tuple[str, ...]:
    places = dict.fromkeys((_place(pair), pair.pooled) for pair in pairs if pair.group)
    return tuple(
        f"{name}: the mean of the gains on {listed(map(benchmark_label, members), len(members))}."
        for name, members in places
    )


def _place(pair: Pair) -> str:
    return f"{pair.group} Avg." if pair.group else pair.where or "all"


def _titled(caption: Caption, pairs: Sequence[Pair], how: str) -> Caption:
    """Name what gains over what: neither need be the one that the paper has."""
    if not pairs:
        return caption
    baseline, method = pairs[0].labels
    return replace(caption, title=f"Gain of {method} over {baseline} {how}")


def forest_figure(comparison: Comparison, caption: Caption) -> Figure | None:
    """Draw all paired comparisons of a family."""
    rows = [
        ForestRow(
            label=f"{pair.labels[1]}, {_row_label(pair)}",
            gain=Estimate(pair.gain, pair.interval),
            n=pair.n,
            p_holm=pair.p_holm,
            significant=pair.significant,
        )
        for pair in comparison.pairs
    ]
    return draw_forest(rows, caption)


def _row_label(pair: Pair) -> str:
    """Name a comparison in little room; the table beside the figure names what it pools."""
    return f"{pair.group or 'all'} pooled" if pair.pooled else pair.where or "all"


def frontier_figures(study: Study) -> Iterator[Figure]:
    """Draw accuracy against tokens, one figure for each model, on what all its methods share."""
    found = list(frontiers(study))
    for one in found:
        points = [_point(method) for method in one.methods]
        where = ", ".join(map(benchmark_label, one.benchmarks))
        name = FRONTIER.name if len(found) == 1 else file_stem(FRONTIER.name, one.model)
        title = f"{FRONTIER.title}: {_model_title(one.model)}" + (f" on {where}" if where else "")
        if len(points) > 1 and (figure := draw_frontier(points, Caption(name, title))):
            yield figure


def _point(method: MethodCost) -> FrontierPoint:
    accuracy = Estimate(method.score.accuracy, method.score.interval)
    return FrontierPoint(method.name, method.tokens, accuracy, method.on_frontier)


def _model_title(model: str) -> str:
    return model_label(model) or "All attempts"


def grid_figures(study: Study) -> Iterator[Figure]:
    """Draw which methods solve which problems, a figure for each benchmark and model."""
    for one in solve_rates(study):
        title = ", ".join(filter(None, (benchmark_label(one.benchmark), _model_title(one.model))))
        figure = draw_grid(title, one.problems, one.methods, one.shares)
        if figure:
            yield replace(figure, long=True)


def category_figures(study: Study, method: str, baseline: str) -> Iterator[Figure]:
    """Draw how common each kind of constraint is and what a method gains there, by model."""
    found = categories(study, method, baseline)
    for model in dict.fromkeys(one.model for one in found):
        rows = [
            CategoryBar(
                one.kind,
                one.frequency,
                Estimate(one.gain.points, one.gain.interval) if one.gain else None,
                one.gain.n if one.gain else None,
            )
            for one in found
            if one.model == model
        ]
        caption = CATEGORIES
        name = file_stem(caption.name, model) if model else caption.name
        title = f"{caption.title}: {model_label(model)}" if model else caption.title
        figure = draw_categories(rows, Caption(name, title, caption.paper))
        yield from filter(None, [figure])


def cloud_figure(audit: RouterAudit) -> Figure | None:
    """Draw the phrases that routed problems."""
    found = phrase_counts(audit)
    return draw_cloud(
        {one.phrase: one.problems for one in found},
        {one.phrase: FAMILY_LABELS[one.family] for one in found},
    )


def flow_figure(study: Study, method: str) -> Figure:
    """Draw the protocol with the way that each problem took in its first run."""
    counts = count_flow(study, method)
    if not counts.known:
        return draw_flow(counts)
    title = f"{study.method_name(method)}: the ways that problems take through the protocol"
    return draw_flow(counts, replace(FRAMEWORK, title=title))
