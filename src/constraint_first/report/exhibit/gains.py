"""Gains of methods over a baseline: the verdict, bars, a forest plot, paired tables and JSON.

Paper: Convention-Controlled Paired Statistics, Generalization, the figures "gains by model" and
"applicability".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from constraint_first.file.safe import file_stem
from constraint_first.problem import Json
from constraint_first.report import canvas, table
from constraint_first.report.canvas import Figure, clean, listed
from constraint_first.report.comparison import (
    POOLED,
    Comparison,
    ModelPairs,
    Pair,
    best_supported,
    headline_pairs,
    pair_arms,
    pairs_by_model,
)
from constraint_first.report.exhibit.exhibit import Context, Exhibit
from constraint_first.report.exhibit.routing import routed_share
from constraint_first.report.statistics import FEWEST_CHANGES, Interval
from constraint_first.report.study import (
    Arm,
    Study,
    benchmark_label,
    groups_of,
    model_label,
)
from constraint_first.report.table import NONE, Cell, Column, Row, Table, left, row

# Verdict: for each model, whether a method is better, worse or unknown, in a sentence.
#
# Several benchmarks are reported separately and never averaged: a mean over sets of different size
# and difficulty would hide the result of each. Only a group that the comparison pools, such as
# AIME's years, is reported as one.


def verdict(comparison: Comparison, method: str = "") -> str:
    """State in a sentence what a model's comparisons show of one method: the named or the best."""
    every = headline_pairs(comparison)
    named = method or best_supported(comparison).method
    own = [pair for pair in every if pair.method == named]
    others = 0 if method else len({pair.method for pair in every}) - 1
    return _on(own[0].model, _found(own, others))


def _on(model: str, said: str) -> str:
    return f"On {model_label(model)}, {said}" if model else said[:1].upper() + said[1:]


def verdict_note(comparisons: Sequence[Comparison]) -> str:
    tests = " and ".join(dict.fromkeys(table.several(one.family, "test") for one in comparisons))
    which = ""
    if any(len({pair.method for pair in one.pairs}) > 1 for one in comparisons):
        which = (
            "Of several methods, it is about the one whose difference is best supported: the "
            "smallest p-value after correction, a gain before a loss. "
        )
    return (
        f"Better and worse are said only below p = 0.05 after Holm's correction ({tests}"
        f"{' for each model' if len(comparisons) > 1 else ''}); otherwise the verdict is unknown. "
        f"{which}Points are of accuracy, with their 95 % interval. Benchmarks are named one by "
        "one: a mean over sets of different size and difficulty would hide what each shows."
    )


def _found(own: Sequence[Pair], others: int) -> str:
    """State the findings on one method; ``others`` were compared in the same family."""
    baseline, method = own[0].labels
    ranked = sorted(own, key=lambda pair: (pair.p_holm, pair.p))
    gains = [pair for pair in ranked if pair.better]
    losses = [pair for pair in ranked if pair.significant and not pair.better]
    rest = _open([pair for pair in ranked if not pair.significant])
    if gains:
        worse = f"; but it is worse there: {_measures(losses)}" if losses else ""
        return f"{method} is better than {baseline}: {_measures(gains)}{worse}{rest}."
    if losses:
        none = f"none of {others + 1} methods is shown to be better than {baseline}"
        lead = f"{none}, and {method} is worse" if others else f"{method} is worse than {baseline}"
        return f"{lead}: {_measures(losses)}{rest}."
    return _unknown(ranked, others)


def _unknown(ranked: Sequence[Pair], others: int) -> str:
    nearest = ranked[0]
    baseline, method = nearest.labels
    whose = f"any of {others + 1} methods" if others else method
    lead = f"it is unknown whether {whose} is better than {baseline}"
    if not any(pair.changed for pair in ranked):
        places = " and ".join(map(_place, ranked))
        name = f"{method} and {baseline}" if others else "the two"
        return f"{lead}: {name} do not differ on any problem of {places}."
    if others:
        lead += f"; the clearest difference is that of {method}"
    chance = f"p = {table.p_value(nearest.p_holm)} after correction, so it may be chance"
    return f"{lead}: {_measures([nearest])} ({chance}){_open(ranked[1:])}."


