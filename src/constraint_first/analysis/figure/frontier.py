"""Scatter plot of accuracy against tokens, with a line along the methods on the frontier.

Paper: the accuracy-cost trade-off of its main tables.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from constraint_first.analysis.figure.colour import GAIN, INK, MUTED
from constraint_first.analysis.figure.drawable import Estimate, finite, shortfalls
from constraint_first.analysis.figure.figure import Caption, Figure
from constraint_first.analysis.figure.library import Axes, load
from constraint_first.analysis.figure.placing import Box, Room, place
from constraint_first.analysis.figure.sheet import SMALL, WIDTH, Sheet, sheet
from constraint_first.analysis.figure.text import UNKNOWN, clean, listed, wrap
from constraint_first.analysis.notation import percent, several

__all__ = ["FRONTIER", "FrontierPoint", "draw_frontier"]

FRONTIER: Final = Caption("frontier", "Accuracy against tokens")
_COST: Final = (
    "mean tokens of an attempt, read and written; a prompt that samples share counts once"
)
_LEFT: Final = 0.55
_HEIGHT: Final = 3.7


@dataclass(frozen=True, slots=True)
class FrontierPoint:
    """A method's accuracy and its cost in tokens."""

    label: str
    tokens: float
    """Mean tokens of an attempt, read and written; a prompt that samples share counts once."""
    accuracy: Estimate
    """In per cent."""
    on_frontier: bool = False


def draw_frontier(points: Sequence[FrontierPoint], caption: Caption = FRONTIER) -> Figure | None:
    """Draw points with their intervals, and a line along those that are marked."""
    shown = [p for p in points if finite(p.tokens) is not None and p.accuracy.drawable]
    if not shown:
        return None
    with sheet(_HEIGHT) as page:
        axes = page.axes(_LEFT, 0, WIDTH - _LEFT, _HEIGHT)
        _scales(axes, shown)
        steps = _draw_line(axes, shown)
        for number, point in enumerate(shown):
            _draw_point(axes, point, number)
        unplaced = _draw_labels(page, axes, shown, steps)
        return page.finish(caption, _alt(shown), _notes(shown, unplaced, len(points)))


def _scales(axes: Axes, points: Sequence[FrontierPoint]) -> None:
    ticker = load("ticker")
    tokens = [point.tokens for point in points]
    least, most = min(tokens), max(tokens)
    if least > 0 and most / least > 10:
        axes.set_xscale("log")
        axes.set_xlim(least / 1.35, most * 1.35)
        subs = (1, 2, 5) if most / least < 1000 else (1,)
        axes.xaxis.set_major_locator(ticker.LogLocator(subs=subs))
        axes.xaxis.set_minor_locator(ticker.NullLocator())
    else:
        room = 0.12 * (most - least) or max(0.25 * abs(most), 100.0)
        axes.set_xlim(max(least - room, min(least, 0.0)), most + room)
        axes.xaxis.set_major_locator(ticker.MaxNLocator(6))
    axes.xaxis.set_major_formatter(ticker.FuncFormatter(_tokens))
    values = [value for point in points for value in point.accuracy.values]
    room = 0.08 * (max(values) - min(values)) or 5.0
    axes.set_ylim(min(values) - room, max(values) + room)
    axes.yaxis.set_major_locator(ticker.MaxNLocator(6))
    axes.yaxis.set_major_formatter(ticker.FuncFormatter(_percent))
    axes.set_xlabel(_COST, fontsize=SMALL, color=MUTED)
    axes.set_ylabel("accuracy", fontsize=SMALL, color=MUTED)


def _percent(number: float, _: int) -> str:
    return f"{number:g} %"


def _tokens(number: float, _: int = 0) -> str:
    """Write tokens shortly: ``800``, ``1.5k``, ``20k``."""
    if abs(number) < 1000:
        return f"{number:g}"
    return f"{number / 1000:,.4g}k" if abs(number) < 1e6 else f"{number / 1e6:,.4g}M"


