"""Claims about eight public sets: programs with sympy, and `calibrated`."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from functools import cache

import numpy as np

from constraint_first.report.comparison import Pair, score
from constraint_first.report.study import Arm
from constraint_first.report.table import decimal, interval, points, scored

from .data import CALIBRATED, arm_of, cells, gain, paired, ratios, shipped

PUBLIC = "public-sets.jsonl.gz"
SETS = {
    "aqua-choice": "AQuA (options)",
    "carp-en": "CARP (algebra)",
    "college-math": "college mathematics",
    "gaokao2023en": "Gaokao (English)",
    "theoremqa": "TheoremQA",
    "math500": "MATH-500",
    "gsm8k": "GSM8K",
    "svamp": "SVAMP",
}
_BASE = "program(style=sympy,tokens=400)"
_DRAWN, _GREEDY = 0.7, 0.0
ROWS = {
    "Direct CoT, greedy": ("direct", _GREEDY),
    "until two agree, at most four": (f"until-agreed(base={_BASE},most=4,agree=1)", _DRAWN),
    "at most three, then Direct CoT joins": (f"until-agreed(base={_BASE},most=3)", _DRAWN),
    "one greedy program": (_BASE, _GREEDY),
    "`calibrated`": (CALIBRATED, _DRAWN),
}
"""The methods by their column, each with its temperature."""
AGAIN = "Direct CoT again"
NOT_RUN = "–"


def public_results() -> Iterator[str]:
    attempts = [*shipped(PUBLIC).all_attempts()]
    ended = Counter(one.status for one in attempts)
    assert not ended["failed"]
    yield f"{len(attempts):,} attempts"
    yield f"{ended['truncated']:,} were cut off and {ended['unparsed']:,} had no answer"
    yield _accuracies()
    yield _gains()
    yield "; ".join(_against_greedy())
    joined = "at most three, then Direct CoT joins"
    assert all(pair(name, joined).gain > 0 for name in SETS)
    yield f"No row is best everywhere; {joined}, gains on all"
    found = score(_bench())
    assert found
    yield f"ConstraintBench's `public` {scored(found.accuracy, found.interval)}"


def _against_greedy() -> Iterator[str]:
    for name, label in SETS.items():
        before, after = (_arm(name, method, _GREEDY) for method in ("direct", _BASE))
        yield f"{label} {gain(paired(before, after))}"


def public_table() -> Iterator[str]:
    """Claim the table of README.md: `auto`, which is `calibrated` with this model."""
    auto = "`calibrated`"
    heads = ("set", "problems", "step by step", "greedy", "`auto`", "gain [95 %]", "output tokens")
    lines = [cells(*heads), cells("---", *["--:"] * (len(heads) - 1))]
    found = {name: pair(name, auto) for name in SETS}
    for name, one in sorted(found.items(), key=lambda item: -item[1].gain):
        greedy = pair(name, "Direct CoT, greedy").after
        three = (decimal(value) for value in (one.before, greedy, one.after))
        lines.append(cells(SETS[name], f"{one.n:,}", *three, gain(one), f"{ratios(one)[0]}×"))
    bench = paired(arm_of("constraintbench", "direct"), _bench())
    sides = (decimal(bench.before), NOT_RUN, decimal(bench.after))
    lines.append(cells("ConstraintBench", bench.n, *sides, gain(bench), f"{ratios(bench)[0]}×"))
    yield "\n".join(lines)
    yield f"The mean of the eight public sets is {_mean(auto)} points"
    worst = min(found.values(), key=lambda one: one.gain)
    assert SETS[worst.benchmark] == "college mathematics"
    yield f"it loses on college mathematics ({gain(worst)})"
    placebo = [pair(name, AGAIN).gain for name in SETS]
    low, high = points(min(placebo)), points(max(placebo))
    yield f"on the same sets differs from the first by {low} to {high} points"
    ends = (points(end(one.gain for one in found.values())) for end in (min, max))
    yield "by {} to {} points on eight public sets".format(*ends)


def _bench() -> Arm:
    (found,) = shipped(PUBLIC).select(benchmark="constraintbench", method=CALIBRATED)
    return found


@cache
def _arm(benchmark: str, method: str, temperature: float) -> Arm:
    found = shipped(PUBLIC).select(benchmark=benchmark, method=method)
    return next(arm for arm in found if f'"temperature":{temperature}' in arm.decoding)


@cache
def pair(benchmark: str, row: str) -> Pair:
    direct = _arm(benchmark, "direct", _DRAWN)
    if row == AGAIN:  # a placebo
        return paired(_run(direct, 0), _run(direct, 1))
    return paired(direct, _arm(benchmark, *ROWS[row]))


def _run(arm: Arm, number: int) -> Arm:
    kept = {p: [one for one in a if one.run == number] for p, a in arm.attempts.items()}
    return replace(arm, attempts=kept)


def _accuracies() -> str:
    lines = [
        cells("set", "n", "Direct CoT", *ROWS),
        cells("---", *["--:"] * (len(ROWS) + 2)),
    ]
    for name, label in SETS.items():
        found = score(_arm(name, "direct", _DRAWN))
        assert found
        pairs = (pair(name, row) for row in ROWS)
        sides = (f"{decimal(one.after)} ({ratios(one)[0]})" for one in pairs)
        lines.append(cells(label, f"{found.problems:,}", decimal(found.accuracy), *sides))
    return "\n".join(lines)


def _gains() -> str:
    rows = [*ROWS, AGAIN]
    lines = [cells("set", *rows), cells("---", *["--:"] * len(rows))]
    for name, label in SETS.items():
        lines.append(cells(label, *(gain(pair(name, row)) for row in rows)))
    lines.append(cells("mean of these sets [by set]", *map(_mean, rows)))
    return "\n".join(lines)


def _mean(row: str) -> str:
    """Write the mean gain of the sets, with an interval from resampling whole sets."""
    gains = np.array([pair(name, row).gain for name in SETS])
    drawn = np.random.default_rng(0).choice(gains, (20_000, len(gains))).mean(1)
    low, high = np.percentile(drawn, (2.5, 97.5))
    return points(float(gains.mean())) + interval((float(low), float(high)))
