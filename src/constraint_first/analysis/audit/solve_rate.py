"""Shares of right runs by problem and method, a grid for each model and benchmark."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from constraint_first.analysis.study.by_model import by_model
from constraint_first.analysis.study.study import Arm, Study

__all__ = ["SolveRates", "solve_rates"]


@dataclass(frozen=True, slots=True)
class SolveRates:
    """All methods of one model on all problems of one benchmark."""

    model: str
    benchmark: str
    problems: tuple[str, ...]
    methods: tuple[str, ...]
    """As tables print them."""
    shares: tuple[tuple[float | None, ...], ...]
    """A row for each method, a share from 0 to 1 for each problem; None without a judged run."""


def solve_rates(study: Study) -> Iterator[SolveRates]:
    """Find which methods solve which problems, by model and benchmark."""
    for part in by_model(study):
        for benchmark in dict.fromkeys(arm.benchmark for arm in part.arms()):
            arms = [arms[benchmark] for arms in part.methods.values() if benchmark in arms]
            problems = tuple(dict.fromkeys(name for arm in arms for name in arm.scores))
            yield SolveRates(
                part.model,
                benchmark,
                problems,
                tuple(arm.name for arm in arms),
                tuple(tuple(_share(arm, name) for name in problems) for arm in arms),
            )


def _share(arm: Arm, problem: str) -> float | None:
    found = arm.scores.get(problem)
    return found[0] / found[1] if found else None
