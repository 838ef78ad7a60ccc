"""Whoever watches an evaluation: a terminal, a log, a driver of workers on other machines."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager, AbstractContextManager, nullcontext

from constraint_first.engine.automatic import AutoChoice
from constraint_first.engine.engine import Served
from constraint_first.engine.limit import Limiter
from constraint_first.engine.pull import NO_PROGRESS, Progress
from constraint_first.engine.refusal import DecodingRefused
from constraint_first.evaluation.batch.progress import WaveProgress
from constraint_first.evaluation.job import Job

__all__ = ["EvaluationWatcher"]


class EvaluationWatcher:
    """Is told how an evaluation gets on. Override what is of interest."""

    def fetching(self, model: str) -> AbstractContextManager[Progress]:  # noqa: ARG002
        """Surround the fetching of a model file with a function that hears how far it is."""
        return nullcontext(NO_PROGRESS)

    def running(
        self,
        jobs: Sequence[Job],  # noqa: ARG002
        limiters: Sequence[Limiter],  # noqa: ARG002
    ) -> AbstractAsyncContextManager[None]:
        """Surround the run; the tallies of ``jobs`` go on while it lasts."""
        return nullcontext()

    def opened(self, models: Sequence[Served]) -> None:
        """Hear which models are open; one may be ``Balanced`` over several endpoints."""

    def chose(self, model: str, choice: AutoChoice) -> None:
        """Hear what the method ``auto`` stands for with a model."""

    def skipped(self, what: str, why: str) -> None:
        """Hear that a worker cannot run something that the store has to be run, and why."""

    def refused(self, error: DecodingRefused) -> None:
        """Hear that a worker's model refuses a setting of its series, which it leaves alone."""

    def adapted(self, model: str, change: str) -> None:
        """Hear that a model refused a setting, and what all its series do instead."""

    def batches(self, progress: WaveProgress) -> None:
        """Hear how far a wave of batches is."""

    def noted(self, line: str) -> None:
        """Hear of something that a person should know."""
