"""Limits on calls to one endpoint: how many at the same time, and how many a minute.

Concurrency grows while replies come and is halved when the endpoint pushes many calls back (429,
5xx or a time-out), much as TCP does with its window. Where fewer calls at a time are pushed back as
often, the endpoint fails at that rate whatever is asked of it, and concurrency returns to what it
was. Requests and tokens a minute are kept below their limits where there are any.
"""

from __future__ import annotations

import asyncio
import email.utils
import math
import random
import time
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Final, TypeVar

from constraint_first.model.error import RateLimited, ServerFault, TimedOut, Transient
from constraint_first.model.wire import SampledCall
from constraint_first.protocol import Call

T = TypeVar("T")

_PUSHBACK: Final = (RateLimited, ServerFault, TimedOut)
_SHORTEST_ROUND: Final = 16
_CROWDED: Final = 0.25
"""The share of replies in a round that may be push-backs, beyond what is usual there."""
_HELPED: Final = 1.25
"""With half the calls at a time this many times as large a share of them must get through."""


@dataclass(frozen=True, slots=True)
class _Cut:
    """What the window was before it was halved, and the share of calls that got through."""

    size: float
    through: float


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
        self.paced = self.requests.limits or self.tokens.limits
        self.size = float(min(start or most, most))
        self.in_flight = 0
        self._waiting: deque[tuple[asyncio.Future[None], int]] = deque()
        self._threshold = float(most)
        self._replies = self._pushed_back = self._stale = 0
        self._usual = 1.0
        self._cut: _Cut | None = None

    def has_room(self, places: int = 1) -> bool:
        """Say whether places could be taken now: no call waits, and the window is not full."""
        return not self._waiting and self._fits(places)

    def take(self, places: int = 1) -> bool:
        """Take places without waiting, if they are free; ``release`` gives them back."""
        if not self.has_room(places):
            return False
        self.in_flight += places
        return True

    def release(self, places: int) -> None:
        self.in_flight -= places
        self._wake()

    async def enter(self, places: int = 1) -> None:
        """Wait for a turn and take places in the window: one for each reply that is asked for."""
        if self.take(places):
            return
        turn = asyncio.get_running_loop().create_future()
        self._waiting.append((turn, places))
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():  # the turn came just as we gave up: pass it on
                self.release(places)
            raise

    def _fits(self, places: int) -> bool:
        # A group that is larger than the window has shrunk to meanwhile goes by itself.
        return not self.in_flight or self.in_flight + places <= int(self.size)

    async def pace(self, call: Call) -> None:
        """Wait until the limits a minute leave room for a call that has its places."""
        await self.requests.wait()
        if self.tokens.limits:
            # The length of a reply is not known yet; a quarter of its budget is usual.
            prompt = sum(len(message.content) for message in call.messages) / 3
            await self.tokens.wait(prompt + replies_to(call) * call.max_tokens / 4)

    def succeeded(self, replies: int = 1) -> None:
        """Let the window grow: fast until the first push-back, then by one a round."""
        for _ in range(replies):
            step = 1.0 if self.size < self._threshold else 1.0 / self.size
            self.size = min(float(self.most), self.size + step)
            self._count(pushed_back=False)
        self._wake()

    def failed(self, fault: Transient, replies: int = 1) -> None:
        """Count a fault for each reply that was lost; too many push-backs halve the window."""
        for _ in range(replies):
            self._count(pushed_back=isinstance(fault, _PUSHBACK))

    def _count(self, *, pushed_back: bool) -> None:
        if self._stale:
            self._stale -= 1
            return
        self._replies += 1
        self._pushed_back += pushed_back
        if self._replies < max(_SHORTEST_ROUND, self.size):
            return
        through = 1 - self._pushed_back / self._replies
        self._replies = self._pushed_back = 0
        if self._cut and through < _HELPED * self._cut.through:
            self._usual = through
            self.size, self._cut = self._cut.size, None
        elif through < self._usual - _CROWDED:
            self._cut = _Cut(self.size, through)
            self.size = self._threshold = max(1.0, self.size / 2)
            self._stale = self.in_flight  # sent before, so they say nothing about the new size
        else:
            self._usual, self._cut = max(self._usual, through), None

    def _wake(self) -> None:
        while self._waiting and self._fits(self._waiting[0][1]):
            turn, places = self._waiting.popleft()
            if not turn.done():
                self.in_flight += places
                turn.set_result(None)


