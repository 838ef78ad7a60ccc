"""Limits on calls to one endpoint: how many at the same time, and how many a minute.

Concurrency grows while replies come and is halved when the endpoint pushes back (429, 5xx or a
time-out), as TCP does with its window. Requests and tokens a minute are kept below their limits
where there are any.
"""

from __future__ import annotations

import asyncio
from collections import deque
from types import TracebackType

from cfr.engine.engine import SILENT, Engine, Relay, Watcher
from cfr.engine.error import RateLimited, ServerFault, TimedOut, Transient
from cfr.protocol import Call, Completion

__all__ = ["Limited", "Limiter", "Pace"]

_PUSHBACK = (RateLimited, ServerFault, TimedOut)


class Limiter:
    """A semaphore whose size adapts to what one endpoint can take, and a pace."""

    def __init__(
        self,
        most: int,
        start: int | None = None,
        *,
        requests_per_minute: float | None = None,
        tokens_per_minute: float | None = None,
    ) -> None:
        self.most = most
        self.requests = Pace(requests_per_minute)
        self.tokens = Pace(tokens_per_minute)
        self.size = float(min(start or most, most))
        self.in_flight = 0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._threshold = float(most)
        self._since_cut = 0

    async def __aenter__(self) -> None:
        if self.in_flight < int(self.size) and not self._waiting:
            self.in_flight += 1
            return
        turn = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():  # the turn came just as we gave up: pass it on
                self._release()
            raise

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._release()

    def succeeded(self) -> None:
        """Let the window grow: fast until the first push-back, then by one a round."""
        self._since_cut += 1
        step = 1.0 if self.size < self._threshold else 1.0 / self.size
        self.size = min(float(self.most), self.size + step)
        self._wake()

    def pushed_back(self) -> None:
        """Halve the window, but only once for calls that were under way together."""
        if self._since_cut >= self.size or self._threshold == self.most:
            self.size = self._threshold = max(1.0, self.size / 2)
            self._since_cut = 0

    def _release(self) -> None:
        self.in_flight -= 1
        self._wake()

    def _wake(self) -> None:
        while self._waiting and self.in_flight < int(self.size):
            turn = self._waiting.popleft()
            if not turn.done():
                self.in_flight += 1
                turn.set_result(None)


class Pace:
    """A rate limit of so many units a minute, kept by spacing calls out; None means no limit."""

    def __init__(self, per_minute: float | None) -> None:
        self._gap = 60.0 / per_minute if per_minute else 0.0
        self._free_at = 0.0

    async def wait(self, units: float = 1.0) -> None:
        """Wait until that many more units may be used."""
        if not self._gap:
            return
        now = asyncio.get_running_loop().time()
        turn = max(now, self._free_at)
        self._free_at = turn + self._gap * units
        await asyncio.sleep(turn - now)


class Limited:
    """An engine whose calls pass a limiter and keep a pace."""

    def __init__(self, engine: Engine, limiter: Limiter) -> None:
        self._engine = engine
        self.limiter = limiter

    async def complete(self, call: Call, watcher: Watcher = SILENT) -> Completion:
        """Perform a call when its turn has come."""
        async with self.limiter:
            await self.limiter.requests.wait()
            await self.limiter.tokens.wait(_tokens_guessed(call))
            completion = await self._engine.complete(call, _PushbackWatcher(watcher, self.limiter))
        self.limiter.succeeded()
        return completion


class _PushbackWatcher(Relay):
    """A watcher that tells the limiter when the endpoint pushes back."""

    def __init__(self, watcher: Watcher, limiter: Limiter) -> None:
        super().__init__(watcher)
        self._limiter = limiter

    def retrying(self, call: Call, fault: Transient, seconds: float) -> None:
        if isinstance(fault, _PUSHBACK):
            self._limiter.pushed_back()
        super().retrying(call, fault, seconds)


def _tokens_guessed(call: Call) -> float:
    # What a reply will be is not known beforehand; a quarter of its budget is a usual one.
    return sum(len(message.content) for message in call.messages) / 3 + call.max_tokens / 4
