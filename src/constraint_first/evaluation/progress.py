"""The progress of an evaluation, as a function is told it after each attempt."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from constraint_first.engine.price import Cost, sum_costs
from constraint_first.evaluation.runner import Job
from constraint_first.protocol import Usage

__all__ = ["EvaluationProgress", "TellEvaluationProgress", "measure_progress"]


@dataclass(frozen=True, slots=True)
class EvaluationProgress:
    """How far an evaluation is; the attempts of earlier runs are counted with it."""

    done: int
    """Attempts that have ended, well or not."""
    total: int
    failed: int
    usage: Usage
    cost: Cost | None
    """What all of it cost at the prices of today; None where no model has a price."""
    seconds: float
    """Since this run began."""

    @property
    def tokens(self) -> int:
        """Input and output tokens together."""
        return self.usage.total

    def __str__(self) -> str:
        failed = f", {self.failed:,} failed" if self.failed else ""
        cost = "" if self.cost is None else f", {self.cost}"
        counted = f"{self.done:,} of {self.total:,} attempts{failed}"
        return f"{counted}, {self.tokens:,} tokens{cost}, {self.seconds:.0f} s"


TellEvaluationProgress: TypeAlias = Callable[[EvaluationProgress], object]
"""A function that is told how an evaluation gets on; what it raises ends the run."""


def measure_progress(jobs: Sequence[Job], seconds: float) -> EvaluationProgress:
    """Count what the series have come to."""
    tallies = [job.tally for job in jobs]
    failed = sum(tally.failed for tally in tallies)
    return EvaluationProgress(
        done=sum(tally.scored for tally in tallies) + failed,
        total=sum(tally.total for tally in tallies),
        failed=failed,
        usage=sum((tally.usage for tally in tallies), Usage()),
        cost=sum_costs(tally.cost for tally in tallies),
        seconds=seconds,
    )
