"""Bar chart of gains, in groups (paper: figures "gains by model" and "applicability")."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from constraint_first.analysis.figure.drawable import Estimate, counts, shortfalls
from constraint_first.analysis.figure.figure import Caption, Figure
from constraint_first.analysis.figure.rows import (
    Band,
    NumberColumn,
    Rows,
    draw_bar,
    draw_interval,
    set_gain_scale,
)
from constraint_first.analysis.figure.sheet import sheet
from constraint_first.analysis.figure.text import clean, listed
from constraint_first.analysis.notation import points, several

__all__ = ["APPLICABILITY", "BY_MODEL", "GainBar", "draw_gains"]

BY_MODEL: Final = Caption(
    "gains-by-model", "Gain over Direct CoT by model", ("fig:gains-by-model",)
)
APPLICABILITY: Final = Caption(
    "applicability", "Gain over Direct CoT by benchmark", ("fig:applicability",)
)


@dataclass(frozen=True, slots=True)
class GainBar:
    """A gain of a method on some problems."""

    group: str
    """What the bar stands with: a model, a benchmark."""
    series: str
    """What its colour says."""
    gain: Estimate
    """In points of accuracy."""
    n: int | None = None
    """How many problems it is over."""


def draw_gains(
    bars: Sequence[GainBar], caption: Caption = BY_MODEL, notes: Sequence[str] = ()
) -> Figure | None:
    """Draw gains in the order given, groups and series as they first come; None without any."""
    shown = [one for one in bars if one.gain.drawable]
    if not shown:
        return None
    groups = list(dict.fromkeys(one.group for one in shown))
    series = list(dict.fromkeys(one.series for one in shown))
    ordered = sorted(shown, key=lambda one: groups.index(one.group))
    bands = [Band(group, sum(one.group == group for one in shown)) for group in groups]
    rows = Rows(bands, _columns(ordered))
    with sheet(rows.height) as page:
        (axes,) = rows.draw(page)
        for number, (one, y) in enumerate(zip(ordered, rows.lanes, strict=True)):
            draw_bar(axes, one.gain.value, y, f"bar-{number}", series.index(one.series))
            if one.gain.ends:
                draw_interval(axes, one.gain.ends, y, f"interval-{number}")
        values = [value for one in ordered for value in one.gain.values]
        set_gain_scale(axes, values, "gain in accuracy, points")
        if any(series):
            rows.draw_key(page, series)
        return page.finish(caption, _alt(ordered, groups), [*notes, *_notes(ordered, len(bars))])


def _columns(bars: Sequence[GainBar]) -> list[NumberColumn]:
    columns = [NumberColumn("gain", tuple(points(one.gain.value) for one in bars))]
    if numbers := counts([one.n for one in bars]):
        columns.append(NumberColumn("n", numbers, muted=True))
    return columns


def _alt(bars: Sequence[GainBar], groups: Sequence[str]) -> str:
    names = listed((clean(group) for group in groups), 8)
    best, worst = (pick(bars, key=lambda one: one.gain.value) for pick in (max, min))
    said = f"Bars of gains in points of accuracy for {names}"
    if best.gain.value == worst.gain.value:
        return f"{said}: {several(len(bars), 'bar')}, {points(best.gain.value)}."
    return (
        f"{said}: {several(len(bars), 'bar')}, from {points(worst.gain.value)} ({_where(worst)}) "
        f"to {points(best.gain.value)} ({_where(best)})."
    )


def _where(one: GainBar) -> str:
    return ", ".join(filter(None, (clean(one.group), clean(one.series))))


def _notes(bars: Sequence[GainBar], given: int) -> list[str]:
    notes: list[str] = []
    if any(one.gain.ends for one in bars):
        notes.append(
            "Lines across bars are 95 % BCa intervals; one that crosses zero shows no difference."
        )
    without = sum(one.gain.ends is None for one in bars)
    return [*notes, *shortfalls(without, given - len(bars), "bar")]
