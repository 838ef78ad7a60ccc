"""The progress of an evaluation, as a function is told it after each attempt."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from cfr.engine.presets import Price
from cfr.evaluation.runner import Job
from cfr.protocol import Usage

__all__ = ["EvaluationProgress", "TellEvaluationProgress", "measure_progress"]


@dataclass(frozen=True, slots=True)
class EvaluationProgress:
    """How far an evaluation is; the attempts of earlier runs are counted with it."""

    done: int
    """Attempts that have ended, well or not."""
    total: int
    failed: int
    usage: Usage
    cost: float | None
    """US dollars; None where a price is not known, or models of several prices share a series."""
    seconds: float
    """Since this run began."""

    @property
    def tokens(self) -> int:
        """Input and output tokens together."""
        return self.usage.total

    def __str__(self) -> str:
        failed = f", {self.failed:,} failed" if self.failed else ""
        cost = "" if self.cost is None else f", ${self.cost:.4f}"
        counted = f"{self.done:,} of {self.total:,} attempts{failed}"
        return f"{counted}, {self.tokens:,} tokens{cost}, {self.seconds:.0f} s"


TellEvaluationProgress: TypeAlias = Callable[[EvaluationProgress], object]
"""A function that is told how an evaluation gets on; what it raises ends the run."""


def measure_progress(
    jobs: Sequence[Job], prices: Mapping[str, Price | None], seconds: float
) -> EvaluationProgress:
    """Count what the series have come to; ``prices`` are by the names of their models."""
    tallies = [job.tally for job in jobs]
    failed = sum(tally.failed for tally in tallies)
    return EvaluationProgress(
        done=sum(tally.scored for tally in tallies) + failed,
        total=sum(tally.total for tally in tallies),
        failed=failed,
        usage=sum((tally.usage for tally in tallies), Usage()),
        cost=_cost(jobs, prices),
        seconds=seconds,
    )


def _cost(jobs: Sequence[Job], prices: Mapping[str, Price | None]) -> float | None:
    cost = 0.0
    for job in jobs:
        price = prices[job.series.model]
        if price is None:
            return None
        cost += price.cost(job.tally.usage)
    return cost
