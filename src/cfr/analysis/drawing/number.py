"""Numbers in figures: what can be drawn, and how it is written."""

from __future__ import annotations

import math
from collections.abc import Sequence

__all__ = ["count", "counts", "ends", "finite", "p_value", "percent", "points", "shortfalls"]


def finite(value: float | None) -> float | None:
    """Return a number that can be drawn, or None."""
    return None if value is None or not math.isfinite(value) else float(value)


def ends(low: float | None, high: float | None) -> tuple[float, float] | None:
    """Return an interval that can be drawn, or None."""
    first, last = finite(low), finite(high)
    return None if first is None or last is None else (first, last)


def points(value: float | None) -> str:
    """Write points of accuracy with their sign: ``+8.9``."""
    if value is None:
        return "—"
    written = f"{value:+.1f}"
    return "0.0" if written in ("+0.0", "-0.0") else written.replace("-", "−")


def percent(share: float) -> str:
    """Write a share: ``63%``."""
    return f"{100 * share:.0f}%"


def p_value(p: float | None) -> str:
    """Write a p-value with three decimals, or say that it is below all of them."""
    if p is None:
        return "—"
    return "<0.001" if p < 0.001 else f"{p:.3f}"


def count(number: int, one: str, many: str = "") -> str:
    """Write how many of a thing there are: ``1 bar``, ``3 bars``."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def shortfalls(without: int, undrawn: int, one: str, many: str = "") -> list[str]:
    """Say how many things have no interval, and how many could not be drawn at all."""
    said = {"Without an interval": without, "Not drawn, for want of a number": undrawn}
    return [f"{what}: {count(number, one, many)}." for what, number in said.items() if number]


def counts(numbers: Sequence[int | None]) -> tuple[str, ...]:
    """Write counts for a column; nothing where they are not known, and no column without any."""
    known = any(number is not None for number in numbers)
    return tuple("" if n is None else f"{n:,}" for n in numbers) if known else ()
