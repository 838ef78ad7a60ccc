"""The hand-out of attempts to a run: which one is made next, and when none is left.

On a SQLite store it is a list that one run goes through. On a PostgreSQL store attempts are claimed
as they are needed, and a run that finds none free waits for those of others: it ends when all are
made, and takes over what expires.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from constraint_first.evaluation.job import Job
from constraint_first.evaluation.lease import CLAIMED_AT_ONCE, Claimed, LeaseKey, Leases
from constraint_first.evaluation.stored_call import AttemptKey, KnownCalls
from constraint_first.problem import Problem

__all__ = ["Assigned", "ClaimedAttempts", "ListedAttempts"]

_MOST_AT_ONCE: Final = 8 * CLAIMED_AT_ONCE
_SHORTEST_WAIT: Final = 0.02
_LONGEST_WAIT: Final = 1.0


@dataclass(frozen=True, slots=True)
class Assigned:
    """An attempt that is to be made now, with what an earlier run stored of it."""

    job: Job
    number: int
    """The number of its problem in the store."""
    problem: Problem
    run: int
    known: KnownCalls

    @property
    def key(self) -> LeaseKey:
        """Its place in the store."""
        return self.job.registered.series, self.number, self.run


class ListedAttempts:
    """The missing attempts of a store that this run has for itself."""

    def __init__(self, jobs: Iterable[Job]) -> None:
        self._attempts = _list(jobs)

    def ready(self) -> Assigned | None:
        """Return the next attempt; None where there is none."""
        return next(self._attempts, None)

    async def next(self) -> Assigned | None:
        """Return the next attempt; None at the end."""
        return self.ready()

    def ended(self) -> None:
        """Hear that an attempt was written."""

    async def give_up(self, _assigned: Assigned) -> bool:
        """Leave a series to nobody: there are no other workers."""
        return False


def _list(jobs: Iterable[Job]) -> Iterator[Assigned]:
    for job in jobs:
        for problem, run in job.missing():
            number = job.registered.problems[problem.id]
            yield Assigned(job, number, problem, run, job.begun.pop((number, run), {}))


class ClaimedAttempts:
    """The missing attempts of a store that many workers share."""

    def __init__(self, leases: Leases, jobs: Sequence[Job], width: int = CLAIMED_AT_ONCE) -> None:
        self._leases = leases
        self._jobs = deque(jobs)
        """Series that may have free attempts, in order."""
        self._shares = {job.registered.series: job for job in jobs}
        self._ready: deque[Assigned] = deque()
        self._claiming = asyncio.Lock()
        self._ended = asyncio.Event()
        self._over = False
        self._enough = 0
        """Attempts that are left when more are claimed."""
        self._smallest = min(width, CLAIMED_AT_ONCE)
        """A claim takes no more than can be begun: a slow model would keep the rest from others."""
        self._size = self._smallest
        self._count = 0
        self._pace = (time.monotonic(), 0)
        """When it was last claimed, and how many attempts had ended then."""
        self._ahead: asyncio.Task[None] | None = None
        self._under_way: asyncio.Future[dict[AttemptKey, Claimed]] | None = None

    def ready(self) -> Assigned | None:
        """Return an attempt that is claimed and not begun; None where there is none."""
        if len(self._ready) <= self._enough and self._jobs and not self._claiming.locked():
            self._ahead = asyncio.create_task(self._claim_ahead())
        return self._ready.popleft() if self._ready else None

    async def next(self) -> Assigned | None:
        """Claim attempts and return one; None when all are made, by whomever."""
        async with self._claiming:
            if self._ahead and self._ahead.done():
                self._ahead.result()
            wait = _SHORTEST_WAIT
            while not self._ready and not self._over:
                await self._claim()
                if not self._ready and not self._over:
                    wait = await self._wait(wait)
        return self.ready()

    def ended(self) -> None:
        """Hear that an attempt was written: it may have been the last."""
        self._count += 1
        self._ended.set()

    async def close(self) -> None:
        """Wait for a claim that is under way: what it takes must be given back."""
        for task in (self._ahead, self._under_way):
            if task:
                await asyncio.gather(task, return_exceptions=True)

    async def give_up(self, assigned: Assigned) -> bool:
        """Leave an attempt and its whole series to other workers, where there are any.

        Whoever has no key would otherwise fail in no time what others could make.
        """
        job, series = assigned.job, assigned.key[0]
        if not await asyncio.to_thread(self._leases.has_others, series):
            return False
        self._shares.pop(series, None)
        self._jobs = deque(one for one in self._jobs if one is not job)
        kept = [one for one in self._ready if one.job is not job]
        left = [one.key for one in (assigned, *self._ready) if one.job is job]
        self._ready = deque(kept)
        await asyncio.to_thread(self._leases.give_back, left)
        return True

    async def _claim_ahead(self) -> None:
        """Claim some before they are needed: nobody waits for the server then."""
        async with self._claiming:
            if len(self._ready) <= self._enough:
                await self._claim()

    async def _claim(self) -> None:
        while self._jobs and len(self._ready) <= self._enough:
            began = time.monotonic()
            job = self._jobs[0]
            size = self._size
            claim = asyncio.to_thread(self._leases.claim, job.share, size)
            self._under_way = asyncio.ensure_future(claim)
            found = await asyncio.shield(self._under_way)
            for (number, run), (posed, known) in found.items():
                problem = job.by_number.get(number, posed)
                self._ready.append(Assigned(job, number, problem, run, known))
            self._keep_pace(began)
            if len(found) < size and self._jobs and self._jobs[0] is job:
                self._jobs.popleft()

    def _keep_pace(self, began: float) -> None:
        """Claim early enough that nobody waits, and no earlier.

        More are claimed when twice as many are left as end in the time that a claim takes: none
        where calls take long, so that the last attempts of a grid are not all with one worker. And
        where attempts end in no time, as many are claimed at once as end in a tenth of a second.
        """
        now, (since, ended) = time.monotonic(), self._pace
        self._pace = now, self._count
        pace = (self._count - ended) / max(now - since, 0.001)
        self._enough = min(int(2 * pace * (now - began)), _MOST_AT_ONCE)
        self._size = min(max(self._smallest, int(pace / 10)), _MOST_AT_ONCE)

    async def _wait(self, seconds: float) -> float:
        """See what is left; where others have it all, wait until something ends."""
        self._ended.clear()
        shares = [job.share for job in self._shares.values()]
        left = await asyncio.to_thread(self._leases.waiting, shares)
        free = [job for job in self._shares.values() if left[job.registered.series].free]
        self._jobs.extend(free)
        self._over = not any(one.total for one in left.values())
        if free or self._over:
            return _SHORTEST_WAIT
        try:
            await asyncio.wait_for(self._ended.wait(), seconds)
        except TimeoutError:
            return min(2 * seconds, _LONGEST_WAIT)
        await asyncio.sleep(_SHORTEST_WAIT)  # others may end with it
        return _SHORTEST_WAIT
