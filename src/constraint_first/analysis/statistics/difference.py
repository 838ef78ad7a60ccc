"""Paired differences of two methods, by problem: the data of every paired statistic."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from constraint_first.analysis.statistics.paired import Test, flip_signs, sample_signs
from constraint_first.analysis.statistics.resample import FINEST_UNIT, Bootstrap, bootstrap, drawn
from constraint_first.analysis.study.study import Arm

__all__ = ["Differences", "differences"]

_Score = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Differences:
    """The scores of the problems that were judged on both sides, and what was left out."""

    scores: tuple[tuple[_Score, _Score], ...]
    """Right runs and runs, before and after, of each problem."""
    left_out: int = 0
    """Problems that were judged on one side alone."""
    failed: int = 0
    """Attempts that failed, on either side."""

    @property
    def shares(self) -> list[tuple[float, float]]:
        """The share of right runs before and after, for each problem."""
        return [(a / m, b / n) for (a, m), (b, n) in self.scores]

    @property
    def points(self) -> list[float]:
        """The gain on each problem."""
        return [100 * (after - before) for before, after in self.shares]

    @property
    def runs(self) -> int:
        """The most runs that a problem has on either side."""
        return max(max(m, n) for (_, m), (_, n) in self.scores)

    @property
    def fewest_runs(self) -> int:
        """The fewest runs that a problem has on either side."""
        return min(min(m, n) for (_, m), (_, n) in self.scores)

    @property
    def counts(self) -> tuple[int, int, int]:
        """How many problems improved, tied and degraded."""
        crossed = [b * m - a * n for (a, m), (b, n) in self.scores]
        improved, degraded = sum(c > 0 for c in crossed), sum(c < 0 for c in crossed)
        return improved, len(crossed) - improved - degraded, degraded

    def whole(self) -> tuple[list[int], float] | None:
        """Return the gains as whole numbers and the points of one; None without a common unit."""
        unit = math.lcm(*{runs for pair in self.scores for _, runs in pair})
        if unit > FINEST_UNIT:
            return None
        return [b * unit // n - a * unit // m for (a, m), (b, n) in self.scores], 100 / unit

    def test(self, seed: int) -> tuple[float, Test]:
        """Test whether the gains are more than chance: exactly, unless that is impossible."""
        whole = self.whole()
        exact = flip_signs(whole[0]) if whole else None
        if exact is None:
            return sample_signs(self.points, seed), "Monte Carlo sign-flip"
        return exact, "exact McNemar" if self.runs == 1 else "exact sign-flip"

    def resampled(self, seed: int, resamples: int) -> Bootstrap:
        """Bootstrap the mean gain: exactly, unless resamples are asked for or needed."""
        whole = self.whole()
        if whole is None or resamples:
            return drawn(self.points, seed, resamples or 10_000)
        return bootstrap(*whole)


def differences(baseline: Sequence[Arm], method: Sequence[Arm]) -> Differences | None:
    """Pair arms problem by problem; None where no problem was judged on both sides."""
    scores: list[tuple[_Score, _Score]] = []
    left_out = failed = 0
    for base, arm in zip(baseline, method, strict=True):
        shared = [name for name in base.scores if name in arm.scores]
        scores += [(base.scores[name], arm.scores[name]) for name in shared]
        left_out += len(base.scores) + len(arm.scores) - 2 * len(shared)
        failed += sum(one.statuses.get("failed", 0) for one in (base, arm))
    return Differences(tuple(scores), left_out, failed) if scores else None
