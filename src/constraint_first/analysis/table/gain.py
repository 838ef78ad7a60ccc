"""Cells of differences and gains, and the sentence that stands where there is none."""

from __future__ import annotations

from constraint_first.analysis.notation import NONE, interval, points
from constraint_first.analysis.statistics.interval import Interval
from constraint_first.analysis.statistics.subset import BASELINE, Gain
from constraint_first.analysis.table.table import Cell

__all__ = ["absent", "delta", "gain_cell"]


def delta(value: float | None, ends: Interval | None = None) -> Cell:
    """Write a difference; it is coloured only where an interval leaves zero out."""
    if value is None:
        return Cell(NONE)
    text = points(value) + interval(ends)
    if ends is None or ends[0] <= 0 <= ends[1]:
        return Cell(text)
    return Cell(text, tone="gain" if value > 0 else "loss")


def gain_cell(gain: Gain | None) -> Cell:
    """Write a gain with its interval."""
    return delta(gain.points, gain.interval) if gain else Cell(NONE)


def absent(method: str, baseline: str = BASELINE) -> str:
    """Say that there is nothing to compare."""
    if method == baseline:
        return f"There is {baseline} alone: nothing to compare it with."
    return f"{method} and {baseline} share no judged problem with the same model and decoding."