def _open(pairs: Sequence[Pair]) -> str:
    """Name the benchmarks without a significant result, with the measured gains."""
    gains = [table.points(pair.gain) + table.interval(pair.interval) for pair in pairs]
    places = [f"{_place(pair)} ({gain})" for pair, gain in zip(pairs, gains, strict=True)]
    return f"; no difference is shown on {_joined(places)}" if places else ""


def _measures(pairs: Sequence[Pair]) -> str:
    said: list[str] = []
    for pair in pairs:
        ratio = pair.tokens.output
        cost = f"at {ratio:,.2f} times the output tokens" if ratio else "output tokens not recorded"
        size = f"{table.several(pair.n, 'problem')} of {_place(pair)}"
        said.append(
            f"{table.points(pair.gain)} points{table.interval(pair.interval)} on {size}, {cost}"
        )
    return _joined(said)


def _joined(texts: Sequence[str]) -> str:
    *first, last = texts
    return f"{', '.join(first)}, and {last}" if first else last


def _place(pair: Pair) -> str:
    if pair.pooled:
        *first, last = map(benchmark_label, pair.pooled)
        return f"{', '.join(first)} and {last} together"
    return benchmark_label(pair.benchmark) or "this set"


def _claims(context: Context) -> Iterator[str]:
    """Write each model's verdict, and that on the report's own method if it differs."""
    named = context.method if context.options.method else ""
    for one in context.comparisons:
        compared = {pair.method for pair in one.pairs}
        yield verdict(one, named if named in compared else "")
        if best_supported(one).method != context.method in compared and not named:
            yield verdict(one, context.method)
    for model, why in context.uncompared.items():
        yield _on(model, f"it is unknown whether a method is better: {why}.")


# Forest plot of paired comparisons.


def forest_figure(comparison: Comparison, name: str, title: str) -> Figure:
    """Draw all paired comparisons of a family: filled markers for significant ones."""
    pairs = comparison.pairs
    # The table below the figure lists the benchmarks of a pooled row.
    places = (f"{p.group or 'all'} pooled" if p.pooled else p.where or "all" for p in pairs)
    labels = [f"{pair.labels[1]}, {place}" for pair, place in zip(pairs, places, strict=True)]
    gains = [table.points(pair.gain) for pair in pairs]
    columns = [("gain", gains)]
    if any(pair.interval for pair in pairs):
        ends = (tuple(map(table.points, pair.interval or ())) for pair in pairs)
        columns.append(("interval", [" to ".join(both) or NONE for both in ends]))
    columns.append(("n", [f"{pair.n:,}" for pair in pairs]))
    columns.append(("p (Holm)", [table.p_value(pair.p_holm) for pair in pairs]))
    board = canvas.Rows([(label, 1) for label in labels], columns)
    with canvas.sheet(board.height) as page:
        (axes,) = board.draw(page)
        for number, (pair, y) in enumerate(zip(pairs, board.lanes, strict=True)):
            tone = canvas.GAIN if pair.gain >= 0 else canvas.LOSS
            colour = tone if pair.significant else canvas.INK
            if pair.interval:
                canvas.draw_interval(axes, pair.interval, y, f"interval-{number}", colour=colour)
            style = {"s": 30, "marker": "s" if pair.significant else "o", "linewidths": 1.3}
            style |= {"facecolors": colour if pair.significant else "none", "edgecolors": colour}
            axes.scatter([pair.gain], [y], **style, zorder=3, gid=f"mark-{number}")
        values = [value for pair in pairs for value in (pair.gain, *(pair.interval or ()))]
        canvas.set_gain_scale(axes, values, "gain in accuracy, points")
        said = (f"{clean(label)} {gain}" for label, gain in zip(labels, gains, strict=True))
        alt = (
            f"A forest plot of gains in points of accuracy with their intervals: {listed(said, 8)};"
            f" {sum(pair.significant for pair in pairs)} of {len(pairs)} significant after "
            "correction."
        )
        key = "Filled squares are significant after Holm's correction, open circles are not."
        without = canvas.without_interval([pair.interval for pair in pairs], "comparison")
        return page.finish(name, title, alt, [key, *without])


# Bar chart of gains: by model with a bar for each benchmark, or the other way round.


