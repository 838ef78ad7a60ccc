"""Placement of labels that overlap neither each other nor what they name."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from constraint_first.analysis.figure.colour import MUTED
from constraint_first.analysis.figure.library import load
from constraint_first.analysis.figure.sheet import SMALL, Sheet
from constraint_first.analysis.figure.text import extent

__all__ = ["Box", "Room", "Spot", "place"]

_DIRECTIONS: Final = (
    *((1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (1, -1), (-1, 1), (-1, -1)),
    *((1, 0.5), (1, -0.5), (-1, 0.5), (-1, -0.5)),
)
_DISTANCES: Final = (0.1, 0.17, 0.28, 0.42, 0.6, 0.8, 1.05)
_WITHOUT_LINE: Final = 0.12
_PER_LINE: Final = 0.16
_PER_CROSSING: Final = 0.7


class Box(NamedTuple):
    """A rectangle in inches."""

    left: float
    bottom: float
    right: float
    top: float

    @classmethod
    def around(cls, x: float, y: float, wide: float, tall: float) -> Box:
        """Return the box that reaches so far to each side of a point."""
        return cls(x - wide, y - tall, x + wide, y + tall)

    @classmethod
    def between(cls, one: tuple[float, float], other: tuple[float, float]) -> Box:
        """Return the box that has two points for corners."""
        (a, b), (c, d) = one, other
        return cls(min(a, c), min(b, d), max(a, c), max(b, d))

    def meets(self, other: Box) -> bool:
        """Whether two boxes overlap."""
        across = self.left < other.right and other.left < self.right
        return across and self.bottom < other.top and other.bottom < self.top

    def within(self, other: Box) -> bool:
        """Whether all of it lies in another."""
        return (
            self.left >= other.left
            and self.bottom >= other.bottom
            and self.right <= other.right
            and self.top <= other.top
        )


@dataclass(frozen=True, slots=True)
class Spot:
    """A place for a label."""

    mark: tuple[float, float]
    """What it names."""
    box: Box
    distance: float

    @property
    def near(self) -> tuple[float, float]:
        """The place on its edge that is nearest to the mark."""
        (x, y), (left, bottom, right, top) = self.mark, self.box
        return min(max(x, left), right), min(max(y, bottom), top)

    def steps(self) -> Iterator[Box]:
        """Go along the line to the mark, where the label needs one."""
        if self.distance > _WITHOUT_LINE:
            (x, y), (to_x, to_y) = self.mark, self.near
            for part in (step / 12 for step in range(1, 12)):
                yield Box.around(x + part * (to_x - x), y + part * (to_y - y), 0.01, 0.01)

    def draw(self, page: Sheet, text: str, gid: str, *, bold: bool = False) -> None:
        """Write the label, with a thin line to a mark that is not beside it."""
        x, y = (self.box.left + self.box.right) / 2, (self.box.bottom + self.box.top) / 2
        if self.distance > _WITHOUT_LINE:
            xs, ys = zip(self.mark, self.near, strict=True)
            line = load("lines").Line2D(xs, ys, color=MUTED, linewidth=0.5, zorder=0)
            page.add(line, f"{gid}-line")
        weight = "bold" if bold else "normal"
        page.text(x, y, text, ha="center", fontsize=SMALL, weight=weight, gid=gid)


@dataclass(frozen=True, slots=True)
class Room:
    """The space for labels: where they may go, and what they may not cover."""

    inside: Box
    taken: tuple[Box, ...] = ()
    """What no label may cover."""
    crossed: tuple[Box, ...] = ()
    """What a label may cover where it must: thin lines."""


def place(
    labels: Sequence[tuple[str, tuple[float, float]]], room: Room, size: float
) -> list[Spot | None]:
    """Give each label the best free place near its mark, in turn; None where there is none."""
    full = [*room.taken]
    spots: list[Spot | None] = []
    for text, mark in labels:
        wide, tall = extent(text, size, bold=True)
        free = [
            spot
            for spot in _candidates(mark, wide + 0.04, tall)
            if spot.box.within(room.inside) and not any(spot.box.meets(other) for other in full)
        ]
        found = min(free, key=lambda s: _cost(s, full, room.crossed), default=None)
        spots.append(found)
        full += [found.box] if found else []
    return spots


def _candidates(mark: tuple[float, float], wide: float, tall: float) -> Iterator[Spot]:
    for distance in _DISTANCES:
        for across, up in _DIRECTIONS:
            x = mark[0] + across * (distance + wide / 2)
            y = mark[1] + up * (distance + tall / 2)
            yield Spot(mark, Box.around(x, y, wide / 2, tall / 2), distance)


def _cost(spot: Spot, full: Sequence[Box], crossed: Sequence[Box]) -> float:
    """Weigh how far a label is against the lines it covers and what its own line runs over."""
    covers = sum(spot.box.meets(other) for other in crossed)
    own = Box.around(*spot.mark, 0.01, 0.01)
    runs_over = sum(
        any(step.meets(other) for step in spot.steps()) for other in full if not own.meets(other)
    )
    return spot.distance + _PER_LINE * covers + _PER_CROSSING * runs_over
