"""Cost: tokens by method, model and stage, and accuracy against them.

Paper: Token Overhead, Matched Prompting Baselines, the exploratory comparison.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from constraint_first.file.safe import file_stem
from constraint_first.model.resolve import Cost, price_list
from constraint_first.protocol import Usage
from constraint_first.report.canvas import (
    GAIN,
    INK,
    MUTED,
    SMALL,
    UNKNOWN,
    WIDTH,
    Axes,
    Box,
    Figure,
    Sheet,
    clean,
    listed,
    load,
    place,
    sheet,
    wrap,
)
from constraint_first.report.comparison import (
    Comparison,
    Score,
    mean_of_all,
    mean_tokens,
    pass_at,
    score,
    token_ratios,
)
from constraint_first.report.exhibit.exhibit import Context, Exhibit
from constraint_first.report.exhibit.scores import accuracy_cell
from constraint_first.report.study import (
    CFR,
    CFR_BRIEF,
    ROUTED_CFR,
    ROUTED_CFR_BRIEF,
    Arm,
    ModelArms,
    StageCost,
    Study,
    benchmark_label,
    benchmarks_of,
    by_model,
    groups_and_all,
    model_label,
)
from constraint_first.report.table import (
    ACCURACY_INTERVAL,
    NONE,
    Cell,
    Column,
    Row,
    Table,
    decimal,
    left,
    percent,
    row,
    several,
    size_note,
    status_note,
    tell_apart,
    times,
    whole,
)

_COST_NOTE: Final = (
    "Costs are US dollars, the mean of an attempt, at the prices that models.toml had when this "
    "was made; a + marks one that lacks a part, since a model has no price."
)


def prompting_table(
    study: Study, baseline: str, references: Sequence[str | None], named: str = "CFR"
) -> Table:
    """Tabulate all methods side by side: accuracy, and tokens in, out, together and relative.

    The first of ``references`` that a model has is what "vs. CFR" compares with, or what else it is
    ``named``; None is a family that the study has no method of.
    """
    parts = by_model(study)
    benchmarks = benchmarks_of(parts)
    costs = {
        (part.title, m): mean_cost(a.values()) for part in parts for m, a in part.methods.items()
    }
    priced = any(costs.values())
    rows: list[Row] = []
    for part in parts:
        rows.append(row(part.title, kind="heading"))
        beside = next((name for name in references if name in part.methods), None)
        for method in part.methods:
            cells = _method_cells(part, method, (baseline, beside), benchmarks)
            cost = (str(costs[part.title, method] or NONE),) if priced else ()
            rows.append(row(*cells, *cost))
    accuracy = [Column(benchmark_label(b) or "all", group="Accuracy [95 %]") for b in benchmarks]
    known = study.names("method")
    names = [study.method_name(name) for name in references if name and name in known]
    tokens = ("Input", "Output", "Total", f"vs. {study.method_name(baseline)}", f"vs. {named}")
    return Table(
        "prompting",
        "All methods side by side: accuracy and mean tokens of an attempt",
        (
            *left("Method"),
            *accuracy,
            *(Column(title, group="Mean tokens") for title in tokens),
            *((Column("Cost an attempt"),) if priced else ()),
        ),
        tuple(rows),
        (
            "Accuracy in per cent; bold is the best of its model. Ratios are of total tokens, on "
            "the benchmarks that both methods have; "
            f"{named} is {' or else '.join(names) or 'absent'}.",
            *((_COST_NOTE,) if priced else ()),
            ACCURACY_INTERVAL,
            size_note(parts),
            status_note(arm for part in parts for arm in part.arms()),
        ),
        ("tab:prompting-main", "tab:cost-accounting"),
    )


def _method_cells(
    part: ModelArms, method: str, references: tuple[str, str | None], benchmarks: Sequence[str]
) -> tuple[str | Cell, ...]:
    arms = part.methods[method]
    cells = [accuracy_cell(part, method, name) for name in benchmarks]
    tokens = mean_tokens(arms.values())
    counts = (tokens.input, tokens.output, tokens.total) if tokens else (None, None, None)
    ratios = (_ratio(part, method, name) for name in references)
    return part.name(method), *cells, *map(whole, counts), *map(times, ratios)


def _ratio(part: ModelArms, method: str, reference: str | None) -> float | None:
    both = part.paired(reference, method) if reference else []
    return token_ratios([arm for _, arm in both], [base for base, _ in both]).every_time


def tokens_table(study: Study, baseline: str, method: str) -> Table:
    parts = [part.keep((baseline, method)) for part in by_model(study)]
    parts = [part for part in parts if part.methods]
    benchmarks = benchmarks_of(parts)
    rows: list[Row] = []
    for part in parts:
        base = part.methods.get(baseline, {})
        for name, arms in part.methods.items():
            cells = [
                _output(arms.get(b), base.get(b) if name != baseline else None) for b in benchmarks
            ]
            rows.append(row(part.title, part.name(name), *cells))
    return Table(
        "tokens-by-model",
        "Mean output tokens by model and benchmark",
        (
            *left("Model", "Method"),
            *(Column(benchmark_label(name) or "all") for name in benchmarks),
        ),
        tuple(rows),
        ("In brackets the ratio to the baseline. Prompts are not counted here.",),
        ("tab:token-by-model",),
    )


def _output(arm: Arm | None, base: Arm | None) -> str:
    used = mean_tokens([arm]) if arm else None
    if arm is None or used is None:
        return NONE
    ratio = token_ratios([arm], [base]).output if base else None
    return whole(used.output) + (f" ({times(ratio)})" if ratio is not None else "")


def stages_table(study: Study) -> Table:
    rows: list[Row] = []
    for part in by_model(study):
        found = [
            line
            for method, arms in part.methods.items()
            for line in _stage_rows(part.name(method), list(arms.values()))
        ]
        rows += [row(part.title, kind="heading"), *found] if found else []
    titles = ("Calls", "Input", "Output", "Share of all tokens")
    note = "Attempts that did not reach a stage count as zero there."
    return Table(
        "stages",
        "Tokens by stage: the mean of an attempt",
        (*left("Method", "Stage"), *map(Column, titles)),
        tuple(rows),
        (note if rows else "Calls and tokens by stage are not on record.",),
        ("tab:cost-accounting",),
    )


def _stage_rows(name: str, arms: Sequence[Arm]) -> Iterator[Row]:
    """Average over judged attempts; those that did not reach a stage count as zero there."""
    attempts = sum(runs for arm in arms for _, runs in arm.scores.values())
    stages: dict[str, StageCost] = {}
    for arm in arms:
        for stage, cost in arm.stages.items():
            stages[stage] = stages.get(stage, StageCost()) + cost
    everything = sum(cost.tokens for cost in stages.values())
    for at, (stage, cost) in enumerate(stages.items() if attempts and everything else ()):
        yield row(
            "" if at else name,
            stage,
            decimal(cost.calls / attempts, 2),
            whole(cost.input_tokens / attempts),
            whole(cost.output_tokens / attempts),
            percent(cost.tokens / everything),
        )


def mean_cost(arms: Iterable[Arm]) -> Cost | None:
    """Average what judged attempts cost, each stage at the price of the model that answered it.

    Prices are those of today. None where the arms' models have none, or where stages are not on
    record.
    """
    total, attempts = Cost(), 0
    for arm in arms:
        stages = arm.stages.values()
        prices = price_list(arm.model, {one.answered_by for one in stages if one.answered_by})
        if not stages or not prices.has_prices:
            return None
        attempts += sum(runs for _, runs in arm.scores.values())
        for one in stages:
            used = Usage(one.input_tokens, one.output_tokens, cached=one.cached_tokens)
            total += prices.cost(used, one.answered_by)
    return Cost(total.dollars / attempts, total.complete) if attempts else None


# Table of token ratios: what methods cost in multiples of a baseline, counted in three ways.

COUNTED: Final = ("Output", "Prompt once", "Every time")
"""The three ways to count, as columns are headed."""
_COUNTED_NOTE: Final = (
    "Output: written tokens alone. The others are input and output together: a prompt that several "
    "samples of an attempt share counts once, or as often as it was sent."
)
_ATTEMPTS: Final = "Means of the judged attempts at the problems that both have judged."


def ratios_table(comparison: Comparison, *, named: bool = False) -> Table:
    """Tabulate the tokens of each method relative to the baseline, a row for each benchmark.

    ``named`` gives the table the name of its model, where there is one for each.
    """
    pairs = [pair for pair in comparison.pairs if any(pair.tokens)]
    decodings = tell_apart([pair.decoding for pair in comparison.pairs])
    rows: list[Row] = []
    heading = None
    for pair in pairs:
        setting = decodings[pair.decoding] if len(decodings) > 1 else ""
        if heading != (heading := ", ".join(filter(None, (model_label(pair.model), setting)))):
            rows.append(row(heading or "All attempts", kind="heading"))
        rows.append(row(pair.labels[1], pair.where or "all", *map(times, pair.tokens)))
    model, baseline = comparison.pairs[0].model, comparison.pairs[0].labels[0]
    title = f"Tokens relative to {baseline}"
    return Table(
        file_stem("token-ratios", model) if named else "token-ratios",
        f"{title}: {model_label(model)}" if named else title,
        (*left("Method", "Benchmark"), *map(Column, COUNTED)),
        tuple(rows),
        (_COUNTED_NOTE, _ATTEMPTS) if rows else ("Tokens are not on record.",),
    )


# pass@k and overhead, averaged over benchmarks.


def exploratory_table(study: Study, baseline: str) -> Table:
    """Tabulate pass@k and overhead (paper: Comparison with Alternative Prompting Strategies).

    Each group of benchmarks that all methods share has its mean, as AIME has in the paper, and so
    have all that they share.
    """
    rows: list[Row] = []
    for part in by_model(study):
        shared = part.shared_benchmarks(next(iter(part.methods)))
        for names in groups_and_all(shared):
            where = ", ".join(map(benchmark_label, names)) or "all"
            rows.append(row(f"{part.title}: {where}", kind="heading"))
            rows += [_exploratory_row(part, baseline, name, names) for name in part.methods]
    lacking = "The methods of each model share no judged benchmark: there is no mean to compare."
    return Table(
        "prompting-comparison",
        "pass@k and overhead, averaged over benchmarks",
        (*left("Method"), *map(Column, ("k", "Average", "n", "Tokens"))),
        tuple(rows),
        (
            "Descriptive: the plain mean of pass@k over the benchmarks that all methods have, and "
            f"of tokens relative to {study.method_name(baseline)}. No claim rests on it."
            if rows
            else lacking,
        ),
        ("tab:prompting-comparison",),
    )


def _exploratory_row(part: ModelArms, baseline: str, method: str, benchmarks: Sequence[str]) -> Row:
    arms = [part.methods[method][name] for name in benchmarks]
    k = min(arm.fewest_runs for arm in arms)
    bases = part.methods.get(baseline, {})
    costs = [
        token_ratios([arm], [bases[arm.benchmark]]).every_time if arm.benchmark in bases else None
        for arm in arms
    ]
    return row(
        part.name(method),
        f"pass@{k}",
        decimal(mean_of_all([pass_at(arm, k) for arm in arms])),
        f"{sum(len(arm.scores) for arm in arms):,}",
        times(mean_of_all(costs)),
    )


# Accuracy against tokens, one figure for each model, with a line along the Pareto frontier.
#
# A method is on it where no other is at least as accurate for at most as many tokens and better in
# one of the two (paper: the accuracy-cost trade-off of its main tables).

_AXIS: Final = (
    "mean tokens of an attempt, read and written; a prompt that samples share counts once"
)
_LEFT: Final = 0.55
_HEIGHT: Final = 3.7


class _Point(NamedTuple):
    """A method: what an attempt of it costs in tokens, its score, whether it is on the frontier."""

    name: str
    tokens: float
    score: Score
    best: bool


def frontier_figures(study: Study) -> Iterator[Figure]:
    """Draw accuracy against tokens, one figure for each model, on what all its methods share."""
    parts = by_model(study)
    for part in parts:
        benchmarks = part.shared_benchmarks(next(iter(part.methods)))
        points = _points(part, benchmarks)
        where = ", ".join(map(benchmark_label, benchmarks))
        name = "frontier" if len(parts) == 1 else file_stem("frontier", part.model)
        title = f"Accuracy against tokens: {part.title}" + (f" on {where}" if where else "")
        if len(points) > 1:
            yield _draw(points, name, title)


def _points(part: ModelArms, benchmarks: Sequence[str]) -> list[_Point]:
    """Take the problems of several benchmarks together: one price and one score."""
    found: list[tuple[str, float, Score]] = []
    for method in part.methods:
        arms = [part.methods[method][name] for name in benchmarks]
        cost, own = mean_tokens(arms), score(*arms)
        if cost and own:
            found.append((part.name(method), cost.shared_once, own))
    best = pareto([(tokens, own.accuracy) for _, tokens, own in found])
    return [_Point(*one, on) for one, on in zip(found, best, strict=True)]


def pareto(points: Sequence[tuple[float, float]]) -> list[bool]:
    """Say which points of cost and value are on the frontier; equal points are on it together."""
    return [not any(_beats(other, one) for other in points) for one in points]


def _beats(one: tuple[float, float], other: tuple[float, float]) -> bool:
    return one[0] <= other[0] and one[1] >= other[1] and one != other


def _draw(points: Sequence[_Point], name: str, title: str) -> Figure:
    with sheet(_HEIGHT) as page:
        axes = page.axes(_LEFT, 0, WIDTH - _LEFT, _HEIGHT)
        _scales(axes, points)
        steps = _draw_line(axes, points)
        for number, point in enumerate(points):
            _draw_point(axes, point, number)
        unplaced = _draw_labels(page, axes, points, steps)
        best = sorted((p for p in points if p.best), key=lambda p: p.tokens)
        said = (
            f"{clean(p.name)} ({percent(p.score.accuracy / 100, 0)}, {_tokens(round(p.tokens))})"
            for p in best
        )
        alt = (
            f"Accuracy against mean tokens of {several(len(points), 'method')}. On the frontier: "
            f"{listed(said, 8)}."
        )
        notes = [
            "Filled marks are on the frontier: no method is as cheap and more accurate, or as "
            "accurate and cheaper.",
            "Vertical lines are intervals.",
        ]
        if unplaced:
            notes.append(f"Without room for a label: {listed(unplaced, 40)}.")
        return page.finish(name, title, alt, notes)


def _scales(axes: Axes, points: Sequence[_Point]) -> None:
    ticker = load("ticker")
    tokens = [point.tokens for point in points]
    least, most = min(tokens), max(tokens)
    if least > 0 and most / least > 10:
        axes.set_xscale("log")
        axes.set_xlim(least / 1.35, most * 1.35)
        subs = (1, 2, 5) if most / least < 1000 else (1,)
        axes.xaxis.set_major_locator(ticker.LogLocator(subs=subs))
        axes.xaxis.set_minor_locator(ticker.NullLocator())
    else:
        room = 0.12 * (most - least) or max(0.25 * abs(most), 100.0)
        axes.set_xlim(max(least - room, min(least, 0.0)), most + room)
        axes.xaxis.set_major_locator(ticker.MaxNLocator(6))
    axes.xaxis.set_major_formatter(ticker.FuncFormatter(_tokens))
    values = [v for point in points for v in (point.score.accuracy, *point.score.interval)]
    room = 0.08 * (max(values) - min(values)) or 5.0
    axes.set_ylim(min(values) - room, max(values) + room)
    axes.yaxis.set_major_locator(ticker.MaxNLocator(6))
    axes.yaxis.set_major_formatter(ticker.FuncFormatter(_percent))
    axes.set_xlabel(_AXIS, fontsize=SMALL, color=MUTED)
    axes.set_ylabel("accuracy", fontsize=SMALL, color=MUTED)


def _percent(number: float, _: int) -> str:
    return f"{number:g} %"


def _tokens(number: float, _: int = 0) -> str:
    """Write tokens shortly: ``800``, ``1.5k``, ``20k``."""
    if abs(number) < 1000:
        return f"{number:g}"
    return f"{number / 1000:,.4g}k" if abs(number) < 1e6 else f"{number / 1e6:,.4g}M"


def _draw_line(axes: Axes, points: Sequence[_Point]) -> list[tuple[float, float]]:
    """Draw the frontier as steps, the best accuracy for so many tokens; return its corners."""
    best = sorted({(p.tokens, p.score.accuracy) for p in points if p.best})
    corners = [best[0]]
    for tokens, accuracy in best[1:]:
        corners += [(tokens, corners[-1][1]), (tokens, accuracy)]
    corners.append((axes.get_xlim()[1], corners[-1][1]))
    xs, ys = zip(*corners, strict=True)
    axes.plot(xs, ys, color=GAIN, linewidth=1.4, alpha=0.7, zorder=2, gid="frontier-line")
    return corners


def _draw_point(axes: Axes, point: _Point, number: int) -> None:
    colour = GAIN if point.best else INK
    axes.plot(
        [point.tokens] * 2,
        point.score.interval,
        color=colour,
        linewidth=1,
        alpha=0.8,
        marker="_",
        markersize=5,
        clip_on=False,
        gid=f"interval-{number}",
    )
    axes.scatter(
        [point.tokens],
        [point.score.accuracy],
        s=34,
        linewidths=1.3,
        facecolors=GAIN if point.best else "none",
        edgecolors=colour,
        zorder=3,
        clip_on=False,
        gid=f"point-{number}",
    )


def _draw_labels(
    page: Sheet, axes: Axes, points: Sequence[_Point], steps: Sequence[tuple[float, float]]
) -> list[str]:
    """Write each label where nothing else is; return those that found no room."""

    def inches(x: float, y: float) -> tuple[float, float]:
        across, up = axes.transData.transform((x, y))
        return across / 72, up / 72

    marks = [inches(point.tokens, point.score.accuracy) for point in points]
    lines = [
        Box.between(*(inches(point.tokens, end) for end in point.score.interval))
        for point in points
    ]
    lines += [Box.between(*pair) for pair in pairwise(inches(*corner) for corner in steps)]
    names = [wrap(point.name, 22, 2) or UNKNOWN for point in points]
    # Those on the frontier choose first: they are what the figure is about.
    order = sorted(range(len(points)), key=lambda at: not points[at].best)
    placed = place(
        [(names[at], marks[at]) for at in order],
        inside=Box(_LEFT + 0.02, 0.02, WIDTH, _HEIGHT),
        taken=[Box.around(x, y, 0.06, 0.06) for x, y in marks],
        crossed=lines,
        size=SMALL,
    )
    for at, spot in zip(order, placed, strict=True):
        if spot:
            spot.draw(page, names[at], f"label-{at}", bold=points[at].best)
    return [clean(points[at].name) for at, spot in zip(order, placed, strict=True) if not spot]


def _prompting(context: Context) -> list[Table]:
    papers = [context.variant(family) for family in (CFR, ROUTED_CFR)]
    brief = [context.variant(family) for family in (CFR_BRIEF, ROUTED_CFR_BRIEF)]
    # Our variant is no substitute for the paper's protocol: where there is nothing else, by name.
    stands = any(brief) and not any(papers)
    references, named = (brief, "CFR-brief") if stands else (papers, "CFR")
    return [prompting_table(context.study, context.baseline, references, named)]


def _ratios(context: Context) -> list[Table]:
    named = len(context.comparisons) > 1
    return [ratios_table(one, named=named) for one in context.comparisons]


EXHIBITS: Final = (
    Exhibit(
        "prompting",
        _prompting,
        lambda c: frontier_figures(c.study),
        ("prompting",),
        about="families",
    ),
    Exhibit(
        "prompting",
        lambda c: [exploratory_table(c.study, c.baseline)],
        paper=("prompting-comparison",),
    ),
    Exhibit("prompting", lambda c: [stages_table(c.study)]),
    Exhibit(
        "prompting",
        lambda c: [tokens_table(c.study, c.baseline, c.method)],
        paper=("tokens-by-model",),
        about="method",
    ),
    Exhibit("prompting", _ratios),
)