def gains_figure(pairs: Sequence[Pair], by: str) -> Figure | None:
    """Draw the gain of a method by ``model`` or by ``benchmark``; groups of benchmarks are one."""
    if not pairs:
        return None
    shown = _grouped(pairs)
    sides = [(model_label(pair.model), _bar_place(pair)) for pair in shown]
    names = sides if by == "model" else [(place, model) for model, place in sides]
    groups, series = (list(dict.fromkeys(names)) for names in zip(*names, strict=True))
    bars = sorted(
        ((*name, *_bar_gain(pair, pairs), pair.n) for name, pair in zip(names, shown, strict=True)),
        key=lambda bar: groups.index(bar[0]),
    )
    bands = [(group, sum(bar[0] == group for bar in bars)) for group in groups]
    gains, sizes = [table.points(bar[2]) for bar in bars], [f"{bar[4]:,}" for bar in bars]
    rows = canvas.Rows(bands, [("gain", gains), ("n", sizes)])
    with canvas.sheet(rows.height) as page:
        (axes,) = rows.draw(page)
        for number, ((_, one, gain, ends, _), y) in enumerate(zip(bars, rows.lanes, strict=True)):
            canvas.draw_bar(axes, gain, y, f"bar-{number}", series.index(one))
            if ends:
                canvas.draw_interval(axes, ends, y, f"interval-{number}")
        values = [value for _, _, gain, ends, _ in bars for value in (gain, *(ends or ()))]
        canvas.set_gain_scale(axes, values, "gain in accuracy, points")
        if any(series):
            rows.draw_key(page, series)
        low, high = (pick(bars, key=lambda bar: bar[2]) for pick in (min, max))
        worst, best = (
            f"{table.points(bar[2])} ({', '.join(filter(None, map(clean, bar[:2])))})"
            for bar in (low, high)
        )
        same = low[2] == high[2]
        alt = (
            f"Bars of gains in points of accuracy for {listed(map(clean, groups), 8)}: "
            f"{table.several(len(bars), 'bar')}, "
            f"{table.points(low[2]) if same else f'from {worst} to {best}'}."
        )
        notes = [*dict.fromkeys(_group_note(pair) for pair in shown if pair.group)]
        if any(bar[3] for bar in bars):
            notes.append(canvas.CROSSING)
        notes += canvas.without_interval([bar[3] for bar in bars], "bar")
        baseline, method = pairs[0].labels
        title = f"Gain of {method} over {baseline} by {by}"
        name = "gains-by-model" if by == "model" else "applicability"
        return page.finish(name, title, alt, notes)


def _grouped(pairs: Sequence[Pair]) -> list[Pair]:
    """Replace benchmarks by their group, as the paper's figures do with AIME."""
    groups = {
        (pair.model, pair.decoding, name): pair
        for pair in pairs
        if pair.group
        for name in pair.pooled
    }
    single = (pair for pair in pairs if not pair.pooled)
    return [*dict.fromkeys(groups.get((p.model, p.decoding, p.benchmark), p) for p in single)]


def _bar_gain(pair: Pair, pairs: Sequence[Pair]) -> tuple[float, Interval | None]:
    """Return a gain; a group's is the mean of its members, with an interval if sizes are equal."""
    if not pair.group:
        return pair.gain, pair.interval
    place = (pair.model, pair.decoding)
    members = [p for p in pairs if (p.model, p.decoding) == place and p.benchmark in pair.pooled]
    alike = len({one.n for one in members}) == 1
    return sum(one.gain for one in members) / len(members), pair.interval if alike else None


def _bar_place(pair: Pair) -> str:
    return f"{pair.group} Avg." if pair.group else pair.where or "all"


def _group_note(pair: Pair) -> str:
    members = listed(map(benchmark_label, pair.pooled), len(pair.pooled))
    return f"{_bar_place(pair)}: the mean of the gains on {members}."


def _bars(context: Context) -> Iterator[Figure | None]:
    several_models = len({pair.model for pair in context.pairs}) > 1
    for by in ("model", "benchmark") if several_models else ("benchmark",):
        yield gains_figure(context.pairs, by)


# Paired comparisons as a table and as JSON, with their notes (paper: the two paired tables).


