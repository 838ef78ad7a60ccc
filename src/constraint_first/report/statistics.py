"""Paired tests over problems, exact (paper: Convention Control and Paired Statistics).

The unit is the problem: its runs are averaged first, and the tests are on the differences within
problems. Counted in runs, these differences are small integers, so the sums of all sign flips can
be counted by dynamic programming, in polynomial time instead of 2^n.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Final, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from constraint_first.report.study import Arm

Test: TypeAlias = Literal["exact sign-flip", "exact McNemar", "Monte Carlo sign-flip"]
"""The kind of a p-value. With one run of each problem the sign-flip test is the exact McNemar
test."""

_NORMAL: Final = NormalDist()
# The limit on steps; half a minute on a slow machine. 674 problems × 4 runs need two million.
_MOST_STEPS: Final = 20_000_000_000
_SAMPLES: Final = 100_000


def flip_signs(differences: Sequence[int]) -> float | None:
    """Return the two-sided p-value over all sign flips; None if there are too many to count.

    It is the probability that the flipped total is at least as far from zero as the observed one.
    Each step halves and adds positive numbers without cancellation, so the relative error is that
    of floating-point rounding.
    """
    sizes = sorted(abs(value) for value in differences if value)
    total, observed = sum(sizes), abs(sum(differences))
    if len(sizes) * total > _MOST_STEPS:
        return None
    # shares[t]: the probability that the differences with a positive sign add up to t.
    shares = np.zeros(total + 1)
    shares[0], reached = 1.0, 0
    for size in sizes:
        shares[: reached + 1] *= 0.5
        shares[size : reached + size + 1] += shares[: reached + 1].copy()
        reached += size
    sums = 2 * np.arange(total + 1) - total
    return min(1.0, float(shares[np.abs(sums) >= observed].sum()))


def sample_signs(differences: Sequence[float], seed: int) -> float:
    """Estimate the p-value of the sign-flip test from random flips; it is always above zero."""
    values = np.asarray([value for value in differences if value], dtype=np.float64)
    generator = np.random.default_rng(seed)
    observed, extreme = abs(values.sum()) - 1e-12, 0
    at_once = max(1, 4_000_000 // max(1, len(values)))
    for start in range(0, _SAMPLES, at_once):
        rows = min(at_once, _SAMPLES - start)
        signs = generator.integers(0, 2, (rows, len(values))) * 2.0 - 1.0
        extreme += int((np.abs(signs @ values) >= observed).sum())
    return (extreme + 1) / (_SAMPLES + 1)


def holm(p_values: Sequence[float]) -> list[float]:
    order = sorted(range(len(p_values)), key=p_values.__getitem__)
    corrected, reached = [0.0] * len(p_values), 0.0
    for rank, at in enumerate(order):
        reached = max(reached, min(1.0, (len(p_values) - rank) * p_values[at]))
        corrected[at] = reached
    return corrected


def detectable(differences: Sequence[float]) -> float | None:
    """Return the smallest mean difference that such a set detects with 80 % power.

    By the normal approximation, from the spread of the differences; None without spread.
    """
    n = len(differences)
    mean = sum(differences) / n if n else 0.0
    spread = sum((value - mean) ** 2 for value in differences)
    if n < 2 or spread == 0:
        return None
    quantiles = _NORMAL.inv_cdf(0.975) + _NORMAL.inv_cdf(0.8)
    return quantiles * math.sqrt(spread / (n - 1) / n)


FEWEST_CHANGES: Final = math.ceil(1 - math.log2(0.05))
"""The smallest number of changed problems with which the sign-flip test can reach 0.05."""


# Wilson intervals of shares.

Interval: TypeAlias = tuple[float, float]
"""The lower and the upper end."""


def wilson(successes: float, trials: float, z: float = 1.959964) -> Interval:
    if not trials:
        return 0.0, 1.0
    share, spread = successes / trials, z * z / trials
    centre = (share + spread / 2) / (1 + spread)
    half = z * math.sqrt(share * (1 - share) / trials + spread / trials / 4) / (1 + spread)
    return max(0.0, centre - half), min(1.0, centre + half)


# Bootstrap intervals without resampling (paper: Convention Control and Paired Statistics).
#
# A resampled total is a sum of n independent draws from the observed values. If these are
# integers, as won runs of a problem always are, its distribution is the n-fold convolution of
# theirs. So the intervals are those of infinitely many resamples and do not depend on a seed.
# Values without a common unit are resampled with a seed.

IntervalKind: TypeAlias = Literal["bca", "percentile"]
"""A bootstrap interval with correction for bias and skewness, or without."""
_Floats: TypeAlias = NDArray[np.float64]

FINEST_UNIT: Final = 10_000
"""The largest common denominator of run counts for the exact distribution; beyond it they are
resampled."""
_MOST_PLACES: Final = 8_000_000


@dataclass(frozen=True, slots=True)
class Bootstrap:
    """The distribution of a resampled mean, with its observed value and acceleration."""

    means: _Floats
    """The possible means in rising order."""
    below: _Floats
    """The cumulative probability of each."""
    observed: float
    acceleration: float
    exact: bool

    def interval(self, kind: IntervalKind = "bca") -> Interval:
        """Return the 95 % interval; ``bca`` corrects for bias and skewness."""
        tails = ((1 - 0.95) / 2, (1 + 0.95) / 2)
        low, high = (self._corrected(tail) if kind == "bca" else tail for tail in tails)
        return self._quantile(low), self._quantile(high)

    def _quantile(self, share: float) -> float:
        # The tolerance keeps a share that rounding has put slightly above a step at that step.
        at = int(np.searchsorted(self.below, share - 1e-12))
        return float(self.means[min(at, len(self.means) - 1)])

    def _corrected(self, tail: float) -> float:
        # The bias is the distance of the observed mean from the median, in standard errors.
        step = 1e-9 * max(1.0, abs(self.observed))
        share = (self._share(self.observed - step) + self._share(self.observed + step)) / 2
        if not 0 < share < 1 or len(self.means) == 1:
            return tail
        bias = _NORMAL.inv_cdf(share)
        shifted = bias + _NORMAL.inv_cdf(tail)
        stretched = 1 - self.acceleration * shifted
        return _NORMAL.cdf(bias + shifted / stretched) if stretched > 0 else tail

    def _share(self, value: float) -> float:
        at = int(np.searchsorted(self.means, value, side="right"))
        return float(self.below[at - 1]) if at else 0.0


def bootstrap(values: Sequence[int], unit: float = 1.0) -> Bootstrap:
    """Compute how the mean of resampled whole numbers is distributed, in units of ``unit``.

    If that needs hundreds of megabytes (many problems with different numbers of runs) it is
    resampled, always with the same seed.
    """
    low, n = min(values), len(values)
    if (max(values) - low) * n > _MOST_PLACES:
        return drawn([value * unit for value in values], seed=0)
    numbers = np.asarray(values, dtype=np.int64)
    shares = np.bincount(numbers - low) / n
    length = (len(shares) - 1) * n + 1
    size = 1 << (length - 1).bit_length()
    powers = np.fft.irfft(np.fft.rfft(shares, size) ** n, size)[:length]
    found = np.clip(powers, 0.0, None)
    probabilities = found / found.sum()
    totals = np.arange(len(probabilities), dtype=np.float64) + low * n
    return Bootstrap(
        np.multiply(totals, unit / n),
        np.cumsum(probabilities),
        float(numbers.sum()) * unit / n,
        _acceleration(numbers.astype(np.float64)),
        exact=True,
    )


def drawn(values: Sequence[float], seed: int, resamples: int = 10_000) -> Bootstrap:
    """Resample with a seed, for values without a common unit or to verify the exact method."""
    numbers = np.asarray(values, dtype=np.float64)
    generator = np.random.default_rng(seed)
    means = np.empty(resamples)
    at_once = max(1, 4_000_000 // len(numbers))
    for start in range(0, resamples, at_once):
        rows = min(at_once, resamples - start)
        picks = generator.integers(0, len(numbers), (rows, len(numbers)))
        means[start : start + rows] = numbers[picks].mean(axis=1)
    means.sort()
    return Bootstrap(
        means,
        np.arange(1, resamples + 1) / resamples,
        float(numbers.mean()),
        _acceleration(numbers),
        exact=False,
    )


def _acceleration(values: _Floats) -> float:
    """Compute the jackknife acceleration (skewness), which has a closed form for a mean."""
    deviations = values - values.mean()
    spread = float((deviations**2).sum())
    return float((deviations**3).sum()) / (6 * math.pow(spread, 1.5)) if spread > 0 else 0.0


def kappa(pairs: Sequence[tuple[str, str]]) -> float | None:
    """Compute Cohen's kappa; None if the agreement expected by chance is 1."""
    n = len(pairs)
    ours, theirs = Counter(one for one, _ in pairs), Counter(one for _, one in pairs)
    by_chance = sum(ours[label] * theirs[label] for label in ours)
    if by_chance == n * n:
        return None
    agree = sum(one == other for one, other in pairs)
    return (agree * n - by_chance) / (n * n - by_chance)


