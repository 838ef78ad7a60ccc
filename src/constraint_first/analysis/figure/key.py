"""Key of a figure: what its colours mean."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from constraint_first.analysis.figure.colour import INK, PALETTE
from constraint_first.analysis.figure.library import Style, load
from constraint_first.analysis.figure.sheet import SMALL, Sheet
from constraint_first.analysis.figure.text import clean, extent

__all__ = ["KeyEntry", "draw_key", "series_look"]

_HATCHES: Final = ("", "////", "....", "xxxx", "----")
_SWATCH: Final = 0.17
_LINE: Final = 0.18


@dataclass(frozen=True, slots=True)
class KeyEntry:
    """An entry of a key: the look of a swatch, and its name."""

    name: str
    look: Style
    gid: str


def series_look(series: int) -> Style:
    """Return how a series is filled. Where colours run out, they come again with hatching."""
    hatch = _HATCHES[series // len(PALETTE) % len(_HATCHES)]
    colour = PALETTE[series % len(PALETTE)]
    return {"facecolor": colour, "edgecolor": INK, "linewidth": 0.6, "hatch": hatch or None}


def draw_key(page: Sheet, entries: Sequence[KeyEntry], left: float, right: float, y: float) -> None:
    """Write a key between two edges; it begins above ``y`` where it takes several lines."""
    places: list[tuple[float, int, str]] = []
    across, line = left, 0
    for name in (clean(entry.name, 40) for entry in entries):
        width = _SWATCH + 0.06 + extent(name, SMALL)[0]
        if across > left and across + width > right:
            across, line = left, line + 1
        places.append((across, line, name))
        across += width + 0.18
    for entry, (x, row, name) in zip(entries, places, strict=True):
        middle = y + _LINE * (line - row)
        shape = load("patches").Rectangle((x, middle - 0.05), _SWATCH, 0.1, **entry.look)
        page.add(shape, entry.gid)
        page.line(x + _SWATCH + 0.06, middle, name)
