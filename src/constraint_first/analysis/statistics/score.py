"""Scores of arms: accuracy with its interval, pass@k, majority@k, means over benchmarks."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from constraint_first.analysis.statistics.interval import Interval, wilson
from constraint_first.analysis.statistics.resample import FINEST_UNIT, Bootstrap, bootstrap, drawn
from constraint_first.analysis.study.study import Arm, Attempt
from constraint_first.evaluation.tally import mean_share
from constraint_first.method.vote import ballot

__all__ = [
    "MeanPass",
    "Score",
    "leads",
    "majority_at",
    "mean_accuracy",
    "mean_of_all",
    "mean_pass",
    "pass_at",
    "score",
    "score_problems",
]


_SAME: Final = 1e-11  # shares that add up in another order differ by no more


@dataclass(frozen=True, slots=True)
class Score:
    """Accuracy in per cent: the mean over problems of the share of right runs."""

    accuracy: float
    interval: Interval
    problems: int
    runs: int
    how: str
    """How the interval was found: Wilson's, or the percentile one of a bootstrap over problems."""


def score(*arms: Arm) -> Score | None:
    """Score an arm, or the problems of several together; None where nothing was judged."""
    return score_problems(Counter(found for arm in arms for found in arm.scores.values()))


def score_problems(scores: Mapping[tuple[int, int], int]) -> Score | None:
    """Score problems that are counted by how many of their runs were right, and of how many.

    None where there are none. Every accuracy that is shown anywhere has its interval from here.
    """
    mean = mean_share(scores, 100.0)
    if mean is None:
        return None
    counts = sorted(Counter(scores).elements())  # the order decides what a seed draws
    most = max(runs for _, runs in counts)
    if most == 1 or len({right / runs for right, runs in scores}) == 1:
        # Resampling problems that all score alike says nothing; Wilson, by problems, still does.
        low, high = wilson(mean / 100 * len(counts), len(counts))
        return Score(mean, (100 * low, 100 * high), len(counts), most, "Wilson")
    interval = _resampled(counts).interval("percentile")
    return Score(mean, interval, len(counts), most, "percentile bootstrap")


def _resampled(counts: Sequence[tuple[int, int]]) -> Bootstrap:
    unit = math.lcm(*{runs for _, runs in counts})
    if unit > FINEST_UNIT:
        return drawn([100 * right / runs for right, runs in counts], seed=0)
    return bootstrap([right * unit // runs for right, runs in counts], 100 / unit)


def pass_at(arm: Arm, k: int) -> float | None:
    """Estimate pass@k without bias, in per cent; None where no problem has k runs."""
    found = [
        1 - math.comb(runs - right, k) / math.comb(runs, k)
        for right, runs in arm.scores.values()
        if runs >= k
    ]
    return 100 * sum(found) / len(found) if found else None


@dataclass(frozen=True, slots=True)
class MeanPass:
    """The plain mean of pass@k over benchmarks."""

    k: int
    """The fewest runs that any problem has."""
    percent: float | None
    problems: int


def mean_pass(arms: Sequence[Arm]) -> MeanPass:
    """Average pass@k over arms, each counted alike."""
    k = min(arm.fewest_runs for arm in arms)
    mean = mean_of_all([pass_at(arm, k) for arm in arms])
    return MeanPass(k, mean, sum(len(arm.scores) for arm in arms))


def mean_accuracy(arms: Sequence[Arm | None]) -> float | None:
    """Average accuracy over benchmarks in per cent; None where one of them is missing."""
    mean = mean_of_all([arm.accuracy if arm else None for arm in arms])
    return None if mean is None else 100 * mean


def leads(arm: Arm, rivals: Iterable[Arm]) -> bool:
    """Say whether no rival is more accurate than an arm, and at least one is less.

    Accuracies on other problems are not compared: where one has others, none leads.
    """
    against = list(rivals)
    if any(rival.scores.keys() != arm.scores.keys() for rival in against):
        return False
    own = arm.accuracy or 0.0
    ahead = [own - (rival.accuracy or 0.0) for rival in against]
    return all(lead > -_SAME for lead in ahead) and any(lead > _SAME for lead in ahead)


def mean_of_all(values: Sequence[float | None]) -> float | None:
    """Average values, each counted alike; None where one is missing or there are none."""
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known and len(known) == len(values) else None


def majority_at(arm: Arm, k: int) -> float | None:
    """Return the accuracy of a vote among the first k runs, in per cent.

    A tie goes to the answer that came first, as in Self-Consistency. None where no problem has k
    runs, or no answers were kept; and for two runs, because between two the first always wins.
    """
    if k == 2:
        return None
    votes = [
        judged[:k]
        for attempts in arm.attempts.values()
        if len(judged := [a for a in attempts if a.correct is not None]) >= k
    ]
    if not votes or not any(attempt.answer for vote in votes for attempt in vote):
        return None
    return 100 * sum(map(_elected, votes)) / len(votes)


def _elected(attempts: list[Attempt]) -> bool:
    voting = [attempt for attempt in attempts if attempt.answer]
    if not voting:
        return False
    ((winner, _),) = Counter(ballot(a.answer or "") for a in voting).most_common(1)
    return any(a.correct for a in voting if ballot(a.answer or "") == winner)
