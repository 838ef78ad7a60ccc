"""Numbers in figures: what can be drawn, and what is said of the rest."""

from __future__ import annotations

import math
from collections.abc import Sequence

from cfr.analysis.notation import several

__all__ = ["counts", "ends", "finite", "shortfalls"]


def finite(value: float | None) -> float | None:
    """Return a number that can be drawn, or None."""
    return None if value is None or not math.isfinite(value) else float(value)


def ends(low: float | None, high: float | None) -> tuple[float, float] | None:
    """Return an interval that can be drawn, or None."""
    first, last = finite(low), finite(high)
    return None if first is None or last is None else (first, last)


def shortfalls(without: int, undrawn: int, one: str, many: str = "") -> list[str]:
    """Say how many things have no interval, and how many could not be drawn at all."""
    said = {"Without an interval": without, "Not drawn, for want of a number": undrawn}
    return [f"{what}: {several(number, one, many)}." for what, number in said.items() if number]


def counts(numbers: Sequence[int | None]) -> tuple[str, ...]:
    """Write counts for a column; nothing where they are not known, and no column without any."""
    known = any(number is not None for number in numbers)
    return tuple("" if n is None else f"{n:,}" for n in numbers) if known else ()
