"""A learner of rules: which methods, for which groups of problems, within a bound on tokens.

A policy is best read, and holds best, with one method beside Direct CoT. A second one comes in only
where it brings a whole point more.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

import numpy as np

from constraint_first.analysis.calibration.observation import DIRECT, Bools, Ints, Observations
from constraint_first.analysis.calibration.tree import Group, Tree, TreeOptions

__all__ = ["LearningPlan", "Learnt", "learn"]

_SECOND: Final = 1.0
"""Points of accuracy, on all problems together, that a second method must bring."""
_MANY: Final = 50
"""Problems of one benchmark that say enough about its tokens."""
_PRICES: Final = (1.0, 2.0, 4.0, 8.0, 16.0, 24.0, 32.0, 48.0, 64.0, 96.0, 128.0, 256.0, 512.0, 1e9)


@dataclass(frozen=True, slots=True)
class LearningPlan:
    """Options of learning: what tokens cost."""

    price: float = 0.0
    """Points of accuracy that 1,000 more output tokens must bring."""
    most_tokens: float | None = 1.05
    """The most output tokens of the policy, for each one of the baseline's, over all problems and
    on every benchmark with many; None for any."""


@dataclass(frozen=True, slots=True)
class Learnt:
    """Groups that no problem is in two of, and what they come to on the problems learnt from."""

    groups: tuple[Group, ...] = ()
    price: float = 0.0
    """Of 1,000 tokens: the one that was asked for, or what keeps the tokens within their bound."""
    points: float = 0.0
    """The gain over all problems."""
    tokens: float = 1.0
    """For each one of the baseline's."""

    def decide(self, features: Bools) -> Ints:
        """Decide for each problem, by its features."""
        decisions = np.full(len(features), DIRECT, dtype=np.int64)
        for group in self.groups:
            decisions[group.rows(features)] = group.decision
        return decisions


def learn(data: Observations, rows: Ints, plan: LearningPlan) -> Learnt:
    """Learn from some problems: the best single method, then a second one if it is worth it."""
    places = range(len(data.methods))
    best, first = _best(data, rows, plan, ((at,) for at in places))
    if not first:
        return best
    pairs = ((*first, at) for at in places if at not in first)
    both, _ = _best(data, rows, plan, pairs)
    return both if both.points >= best.points + _SECOND else best


def _best(
    data: Observations, rows: Ints, plan: LearningPlan, sets: Iterable[tuple[int, ...]]
) -> tuple[Learnt, tuple[int, ...]]:
    best, chosen = Learnt(price=plan.price), ()
    for columns in sets:
        found = _within_bound(data, rows, plan, columns)
        if found.points > best.points:
            best, chosen = found, columns
    return best, chosen


def _within_bound(
    data: Observations, rows: Ints, plan: LearningPlan, columns: tuple[int, ...]
) -> Learnt:
    """Raise the price of tokens until those of the policy are within their bound."""

    def attempt(price: float) -> Learnt:
        groups = tuple(Tree(data, TreeOptions(columns, price)).grow(rows))
        decisions = Learnt(groups).decide(data.features[rows])
        return Learnt(groups, price, *_totals(data, rows, decisions))

    def fits(found: Learnt) -> bool:
        if plan.most_tokens is None:
            return True
        decisions = found.decide(data.features[rows])
        return found.tokens <= plan.most_tokens >= _worst_tokens(data, rows, decisions)

    found = attempt(plan.price)
    if fits(found):
        return found
    too_low, enough = -1, len(_PRICES) - 1  # at the highest price only what saves tokens is left
    found = attempt(plan.price + _PRICES[enough])
    while enough - too_low > 1:
        between = (too_low + enough) // 2
        tried = attempt(plan.price + _PRICES[between])
        if fits(tried):
            enough, found = between, tried
        else:
            too_low = between
    # A method that saves tokens over all may still take too many on one benchmark.
    return found if fits(found) else Learnt(price=plan.price)


def _worst_tokens(data: Observations, rows: Ints, decisions: Ints) -> float:
    """Return the tokens on the benchmark where they are most, of those with many problems."""
    belongs: list[Bools] = [data.benchmarks[rows] == one for one in set(data.benchmarks[rows])]
    many = [own for own in belongs if own.sum() >= _MANY]
    return max((_totals(data, rows[own], decisions[own])[1] for own in many), default=0.0)


def _totals(data: Observations, rows: Ints, decisions: Ints) -> tuple[float, float]:
    """Return the mean gain of decisions and their tokens, for each one of the baseline's."""
    changed = decisions != DIRECT
    places = rows[changed], decisions[changed]
    base = float(data.base_tokens[rows].sum())
    extra = float(data.extra_tokens[places].sum())
    points = float(data.gains[places].sum()) / max(len(rows), 1)
    return points, (base + extra) / base if base else 1.0
