"""Paired tests over problems, exact (paper: Convention Control and Paired Statistics).

The problem is the unit: its runs are averaged first, and what is tested is the difference within
each problem. In whole runs these differences are small whole numbers, so all ways to flip their
signs can be counted by their sums, a number of steps that grows with the problems and not with
their power set.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist
from typing import Final, Literal, TypeAlias

import numpy as np

__all__ = ["Test", "detectable", "fewest_changes", "flip_signs", "holm", "sample_signs"]

Test: TypeAlias = Literal["exact sign-flip", "exact McNemar", "Monte Carlo sign-flip"]
"""How a p-value was found. For one run of each problem the sign-flip test is McNemar's, exact."""

_NORMAL: Final = NormalDist()
# Steps of the count; half a minute on a slow machine. 674 problems × 4 runs take two million.
_MOST_STEPS: Final = 20_000_000_000


def flip_signs(differences: Sequence[int]) -> float | None:
    """Return the two-sided p-value over all sign flips; None where there are too many to count.

    What is counted is how often the flipped total is at least as far from zero as the observed one.
    Each step halves and adds positive numbers, so the result is exact up to rounding in the last
    of a float's digits.
    """
    sizes = sorted(abs(value) for value in differences if value)
    total, observed = sum(sizes), abs(sum(differences))
    if len(sizes) * total > _MOST_STEPS:
        return None
    # shares[t]: how likely it is that the differences which stay positive add up to t.
    shares = np.zeros(total + 1)
    shares[0], reached = 1.0, 0
    for size in sizes:
        shares[: reached + 1] *= 0.5
        shares[size : reached + size + 1] += shares[: reached + 1].copy()
        reached += size
    sums = 2 * np.arange(total + 1) - total
    return min(1.0, float(shares[np.abs(sums) >= observed].sum()))


def sample_signs(differences: Sequence[float], seed: int, samples: int = 100_000) -> float:
    """Estimate the p-value of the sign-flip test from random flips; it is never quite zero."""
    values = np.asarray([value for value in differences if value], dtype=np.float64)
    generator = np.random.default_rng(seed)
    observed, extreme = abs(values.sum()) - 1e-12, 0
    at_once = max(1, 4_000_000 // max(1, len(values)))
    for start in range(0, samples, at_once):
        rows = min(at_once, samples - start)
        signs = generator.integers(0, 2, (rows, len(values))) * 2.0 - 1.0
        extreme += int((np.abs(signs @ values) >= observed).sum())
    return (extreme + 1) / (samples + 1)


def holm(p_values: Sequence[float]) -> list[float]:
    """Correct the p-values of one family by Holm's method, in their own order."""
    order = sorted(range(len(p_values)), key=p_values.__getitem__)
    corrected, reached = [0.0] * len(p_values), 0.0
    for rank, at in enumerate(order):
        reached = max(reached, min(1.0, (len(p_values) - rank) * p_values[at]))
        corrected[at] = reached
    return corrected


def detectable(
    differences: Sequence[float], power: float = 0.8, alpha: float = 0.05
) -> float | None:
    """Return the smallest mean difference that a set like this shows with the given power.

    By the normal approximation, from the spread of the differences; None where they have none.
    """
    n = len(differences)
    mean = sum(differences) / n if n else 0.0
    spread = sum((value - mean) ** 2 for value in differences)
    if n < 2 or spread == 0:
        return None
    quantiles = _NORMAL.inv_cdf(1 - alpha / 2) + _NORMAL.inv_cdf(power)
    return quantiles * math.sqrt(spread / (n - 1) / n)


def fewest_changes(alpha: float = 0.05) -> int:
    """Return how many problems must differ before the sign-flip test can reach ``alpha`` at all."""
    return math.ceil(1 - math.log2(alpha))