def paired_table(comparison: Comparison, *, named: bool = False) -> Table:
    """Tabulate a family of paired tests; ``named`` adds the model to its name."""
    rows: list[Row] = []
    heading = None
    decodings = table.tell_apart([pair.decoding for pair in comparison.pairs])
    for pair in comparison.pairs:
        setting = decodings[pair.decoding] if len(decodings) > 1 else ""
        baseline, method = pair.labels
        names = (f"{method} against {baseline}", model_label(pair.model), setting)
        if heading != (heading := ", ".join(filter(None, names))):
            rows.append(row(heading, kind="heading"))
        p, holm = (Cell(table.p_value(p), exact=table.exact_p(p)) for p in (pair.p, pair.p_holm))
        rows.append(
            row(
                Cell(pair.where or "all", bold=bool(pair.pooled)),
                *(f"{pair.n:,}", table.span(pair.fewest, pair.runs)),
                *(table.decimal(pair.before), table.decimal(pair.after)),
                table.delta(pair.gain, pair.interval),
                f"{pair.improved} / {pair.tied} / {pair.degraded}",
                *(p, replace(holm, bold=pair.significant)),
                *(pair.test, table.decimal(pair.detectable)),
            )
        )
    return Table(
        *_named(comparison, named=named),
        (
            *left("Benchmark"),
            *(Column("n"), Column("Runs", rank=4), Column("Baseline"), Column("Method")),
            *(Column("Gain [95 %]"), Column("Impr. / tied / degr.", rank=3), Column("p", rank=2)),
            *(Column("Holm p"), Column("Test", "left", rank=6), Column("MDD", rank=5)),
        ),
        tuple(rows),
        tuple(_notes(comparison)),
        ("tab:paired-ds", "tab:paired-qwen"),
    )


def _named(comparison: Comparison, *, named: bool) -> tuple[str, str]:
    title, model = "Paired comparison, problem by problem", comparison.pairs[0].model
    if not named:
        return "paired", title
    return file_stem("paired", model), f"{title}: {model_label(model)}"


