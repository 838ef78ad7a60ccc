"""The tally of a series: how its attempts ended, counted while it is run."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from constraint_first.engine.price import Cost
from constraint_first.evaluation.series import Series
from constraint_first.evaluation.status import Status
from constraint_first.protocol import Usage

__all__ = [
    "ProblemScores",
    "SeriesResult",
    "Tally",
    "explain_missing",
    "mean_share",
    "most_frequent_reason",
    "without_numbers",
]

ProblemScores: TypeAlias = Counter[tuple[int, int]]
"""Problems, counted by how many of their runs were right and how many were judged."""

_NUMBERED: Final = re.compile(r"(?<!HTTP )\b[\w.-]*\d[\w.-]*")


@dataclass(slots=True)
class Tally:
    """How a series stands."""

    total: int
    ok: int = 0
    truncated: int = 0
    unparsed: int = 0
    failed: int = 0
    correct: int = 0
    undecided: int = 0
    usage: Usage = field(default_factory=Usage)
    cost: Cost | None = None
    """What the calls of its attempts cost; None where no model has a price."""
    resumed: int = 0
    """Attempts that were there before this run."""
    made: int = 0
    """Attempts that this run made itself and that did not fail."""
    refused: str = ""
    """Why the endpoint will have nothing to do with us, where it said so before any success."""
    left: str = ""
    """Likewise, where the series was left to other workers."""
    reasons: Counter[str] = field(default_factory=Counter[str])
    """Why attempts of this run failed, and how many for each reason."""

    @property
    def scored(self) -> int:
        """Attempts that count for the score; failed ones do not."""
        return self.ok + self.truncated + self.unparsed

    @property
    def complete(self) -> bool:
        """Whether every attempt is there and none failed."""
        return self.scored == self.total

    def add(self, status: Status, verdict: str | None, usage: Usage, count: int = 1) -> None:
        """Count an attempt, or several that ended alike."""
        setattr(self, status, getattr(self, status) + count)
        self.correct += count * (verdict == "correct")
        self.undecided += count * (verdict == "undecided")
        self.usage += usage


@dataclass(frozen=True, slots=True)
class SeriesResult:
    """A series and its counts; those by problem are there when the run has ended."""

    series: Series
    tally: Tally
    scores: ProblemScores = field(default_factory=Counter[tuple[int, int]])

    @property
    def accuracy(self) -> float | None:
        """The mean over problems of the share of right runs; None where none was judged."""
        return mean_share(self.scores)


def mean_share(scores: Mapping[tuple[int, int], int], whole: float = 1.0) -> float | None:
    """Average the share of right runs over problems, as parts of ``whole``; None without any."""
    problems = sum(scores.values())
    shares = (count * right / runs for (right, runs), count in scores.items())
    return whole * math.fsum(shares) / problems if problems else None


def explain_missing(results: Sequence[SeriesResult]) -> str:
    """Say how many attempts are missing and why; empty where none is."""
    failed = sum(one.tally.failed for one in results)
    total = sum(one.tally.total for one in results)
    if failed:
        reason, count = most_frequent_reason(results)
        said = f"{failed} of {total} attempts failed and are not scored"
        return f"{said}, {count} of them with: {reason}; run the same command again"
    if missing := sum(one.tally.total - one.tally.scored for one in results):
        left = next((one.tally.left for one in results if one.tally.left), "")
        why = f": {left}" if left else ""
        return f"{missing} of {total} attempts are left to other workers{why}"
    return ""


def most_frequent_reason(results: Iterable[SeriesResult]) -> tuple[str, int]:
    """Find out why most of the failed attempts failed, and how many; at least one must have."""
    together = sum((result.tally.reasons for result in results), Counter[str]())
    alike: Counter[str] = Counter()
    for reason, count in together.items():
        alike[without_numbers(reason)] += count
    most, count = alike.most_common(1)[0]
    return next(reason for reason in together if without_numbers(reason) == most), count


def without_numbers(reason: str) -> str:
    """Leave out of a reason what differs from call to call: times, counts, names of requests."""
    return _NUMBERED.sub("#", reason)
