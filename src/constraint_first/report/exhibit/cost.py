"""Cost: tokens by method, model and stage, and accuracy against them.

Paper: Token Overhead, Matched Prompting Baselines, the exploratory comparison.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from constraint_first.file.safe import file_stem
from constraint_first.model.limit import Cost
from constraint_first.model.resolve import price_list
from constraint_first.protocol import Usage
from constraint_first.report import canvas, table
from constraint_first.report.canvas import Axes, Box, Figure, Sheet, Style, clean, load
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
from constraint_first.report.table import NONE, Column, Row, Table, left, row

_COST_NOTE: Final = (
    "Costs are US dollars, the mean of an attempt, at the prices that models.toml had when this "
    "was made; a + marks one that lacks a part, since a model has no price."
)


def prompting_table(
    study: Study, baseline: str, references: Sequence[str | None], named: str = "CFR"
) -> Table:
    """Tabulate accuracy and tokens; "vs. CFR" uses the first of a model's ``references``."""
    parts = by_model(study)
    benchmarks = benchmarks_of(parts)
    costs = [[mean_cost(arms.values()) for arms in part.methods.values()] for part in parts]
    priced = any(cost for own in costs for cost in own)
    rows: list[Row] = []
    for part, own in zip(parts, costs, strict=True):
        rows.append(row(part.title, kind="heading"))
        beside = next((name for name in references if name in part.methods), None)
        for (method, arms), cost in zip(part.methods.items(), own, strict=True):
            tokens = mean_tokens(arms.values())
            counts = (tokens.input, tokens.output, tokens.total) if tokens else (None, None, None)
            rows.append(
                row(
                    part.name(method),
                    *(accuracy_cell(part, method, name) for name in benchmarks),
                    *map(table.whole, counts),
                    *(table.times(_ratio(part, method, name)) for name in (baseline, beside)),
                    *((str(cost or NONE),) if priced else ()),
                )
            )
    known = study.names("method")
    names = [study.method_name(name) for name in references if name and name in known]
    titles = ("Input", "Output", "Total", f"vs. {study.method_name(baseline)}", f"vs. {named}")
    return Table(
        "prompting",
        "All methods side by side: accuracy and mean tokens of an attempt",
        (
            *left("Method"),
            *(Column(benchmark_label(b) or "all", group="Accuracy [95 %]") for b in benchmarks),
            *(Column(title, group="Mean tokens") for title in titles),
            *((Column("Cost an attempt"),) if priced else ()),
        ),
        tuple(rows),
        (
            "Accuracy in per cent; bold is the best of its model. Ratios are of total tokens, on "
            "the benchmarks that both methods have; "
            f"{named} is {' or else '.join(names) or 'absent'}.",
            *((_COST_NOTE,) if priced else ()),
            table.ACCURACY_INTERVAL,
            table.size_note(parts),
            table.status_note(arm for part in parts for arm in part.arms()),
        ),
        ("tab:prompting-main", "tab:cost-accounting"),
    )


def _ratio(part: ModelArms, method: str, reference: str | None) -> float | None:
    both = part.paired(reference, method) if reference else []
    return token_ratios([arm for _, arm in both], [base for base, _ in both]).every_time


def tokens_table(study: Study, baseline: str, method: str) -> Table:
    parts = [part.keep((baseline, method)) for part in by_model(study)]
    benchmarks = benchmarks_of(parts)
    rows: list[Row] = []
    for part in parts:
        for name, arms in part.methods.items():
            bases = part.methods.get(baseline, {}) if name != baseline else {}
            cells = (_output(arms.get(b), bases.get(b)) for b in benchmarks)
            rows.append(row(part.title, part.name(name), *cells))
    places = (Column(benchmark_label(name) or "all") for name in benchmarks)
    return Table(
        "tokens-by-model",
        "Mean output tokens by model and benchmark",
        (*left("Model", "Method"), *places),
        tuple(rows),
        ("In brackets the ratio to the baseline. Prompts are not counted here.",),
        ("tab:token-by-model",),
    )


def _output(arm: Arm | None, base: Arm | None) -> str:
    used = mean_tokens([arm]) if arm else None
    if arm is None or used is None:
        return NONE
    ratio = token_ratios([arm], [base]).output if base else None
    return table.whole(used.output) + (f" ({table.times(ratio)})" if ratio is not None else "")


def stages_table(study: Study) -> Table:
    rows: list[Row] = []
    for part in by_model(study):
        every = ((part.name(method), [*arms.values()]) for method, arms in part.methods.items())
        found = [line for name, arms in every for line in _stage_rows(name, arms)]
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
    attempts = sum(runs for arm in arms for _, runs in arm.scores.values())
    stages: dict[str, StageCost] = {}
    for arm in arms:
        for stage, cost in arm.stages.items():
            stages[stage] = stages.get(stage, StageCost()) + cost
    everything = sum(cost.tokens for cost in stages.values())
    for at, (stage, cost) in enumerate(stages.items() if attempts and everything else ()):
        yield row(
            *("" if at else name, stage, table.decimal(cost.calls / attempts, 2)),
            *(table.whole(n / attempts) for n in (cost.input_tokens, cost.output_tokens)),
            table.percent(cost.tokens / everything),
        )