class Pace:
    """A rate limit of so many units a minute, kept by spacing calls out; None means no limit."""

    def __init__(self, per_minute: float | None) -> None:
        self._gap = 60.0 / per_minute if per_minute else 0.0
        self._free_at = 0.0
        self.limits = self._gap > 0

    async def wait(self, units: float = 1.0) -> None:
        if not self.limits:
            return
        now = asyncio.get_running_loop().time()
        turn = max(now, self._free_at)
        self._free_at = turn + self._gap * units
        await asyncio.sleep(turn - now)


def replies_to(call: Call) -> int:
    return call.samples if isinstance(call, SampledCall) else 1


# Retries after a fault that may pass, with pauses that grow or that the endpoint asks for.

_GROWTH: Final = 3.0
_TRIES_OF_A_STRANGER: Final = 6


@dataclass(slots=True)
class Retry:
    """How often and how patiently an endpoint is asked again. Only transport faults are retried.

    A call that failed while others got through is asked again soon, since the fault was its own.
    While nothing gets through, and when the endpoint says that it is asked too often, pauses grow.
    """

    attempts: int = 8
    first_pause: float = 0.05
    longest_pause: float = 60.0
    patience: float = 300.0
    """An endpoint that asks us to wait longer than this has in effect said no."""
    seconds: float = math.inf
    """Once a call has taken as long as this, it is not asked again."""
    answered: int = field(default=0, init=False)

    async def run(
        self,
        operation: Callable[[], Awaitable[T]],
        notify: Callable[[Transient, float], None] = lambda _fault, _pause: None,
    ) -> T:
        """Perform an operation until it succeeds; the last fault is raised when all have failed."""
        tries = Tries(self)
        while True:
            try:
                result = await operation()
            except Transient as fault:
                await tries.wait(fault, notify)
            else:
                tries.succeeded()
                return result

    def pause(self, in_a_row: int, fault: Transient) -> float:
        """Choose how long to wait after so many faults in a row."""
        if fault.retry_after is not None:
            return fault.retry_after
        longest = min(self.longest_pause, self.first_pause * _GROWTH ** (in_a_row - 1))
        # Spread out, so that a thousand calls that failed together do not return together.
        return longest * random.uniform(0.5, 1.0)  # noqa: S311

    def most(self, fault: Transient) -> int:
        """Say how many tries a call has: fewer where no model ever answered at that address."""
        stranger = not self.answered and not isinstance(fault, RateLimited)
        return min(self.attempts, _TRIES_OF_A_STRANGER) if stranger else self.attempts


class Tries:
    """The tries of one call, which share its patience."""

    __slots__ = ("_answered", "_count", "_in_a_row", "_retry", "_started")

    def __init__(self, retry: Retry) -> None:
        self._retry = retry
        self._started = time.monotonic()
        self._count = self._in_a_row = 0
        self._answered = retry.answered
        """How many calls had been answered when the latest try began."""

    def succeeded(self) -> None:
        self._retry.answered += 1

    async def wait(self, fault: Transient, notify: Callable[[Transient, float], None]) -> None:
        """Pause before the next try; raise the fault where there is none.

        ``notify`` is called before the pause; what it raises ends the tries.
        """
        retry = self._retry
        forgiven = retry.answered > self._answered and not isinstance(fault, RateLimited)
        self._count, self._in_a_row = self._count + 1, 1 if forgiven else self._in_a_row + 1
        pause = retry.pause(self._in_a_row, fault)
        late = time.monotonic() - self._started + pause > retry.seconds
        if self._count >= retry.most(fault) or pause > retry.patience or late:
            raise fault
        notify(fault, pause)
        await asyncio.sleep(pause)
        self._answered = retry.answered


def parse_retry_after(value: str | None) -> float | None:
    """Read a Retry-After header: seconds, or a date."""
    if not value:
        return None
    try:
        seconds = float(value)
    except ValueError:
        seconds = _until(value)
    return None if math.isnan(seconds) else max(0.0, seconds)


def _until(date: str) -> float:
    """Count the seconds until a date; not a number where it is none."""
    try:
        return email.utils.parsedate_to_datetime(date).timestamp() - time.time()
    except (ValueError, ArithmeticError, TypeError, LookupError):  # its parser takes a lot
        return math.nan
