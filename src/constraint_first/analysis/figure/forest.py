"""Forest plot of paired comparisons (paper: Convention-Controlled Paired Statistics)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from constraint_first.analysis.figure.colour import GAIN, INK, LOSS, Colour
from constraint_first.analysis.figure.drawable import Estimate, counts, finite, shortfalls
from constraint_first.analysis.figure.figure import Caption, Figure
from constraint_first.analysis.figure.library import Axes
from constraint_first.analysis.figure.rows import (
    Band,
    NumberColumn,
    Rows,
    draw_interval,
    set_gain_scale,
)
from constraint_first.analysis.figure.sheet import sheet
from constraint_first.analysis.figure.text import clean, listed
from constraint_first.analysis.notation import NONE, p_value, points

__all__ = ["ForestRow", "draw_forest"]


@dataclass(frozen=True, slots=True)
class ForestRow:
    """A paired comparison of a method with a baseline."""

    label: str
    gain: Estimate
    """In points of accuracy."""
    n: int | None = None
    p_holm: float | None = None
    significant: bool = False


def draw_forest(rows: Sequence[ForestRow], caption: Caption) -> Figure | None:
    """Draw comparisons in the order given: full marks for what is significant after correction."""
    shown = [row for row in rows if row.gain.drawable]
    if not shown:
        return None
    board = Rows([Band(row.label) for row in shown], _columns(shown))
    with sheet(board.height) as page:
        (axes,) = board.draw(page)
        for number, (row, y) in enumerate(zip(shown, board.lanes, strict=True)):
            if row.gain.ends:
                draw_interval(axes, row.gain.ends, y, f"interval-{number}", colour=_colour(row))
            _mark(axes, row, y, f"mark-{number}")
        values = [value for row in shown for value in row.gain.values]
        set_gain_scale(axes, values, "gain in accuracy, points")
        return page.finish(caption, _alt(shown), _notes(shown, len(rows)))


def _colour(row: ForestRow) -> Colour:
    if not row.significant:
        return INK
    return GAIN if row.gain.value >= 0 else LOSS


def _mark(axes: Axes, row: ForestRow, y: float, gid: str) -> None:
    colour = _colour(row)
    style = {"s": 30, "marker": "s" if row.significant else "o", "linewidths": 1.3}
    full = colour if row.significant else "none"
    spot = ([row.gain.value], [y])
    axes.scatter(*spot, **style, facecolors=full, edgecolors=colour, zorder=3, gid=gid)


def _columns(rows: Sequence[ForestRow]) -> list[NumberColumn]:
    columns = [NumberColumn("gain", tuple(points(row.gain.value) for row in rows))]
    if any(row.gain.ends for row in rows):
        columns.append(NumberColumn("interval", tuple(_ends(row) for row in rows), muted=True))
    if numbers := counts([row.n for row in rows]):
        columns.append(NumberColumn("n", numbers, muted=True))
    if any(row.p_holm is not None for row in rows):
        columns.append(NumberColumn("p (Holm)", tuple(p_value(finite(row.p_holm)) for row in rows)))
    return columns


def _ends(row: ForestRow) -> str:
    ends = row.gain.ends
    return f"{points(ends[0])} to {points(ends[1])}" if ends else NONE


def _alt(rows: Sequence[ForestRow]) -> str:
    said = listed((f"{clean(row.label)} {points(row.gain.value)}" for row in rows), 8)
    stand = sum(row.significant for row in rows)
    return (
        "A forest plot of gains in points of accuracy with their intervals: "
        f"{said}; {stand} of {len(rows)} significant after correction."
    )


def _notes(rows: Sequence[ForestRow], given: int) -> list[str]:
    said = "Filled squares are significant after Holm's correction, open circles are not."
    without = sum(row.gain.ends is None for row in rows)
    return [said, *shortfalls(without, given - len(rows), "comparison")]