def mean_cost(arms: Iterable[Arm]) -> Cost | None:
    """Average the current price of judged attempts; None if prices or stages are unknown."""
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


# Table of token ratios: tokens of methods as multiples of a baseline's, counted in three ways.

COUNTED: Final = ("Output", "Prompt once", "Every time")
"""The column headings of the three ways to count."""
_COUNTED_NOTE: Final = (
    "Output: written tokens alone. The others are input and output together: a prompt that several "
    "samples of an attempt share counts once, or as often as it was sent."
)
_ATTEMPTS: Final = "Means of the judged attempts at the problems that both have judged."


def ratios_table(comparison: Comparison, *, named: bool = False) -> Table:
    """Tabulate tokens relative to the baseline; ``named`` adds the model to its name."""
    pairs = [pair for pair in comparison.pairs if any(pair.tokens)]
    decodings = table.tell_apart([pair.decoding for pair in comparison.pairs])
    rows: list[Row] = []
    heading = None
    for pair in pairs:
        setting = decodings[pair.decoding] if len(decodings) > 1 else ""
        if heading != (heading := ", ".join(filter(None, (model_label(pair.model), setting)))):
            rows.append(row(heading or "All attempts", kind="heading"))
        rows.append(row(pair.labels[1], pair.where or "all", *map(table.times, pair.tokens)))
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
    """Tabulate means over each group of benchmarks that all methods share, and over all of them.

    Paper: Comparison with Alternative Prompting Strategies.
    """
    rows: list[Row] = []
    for part in by_model(study):
        for names in groups_and_all(part.shared_benchmarks(next(iter(part.methods)))):
            where = ", ".join(map(benchmark_label, names)) or "all"
            rows.append(row(f"{part.title}: {where}", kind="heading"))
            rows += [_exploratory_row(part, baseline, name, names) for name in part.methods]
    note = "The methods of each model share no judged benchmark: there is no mean to compare."
    if rows:
        note = (
            "Descriptive: the plain mean of pass@k over the benchmarks that all methods have, and "
            f"of tokens relative to {study.method_name(baseline)}. No claim rests on it."
        )
    return Table(
        "prompting-comparison",
        "pass@k and overhead, averaged over benchmarks",
        (*left("Method"), *map(Column, ("k", "Average", "n", "Tokens"))),
        tuple(rows),
        (note,),
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
        table.decimal(mean_of_all([pass_at(arm, k) for arm in arms])),
        f"{sum(len(arm.scores) for arm in arms):,}",
        table.times(mean_of_all(costs)),
    )


# Accuracy against tokens, one figure for each model, with a line along the Pareto frontier.
#
# A method is on it unless another one is at least as accurate with at most as many tokens, and
# strictly better in one of the two (paper: the accuracy-cost trade-off of its main tables).

_AXIS: Final = (
    "mean tokens of an attempt, read and written; a prompt that samples share counts once"
)
_LEFT: Final = 0.55
_HEIGHT: Final = 3.7


class _Point(NamedTuple):
    """A method: the mean tokens of an attempt, its score, whether it is on the frontier."""

    name: str
    tokens: float
    score: Score
    best: bool

    @property
    def place(self) -> tuple[float, float]:
        return self.tokens, self.score.accuracy


def frontier_figures(study: Study) -> Iterator[Figure]:
    """Draw accuracy against tokens by model, on benchmarks that all its methods share."""
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
    """Pool the problems of several benchmarks into one price and one score for each method."""
    found: list[tuple[str, float, Score]] = []
    for method in part.methods:
        arms = [part.methods[method][name] for name in benchmarks]
        cost, own = mean_tokens(arms), score(*arms)
        if cost and own:
            found.append((part.name(method), cost.shared_once, own))
    best = pareto([(tokens, own.accuracy) for _, tokens, own in found])
    return [_Point(*one, on) for one, on in zip(found, best, strict=True)]


def pareto(points: Sequence[tuple[float, float]]) -> list[bool]:
    """Return which points of cost and value are on the frontier; equal points are all on it."""
    return [
        not any(x <= cost and y >= value and (x, y) != (cost, value) for x, y in points)
        for cost, value in points
    ]


