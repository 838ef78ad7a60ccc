"""Bar chart of constraint categories: share of problems, and gain where they are found.

Paper: figure "constraint categories". There the gains are multiplied by ten to share a scale with
the frequencies; here each has a scale of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from constraint_first.analysis.figure.colour import MUTED
from constraint_first.analysis.figure.drawable import Estimate, counts, finite, shortfalls
from constraint_first.analysis.figure.figure import Caption, Figure
from constraint_first.analysis.figure.library import Axes
from constraint_first.analysis.figure.rows import (
    Band,
    NumberColumn,
    Rows,
    draw_bar,
    draw_interval,
    set_gain_scale,
)
from constraint_first.analysis.figure.sheet import SMALL, sheet
from constraint_first.analysis.figure.text import clean, listed
from constraint_first.analysis.notation import percent, points, several

__all__ = ["CATEGORIES", "CategoryBar", "draw_categories"]

CATEGORIES: Final = Caption(
    "constraint-categories",
    "Constraint categories: share of problems, and gain where present",
    ("fig:constraint-categories",),
)


@dataclass(frozen=True, slots=True)
class CategoryBar:
    """A category of constraints over the problems of a study."""

    name: str
    share: float
    """Of all problems, from 0 to 1."""
    gain: Estimate | None = None
    """Points of accuracy on the problems that have it; None where there is nothing to compare."""
    n: int | None = None
    """How many problems the gain is over."""


def draw_categories(rows: Sequence[CategoryBar], caption: Caption = CATEGORIES) -> Figure | None:
    """Draw categories in the order given, frequency on the left and gain on the right."""
    shown = [row for row in rows if finite(row.share) is not None]
    if not shown:
        return None
    board = Rows([Band(row.name) for row in shown], _columns(shown))
    with sheet(board.height) as page:
        left, right = board.draw(page, panels=2)
        for number, (row, y) in enumerate(zip(shown, board.lanes, strict=True)):
            draw_bar(left, 100 * row.share, y, f"share-{number}")
            if row.gain and row.gain.drawable:
                draw_bar(right, row.gain.value, y, f"gain-{number}", 1)
                if row.gain.ends:
                    draw_interval(right, row.gain.ends, y, f"interval-{number}")
        _share_scale(left)
        set_gain_scale(right, _values(shown), "gain where present, points")
        return page.finish(caption, _alt(shown), _notes(shown, len(rows)))


def _columns(rows: Sequence[CategoryBar]) -> list[NumberColumn]:
    columns = [
        NumberColumn("share", tuple(percent(row.share, 0) for row in rows)),
        NumberColumn("gain", tuple(points(_gain(row)) for row in rows)),
    ]
    if numbers := counts([row.n for row in rows]):
        columns.append(NumberColumn("n", numbers, muted=True))
    return columns


def _values(rows: Sequence[CategoryBar]) -> list[float]:
    drawn = (row.gain for row in rows if row.gain and row.gain.drawable)
    return [value for gain in drawn for value in gain.values]


def _share_scale(axes: Axes) -> None:
    axes.set_xlim(0, 100)
    axes.set_xticks([0, 50, 100])
    axes.set_xticklabels(["0 %", "50 %", "100 %"])
    axes.set_xlabel("share of problems", fontsize=SMALL, color=MUTED)


def _alt(rows: Sequence[CategoryBar]) -> str:
    said = listed((f"{clean(row.name)} {percent(row.share, 0)}{_gained(row)}" for row in rows), 10)
    return (
        "Two panels of bars for each constraint category, the share of problems that have it and "
        f"the gain in points where it is present: {said}."
    )


def _gain(row: CategoryBar) -> float | None:
    return finite(row.gain.value) if row.gain else None


def _gained(row: CategoryBar) -> str:
    gain = _gain(row)
    return "" if gain is None else f" ({points(gain)})"


def _notes(rows: Sequence[CategoryBar], given: int) -> list[str]:
    notes: list[str] = []
    if any(row.gain and row.gain.ends for row in rows):
        notes.append(
            "Lines across bars are 95 % BCa intervals; one that crosses zero shows no difference."
        )
    if none := sum(_gain(row) is None for row in rows):
        notes.append(f"Nothing to compare in {several(none, 'category', 'categories')}.")
    return [*notes, *shortfalls(0, given - len(rows), "category", "categories")]
