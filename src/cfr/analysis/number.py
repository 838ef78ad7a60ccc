"""Numbers as tables print them."""

from __future__ import annotations

from typing import Final

from cfr.analysis.resample import Interval
from cfr.analysis.subset import Gain
from cfr.analysis.table import Cell

__all__ = ["UNKNOWN", "counted", "decimal", "gain_cell", "interval", "percent", "share"]

UNKNOWN: Final = "–"
"""Stands where there is no number."""


def decimal(value: float | None, places: int = 1) -> str:
    """Write a number with a true minus sign."""
    if value is None:
        return UNKNOWN
    text = f"{value:,.{places}f}"
    # A hair below zero is zero.
    return text.replace("-", "−") if float(text.replace(",", "")) else text.lstrip("-")


def percent(value: float | None, places: int = 1) -> str:
    """Write a share of one in per cent."""
    return UNKNOWN if value is None else decimal(100 * value, places) + "%"


def share(part: int, whole: int) -> str:
    """Write a count and what share of the whole it is."""
    return f"{part:,} ({percent(part / whole)})" if whole else UNKNOWN


def counted(part: int, whole: int) -> str:
    """Write how many of how many."""
    return f"{part:,} / {whole:,}"


def interval(ends: Interval | None, places: int = 1) -> str:
    """Write both ends in brackets, with a space ahead; nothing where there is no interval."""
    if ends is None:
        return ""
    low, high = (decimal(end, places) for end in ends)
    return f" [{low}, {high}]"


def gain_cell(gain: Gain | None) -> Cell:
    """Write a gain with its interval; it is coloured only where that leaves zero out."""
    if gain is None:
        return Cell(UNKNOWN)
    sign = "+" if float(f"{gain.points:.1f}") > 0 else ""
    text = sign + decimal(gain.points) + interval(gain.interval)
    if gain.interval is None or gain.interval[0] <= 0 <= gain.interval[1]:
        return Cell(text)
    return Cell(text, tone="gain" if gain.points > 0 else "loss")
