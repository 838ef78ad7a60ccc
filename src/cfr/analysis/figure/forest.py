"""All paired comparisons in one forest plot (paper: Convention-Controlled Paired Statistics)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from cfr.analysis.figure.colour import GAIN, INK, LOSS, Colour
from cfr.analysis.figure.drawable import counts, ends, finite, shortfalls
from cfr.analysis.figure.figure import Caption, Figure
from cfr.analysis.figure.rows import Band, Column, Rows, gain_scale, interval
from cfr.analysis.figure.sheet import sheet
from cfr.analysis.figure.text import clean, listed
from cfr.analysis.notation import NONE, p_value, points

__all__ = ["PAIRED", "ForestRow", "forest"]

PAIRED: Final = Caption("paired", "Paired comparisons, problem by problem")


@dataclass(frozen=True, slots=True)
class ForestRow:
    """A method against a baseline, in points of accuracy."""

    label: str
    gain: float
    low: float | None = None
    high: float | None = None
    n: int | None = None
    p_holm: float | None = None
    significant: bool = False

    @property
    def ends(self) -> tuple[float, float] | None:
        """The interval, where there is one."""
        return ends(self.low, self.high)


def forest(rows: Sequence[ForestRow], caption: Caption = PAIRED) -> Figure | None:
    """Draw comparisons in the order given: full marks for those that stand after correction."""
    shown = [row for row in rows if finite(row.gain) is not None]
    if not shown:
        return None
    board = Rows([Band(row.label) for row in shown], _columns(shown))
    with sheet(board.height) as page:
        (axes,) = board.draw(page)
        for number, (row, y) in enumerate(zip(shown, board.lanes, strict=True)):
            if row.ends:
                interval(axes, row.ends, y, f"interval-{number}", colour=_colour(row))
            _mark(axes, row, y, f"mark-{number}")
        values = [value for row in shown for value in (row.gain, *(row.ends or ()))]
        gain_scale(axes, values, "gain in accuracy, points")
        return page.finish(caption, _alt(shown), _notes(shown, len(rows)))


def _colour(row: ForestRow) -> Colour:
    if not row.significant:
        return INK
    return GAIN if row.gain >= 0 else LOSS


def _mark(axes: Any, row: ForestRow, y: float, gid: str) -> None:
    colour = _colour(row)
    style = {"s": 30, "marker": "s" if row.significant else "o", "linewidths": 1.3}
    full = colour if row.significant else "none"
    axes.scatter([row.gain], [y], **style, facecolors=full, edgecolors=colour, zorder=3, gid=gid)


def _columns(rows: Sequence[ForestRow]) -> list[Column]:
    columns = [Column("gain", tuple(points(row.gain) for row in rows))]
    if any(row.ends for row in rows):
        columns.append(Column("interval", tuple(_ends(row) for row in rows), muted=True))
    if numbers := counts([row.n for row in rows]):
        columns.append(Column("n", numbers, muted=True))
    if any(row.p_holm is not None for row in rows):
        columns.append(Column("p (Holm)", tuple(p_value(finite(row.p_holm)) for row in rows)))
    return columns


def _ends(row: ForestRow) -> str:
    return f"{points(row.ends[0])} to {points(row.ends[1])}" if row.ends else NONE


def _alt(rows: Sequence[ForestRow]) -> str:
    said = listed((f"{clean(row.label)} {points(row.gain)}" for row in rows), 8)
    stand = sum(row.significant for row in rows)
    return (
        "A forest plot of gains in points of accuracy with their intervals: "
        f"{said}; {stand} of {len(rows)} significant after correction."
    )


def _notes(rows: Sequence[ForestRow], given: int) -> list[str]:
    said = "Full squares are significant after Holm's correction, open circles are not."
    without = sum(row.ends is None for row in rows)
    return [said, *shortfalls(without, given - len(rows), "comparison")]