def _notes(comparison: Comparison) -> Iterator[str]:
    kind = {"bca": "BCa"}.get(comparison.interval, comparison.interval)
    yield (
        f"Holm's correction is for a family of {table.several(comparison.family, 'test')}; bold is "
        "below 0.05."
    )
    yield (
        f"The interval is the {kind} interval of a bootstrap over problems. "
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
        places: dict[str, dict[str, None]] = {}
        for pair in pairs:
            places.setdefault(pair.labels[1], {})[pair.where or "all"] = None
        rows = "; ".join(f"{method} ({', '.join(where)})" for method, where in places.items())
        yield note if len(pairs) == len(comparison.pairs) else f"{rows}: {note}"
    yield from _missing(comparison)


def pair_notes(pair: Pair) -> Iterator[str]:
    """Describe what a comparison does not show, and its limits."""
    low, high = pair.ci
    if low <= 0 <= high and pair.changed:
        yield "The interval includes zero: a difference is not shown."
    if pair.interval is None and pair.changed:
        yield "All problems gain alike: how uncertain that is cannot be read from them."
    if not pair.exact:
        yield "The interval was drawn, with a seed: run counts share no unit, or it was asked for."
    if pair.left_out:
        only = table.several(pair.left_out, "problem")
        yield f"Left out because only one of the two has them judged: {only}."
    if pair.failed:
        yield f"Not judged: {table.several(pair.failed, 'failed attempt')}; the run is incomplete."
    if pair.fewest != pair.runs:
        yield "Problems differ in how many runs they have; each counts once all the same."
    if pair.runs == 1:
        yield "One run of each problem: how much a rerun would differ is not measured."
    if not pair.changed:
        yield "Every problem is tied: the data show no difference, in either direction."
    elif pair.changed < FEWEST_CHANGES:
        yield (
            f"Problems that differ: {pair.changed}; below {FEWEST_CHANGES} the test cannot reach "
            "p < 0.05 whatever the outcome."
        )


def _missing(comparison: Comparison) -> list[str]:
    base = comparison.pairs[0].baseline
    return [
        f"{name} shares no judged problem with {base} and is not compared."
        for name in comparison.missing
    ]


def comparison_json(comparison: Comparison) -> dict[str, Json]:
    pairs: list[Json] = [_pair_json(pair) for pair in comparison.pairs]
    family = {"family": comparison.family, "correction": "holm"}
    return {**family, "pairs": pairs, "notes": [*_missing(comparison)]}


def _pair_json(pair: Pair) -> dict[str, Json]:
    ratios = pair.tokens._asdict()
    return {
        **{name: getattr(pair, name) for name in ("baseline", "method", "benchmark")},
        "pooled": [*pair.pooled],
        **{name: getattr(pair, name) for name in ("group", "model", "n", "runs")},
        "baseline_accuracy": round(pair.before, 6),
        "accuracy": round(pair.after, 6),
        "gain": round(pair.gain, 6),
        **{name: getattr(pair, name) for name in ("improved", "tied", "degraded")},
        "ci": [round(bound, 6) for bound in pair.ci],
        "ci_percentile": [round(bound, 6) for bound in pair.ci_percentile],
        "ci_exact": pair.exact,
        **{name: getattr(pair, name) for name in ("p", "p_holm", "test")},
        "detectable": None if pair.detectable is None else round(pair.detectable, 6),
        "token_ratios": {k: None if v is None else round(v, 6) for k, v in ratios.items()},
        "notes": [*pair_notes(pair)],
    }


# Generalization: gain and routing by benchmark (paper: Generalization).


def generalization_table(study: Study, baseline: str, method: str) -> Table:
    """Tabulate gain beside the share of problems that the router sends to two stages."""
    found = pairs_by_model(study, method, baseline)
    titles = ("Baseline", "Method", "Gain [95 %]", "n", "Routed")
    said = f"{study.method_name(method)} against {study.method_name(baseline)}."
    return Table(
        "generalization",
        "Gain and routing rate by benchmark",
        (*left("Model", "Benchmark"), *map(Column, titles)),
        tuple(line for one in found for line in _gain_rows(one)),
        (said, table.GAIN_INTERVAL) if found else (table.absent(method, baseline),),
        ("tab:olympiadbench",),
    )


def _gain_rows(found: ModelPairs) -> Iterator[Row]:
    groups = groups_of(found.benchmarks).values()
    for names in (*((name,) for name in found.benchmarks), *groups):
        pairs = [pair for pair in found.pairs if pair[0].benchmark in names]
        arms = [arm for _, arm in pairs]
        pair = pair_arms([base for base, _ in pairs], arms, POOLED if pairs[1:] else names[0])
        if pair:
            cells = (table.decimal(pair.before, 2), table.decimal(pair.after, 2))
            gain = (table.delta(pair.gain, pair.interval), f"{pair.n:,}", _routed(arms))
            yield row(model_label(found.model) or "All attempts", pair.where, *cells, *gain)


def _routed(arms: Sequence[Arm]) -> str:
    shares = [found for arm in arms if (found := routed_share(arm))]
    if not shares:
        return NONE
    routed, decided = (sum(counts) for counts in zip(*shares, strict=True))
    return f"{table.counted(routed, decided)} ({table.percent(routed / decided)})"


def _forests(context: Context) -> Iterator[Figure]:
    for one in context.comparisons:
        yield forest_figure(one, *_named(one, named=len(context.comparisons) > 1))


def _nothing_to_draw(context: Context) -> Iterator[str]:
    if not context.pairs:
        yield f"No gain to draw: {table.absent(context.method, context.baseline)}"


EXHIBITS: Final = (
    Exhibit(
        "verdict",
        figures=_forests,
        claims=_claims,
        notes=lambda c: [verdict_note(c.comparisons)] if c.comparisons else [],
    ),
    Exhibit(
        "main",
        lambda c: [generalization_table(c.study, c.baseline, c.method)],
        _bars,
        ("olympiadbench", "gains-by-model", "applicability"),
        claims=_nothing_to_draw,
        about="method",
    ),
    Exhibit(
        "paired",
        lambda c: [paired_table(one, named=len(c.comparisons) > 1) for one in c.comparisons],
        paper=("paired-deepseek", "paired-qwen"),
        claims=lambda c: [] if c.comparisons else [*c.uncompared.values()][-1:],
    ),
)
