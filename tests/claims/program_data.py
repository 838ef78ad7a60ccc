"""The runs of programs, votes, checks and the calibrated method, and what is compared in them."""

from collections.abc import Collection
from dataclasses import replace
from functools import cache

import numpy as np

from constraint_first.model.local import DEFAULT_MODEL
from constraint_first.report.comparison import Comparison, Pair, compare, pair_arms
from constraint_first.report.study import Arm
from constraint_first.report.table import decimal

from .figure import FILE
from .shipped import shipped

__all__ = [
    "CALIBRATED",
    "CALIBRATION",
    "FRESH",
    "NEW",
    "PARTS",
    "PROGRAM",
    "STYLES",
    "UNCHECKED",
    "UNTIL",
    "arm_of",
    "by_family",
    "calibrated",
    "families_of",
    "learnt",
    "measured",
    "other",
    "others",
    "ratios",
    "split",
    "unseen",
]

CALIBRATED = f"calibrated(policy={DEFAULT_MODEL})"
CALIBRATION = "calibration.jsonl.gz"
NEW, FRESH = "constraintbench", "constraintbench-1-seed-5101"
PROGRAM = "program(style=short,tokens=250,check=off)"
UNCHECKED = "until-agreed(base=program(style=short,tokens=250,check=off),most=4,agree=1,check=off)"
UNTIL = "until-agreed(base=program(style=short,tokens=250),most=4,agree=1)"
STYLES = {
    "plain": "until-agreed(base=program(tokens=250),most=3,agree=1)",
    "bare": "until-agreed(base=program(style=bare,tokens=250),most=3,agree=1)",
    "short": "until-agreed(base=program(style=short,tokens=250),most=3,agree=1)",
}
"""Three ways to ask for the same: up to three programs."""
PARTS = {
    "programs: one program instead of a chain of thought": ("direct", PROGRAM),
    "voting: programs until two agree": (PROGRAM, UNCHECKED),
    "checking: answers that break a stated constraint dropped": (UNCHECKED, UNTIL),
    "all together": ("direct", UNTIL),
}
"""What each part of the gain compares."""


def measured(benchmark: str, problems: Collection[str] | None = None) -> Pair:
    """Compare the calibrated method with Direct CoT on a benchmark, or on some of its problems."""
    if problems is None:
        return next(pair for pair in calibrated().pairs if pair.benchmark == benchmark)
    return _versus(benchmark, "direct", CALIBRATED, problems)


def families_of(benchmark: str) -> dict[str, list[float]]:
    """Find the gain on each problem of ConstraintBench, in points, by the family it is drawn from.

    Families are the first part of a problem's name.
    """
    before, after = (arm_of(benchmark, name).scores for name in ("direct", CALIBRATED))
    gains: dict[str, list[float]] = {}
    for problem in before.keys() & after.keys():
        (was, runs), (now, again) = before[problem], after[problem]
        gain = 100 * (now / again - was / runs)
        gains.setdefault(problem.partition("-")[0], []).append(gain)
    return gains


def by_family(benchmark: str, resamples: int = 20_000) -> tuple[float, float]:
    """Compute the 95 % interval of the gain by resampling whole families."""
    gains = [families_of(benchmark)[name] for name in sorted(families_of(benchmark))]
    sums, sizes = (np.array([f(one) for one in gains]) for f in (sum, len))
    drawn = np.random.default_rng(0).integers(0, len(gains), (resamples, len(gains)))
    low, high = np.percentile(sums[drawn].sum(1) / sizes[drawn].sum(1), (2.5, 97.5))
    return float(low), float(high)


def ratios(pair: Pair) -> tuple[str, str, str]:
    """Write the three ratios of tokens: output, a shared prompt once, every prompt."""
    output, once, every = (decimal(value, 2) for value in pair.tokens)
    return output, once, every


def unseen(benchmark: str) -> set[str]:
    """Find the problems of a benchmark that the calibration did not have."""
    seen = {name for one in shipped(CALIBRATION).select(benchmark=benchmark) for name in one.scores}
    return arm_of(benchmark, "direct").scores.keys() - seen


def split(benchmark: str) -> dict[str, Pair]:
    """Compare what each part of the gain compares, on the problems that all of them have."""
    arms = [arm_of(benchmark, name) for name in ("direct", PROGRAM, UNCHECKED, UNTIL)]
    shared = set[str].intersection(*({*one.scores} for one in arms))
    return {part: _versus(benchmark, *both, shared) for part, both in PARTS.items()}


def other(method: str, benchmark: str) -> Pair:
    """Find a method's comparison with Direct CoT on the first problems of a benchmark."""
    pairs = others().pairs
    return next(pair for pair in pairs if (pair.method, pair.benchmark) == (method, benchmark))


def arm_of(benchmark: str, method: str, problems: Collection[str] | None = None) -> Arm:
    """Find what a method did on a benchmark, or on some of its problems."""
    (found,) = shipped(FILE).select(benchmark=benchmark, method=method)
    if problems is None:
        return found
    return replace(found, attempts={p: a for p, a in found.attempts.items() if p in problems})


def _versus(benchmark: str, baseline: str, method: str, problems: Collection[str]) -> Pair:
    before, after = (arm_of(benchmark, name, problems) for name in (baseline, method))
    found = pair_arms([before], [after], benchmark)
    assert found
    return found


@cache
def calibrated() -> Comparison:
    """Compare the calibrated method with Direct CoT, as one family of tests."""
    return compare(shipped(FILE), "direct", CALIBRATED)


@cache
def others() -> Comparison:
    """Compare all other methods with Direct CoT, as one family of tests."""
    study = shipped(FILE)
    names = [name for name in study.names("method") if name not in ("direct", CALIBRATED)]
    return compare(study, "direct", names)


@cache
def learnt() -> Comparison:
    """Compare the methods that the calibration had with Direct CoT."""
    return compare(shipped(CALIBRATION))
