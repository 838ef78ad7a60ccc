"""Accuracy against tokens of every method, by model, and which methods are on the frontier.

A method is on the Pareto frontier where no other is at least as accurate for at most as many tokens
and better in one of the two (paper: the accuracy-cost trade-off of its main tables).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from constraint_first.analysis.statistics.cost import mean_tokens
from constraint_first.analysis.statistics.score import Score, score
from constraint_first.analysis.study.by_model import ModelArms, by_model
from constraint_first.analysis.study.study import Study

__all__ = ["Frontier", "MethodCost", "frontiers", "pareto"]


@dataclass(frozen=True, slots=True)
class MethodCost:
    """A method's accuracy and what an attempt of it costs."""

    name: str
    """As tables print it."""
    tokens: float
    """Mean tokens of an attempt, read and written; a prompt that samples share counts once."""
    score: Score
    on_frontier: bool


@dataclass(frozen=True, slots=True)
class Frontier:
    """The methods of one model, on the benchmarks that all of them share."""

    model: str
    benchmarks: tuple[str, ...]
    methods: tuple[MethodCost, ...]


def frontiers(study: Study) -> Iterator[Frontier]:
    """Measure accuracy and tokens of every method that has both, model by model."""
    for part in by_model(study):
        benchmarks = tuple(part.shared_benchmarks(next(iter(part.methods))))
        found = [
            (part.name(method), *both)
            for method in part.methods
            if (both := _cost_and_score(part, method, benchmarks))
        ]
        best = pareto([(tokens, scored.accuracy) for _, tokens, scored in found])
        methods = (MethodCost(*one, on) for one, on in zip(found, best, strict=True))
        yield Frontier(part.model, benchmarks, tuple(methods))


def _cost_and_score(
    part: ModelArms, method: str, benchmarks: Sequence[str]
) -> tuple[float, Score] | None:
    """Take the problems of several benchmarks together: one price and one score."""
    arms = [part.methods[method][name] for name in benchmarks]
    cost, found = mean_tokens(arms), score(*arms)
    return None if cost is None or found is None else (cost.shared_once, found)


def pareto(points: Sequence[tuple[float, float]]) -> tuple[bool, ...]:
    """Say which points of cost and value are on the frontier; equal points are on it together."""
    return tuple(not any(_beats(other, one) for other in points) for one in points)


def _beats(one: tuple[float, float], other: tuple[float, float]) -> bool:
    return one[0] <= other[0] and one[1] >= other[1] and one != other