def _draw_line(axes: Axes, points: Sequence[FrontierPoint]) -> list[tuple[float, float]]:
    """Draw the frontier as steps, the best accuracy for so many tokens; return its corners."""
    best = sorted({(p.tokens, p.accuracy.value) for p in points if p.on_frontier})
    if not best:
        return []
    corners = [best[0]]
    for tokens, accuracy in best[1:]:
        corners += [(tokens, corners[-1][1]), (tokens, accuracy)]
    corners.append((axes.get_xlim()[1], corners[-1][1]))
    xs, ys = zip(*corners, strict=True)
    axes.plot(xs, ys, color=GAIN, linewidth=1.4, alpha=0.7, zorder=2, gid="frontier-line")
    return corners


def _draw_point(axes: Axes, point: FrontierPoint, number: int) -> None:
    colour = GAIN if point.on_frontier else INK
    if point.accuracy.ends:
        axes.plot(
            [point.tokens] * 2,
            point.accuracy.ends,
            color=colour,
            linewidth=1,
            alpha=0.8,
            marker="_",
            markersize=5,
            clip_on=False,
            gid=f"interval-{number}",
        )
    axes.scatter(
        [point.tokens],
        [point.accuracy.value],
        s=34,
        linewidths=1.3,
        facecolors=GAIN if point.on_frontier else "none",
        edgecolors=colour,
        zorder=3,
        clip_on=False,
        gid=f"point-{number}",
    )


def _draw_labels(
    page: Sheet,
    axes: Axes,
    points: Sequence[FrontierPoint],
    steps: Sequence[tuple[float, float]],
) -> list[str]:
    """Write each label where nothing else is; return those that found no room."""

    def inches(x: float, y: float) -> tuple[float, float]:
        across, up = axes.transData.transform((x, y))
        return across / 72, up / 72

    marks = [inches(point.tokens, point.accuracy.value) for point in points]
    lines = [
        Box.between(*(inches(point.tokens, end) for end in point.accuracy.ends))
        for point in points
        if point.accuracy.ends
    ]
    corners = [inches(*corner) for corner in steps]
    lines += [Box.between(*pair) for pair in pairwise(corners)]
    room = Room(
        inside=Box(_LEFT + 0.02, 0.02, WIDTH, _HEIGHT),
        taken=tuple(Box.around(x, y, 0.06, 0.06) for x, y in marks),
        crossed=tuple(lines),
    )
    names = [wrap(point.label, 22, 2) or UNKNOWN for point in points]
    # Those on the frontier choose first: they are what the figure is about.
    order = sorted(range(len(points)), key=lambda at: not points[at].on_frontier)
    placed = place([(names[at], marks[at]) for at in order], room, SMALL)
    for at, spot in zip(order, placed, strict=True):
        if spot:
            spot.draw(page, names[at], f"label-{at}", bold=points[at].on_frontier)
    return [clean(points[at].label) for at, spot in zip(order, placed, strict=True) if not spot]


def _alt(points: Sequence[FrontierPoint]) -> str:
    def said(point: FrontierPoint) -> str:
        accuracy = percent(point.accuracy.value / 100, 0)
        return f"{clean(point.label)} ({accuracy}, {_tokens(round(point.tokens))})"

    best = sorted((p for p in points if p.on_frontier), key=lambda p: p.tokens)
    marked = f" On the frontier: {listed(map(said, best), 8)}." if best else ""
    return f"Accuracy against mean tokens of {several(len(points), 'method')}.{marked}"


def _notes(points: Sequence[FrontierPoint], unplaced: Sequence[str], given: int) -> list[str]:
    notes: list[str] = []
    if any(point.on_frontier for point in points):
        notes.append(
            "Filled marks are on the frontier: no method is as cheap and more accurate, or as "
            "accurate and cheaper."
        )
    if any(point.accuracy.ends for point in points):
        notes.append("Vertical lines are intervals.")
    if unplaced:
        notes.append(f"Without room for a label: {listed(unplaced, 40)}.")
    return [*notes, *shortfalls(0, given - len(points), "point")]
