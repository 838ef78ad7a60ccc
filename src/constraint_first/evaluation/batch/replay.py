"""A pass over the missing attempts of a series between two waves."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Final

from constraint_first.engine.batch.model import Deferred
from constraint_first.engine.batch.place import Place
from constraint_first.evaluation.attempt import Ending, failed, make_attempt
from constraint_first.evaluation.batch.attempt import PlacedEngine, PlacedJournal
from constraint_first.evaluation.batch.log import BatchLog
from constraint_first.evaluation.error import Unstorable
from constraint_first.evaluation.runner import Job
from constraint_first.evaluation.store import AttemptKey, Store, StoredCall
from constraint_first.problem import Problem
from constraint_first.protocol import Usage

__all__ = ["replay_attempts"]

_WIDTH: Final = 64
"""Attempts at a time: while one waits for the disk, the sandbox or the grader, others go on."""


async def replay_attempts(
    store: Store, job: Job, log: BatchLog, counted: Callable[[], object]
) -> None:
    """Let every missing attempt of a series go on until it ends or waits for a wave."""
    known = await asyncio.to_thread(store.begun, job.registered.series)
    job.begun.clear()
    missing = job.missing()

    async def work() -> None:
        for problem, run_index in missing:
            number = job.registered.problems[problem.id]
            calls = known.pop((number, run_index), {})
            if await _Replay(store, job, log, problem, run_index).make(calls):
                counted()

    workers = [asyncio.create_task(work()) for _ in range(_WIDTH)]
    try:
        await asyncio.gather(*workers)
    finally:
        for worker in workers:
            worker.cancel()
        await asyncio.gather(*workers, return_exceptions=True)


class _Replay:
    """One attempt that is replayed."""

    def __init__(
        self, store: Store, job: Job, log: BatchLog, problem: Problem, run_index: int
    ) -> None:
        self._store = store
        self._job = job
        self._log = log
        self._problem = problem
        self._run = run_index
        number = job.registered.problems[problem.id]
        self._attempt: AttemptKey = (number, run_index)
        self._key = {"series": job.registered.series, "problem": number, "run": run_index}

    async def make(self, known: dict[int, StoredCall]) -> bool:
        """Let it go on; whether it has ended."""
        started = time.monotonic()
        ending = await self._ending(known)
        if ending is None:
            return False
        tally = self._job.tally
        if ending.hopeless and tally.scored == tally.resumed:
            tally.refused = ending.error or ""
        row = self._key | {"seconds": time.monotonic() - started, "finished_at": time.time()}
        try:
            await self._store.write_attempt(row | ending.columns())
        except Unstorable as error:
            ending = failed(str(error), ending.usage)
            await self._store.write_attempt(row | ending.columns())
        self._count(ending)
        return True

    async def _ending(self, known: dict[int, StoredCall]) -> Ending | None:
        """Find out how it ends; None where it waits for the next wave."""
        job = self._job
        if job.tally.refused:
            return failed(job.tally.refused, Usage())
        journal = PlacedJournal(self._store, self._key, known, job.prices)
        engine = PlacedEngine(job.engine, journal, self._run, job.series.system)
        try:
            ending = await make_attempt(job.method, self._problem, engine, journal, job.limit)
        except Deferred:
            return None
        if job.tally.cost is not None:
            job.tally.cost += journal.cost
        return ending

    def _count(self, ending: Ending) -> None:
        """Count it; one that failed is not made again before the next command."""
        tally = self._job.tally
        tally.add(ending.status, ending.verdict, ending.usage)
        if ending.error is not None:
            tally.reasons[ending.error] += 1
        self._job.finished.add(self._attempt)
        if ending.status == "failed":
            self._log.forget_refusals(Place(**self._key, ordinal=0))
