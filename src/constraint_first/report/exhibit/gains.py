"""Bar chart of gains, in groups (paper: figures "gains by model" and "applicability")."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from constraint_first.benchmark.constraintbench.item import is_constraintbench
from constraint_first.benchmark.registry import entries
from constraint_first.file.safe import file_stem
from constraint_first.problem import Json
from constraint_first.report.canvas import (
    GAIN,
    INK,
    LOSS,
    Axes,
    Band,
    Caption,
    Colour,
    Estimate,
    Figure,
    NumberColumn,
    Rows,
    clean,
    counts,
    draw_bar,
    draw_interval,
    finite,
    listed,
    set_gain_scale,
    sheet,
    shortfalls,
)
from constraint_first.report.comparison import (
    POOLED,
    Comparison,
    ModelPairs,
    Pair,
    mean_of_all,
    mean_pass,
    pair_arms,
    pairs_by_model,
    token_ratios,
)
from constraint_first.report.exhibit.routing import routed_share
from constraint_first.report.notation import (
    NONE,
    counted,
    decimal,
    exact_p,
    p_value,
    percent,
    points,
    several,
    span,
    times,
)
from constraint_first.report.statistics import fewest_changes
from constraint_first.report.study import (
    Arm,
    ModelArms,
    Study,
    benchmark_label,
    by_model,
    groups_and_all,
    groups_of,
    model_label,
)
from constraint_first.report.table import (
    GAIN_INTERVAL,
    Cell,
    Column,
    Row,
    Table,
    absent,
    delta,
    row,
    tell_apart,
)

BY_MODEL: Final = Caption(
    "gains-by-model", "Gain over Direct CoT by model", ("fig:gains-by-model",)
)
APPLICABILITY: Final = Caption(
    "applicability", "Gain over Direct CoT by benchmark", ("fig:applicability",)
)


@dataclass(frozen=True, slots=True)
class GainBar:
    """A gain of a method on some problems."""

    group: str
    """What the bar stands with: a model, a benchmark."""
    series: str
    """What its colour says."""
    gain: Estimate
    """In points of accuracy."""
    n: int | None = None
    """How many problems it is over."""


def draw_gains(
    bars: Sequence[GainBar], caption: Caption = BY_MODEL, notes: Sequence[str] = ()
) -> Figure | None:
    """Draw gains in the order given, groups and series as they first come; None without any."""
    shown = [one for one in bars if one.gain.drawable]
    if not shown:
        return None
    groups = list(dict.fromkeys(one.group for one in shown))
    series = list(dict.fromkeys(one.series for one in shown))
    ordered = sorted(shown, key=lambda one: groups.index(one.group))
    bands = [Band(group, sum(one.group == group for one in shown)) for group in groups]
    rows = Rows(bands, _columns(ordered))
    with sheet(rows.height) as page:
        (axes,) = rows.draw(page)
        for number, (one, y) in enumerate(zip(ordered, rows.lanes, strict=True)):
            draw_bar(axes, one.gain.value, y, f"bar-{number}", series.index(one.series))
            if one.gain.ends:
                draw_interval(axes, one.gain.ends, y, f"interval-{number}")
        values = [value for one in ordered for value in one.gain.values]
        set_gain_scale(axes, values, "gain in accuracy, points")
        if any(series):
            rows.draw_key(page, series)
        return page.finish(caption, _alt(ordered, groups), [*notes, *_notes(ordered, len(bars))])


def _columns(bars: Sequence[GainBar]) -> list[NumberColumn]:
    columns = [NumberColumn("gain", tuple(points(one.gain.value) for one in bars))]
    if numbers := counts([one.n for one in bars]):
        columns.append(NumberColumn("n", numbers, muted=True))
    return columns


def _alt(bars: Sequence[GainBar], groups: Sequence[str]) -> str:
    names = listed((clean(group) for group in groups), 8)
    best, worst = (pick(bars, key=lambda one: one.gain.value) for pick in (max, min))
    said = f"Bars of gains in points of accuracy for {names}"
    if best.gain.value == worst.gain.value:
        return f"{said}: {several(len(bars), 'bar')}, {points(best.gain.value)}."
    return (
        f"{said}: {several(len(bars), 'bar')}, from {points(worst.gain.value)} ({_where(worst)}) "
        f"to {points(best.gain.value)} ({_where(best)})."
    )


def _where(one: GainBar) -> str:
    return ", ".join(filter(None, (clean(one.group), clean(one.series))))


def _notes(bars: Sequence[GainBar], given: int) -> list[str]:
    notes: list[str] = []
    if any(one.gain.ends for one in bars):
        notes.append(
            "Lines across bars are 95 % BCa intervals; one that crosses zero shows no difference."
        )
    without = sum(one.gain.ends is None for one in bars)
    return [*notes, *shortfalls(without, given - len(bars), "bar")]


# Forest plot of paired comparisons (paper: Convention-Controlled Paired Statistics).


@dataclass(frozen=True, slots=True)
class ForestRow:
    """A paired comparison of a method with a baseline."""

    label: str
    gain: Estimate
    """In points of accuracy."""
    n: int | None = None
    p_holm: float | None = None
    significant: bool = False


def draw_forest(rows: Sequence[ForestRow], caption: Caption) -> Figure | None:
    """Draw comparisons in the order given: full marks for what is significant after correction."""
    shown = [row for row in rows if row.gain.drawable]
    if not shown:
        return None
    board = Rows([Band(row.label) for row in shown], _columns_forest(shown))
    with sheet(board.height) as page:
        (axes,) = board.draw(page)
        for number, (row, y) in enumerate(zip(shown, board.lanes, strict=True)):
            if row.gain.ends:
                draw_interval(axes, row.gain.ends, y, f"interval-{number}", colour=_colour(row))
            _mark(axes, row, y, f"mark-{number}")
        values = [value for row in shown for value in row.gain.values]
        set_gain_scale(axes, values, "gain in accuracy, points")
        return page.finish(caption, _alt_forest(shown), _notes_forest(shown, len(rows)))


def _colour(row: ForestRow) -> Colour:
    if not row.significant:
        return INK
    return GAIN if row.gain.value >= 0 else LOSS


def _mark(axes: Axes, row: ForestRow, y: float, gid: str) -> None:
    colour = _colour(row)
    style = {"s": 30, "marker": "s" if row.significant else "o", "linewidths": 1.3}
    full = colour if row.significant else "none"
    spot = ([row.gain.value], [y])
    axes.scatter(*spot, **style, facecolors=full, edgecolors=colour, zorder=3, gid=gid)


def _columns_forest(rows: Sequence[ForestRow]) -> list[NumberColumn]:
    columns = [NumberColumn("gain", tuple(points(row.gain.value) for row in rows))]
    if any(row.gain.ends for row in rows):
        columns.append(NumberColumn("interval", tuple(_ends(row) for row in rows), muted=True))
    if numbers := counts([row.n for row in rows]):
        columns.append(NumberColumn("n", numbers, muted=True))
    if any(row.p_holm is not None for row in rows):
        columns.append(NumberColumn("p (Holm)", tuple(p_value(finite(row.p_holm)) for row in rows)))
    return columns


def _ends(row: ForestRow) -> str:
    ends = row.gain.ends
    return f"{points(ends[0])} to {points(ends[1])}" if ends else NONE


def _alt_forest(rows: Sequence[ForestRow]) -> str:
    said = listed((f"{clean(row.label)} {points(row.gain.value)}" for row in rows), 8)
    stand = sum(row.significant for row in rows)
    return (
        "A forest plot of gains in points of accuracy with their intervals: "
        f"{said}; {stand} of {len(rows)} significant after correction."
    )


def _notes_forest(rows: Sequence[ForestRow], given: int) -> list[str]:
    said = "Filled squares are significant after Holm's correction, open circles are not."
    without = sum(row.gain.ends is None for row in rows)
    return [said, *shortfalls(without, given - len(rows), "comparison")]


# Paired comparisons as a table and as JSON, with their notes (paper: the two paired tables).

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
        tuple(_notes_paired_comparison(comparison)),
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


def _notes_paired_comparison(comparison: Comparison) -> Iterator[str]:
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


# Tables of generalization: gain and routing by benchmark, pass@k, the benchmarks themselves.
#
# Paper: Benchmark Scope, Generalization, the exploratory comparison.


def generalization_table(study: Study, baseline: str, method: str) -> Table:
    """Tabulate gain beside the share of problems that the router sends to two stages."""
    found = pairs_by_model(study, method, baseline)
    titles = ("Baseline", "Method", "Gain [95 %]", "n", "Routed")
    said = f"{study.method_name(method)} against {study.method_name(baseline)}."
    return Table(
        "generalization",
        "Gain and routing rate by benchmark",
        (Column("Model", "left"), Column("Benchmark", "left"), *map(Column, titles)),
        tuple(line for one in found for line in _gain_rows(one)),
        (said, GAIN_INTERVAL) if found else (absent(method, baseline),),
        ("tab:olympiadbench",),
    )


def _gain_rows(found: ModelPairs) -> Iterator[Row]:
    groups = groups_of(found.benchmarks).values()
    for names in (*((name,) for name in found.benchmarks), *groups):
        pairs = [pair for pair in found.pairs if pair[0].benchmark in names]
        arms = [arm for _, arm in pairs]
        pair = pair_arms([base for base, _ in pairs], arms, POOLED if pairs[1:] else names[0])
        if pair:
            cells = (decimal(pair.before, 2), decimal(pair.after, 2))
            gain = (delta(pair.gain, pair.interval), f"{pair.n:,}", _routed(arms))
            yield row(model_label(found.model) or "All attempts", pair.where, *cells, *gain)


def _routed(arms: Sequence[Arm]) -> str:
    shares = [found for arm in arms if (found := routed_share(arm))]
    if not shares:
        return NONE
    routed, decided = (sum(counts) for counts in zip(*shares, strict=True))
    return f"{counted(routed, decided)} ({percent(routed / decided)})"


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
        (Column("Method", "left"), Column("k"), Column("Average"), Column("n"), Column("Tokens")),
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
    found = mean_pass(arms)
    bases = part.methods.get(baseline, {})
    costs = [
        token_ratios([arm], [bases[arm.benchmark]]).every_time if arm.benchmark in bases else None
        for arm in arms
    ]
    return row(
        part.name(method),
        f"pass@{found.k}",
        decimal(found.percent),
        f"{found.problems:,}",
        times(mean_of_all(costs)),
    )


def benchmarks_table(study: Study) -> Table:
    """Say what the benchmarks of a study are."""
    rows: list[Row] = []
    for name in study.names("benchmark"):
        entry = entries().get(name)
        built_in = is_constraintbench(name)
        form = entry.answer_format if entry else "Stated by each problem" if built_in else ""
        strength = entry.strength if entry else "Tight" if built_in else ""
        sizes = span(*study.sizes(name))
        rows.append(row(benchmark_label(name) or NONE, sizes, form or NONE, strength or NONE))
    return Table(
        "benchmarks",
        "The benchmarks of this study",
        (
            Column("Benchmark", "left"),
            Column("Problems"),
            Column("Answer format", "left"),
            Column("Constraint strength", "left"),
        ),
        tuple(rows),
        (),
        ("tab:benchmarks",),
    )
