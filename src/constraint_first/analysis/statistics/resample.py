"""Bootstrap intervals without resampling (paper: Convention Control and Paired Statistics).

A resampled total is a sum of n independent draws from the observed values. Where the values are
whole numbers, as runs of a problem that were won or lost always are, its distribution is the n-fold
convolution of theirs, and can be written down. The intervals below are therefore those that
infinitely many resamples would give: no seed can move them. Values that are no whole numbers of a
common unit are resampled with a seed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Final, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from constraint_first.analysis.statistics.interval import Interval

__all__ = ["FINEST_UNIT", "Bootstrap", "IntervalKind", "bootstrap", "drawn"]

IntervalKind: TypeAlias = Literal["bca", "percentile"]
"""A bootstrap interval that is corrected for bias and skewness, or one that is not."""
_Floats: TypeAlias = NDArray[np.float64]

FINEST_UNIT: Final = 10_000
"""Parts of a problem beyond which run counts have no useful common unit: they are drawn from."""

_NORMAL: Final = NormalDist()
_MOST_PLACES: Final = 8_000_000


@dataclass(frozen=True, slots=True)
class Bootstrap:
    """The distribution of a resampled mean, and what its observed values say of its shape."""

    means: _Floats
    """What the mean can be, in rising order."""
    below: _Floats
    """How likely it is to be each of these or less."""
    observed: float
    acceleration: float
    exact: bool

    def interval(self, kind: IntervalKind = "bca", confidence: float = 0.95) -> Interval:
        """Cut the tails off; ``bca`` corrects for bias and skewness first."""
        tails = ((1 - confidence) / 2, (1 + confidence) / 2)
        low, high = (self._corrected(tail) if kind == "bca" else tail for tail in tails)
        return self._quantile(low), self._quantile(high)

    def _quantile(self, share: float) -> float:
        # A share that rounding has put a hair above a step still belongs to that step.
        at = int(np.searchsorted(self.below, share - 1e-12))
        return float(self.means[min(at, len(self.means) - 1)])

    def _corrected(self, tail: float) -> float:
        bias = self._bias()
        if bias is None:
            return tail
        shifted = bias + _NORMAL.inv_cdf(tail)
        stretched = 1 - self.acceleration * shifted
        return _NORMAL.cdf(bias + shifted / stretched) if stretched > 0 else tail

    def _bias(self) -> float | None:
        """Measure how far the observed mean is from the median; None where all is at one point."""
        step = 1e-9 * max(1.0, abs(self.observed))
        less = self._share(self.observed - step)
        share = (less + self._share(self.observed + step)) / 2
        return _NORMAL.inv_cdf(share) if 0 < share < 1 and len(self.means) > 1 else None

    def _share(self, value: float) -> float:
        at = int(np.searchsorted(self.means, value, side="right"))
        return float(self.below[at - 1]) if at else 0.0


def bootstrap(values: Sequence[int], unit: float = 1.0) -> Bootstrap:
    """Write down how the mean of resampled whole numbers is distributed, in units of ``unit``.

    Where that would take hundreds of megabytes (many problems, each with its own number of runs)
    it is drawn, always with the same seed.
    """
    low, n = min(values), len(values)
    if (max(values) - low) * n > _MOST_PLACES:
        return drawn([value * unit for value in values], seed=0)
    numbers = np.asarray(values, dtype=np.int64)
    probabilities = _convolved(np.bincount(numbers - low) / n, n)
    totals = np.arange(len(probabilities), dtype=np.float64) + low * n
    return Bootstrap(
        np.multiply(totals, unit / n),
        np.cumsum(probabilities),
        float(numbers.sum()) * unit / n,
        _acceleration(numbers.astype(np.float64)),
        exact=True,
    )


def drawn(values: Sequence[float], seed: int, resamples: int = 10_000) -> Bootstrap:
    """Resample with a seed: for values without a common unit, or to check the exact way."""
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


def _convolved(shares: _Floats, n: int) -> _Floats:
    """Convolve a distribution with itself n times."""
    length = (len(shares) - 1) * n + 1
    size = 1 << (length - 1).bit_length()
    powers = np.fft.irfft(np.fft.rfft(shares, size) ** n, size)[:length]
    found = np.clip(powers, 0.0, None)
    return found / found.sum()


def _acceleration(values: _Floats) -> float:
    """Measure skewness by leaving one value out at a time; for a mean that has a closed form."""
    deviations = values - values.mean()
    spread = float((deviations**2).sum())
    return float((deviations**3).sum()) / (6 * math.pow(spread, 1.5)) if spread > 0 else 0.0
