"""Verdict of a report: for each model, whether a method is better, worse or unknown, in a sentence.

Several benchmarks are named one by one and never averaged: a mean over sets of different size and
difficulty would hide what each shows. Only a group that the comparison pools, such as AIME's years,
stands as one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from constraint_first.analysis.notation import interval, p_value, points, several
from constraint_first.analysis.statistics.comparison import Comparison, Pair
from constraint_first.analysis.study.study import benchmark_label, model_label

__all__ = ["best_supported", "headline_pairs", "no_verdict", "verdict", "verdict_note"]


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


def best_supported(comparison: Comparison) -> Pair:
    """Find the comparison that the verdict is about.

    It is the gain with the smallest p-value after correction; where no gain is significant, the
    loss; where nothing is, the difference that comes nearest.
    """
    return min(
        headline_pairs(comparison),
        key=lambda pair: (not _better(pair), not pair.significant, pair.p_holm, pair.p, -pair.gain),
    )


def verdict(comparison: Comparison, method: str = "") -> str:
    """Say in one sentence what a model's comparisons show of one method.

    It is the one that is named, or the best supported.
    """
    every = headline_pairs(comparison)
    methods = list(dict.fromkeys(pair.method for pair in every))
    named = method or best_supported(comparison).method
    own = [pair for pair in every if pair.method == named]
    others = 0 if method else len(methods) - 1
    return _on(own[0].model, _found(own, others))


def no_verdict(model: str, why: str) -> str:
    """Say that nothing is known of a model, and why."""
    return _on(model, f"it is unknown whether a method is better: {why}.")


def _on(model: str, said: str) -> str:
    return f"On {model_label(model)}, {said}" if model else said[:1].upper() + said[1:]


def verdict_note(comparisons: Sequence[Comparison]) -> str:
    """Say how a verdict was found."""
    tests = " and ".join(dict.fromkeys(several(one.family, "test") for one in comparisons))
    several_methods = any(len({pair.method for pair in one.pairs}) > 1 for one in comparisons)
    which = (
        "Of several methods, it is about the one whose difference is best supported: the smallest "
        "p-value after correction, a gain before a loss. "
        if several_methods
        else ""
    )
    return (
        f"Better and worse are said only below p = 0.05 after Holm's correction ({tests}"
        f"{' for each model' if len(comparisons) > 1 else ''}); otherwise the verdict is unknown. "
        f"{which}Points are of accuracy, with their 95 % interval. Benchmarks are named one by "
        "one: a mean over sets of different size and difficulty would hide what each shows."
    )


def _better(pair: Pair) -> bool:
    return pair.significant and pair.gain > 0


def _found(own: Sequence[Pair], others: int) -> str:
    """Say what is found of one method; ``others`` were compared beside it."""
    baseline, method = own[0].labels
    ranked = sorted(own, key=lambda pair: (pair.p_holm, pair.p))
    gains = [pair for pair in ranked if _better(pair)]
    losses = [pair for pair in ranked if pair.significant and not _better(pair)]
    open_ones = [pair for pair in ranked if not pair.significant]
    rest = f"; {_open(open_ones)}" if open_ones else ""
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
    chance = f"p = {p_value(nearest.p_holm)} after correction, so it may be chance"
    rest = f"; {_open(ranked[1:])}" if ranked[1:] else ""
    return f"{lead}: {_measures([nearest])} ({chance}){rest}."


def _open(pairs: Sequence[Pair]) -> str:
    """Name the benchmarks on which nothing is shown, with what was measured there."""
    places = (f"{_place(pair)} ({points(pair.gain)}{interval(pair.interval)})" for pair in pairs)
    return f"no difference is shown on {_listed(list(places))}"


def _measures(pairs: Sequence[Pair]) -> str:
    return _listed(list(_measure(pairs)))


def _measure(pairs: Sequence[Pair]) -> Iterator[str]:
    for pair in pairs:
        ratio = pair.tokens.output
        cost = f"at {ratio:,.2f} times the output tokens" if ratio else "output tokens not recorded"
        size = f"{several(pair.n, 'problem')} of {_place(pair)}"
        yield f"{points(pair.gain)} points{interval(pair.interval)} on {size}, {cost}"


def _listed(texts: Sequence[str]) -> str:
    *first, last = texts
    return f"{', '.join(first)}, and {last}" if first else last


def _place(pair: Pair) -> str:
    if pair.pooled:
        *first, last = map(benchmark_label, pair.pooled)
        return f"{', '.join(first)} and {last} together"
    return benchmark_label(pair.benchmark) or "this set"
