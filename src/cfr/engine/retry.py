"""Retries after a fault that may pass, with pauses that grow or that the endpoint asks for."""

from __future__ import annotations

import asyncio
import email.utils
import math
import random
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

from cfr.engine.error import Transient

__all__ = ["Retry", "parse_retry_after"]

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Retry:
    """A retry policy: how often and how patiently a call is repeated. Only transport faults are."""

    attempts: int = 5
    first_pause: float = 0.5
    longest_pause: float = 60.0
    patience: float = 300.0
    """An endpoint that asks us to wait longer than this has in effect said no."""

    async def run(
        self, operation: Callable[[], Awaitable[T]], notify: Callable[[Transient, float], None]
    ) -> T:
        """Perform an operation until it succeeds; the last fault is raised when all have failed."""
        for attempt in range(1, self.attempts + 1):
            try:
                return await operation()
            except Transient as fault:
                pause = self.pause(attempt, fault)
                if attempt == self.attempts or pause > self.patience:
                    raise
                notify(fault, pause)
                await asyncio.sleep(pause)
        raise AssertionError("unreachable: the last attempt returns or raises")

    def pause(self, attempt: int, fault: Transient) -> float:
        """Choose how long to wait after the nth failure."""
        if fault.retry_after is not None:
            return fault.retry_after
        longest = min(self.longest_pause, self.first_pause * 2 ** (attempt - 1))
        # Spread out, so that a thousand calls that failed together do not return together.
        return longest * random.uniform(0.5, 1.0)  # noqa: S311


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