def _draw(points: Sequence[_Point], name: str, title: str) -> Figure:
    with canvas.sheet(_HEIGHT) as page:
        axes = page.axes(_LEFT, 0, canvas.WIDTH - _LEFT, _HEIGHT)
        _scales(axes, points)
        steps = _draw_line(axes, points)
        for number, point in enumerate(points):
            _draw_point(axes, point, number)
        unplaced = _draw_labels(page, axes, points, steps)
        best = sorted((p for p in points if p.best), key=lambda p: p.tokens)
        said = (
            f"{clean(p.name)} ({table.percent(p.score.accuracy / 100, 0)}, "
            f"{_tokens(round(p.tokens))})"
            for p in best
        )
        alt = (
            f"Accuracy against mean tokens of {table.several(len(points), 'method')}. On the "
            f"frontier: {canvas.listed(said, 8)}."
        )
        notes = [
            "Filled marks are on the frontier: no method is as cheap and more accurate, or as "
            "accurate and cheaper.",
            "Vertical lines are intervals.",
        ]
        if unplaced:
            notes.append(f"Without room for a label: {canvas.listed(unplaced, 40)}.")
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
    axes.yaxis.set_major_formatter(ticker.StrMethodFormatter("{x:g} %"))
    axes.set_xlabel(_AXIS, fontsize=canvas.SMALL, color=canvas.MUTED)
    axes.set_ylabel("accuracy", fontsize=canvas.SMALL, color=canvas.MUTED)


def _tokens(number: float, _: int = 0) -> str:
    """Format tokens briefly: ``800``, ``1.5k``, ``20k``."""
    if abs(number) < 1000:
        return f"{number:g}"
    return f"{number / 1000:,.4g}k" if abs(number) < 1e6 else f"{number / 1e6:,.4g}M"


def _draw_line(axes: Axes, points: Sequence[_Point]) -> list[tuple[float, float]]:
    """Draw the frontier as steps of the best accuracy by tokens; return its corners."""
    best = sorted({p.place for p in points if p.best})
    corners = [best[0]]
    for tokens, accuracy in best[1:]:
        corners += [(tokens, corners[-1][1]), (tokens, accuracy)]
    corners.append((axes.get_xlim()[1], corners[-1][1]))
    xs, ys = zip(*corners, strict=True)
    axes.plot(xs, ys, color=canvas.GAIN, linewidth=1.4, alpha=0.7, zorder=2, gid="frontier-line")
    return corners


def _draw_point(axes: Axes, point: _Point, number: int) -> None:
    colour = canvas.GAIN if point.best else canvas.INK
    line: Style = {"color": colour, "linewidth": 1, "alpha": 0.8, "marker": "_", "markersize": 5}
    line |= {"clip_on": False, "gid": f"interval-{number}"}
    axes.plot([point.tokens] * 2, point.score.interval, **line)
    mark: Style = {"s": 34, "linewidths": 1.3, "edgecolors": colour, "zorder": 3, "clip_on": False}
    mark |= {"facecolors": colour if point.best else "none", "gid": f"point-{number}"}
    axes.scatter([point.tokens], [point.score.accuracy], **mark)


def _draw_labels(
    page: Sheet, axes: Axes, points: Sequence[_Point], steps: Sequence[tuple[float, float]]
) -> list[str]:
    """Draw each label at a free place; return the labels for which there is none."""

    def inches(spot: tuple[float, float]) -> tuple[float, float]:
        across, up = axes.transData.transform(spot)
        return across / 72, up / 72

    # Points on the frontier, which matter most, are labelled first.
    order = sorted(range(len(points)), key=lambda at: not points[at].best)
    marks = [inches(point.place) for point in points]
    ends = ([inches((p.tokens, end)) for end in p.score.interval] for p in points)
    names = [canvas.wrap(point.name, 22, 2) or canvas.UNKNOWN for point in points]
    placed = canvas.place(
        [(names[at], marks[at]) for at in order],
        inside=Box(_LEFT + 0.02, 0.02, canvas.WIDTH, _HEIGHT),
        taken=[Box.around(x, y, 0.06, 0.06) for x, y in marks],
        crossed=[Box.between(*pair) for pair in (*ends, *pairwise(map(inches, steps)))],
        size=canvas.SMALL,
    )
    for at, spot in zip(order, placed, strict=True):
        if spot:
            spot.draw(page, names[at], f"label-{at}", bold=points[at].best)
    return [clean(points[at].name) for at, spot in zip(order, placed, strict=True) if not spot]


def _prompting(context: Context) -> list[Table]:
    papers = [context.variant(family) for family in (CFR, ROUTED_CFR)]
    brief = [context.variant(family) for family in (CFR_BRIEF, ROUTED_CFR_BRIEF)]
    # Our variant is no substitute for the paper's protocol; if it is the only one, its name is
    # shown.
    stands = any(brief) and not any(papers)
    references, named = (brief, "CFR-brief") if stands else (papers, "CFR")
    return [prompting_table(context.study, context.baseline, references, named)]


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
    Exhibit(
        "prompting",
        lambda c: [ratios_table(one, named=len(c.comparisons) > 1) for one in c.comparisons],
    ),
)
