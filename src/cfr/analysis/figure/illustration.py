"""From a study to its figures: which numbers go into which drawing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from cfr.analysis.audit.categories import categories
from cfr.analysis.audit.routing import RouterAudit
from cfr.analysis.figure import categories as category_drawing
from cfr.analysis.figure.cloud import cloud
from cfr.analysis.figure.figure import Caption, Figure
from cfr.analysis.figure.flow import FlowCounts, flow
from cfr.analysis.figure.forest import ForestRow, forest
from cfr.analysis.figure.frontier import FRONTIER, FrontierPoint, frontier, pareto
from cfr.analysis.figure.gains import APPLICABILITY, BY_MODEL, GainBar, gains
from cfr.analysis.figure.grid import grid
from cfr.analysis.statistics.comparison import POOLED, Comparison, Pair
from cfr.analysis.statistics.cost import mean_tokens as mean_cost
from cfr.analysis.statistics.score import score
from cfr.analysis.study.by_model import ModelArms as Block
from cfr.analysis.study.by_model import by_model as blocks
from cfr.analysis.study.study import Arm, Study, benchmark_label, model_label
from cfr.file.stem import file_stem

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
    """Draw the gain of a method by model, a bar for each benchmark."""
    bars = [_bar(pair, model_label(pair.model), _where(pair)) for pair in pairs]
    return gains(bars, _titled(BY_MODEL, pairs, "by model"))


def applicability_figure(pairs: Sequence[Pair]) -> Figure | None:
    """Draw the gain of a method by benchmark, a bar for each model."""
    single = [pair for pair in pairs if pair.benchmark != POOLED]
    bars = [_bar(pair, _where(pair), model_label(pair.model)) for pair in single]
    return gains(bars, _titled(APPLICABILITY, pairs, "by benchmark"))


def _titled(caption: Caption, pairs: Sequence[Pair], how: str) -> Caption:
    """Name what gains over what: neither need be the one that the paper has."""
    if not pairs:
        return caption
    baseline, method = pairs[0].labels
    return replace(caption, title=f"Gain of {method} over {baseline} {how}")


def _bar(pair: Pair, group: str, series: str) -> GainBar:
    return GainBar(group, series, pair.gain, *(pair.interval or (None, None)), pair.n)


def _where(pair: Pair) -> str:
    return benchmark_label(pair.benchmark) or "all"


def forest_figure(comparison: Comparison, caption: Caption) -> Figure | None:
    """Draw all paired comparisons of a family."""
    rows = [
        ForestRow(
            label=f"{pair.labels[1]}, {_where(pair)}",
            gain=pair.gain,
            low=pair.interval[0] if pair.interval else None,
            high=pair.interval[1] if pair.interval else None,
            n=pair.n,
            p_holm=pair.p_holm,
            significant=pair.significant,
        )
        for pair in comparison.pairs
    ]
    return forest(rows, caption)


def frontier_figures(study: Study) -> Iterator[Figure]:
    """Draw accuracy against tokens, one figure for each model, on what all its methods share."""
    parts = blocks(study)
    for part in parts:
        benchmarks = [
            name
            for name in next(iter(part.methods.values()))
            if all(name in arms for arms in part.methods.values())
        ]
        points = [p for method in part.methods if (p := _point(part, method, benchmarks))]
        where = ", ".join(map(benchmark_label, benchmarks))
        name = FRONTIER.name if len(parts) == 1 else file_stem(FRONTIER.name, part.model)
        title = f"{FRONTIER.title}: {part.title}" + (f" on {where}" if where else "")
        if len(points) > 1 and (figure := frontier(pareto(points), Caption(name, title))):
            yield figure


def _point(part: Block, method: str, benchmarks: Sequence[str]) -> FrontierPoint | None:
    """Take the problems of several benchmarks together: one score and one price."""
    arms = [part.methods[method][name] for name in benchmarks]
    cost, found = mean_cost(arms), score(*arms)
    if cost is None or found is None:
        return None
    low, high = found.interval
    return FrontierPoint(part.name(method), sum(cost), found.accuracy / 100, low / 100, high / 100)


def grid_figures(study: Study) -> Iterator[Figure]:
    """Draw which methods solve which problems, a figure for each benchmark and model."""
    for part in blocks(study):
        for benchmark in dict.fromkeys(arm.benchmark for arm in part.arms()):
            arms = [arms[benchmark] for arms in part.methods.values() if benchmark in arms]
            problems = list(dict.fromkeys(name for arm in arms for name in arm.scores))
            shares = [[_share(arm, name) for name in problems] for arm in arms]
            title = ", ".join(filter(None, (benchmark_label(benchmark), part.title)))
            figure = grid(title, problems, [arm.name for arm in arms], shares)
            yield from filter(None, [figure])


def _share(arm: Arm, problem: str) -> float | None:
    found = arm.scores.get(problem)
    return found[0] / found[1] if found else None


def category_figures(study: Study, method: str, baseline: str) -> Iterator[Figure]:
    """Draw how common each kind of constraint is and what a method gains there, by model."""
    found = categories(study, method, baseline)
    for model in dict.fromkeys(one.model for one in found):
        rows = [
            category_drawing.CategoryBar(
                one.kind,
                one.frequency if one.problems else 0.0,
                one.gain.points if one.gain else None,
                *(one.gain.interval if one.gain and one.gain.interval else (None, None)),
                one.gain.n if one.gain else None,
            )
            for one in found
            if one.model == model
        ]
        caption = category_drawing.CATEGORIES
        name = file_stem(caption.name, model) if model else caption.name
        title = f"{caption.title}: {model_label(model)}" if model else caption.title
        figure = category_drawing.categories(rows, Caption(name, title, caption.paper))
        yield from filter(None, [figure])


def cloud_figure(audit: RouterAudit) -> Figure | None:
    """Draw the phrases that routed problems."""
    words: Counter[str] = Counter()
    families: dict[str, str] = {}
    for family, phrases in audit.phrases.items():
        for phrase, number in phrases.items():
            words[phrase] += number
            families.setdefault(phrase, family)
    return cloud(words, families)


def flow_figure(study: Study, method: str) -> Figure | None:
    """Draw the protocol with the way that each problem took in its first run."""
    first = [
        attempts[0]
        for arm in study.main_arms()
        if arm.method == method
        for attempts in arm.attempts.values()
    ]
    rungs = Counter(attempt.extraction.rung for attempt in first if attempt.extraction)
    if not rungs:
        return flow(FlowCounts())
    staged = rungs.total()
    return flow(FlowCounts(len(first), staged, len(first) - staged, rungs, rungs["fallback"]))
