"""Numbers in figures: values with intervals, counts, and notes on what could not be drawn."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from constraint_first.analysis.notation import several
from constraint_first.analysis.statistics.interval import Interval

__all__ = ["Estimate", "counts", "finite", "shortfalls"]


def finite(value: float | None) -> float | None:
    """Return a number that can be drawn, or None."""
    return None if value is None or not math.isfinite(value) else float(value)


@dataclass(frozen=True, slots=True)
class Estimate:
    """A value to draw with its interval, if it has one; either may be not a number."""

    value: float
    interval: Interval | None = None

    @property
    def drawable(self) -> bool:
        """Whether the value is a number."""
        return finite(self.value) is not None

    @property
    def ends(self) -> Interval | None:
        """The interval, where both of its ends are numbers."""
        low, high = map(finite, self.interval or (None, None))
        return None if low is None or high is None else (low, high)

    @property
    def values(self) -> tuple[float, ...]:
        """The value and the ends of its interval: what a scale must have room for."""
        return (self.value, *(self.ends or ()))


def shortfalls(without: int, undrawn: int, one: str, many: str = "") -> list[str]:
    """Say how many things have no interval, and how many could not be drawn at all."""
    said = {"Without an interval": without, "Not drawn, for want of a number": undrawn}
    return [f"{what}: {several(number, one, many)}." for what, number in said.items() if number]


def counts(numbers: Sequence[int | None]) -> tuple[str, ...]:
    """Write counts for a column; nothing where they are not known, and no column without any."""
    known = any(number is not None for number in numbers)
    return tuple("" if n is None else f"{n:,}" for n in numbers) if known else ()
