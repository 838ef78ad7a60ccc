"""Make the attempts that are missing, many at a time, and lose nothing."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from cfr.engine.collector import collecting_rarely
from cfr.engine.engine import Engine
from cfr.engine.price import PriceList
from cfr.evaluation.attempt import Ending, EngineForRun, StoredJournal, failed, make_attempt
from cfr.evaluation.error import Unstorable
from cfr.evaluation.series import Series
from cfr.evaluation.spending import cost_of, use_by_model
from cfr.evaluation.store import (
    AttemptKey,
    Registered,
    Store,
    StoredCall,
    finished_attempts,
)
from cfr.evaluation.summary import mean_output
from cfr.evaluation.tally import SeriesResult, Tally
from cfr.evaluation.writer import RowValues
from cfr.method import Method
from cfr.problem import Problem
from cfr.protocol import Usage

__all__ = ["Job", "prepare", "run"]

_NO_PRICES: Final = PriceList()


@dataclass(frozen=True, slots=True)
class Job:
    """A series to be completed, and what it needs for that."""

    series: Series
    problems: tuple[Problem, ...]
    runs: int
    engine: Engine
    registered: Registered
    method: Method
    tally: Tally
    finished: set[AttemptKey]
    begun: dict[AttemptKey, dict[int, StoredCall]]
    prices: PriceList = _NO_PRICES
    earlier: float | None = None
    """Output tokens that an attempt of the method took on average in other series of the store."""

    @property
    def result(self) -> SeriesResult:
        """The series with its counts, which go on while it is run."""
        return SeriesResult(self.series, self.tally)

    def missing(self) -> Iterator[tuple[Job, Problem, int]]:
        """List the attempts that are to be made, run by run."""
        for run_index in range(self.runs):
            for problem in self.problems:
                if (self.registered.problems[problem.id], run_index) not in self.finished:
                    yield self, problem, run_index


def prepare(
    store: Store,
    series: Series,
    problems: tuple[Problem, ...],
    runs: int,
    engine: Engine,
    prices: PriceList = _NO_PRICES,
) -> Job:
    """Enter a series into the store and find out what is missing of it."""
    registered = store.register(series, problems)
    numbers = [registered.problems[problem.id] for problem in problems]
    finished = store.finished(registered.series)
    tally = Tally(total=len(numbers) * runs)
    for status, verdict, count, usage in store.outcomes(registered, numbers, runs):
        tally.add(status, verdict, usage, count)
    tally.resumed = tally.scored
    if prices.has_prices:
        used = use_by_model(store, *finished_attempts(registered, numbers, runs))
        tally.cost = cost_of(used.get(registered.series, {}), prices)
    earlier = None if tally.scored else mean_output(store, series.method, series.model)
    begun = store.begun(registered.series)
    return Job(
        series, problems, runs, engine, registered, series.build(), tally, finished, begun, prices,
        earlier,
    )  # fmt: skip


async def run(
    store: Store, jobs: Iterable[Job], width: int, counted: Callable[[], object] = lambda: None
) -> None:
    """Make all missing attempts, at most ``width`` at the same time; call ``counted`` after each.

    Whatever goes wrong in an attempt fails that attempt and nothing else; only a key or a model
    that is refused before anything succeeded fails the rest of its series unasked. A spent budget,
    a refused decoding, a store that cannot be written and a stored call that no longer fits end
    the run.
    """
    missing = (attempt for job in jobs for attempt in job.missing())

    async def work() -> None:
        before: _Writing | None = None
        try:
            for job, problem, run_index in missing:
                last, before = before, await _attempt(store, job, problem, run_index)
                counted()
                if last:  # safe by now: the next attempt did not wait for the disk
                    await last.done()
        finally:
            if before:
                await before.done()

    with collecting_rarely():
        workers = [asyncio.create_task(work()) for _ in range(width)]
        either = [asyncio.create_task(_all(workers)), asyncio.create_task(store.watch())]
        try:
            done, _ = await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
            for ended in done:
                ended.result()
        except asyncio.CancelledError:
            store.hasten()
            raise
        finally:
            for task in (*workers, *either):
                task.cancel()
            await asyncio.gather(*workers, *either, return_exceptions=True)
            await asyncio.to_thread(store.flush)


async def _all(workers: list[asyncio.Task[None]]) -> None:
    await asyncio.gather(*workers)


async def _attempt(store: Store, job: Job, problem: Problem, run_index: int) -> _Writing:
    """Make an attempt, count it, and hand it to the writer."""
    number = job.registered.problems[problem.id]
    key = {"series": job.registered.series, "problem": number, "run": run_index}
    started = time.monotonic()
    if job.tally.refused:
        ending = failed(job.tally.refused, Usage())
    else:
        known = job.begun.pop((number, run_index), {})
        journal = StoredJournal(store, key, known, job.prices)
        engine = EngineForRun(job.engine, run_index, job.series.system)
        ending = await make_attempt(job.method, problem, engine, journal)
        if job.tally.cost is not None:
            job.tally.cost += journal.cost
    if ending.hopeless and job.tally.scored == job.tally.resumed:
        job.tally.refused = ending.error or ""
    _count(job.tally, ending, ending.usage)
    row = key | {"seconds": time.monotonic() - started, "finished_at": time.time()}
    written = store.write_attempt(row | ending.columns())
    return _Writing(store, job.tally, row, ending, written)


def _count(tally: Tally, ending: Ending, usage: Usage) -> None:
    tally.add(ending.status, ending.verdict, usage)
    if ending.error is not None:
        tally.reasons[ending.error] += 1


@dataclass(frozen=True, slots=True)
class _Writing:
    """An attempt that is being written."""

    store: Store
    tally: Tally
    row: RowValues
    ending: Ending
    written: asyncio.Future[None]

    async def done(self) -> None:
        """Wait until it is safe; one whose row is refused has failed instead."""
        try:
            await self.written
        except Unstorable as error:
            self.tally.add(self.ending.status, self.ending.verdict, Usage(), count=-1)
            instead = failed(str(error), self.ending.usage)
            _count(self.tally, instead, Usage())
            await self.store.write_attempt(self.row | instead.columns())
