"""Layout of rows: labels, bars or marks on a scale, and columns of numbers on the right."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from constraint_first.analysis.figure.colour import INK, MUTED, Colour
from constraint_first.analysis.figure.key import KeyEntry, draw_key, series_look
from constraint_first.analysis.figure.library import Axes, load
from constraint_first.analysis.figure.sheet import SIZE, SMALL, WIDTH, Sheet
from constraint_first.analysis.figure.text import extent, wrap

__all__ = ["Band", "NumberColumn", "Rows", "draw_bar", "draw_interval", "set_gain_scale"]

_LANE: Final = 0.2
_GAP: Final = 0.12
_BETWEEN: Final = 0.14
_LABEL_WIDTH: Final = 25
_HEIGHT_OF_BAR: Final = 0.15


@dataclass(frozen=True, slots=True)
class Band:
    """A label, and how many lanes stand beside it."""

    label: str
    lanes: int = 1

    @property
    def folded(self) -> str:
        """The label, safe to draw, in a few short lines."""
        return wrap(self.label, _LABEL_WIDTH)


@dataclass(frozen=True, slots=True)
class NumberColumn:
    """A column of numbers on the right: a heading and a text for each lane."""

    heading: str
    texts: tuple[str, ...]
    muted: bool = False

    @property
    def width(self) -> float:
        """How wide it is, in inches."""
        return max(extent(text, SMALL)[0] for text in (self.heading, *self.texts))


class Rows:
    """Layout of rows, measured before anything is drawn."""

    def __init__(self, bands: Sequence[Band], columns: Sequence[NumberColumn] = ()) -> None:
        self._labels = [band.folded for band in bands]
        self._columns = columns
        self.centres: list[float] = []
        """Where the labels are, in inches from the top."""
        self.lanes: list[float] = []
        """Where the lanes are, likewise."""
        below = 0.0
        for band, label in zip(bands, self._labels, strict=True):
            tall = max(band.lanes * _LANE, extent(label, SIZE)[1]) + _GAP
            middle = below + tall / 2
            self.centres.append(middle)
            first = middle - (band.lanes - 1) * _LANE / 2
            self.lanes += [first + lane * _LANE for lane in range(band.lanes)]
            below += tall
        self.height = below

    @cached_property
    def left(self) -> float:
        """Where the scale begins, in inches."""
        return max(extent(label, SIZE)[0] for label in self._labels) + 0.12

    @cached_property
    def right(self) -> float:
        """Where the scale ends, in inches."""
        return WIDTH - sum(column.width + _BETWEEN for column in self._columns)

    def draw(self, page: Sheet, panels: int = 1) -> list[Axes]:
        """Write labels and columns, and open axes whose y is in inches from the top."""
        between = 0.45
        width = (self.right - self.left - between * (panels - 1)) / panels
        lefts = [self.left + panel * (width + between) for panel in range(panels)]
        every = [page.axes(left, 0, width, self.height) for left in lefts]
        for axes in every:
            axes.set_ylim(self.height, 0)
            axes.set_yticks([])
        for number, (y, label) in enumerate(zip(self.centres, self._labels, strict=True)):
            page.text(
                self.left - 0.1,
                self.height - y,
                label,
                ha="right",
                fontsize=SIZE,
                gid=f"label-{number}",
            )
        self._draw_columns(page)
        return every

    def draw_key(self, page: Sheet, names: Sequence[str]) -> None:
        """Name the series above the rows."""
        entries = [KeyEntry(name, series_look(at), f"key-{at}") for at, name in enumerate(names)]
        draw_key(page, entries, self.left, self.right, self.height + 0.1)

    def _draw_columns(self, page: Sheet) -> None:
        edge = self.right
        for column in self._columns:
            edge += column.width + _BETWEEN
            page.line(edge, self.height + 0.1, column.heading, ha="right", muted=True)
            for y, text in zip(self.lanes, column.texts, strict=True):
                page.line(edge, self.height - y, text, ha="right", muted=column.muted)


def draw_bar(axes: Axes, length: float, y: float, gid: str, series: int = 0) -> None:
    """Draw a bar from zero in the look of its series."""
    patch = load("patches").Rectangle(
        (min(length, 0.0), y - _HEIGHT_OF_BAR / 2),
        abs(length),
        _HEIGHT_OF_BAR,
        **series_look(series),
        clip_on=False,
        gid=gid,
    )
    axes.add_patch(patch)


def draw_interval(
    axes: Axes, ends: tuple[float, float], y: float, gid: str, *, colour: Colour = INK
) -> None:
    """Draw an interval, wherever it lies beside the value it belongs to."""
    axes.plot(
        ends,
        (y, y),
        color=colour,
        linewidth=1.1,
        marker="|",
        markersize=5,
        markeredgewidth=1.1,
        clip_on=False,
        gid=gid,
    )


def set_gain_scale(axes: Axes, values: Sequence[float], label: str) -> None:
    """Give a scale of gains: room for every value, round numbers, and a line at zero."""
    low, high = min([0.0, *values]), max([0.0, *values])
    room = 0.05 * (high - low) or 1.0
    axes.set_xlim(low - room * (low < 0 or high == 0), high + room * (high > 0 or low == 0))
    ticker = load("ticker")
    axes.xaxis.set_major_locator(ticker.MaxNLocator(nbins=6, steps=[1, 2, 5, 10]))
    axes.xaxis.set_major_formatter(ticker.FuncFormatter(_tick))
    axes.axvline(0, color=INK, linewidth=1, zorder=1.5, gid="zero")
    axes.set_xlabel(label, fontsize=SMALL, color=MUTED)


def _tick(value: float, _: int) -> str:
    return f"{value:+g}".replace("-", "−") if abs(value) > 1e-9 else "0"
