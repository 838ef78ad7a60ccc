"""Admission of requests: so many at a time, so many more that wait, and an end to each."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress

from constraint_first.serve.error_reply import RequestError
from constraint_first.serve.service import Served, stopped

__all__ = ["Admission"]


class Admission:
    """Places for requests. Who waits longest goes first."""

    def __init__(self, most: int, waiting: int, seconds: float) -> None:
        self._most = most
        self._most_waiting = waiting
        self._seconds = seconds
        self._queue: deque[asyncio.Future[None]] = deque()
        self._under_way: set[Served] = set()
        self._places = 0
        self._stopping: float | None = None

    @property
    def under_way(self) -> int:
        """How many requests hold a place."""
        return self._places

    @property
    def waiting(self) -> int:
        """How many wait for one."""
        return len(self._queue)

    @asynccontextmanager
    async def place(self, served: Served) -> AsyncGenerator[None]:
        """Hold a place for a request, and end it when its time is over; waiting counts."""
        if self._stopping is not None:
            raise stopped()
        served.seconds = self._seconds
        try:
            async with asyncio.timeout(self._seconds) as served.deadline:
                self._under_way.add(served)
                await self._enter()
                try:
                    yield
                finally:
                    self._leave()
        except TimeoutError:
            if overdue := served.overdue:
                raise overdue from None
            raise
        finally:
            self._under_way.discard(served)

    def stop(self, grace: float) -> None:
        """Take no more requests, and give those under way so many seconds."""
        end = asyncio.get_running_loop().time() + grace
        self._stopping = end
        for served in self._under_way:
            if served.deadline and not served.deadline.expired():
                when = served.deadline.when()
                served.stopping = when is None or end < when
                served.deadline.reschedule(end if when is None else min(end, when))

    async def _enter(self) -> None:
        if self._places < self._most and not self._queue:
            self._places += 1
            return
        if len(self._queue) >= self._most_waiting:
            raise RequestError(
                f"{self._places} requests are under way and {len(self._queue)} wait; try again "
                "later",
                503,
                code="overloaded",
                retry_after=1,
            )
        turn = asyncio.get_running_loop().create_future()
        self._queue.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():  # the turn came just as it was given up
                self._leave()
            else:
                with suppress(ValueError):  # or it was passed over already
                    self._queue.remove(turn)
            raise

    def _leave(self) -> None:
        """Give a place to whoever is next."""
        while self._queue:
            turn = self._queue.popleft()
            if not turn.done():
                turn.set_result(None)
                return
        self._places -= 1
