"""The time that an evaluation still takes, estimated from the work that each method takes.

Attempts differ in cost by method: a vote of eight writes eight times what Direct CoT does. What is
left is therefore counted in output tokens: the mean of the series so far, else of the method on
other benchmarks, else of earlier runs in the store, else of all that is known.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from constraint_first.evaluation.runner import Job

__all__ = ["Progress", "progress_of", "seconds_left"]


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a series is, and what its attempts took so far."""

    method: tuple[str, str]
    """The method and the model: what the cost of an attempt depends on."""
    left: int
    made: int
    """Attempts of this run."""
    stored: int = 0
    """Attempts of earlier runs."""
    tokens: int = 0
    """Output tokens of all attempts that are there."""
    earlier: float | None = None
    """The mean of the method in other series of the store."""

    @property
    def cost(self) -> float | None:
        """The mean of its own attempts; None where there are none, or none says what it took."""
        attempts = self.made + self.stored
        return self.tokens / attempts if attempts and self.tokens else None


def progress_of(job: Job) -> Progress:
    """Read off how far a series is."""
    tally, series = job.tally, job.series
    done = tally.scored + tally.failed
    return Progress(
        (series.method, series.model),
        left=tally.total - done,
        made=done - tally.resumed,
        stored=tally.resumed,
        tokens=tally.usage.output if tally.usage.reported else 0,
        earlier=job.earlier,
    )


def seconds_left(parts: Sequence[Progress], elapsed: float) -> float | None:
    """Estimate how long the rest takes at the pace so far; None while nothing was made yet."""
    overall = _mean(parts) or 1.0
    costs = [
        part.cost or _by_method(parts, part.method) or part.earlier or overall for part in parts
    ]
    made = sum(part.made * cost for part, cost in zip(parts, costs, strict=True))
    left = sum(part.left * cost for part, cost in zip(parts, costs, strict=True))
    return elapsed * left / made if made else None


def _by_method(parts: Iterable[Progress], method: tuple[str, str]) -> float | None:
    return _mean([part for part in parts if part.method == method])


def _mean(parts: Iterable[Progress]) -> float | None:
    known = [part for part in parts if part.cost is not None]
    attempts = sum(part.made + part.stored for part in known)
    return sum(part.tokens for part in known) / attempts if attempts else None
