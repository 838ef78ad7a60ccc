"""Make the attempts that are missing, many at a time, and lose nothing."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Final, TypeAlias

from constraint_first.engine.collector import collecting_rarely
from constraint_first.evaluation.attempt import (
    Ending,
    EngineForRun,
    StoredJournal,
    failed,
    make_attempt,
)
from constraint_first.evaluation.claim import Assigned, ClaimedAttempts, ListedAttempts
from constraint_first.evaluation.error import LeaseLost, StoreError, Unstorable
from constraint_first.evaluation.job import Job, prepare, read_standing
from constraint_first.evaluation.lease import LEASE_SECONDS
from constraint_first.evaluation.store import Store
from constraint_first.evaluation.tally import Tally
from constraint_first.evaluation.writer import RowValues
from constraint_first.protocol import Usage

__all__ = ["Job", "follow", "prepare", "recount", "run"]

_FOLLOW_EVERY: Final = 5.0
"""Seconds between two looks at what other workers have made."""
_FOLLOW_SHARE: Final = 50
"""How much longer than a look took the next is waited for: a large store is looked at rarely."""

_Attempts: TypeAlias = ListedAttempts | ClaimedAttempts


async def run(
    store: Store,
    jobs: Iterable[Job],
    width: int,
    counted: Callable[[], object] = lambda: None,
    lease: float = LEASE_SECONDS,
) -> None:
    """Make all missing attempts, at most ``width`` at the same time; call ``counted`` after each.

    Whatever goes wrong in an attempt fails that attempt and nothing else; only a key or a model
    that is refused before anything succeeded fails the rest of its series unasked. A spent budget,
    a refused decoding, a store that cannot be written and a stored call that no longer fits end
    the run. Where workers share the store it ends when all is made, by whomever, and what this one
    claims is its own for ``lease`` seconds after it was last seen.
    """
    several = list(jobs)
    with collecting_rarely():
        async with _handed_out(store, several, lease, width) as attempts:
            workers = [asyncio.create_task(_work(store, attempts, counted)) for _ in range(width)]
            either = [asyncio.create_task(_all(workers)), asyncio.create_task(store.watch())]
            if store.is_shared:
                either.append(asyncio.create_task(follow(store, several, counted)))
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


@asynccontextmanager
async def _handed_out(
    store: Store, jobs: Sequence[Job], lease: float, width: int
) -> AsyncGenerator[_Attempts]:
    """Say which attempts are to be made; at the end count those of other workers too."""
    if not store.is_shared:
        yield ListedAttempts(jobs)
        return
    try:
        with store.leasing(lease) as leases:
            attempts = ClaimedAttempts(leases, jobs, width)
            try:
                yield attempts
            finally:
                await attempts.close()
    except (StoreError, asyncio.CancelledError):  # nobody can count, or nobody waits for it
        raise
    except BaseException:
        await recount(store, jobs)
        raise
    await recount(store, jobs)


async def follow(store: Store, jobs: Sequence[Job], counted: Callable[[], object]) -> None:
    """Count what other workers make, now and then."""
    pause = _FOLLOW_EVERY
    while True:
        await asyncio.sleep(pause)
        began = time.monotonic()
        await recount(store, jobs)
        counted()
        pause = max(_FOLLOW_EVERY, _FOLLOW_SHARE * (time.monotonic() - began))


async def recount(store: Store, jobs: Sequence[Job]) -> None:
    """Let the store count how all series stand, whoever made what."""
    for job in jobs:
        found = await asyncio.to_thread(read_standing, store, job)
        found.apply(job.tally)


async def _all(workers: list[asyncio.Task[None]]) -> None:
    await asyncio.gather(*workers)


async def _work(store: Store, attempts: _Attempts, counted: Callable[[], object]) -> None:
    """Make one attempt after the other, until none is left."""
    before: _Writing | None = None
    try:
        while True:
            assigned = attempts.ready()
            if assigned is None:
                if before:  # the end may hang on this very attempt
                    await before.done()
                before = None
                assigned = await attempts.next()
                if assigned is None:
                    return
            last, before = before, await _attempt(store, attempts, assigned)
            counted()
            if last:  # safe by now: the next attempt did not wait for the disk
                await last.done()
    finally:
        if before:
            await before.done()


async def _attempt(store: Store, attempts: _Attempts, assigned: Assigned) -> _Writing | None:
    """Make an attempt, count it, and hand it to the writer; None where it is left to others."""
    job, (series, number, run_index) = assigned.job, assigned.key
    key = {"series": series, "problem": number, "run": run_index}
    started = time.monotonic()
    if job.tally.refused:
        ending = failed(job.tally.refused, Usage())
    else:
        journal = StoredJournal(store, key, assigned.known, job.prices)
        engine = EngineForRun(job.engine, run_index, job.series.system)
        try:
            ending = await make_attempt(job.method, assigned.problem, engine, journal, job.limit)
        except LeaseLost:
            return None
        if job.tally.cost is not None:
            job.tally.cost += journal.cost
    if ending.hopeless and not job.tally.made:
        if await attempts.give_up(assigned):
            job.tally.left = ending.error or ""
            return None
        job.tally.refused = ending.error or ""
    _count(job.tally, ending, ending.usage)
    row = key | {"seconds": time.monotonic() - started}
    written = store.write_attempt(row | ending.columns())
    written.add_done_callback(lambda _: attempts.ended())
    return _Writing(store, job.tally, row, ending, written)


def _count(tally: Tally, ending: Ending, usage: Usage) -> None:
    tally.add(ending.status, ending.verdict, usage)
    if ending.error is not None:
        tally.reasons[ending.error] += 1
    else:
        tally.made += 1


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
        except LeaseLost:  # whoever has it now counts it
            self.tally.add(self.ending.status, self.ending.verdict, Usage(), count=-1)
        except Unstorable as error:
            self.tally.add(self.ending.status, self.ending.verdict, Usage(), count=-1)
            instead = failed(str(error), self.ending.usage)
            _count(self.tally, instead, Usage())
            await self.store.write_attempt(self.row | instead.columns())
