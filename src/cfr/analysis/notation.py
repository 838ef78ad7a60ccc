"""How numbers are written in tables and sentences, the same everywhere."""

from __future__ import annotations

from cfr.analysis.resample import Interval
from cfr.analysis.table import Cell

__all__ = [
    "NONE",
    "delta",
    "interval",
    "number",
    "p_value",
    "percent",
    "points",
    "scored",
    "share",
    "times",
]

NONE = "–"
"""What stands where there is nothing to say."""


def percent(value: float | None, digits: int = 1) -> str:
    """Write a value that is in per cent already, without the sign."""
    return NONE if value is None else f"{value:.{digits}f}"


def share(value: float | None) -> str:
    """Write a share from 0 to 1 as a percentage with its sign."""
    return NONE if value is None else f"{100 * value:.1f} %"


def points(value: float | None) -> str:
    """Write a difference in points, with its sign."""
    if value is None:
        return NONE
    return f"{value:+.1f}".replace("-", "−") if abs(value) >= 0.05 else "0.0"


def interval(bounds: Interval | None) -> str:
    """Write an interval in brackets."""
    if bounds is None:
        return NONE
    low, high = (f"{bound:.1f}".replace("-", "−") for bound in bounds)
    return f"[{low}, {high}]"


def scored(value: float | None, bounds: Interval | None) -> str:
    """Write a value with its interval."""
    return NONE if value is None else f"{percent(value)} {interval(bounds)}"


def p_value(value: float) -> str:
    """Write a p-value with two significant digits at least."""
    if value >= 0.001:
        return f"{value:.4f}".rstrip("0").ljust(4, "0") if value < 1 else "1"
    return f"{value:.2g}" if value > 0 else "< 1e-300"


def number(value: float | None) -> str:
    """Write a count or a mean of counts."""
    return NONE if value is None else f"{value:,.0f}"


def times(value: float | None) -> str:
    """Write a ratio."""
    return NONE if value is None else f"{value:.2f}×"


def delta(value: float | None, bounds: Interval | None = None) -> Cell:
    """Make a cell of a difference, toned by its direction where the interval is clear of zero."""
    if value is None:
        return Cell(NONE)
    text = points(value) if bounds is None else f"{points(value)} {interval(bounds)}"
    low, high = bounds or (value, value)
    return Cell(text, tone="gain" if low > 0 else "loss" if high < 0 else "plain")