# Paired differences of two methods, by problem: the data of every paired statistic.

_Score: TypeAlias = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Differences:
    """The scores of problems that were judged for both methods, and the number of others."""

    scores: tuple[tuple[_Score, _Score], ...]
    """Right runs and all runs of each problem, before and after."""
    left_out: int = 0
    """Problems that were judged for one method only."""
    failed: int = 0
    """Attempts that failed, on either side."""

    @property
    def shares(self) -> list[tuple[float, float]]:
        return [(a / m, b / n) for (a, m), (b, n) in self.scores]

    @property
    def points(self) -> list[float]:
        return [100 * (after - before) for before, after in self.shares]

    @property
    def runs(self) -> int:
        return max(max(m, n) for (_, m), (_, n) in self.scores)

    @property
    def fewest_runs(self) -> int:
        return min(min(m, n) for (_, m), (_, n) in self.scores)

    @property
    def counts(self) -> tuple[int, int, int]:
        crossed = [b * m - a * n for (a, m), (b, n) in self.scores]
        improved, degraded = sum(c > 0 for c in crossed), sum(c < 0 for c in crossed)
        return improved, len(crossed) - improved - degraded, degraded

    def whole(self) -> tuple[list[int], float] | None:
        """Return the gains as integers and the unit in points; None without a common unit."""
        unit = math.lcm(*{runs for pair in self.scores for _, runs in pair})
        if unit > FINEST_UNIT:
            return None
        return [b * unit // n - a * unit // m for (a, m), (b, n) in self.scores], 100 / unit

    def test(self, seed: int) -> tuple[float, Test]:
        """Test whether the gains exceed chance, exactly if possible."""
        whole = self.whole()
        exact = flip_signs(whole[0]) if whole else None
        if exact is None:
            return sample_signs(self.points, seed), "Monte Carlo sign-flip"
        return exact, "exact McNemar" if self.runs == 1 else "exact sign-flip"

    @property
    def interval(self) -> Interval | None:
        """The BCa interval of the mean gain; None if all gain alike and no spread is known."""
        return None if len(set(self.points)) == 1 else self.resampled(0, 0).interval()

    def resampled(self, seed: int, resamples: int) -> Bootstrap:
        """Bootstrap the mean gain, exactly unless resamples are requested or necessary."""
        whole = self.whole()
        if whole is None or resamples:
            return drawn(self.points, seed, resamples or 10_000)
        return bootstrap(*whole)


def differences(baseline: Sequence[Arm], method: Sequence[Arm]) -> Differences | None:
    """Pair arms problem by problem; None if no problem was judged for both."""
    scores: list[tuple[_Score, _Score]] = []
    left_out = failed = 0
    for base, arm in zip(baseline, method, strict=True):
        shared = [name for name in base.scores if name in arm.scores]
        scores += [(base.scores[name], arm.scores[name]) for name in shared]
        left_out += len(base.scores) + len(arm.scores) - 2 * len(shared)
        failed += sum(one.statuses.get("failed", 0) for one in (base, arm))
    return Differences(tuple(scores), left_out, failed) if scores else None
