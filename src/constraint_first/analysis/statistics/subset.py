"""Gain of a method over a baseline on all or some problems: those with a cue or of a kind."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property
from typing import Final, TypeAlias

from constraint_first.analysis.statistics.difference import Differences
from constraint_first.analysis.statistics.interval import Interval
from constraint_first.analysis.study.study import Arm, Study, benchmark_label

__all__ = ["BASELINE", "Gain", "Key", "ModelPairs", "pairs_by_model"]

Key: TypeAlias = tuple[str, str]
"""A benchmark and the name of a problem in it."""

BASELINE: Final = "direct"
"""What methods are measured against unless another one is named (paper: Evaluation Scope)."""

_Score: TypeAlias = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Gain:
    """Points that a method has over a baseline: the mean over problems."""

    points: float
    interval: Interval | None
    """95 %, by BCa bootstrap over problems; None where all gain alike and say nothing of spread."""
    n: int


@dataclass(frozen=True)
class ModelPairs:
    """A baseline and a method with one model: a pair of arms for each benchmark that has both."""

    model: str
    pairs: tuple[tuple[Arm, Arm], ...]

    @property
    def benchmarks(self) -> tuple[str, ...]:
        """The benchmarks, in order."""
        return tuple(base.benchmark for base, _ in self.pairs)

    @property
    def names(self) -> tuple[str, str]:
        """The baseline and the method, as tables print them."""
        base, method = self.pairs[0]
        return base.name, method.name

    @property
    def where(self) -> str:
        """The benchmarks in words."""
        return ", ".join(map(benchmark_label, self.benchmarks))

    @cached_property
    def scores(self) -> dict[Key, tuple[_Score, _Score]]:
        """Right runs and runs before and after, of every problem that was judged on both sides."""
        return {
            (base.benchmark, name): (before, method.scores[name])
            for base, method in self.pairs
            for name, before in base.scores.items()
            if name in method.scores
        }

    def gain(self, within: Collection[Key] | None = None) -> Gain | None:
        """Measure the gain on some problems, or on all; None where none of them was judged."""
        chosen = [s for key, s in self.scores.items() if within is None or key in within]
        if not chosen:
            return None
        found = Differences(tuple(chosen))
        points = found.points
        alike = len(set(points)) == 1
        interval = None if alike else found.resampled(seed=0, resamples=0).interval()
        return Gain(sum(points) / len(points), interval, len(points))


def pairs_by_model(study: Study, method: str, baseline: str = BASELINE) -> tuple[ModelPairs, ...]:
    """Find both methods in the primary decoding of each benchmark and model, by model."""
    arms = {(arm.benchmark, arm.model, arm.method): arm for arm in study.main_arms()}
    found: dict[str, list[tuple[Arm, Arm]]] = {}
    for (benchmark, model, name), arm in arms.items():
        other = arms.get((benchmark, model, method))
        if name == baseline != method and other and not arm.scores.keys().isdisjoint(other.scores):
            found.setdefault(model, []).append((arm, other))
    return tuple(ModelPairs(model, tuple(pairs)) for model, pairs in found.items())
