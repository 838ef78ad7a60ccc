"""Retries after a fault that may pass, with pauses that grow or that the endpoint asks for."""

from __future__ import annotations

import asyncio
import email.utils
import math
import random
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Final, Protocol, TypeVar, runtime_checkable

from constraint_first.engine.engine import (
    SILENT,
    Decoding,
    Engine,
    SampledCall,
    Served,
    Watcher,
    most_samples,
)
from constraint_first.engine.error import RateLimited, Transient
from constraint_first.protocol import Call, Completion

__all__ = ["Once", "Retried", "Retry", "Retrying", "parse_retry_after"]

T = TypeVar("T")

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
    _answered: int = field(default=0, init=False)

    async def run(
        self, operation: Callable[[], Awaitable[T]], notify: Callable[[Transient, float], None]
    ) -> T:
        """Perform an operation until it succeeds; the last fault is raised when all have failed."""
        started, tries, in_a_row = time.monotonic(), 0, 0
        while True:
            answered = self._answered
            try:
                result = await operation()
            except Transient as fault:
                others_got_through = self._answered > answered
                forgiven = others_got_through and not isinstance(fault, RateLimited)
                tries, in_a_row = tries + 1, 1 if forgiven else in_a_row + 1
                pause = self.pause(in_a_row, fault)
                late = time.monotonic() - started + pause > self.seconds
                if tries >= self._most(fault) or pause > self.patience or late:
                    raise
                notify(fault, pause)
                await asyncio.sleep(pause)
            else:
                self._answered += 1
                return result

    def pause(self, in_a_row: int, fault: Transient) -> float:
        """Choose how long to wait after so many faults in a row."""
        if fault.retry_after is not None:
            return fault.retry_after
        longest = min(self.longest_pause, self.first_pause * _GROWTH ** (in_a_row - 1))
        # Spread out, so that a thousand calls that failed together do not return together.
        return longest * random.uniform(0.5, 1.0)  # noqa: S311

    def _most(self, fault: Transient) -> int:
        """Say how many tries a call has: fewer where no model ever answered at that address."""
        stranger = not self._answered and not isinstance(fault, RateLimited)
        return min(self.attempts, _TRIES_OF_A_STRANGER) if stranger else self.attempts


@runtime_checkable
class Retried(Served, Protocol):
    """A served model that asks again by itself, and can also be asked just once."""

    retry: Retry

    async def ask(
        self, call: Call, watcher: Watcher = SILENT, decoding: Decoding | None = None
    ) -> Completion:
        """Perform a call without asking again after a fault."""
        ...


@dataclass(frozen=True, slots=True)
class Once:
    """A served model that does not ask again."""

    served: Retried

    @property
    def model(self) -> str:
        """The name of the model."""
        return self.served.model

    async def complete(
        self, call: Call, watcher: Watcher = SILENT, decoding: Decoding | None = None
    ) -> Completion:
        """Ask once."""
        return await self.served.ask(call, watcher, decoding)

    def most_samples(self, group: SampledCall) -> int:
        """As many as the served model takes."""
        return most_samples(self.served, group)


@dataclass(frozen=True, slots=True)
class Retrying:
    """An engine that asks another one again; between two tries it holds nothing of the other."""

    engine: Engine
    retry: Retry

    async def complete(self, call: Call, watcher: Watcher = SILENT) -> Completion:
        """Perform a call, again and again if need be."""
        return await self.retry.run(
            lambda: self.engine.complete(call, watcher),
            lambda fault, pause: watcher.retrying(call, fault, pause),
        )

    def most_samples(self, group: SampledCall) -> int:
        """As many as the other engine takes."""
        return most_samples(self.engine, group)


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
