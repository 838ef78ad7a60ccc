"""Grid of methods and problems: the share of right runs as a shade."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from constraint_first.analysis.figure.colour import MUTED, shade
from constraint_first.analysis.figure.drawable import finite
from constraint_first.analysis.figure.figure import Caption, Figure
from constraint_first.analysis.figure.key import KeyEntry, draw_key
from constraint_first.analysis.figure.library import Style, load
from constraint_first.analysis.figure.sheet import SMALL, WIDTH, Sheet, sheet
from constraint_first.analysis.figure.text import clean, extent, listed, wrap
from constraint_first.analysis.notation import several
from constraint_first.file.stem import file_stem

__all__ = ["MOST_PROBLEMS", "draw_grid"]

MOST_PROBLEMS: Final = 360
"""Columns of one figure; further problems are left out, and a note says how many."""
_ACROSS: Final = 120
_WIDEST: Final = 0.19
_NAMED: Final = 0.12
"""Columns at least this wide have room for the names of their problems."""
_TINY: Final = 6.0
_MISSING: Final[Style] = {
    "facecolor": "none",
    "edgecolor": MUTED,
    "hatch": "//////",
    "linewidth": 0.3,
}

Shares: TypeAlias = Sequence[Sequence[float | None]]


@dataclass(frozen=True, slots=True)
class _Block:
    """Neighbouring columns, which share a line of the figure."""

    first: int
    names: tuple[str, ...]
    shares: tuple[tuple[float | None, ...], ...]


@dataclass(frozen=True, slots=True)
class _Layout:
    """Measures that all blocks share, in inches."""

    labels: tuple[str, ...]
    left: float
    cell: float
    row: float
    foot: float
    """Room for what stands below the columns."""

    @property
    def block(self) -> float:
        """How tall a block is with its foot."""
        return self.row * len(self.labels) + self.foot


def draw_grid(
    benchmark: str, problems: Sequence[str], methods: Sequence[str], shares: Shares
) -> Figure | None:
    """Draw a row for each method and a column for each problem.

    ``shares`` has a row for each method, with the share of right runs at each problem from 0 to 1,
    or None where there was none. A shade says how large it is; hatching says that it is missing.
    """
    if not problems or not methods:
        return None
    table = [tuple(map(finite, row[:MOST_PROBLEMS])) for row in shares]
    if len(table) != len(methods) or any(len(row) != len(problems) for row in shares):
        raise ValueError("shares: need a row for each method and a column for each problem")
    blocks = _blocks(problems[:MOST_PROBLEMS], table)
    layout = _layout(methods, blocks)
    caption = Caption(
        file_stem("grid", benchmark), f"{clean(benchmark)}: right runs, problem by problem"
    )
    with sheet(layout.block * len(blocks)) as page:
        for number, block in enumerate(blocks):
            _draw_block(page, layout, block, page.height - number * layout.block)
        _draw_key(page, layout, missing=any(None in row for row in table))
        return page.finish(caption, _alt(benchmark, methods, table), _notes(problems, blocks))


def _blocks(problems: Sequence[str], table: Sequence[tuple[float | None, ...]]) -> list[_Block]:
    """Cut the columns into as few blocks as hold them, all about as wide."""
    many = math.ceil(len(problems) / _ACROSS)
    wide = math.ceil(len(problems) / many)
    return [
        _Block(
            first,
            tuple(problems[first : first + wide]),
            tuple(row[first : first + wide] for row in table),
        )
        for first in range(0, len(problems), wide)
    ]


def _layout(methods: Sequence[str], blocks: Sequence[_Block]) -> _Layout:
    labels = tuple(wrap(method, 25, 2) for method in methods)
    left = max(extent(label, SMALL)[0] for label in labels) + 0.1
    cell = min(_WIDEST, (WIDTH - left) / max(len(block.names) for block in blocks))
    row = max(0.19, *(extent(label, SMALL)[1] + 0.04 for label in labels))
    foot = 0.34
    if cell >= _NAMED:
        names = [clean(name, 16) for block in blocks for name in block.names]
        foot = max(extent(name, _TINY)[0] for name in names) + 0.16
    return _Layout(labels, left, cell, row, foot)


def _draw_block(page: Sheet, layout: _Layout, block: _Block, top: float) -> None:
    cells = [
        (layout.left + column * layout.cell, top - (row + 1) * layout.row, share)
        for row, shares in enumerate(block.shares)
        for column, share in enumerate(shares)
    ]
    known = [(x, y, share) for x, y, share in cells if share is not None]
    colours = [shade(share) for _, _, share in known]
    spots = [(x, y) for x, y, _ in known]
    _draw_cells(page, layout, spots, f"cells-{block.first}", facecolor=colours)
    spots = [(x, y) for x, y, share in cells if share is None]
    _draw_cells(page, layout, spots, f"missing-{block.first}", **_MISSING)
    for row, label in enumerate(layout.labels):
        y = top - (row + 0.5) * layout.row
        page.text(layout.left - 0.07, y, label, ha="right", fontsize=SMALL)
    _draw_foot(page, layout, block, top - layout.row * len(layout.labels) - 0.05)


def _draw_cells(
    page: Sheet, layout: _Layout, spots: Sequence[tuple[float, float]], gid: str, **style: object
) -> None:
    """Draw one shape in many places, which keeps the SVG small."""
    if not spots:
        return
    size = load("transforms").Affine2D().scale(layout.cell * 0.88, layout.row * 0.9)
    cells = load("collections").PathCollection(
        [load("path").Path.unit_rectangle()],
        offsets=spots,
        offset_transform=page.inches,
        **{"edgecolor": "none", "linewidth": 0, **style},
    )
    cells.set_transform(size + page.figure.dpi_scale_trans)
    page.add(cells, gid)


def _draw_foot(page: Sheet, layout: _Layout, block: _Block, y: float) -> None:
    """Name the columns, or where they are too narrow for that, number some of them."""
    named = layout.cell >= _NAMED
    for column, name in enumerate(block.names):
        x, number = layout.left + (column + 0.44) * layout.cell, block.first + column + 1
        if named:
            style = {"rotation": 90, "rotation_mode": "anchor", "ha": "right", "fontsize": _TINY}
            page.text(x, y, clean(name, 16), muted=True, **style)
        elif number == 1 or number % 10 == 0:
            page.text(x, y - 0.06, str(number), muted=True, ha="center", fontsize=_TINY)


def _draw_key(page: Sheet, layout: _Layout, *, missing: bool) -> None:
    names = {0: "right in no run", 100: "in every run"}
    entries = [
        KeyEntry(names.get(share, f"{share} %"), {"facecolor": shade(share / 100)}, f"key-{share}")
        for share in (0, 25, 50, 75, 100)
    ]
    if missing:
        entries.append(KeyEntry("no judged run", _MISSING, "key-missing"))
    draw_key(page, entries, layout.left, WIDTH, page.height + 0.14)


def _alt(benchmark: str, methods: Sequence[str], table: Sequence[tuple[float | None, ...]]) -> str:
    said = listed((_row_alt(*pair) for pair in zip(methods, table, strict=True)), 8)
    return f"A grid of {several(len(table[0]), 'problem')} of {clean(benchmark)}: {said}."


def _row_alt(method: str, row: Sequence[float | None]) -> str:
    known = [share for share in row if share is not None]
    if not known:
        return f"{clean(method)} has no judged run"
    always, never = sum(share >= 1 for share in known), sum(share <= 0 for share in known)
    return f"{clean(method)} gets {always} right in every run and {never} in none"


def _notes(problems: Sequence[str], blocks: Sequence[_Block]) -> list[str]:
    drawn = sum(len(block.names) for block in blocks)
    if len(problems) == drawn:
        return []
    left_out = several(len(problems) - drawn, "problem")
    return [f"The first {drawn} problems are drawn; {left_out} beyond them are left out."]
