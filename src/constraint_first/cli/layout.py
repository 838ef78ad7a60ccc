"""The layout of a table in the room there is: what is shown of it, and how wide each column is.

Where room is short, values that rows share go into a line above them, names lose the options that
do not tell them apart, names and prose fold between words, and at last columns go, the least
important first; notes say what is missing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, groupby
from typing import Final, Literal

from rich.text import Text

from constraint_first.cli.fold import Kind, fold, longest_line, longest_piece

__all__ = ["GAP", "Column", "Layout", "Section", "fit"]

GAP: Final = 2
"""Spaces between columns."""
_MOST_LINES: Final = 3
"""Lines of a name; rather than more, a column of less importance goes."""
_SOME_PROSE: Final = 20
"""Room that prose gets before names get theirs."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column: its heading, what is in it, and what may be done where room is short."""

    title: str = ""
    kind: Kind = "number"
    """Numbers stay whole and stand to the right; names and prose fold, names in few lines."""
    rank: int = 0
    """How soon it goes: the highest first; 0 stays."""
    shared: bool = False
    """Whether rows that have the same value may stand together under it."""
    shorten: Callable[[Iterable[str]], Mapping[str, str]] | None = None
    """Finds names that are shorter and still differ."""

    @property
    def justify(self) -> Literal["left", "right"]:
        """The side that its cells are aligned to."""
        return "right" if self.kind == "number" else "left"


@dataclass(frozen=True, slots=True)
class Section:
    """Rows that stand together under a heading, or under none."""

    rows: tuple[tuple[Text, ...], ...]
    heading: str = ""


@dataclass(frozen=True, slots=True)
class Layout:
    """A way to lay out a table: the columns that are left, and how wide each is."""

    columns: tuple[Column, ...]
    sections: tuple[Section, ...]
    header: bool
    widths: tuple[int, ...] = ()
    grouped: bool = False
    full_names: tuple[tuple[str, str], ...] = ()
    """Names that were shortened, each with all of it."""
    dropped: tuple[str, ...] = ()

    def cells(self, at: int) -> Iterator[Text]:
        """List the cells of a column."""
        return (row[at] for section in self.sections for row in section.rows)

    def natural(self) -> tuple[int, ...]:
        """Measure each column with nothing folded."""
        headings = [len(c.title) if self.header else 0 for c in self.columns]
        return tuple(
            max((heading, *(longest_line(cell) for cell in self.cells(at))))
            for at, heading in enumerate(headings)
        )

    def narrowest(self) -> tuple[int, ...]:
        """Measure each column with all folded that can be."""
        return tuple(
            max(
                longest_piece(Text(column.title if self.header else ""), "prose"),
                *(longest_piece(cell, column.kind) for cell in self.cells(at)),
                0,
            )
            for at, column in enumerate(self.columns)
        )

    def total(self, widths: Sequence[int]) -> int:
        """Measure a line."""
        return sum(widths) + GAP * (len(widths) - 1)

    def lines(self) -> int:
        """Count the lines of the tallest name."""
        names = (at for at, column in enumerate(self.columns) if column.kind == "name")
        tallest = (
            len(fold(cell, self.widths[at], "name")) for at in names for cell in self.cells(at)
        )
        return max(tallest, default=1)

    def notes(self, more: str) -> Iterator[str]:
        """Say what is not shown, and where it is."""
        if self.full_names:
            said = "; ".join(f"{short} is {name}" for short, name in self.full_names)
            yield f"Names have the options that tell them apart. In full: {said}."
        if self.dropped:
            way_out = f"a wider terminal or {more} shows" if more else "a wider terminal shows"
            yield f"Not shown at this width: {', '.join(self.dropped)}; {way_out} all."


def fit(layout: Layout, room: int | None) -> Layout:
    """Find the layout that shows most: whole if it can be, else with less and less."""
    if room is None or layout.total(layout.natural()) <= room:
        return replace(layout, widths=layout.natural())
    for change in (_group, _shorten):
        layout = change(layout)
        if layout.total(layout.natural()) <= room:
            return replace(layout, widths=layout.natural())
    layouts = [*_dropping(layout)]
    folded = [one for one in (_share_out(layout, room) for layout in layouts) if one]
    good = (one for one in folded if one.lines() <= _MOST_LINES)
    return next(good, None) or next(iter(folded), None) or _squeeze(layouts[-1], room)


def _group(layout: Layout) -> Layout:
    """Put values that neighbouring rows share above them, where that makes few groups."""
    if len(layout.sections) != 1 or layout.sections[0].heading:
        return layout
    (section,) = layout.sections
    shared = [at for at, column in enumerate(layout.columns) if column.shared]
    for size in range(len(shared), 0, -1):
        for chosen in combinations(shared, size):
            groups = tuple(_split(layout, section, chosen))
            if len(groups) == 1 or len(groups) * 2 <= len(section.rows):
                kept = [at for at in range(len(layout.columns)) if at not in chosen]
                return replace(_only(replace(layout, sections=groups), kept), grouped=True)
    return layout


def _split(layout: Layout, section: Section, chosen: Sequence[int]) -> Iterator[Section]:
    """Split a section where a shared value changes; an empty cell is like the one above it."""
    values: tuple[str, ...] = ("",) * len(chosen)
    valued: list[tuple[tuple[str, ...], tuple[Text, ...]]] = []
    for row in section.rows:
        values = tuple(row[at].plain or old for at, old in zip(chosen, values, strict=True))
        valued.append((values, row))
    for found, rows in groupby(valued, key=lambda pair: pair[0]):
        named = [
            f"{layout.columns[at].title.lower()}: {value}"
            for at, value in zip(chosen, found, strict=True)
            if value
        ]
        yield Section(tuple(row for _, row in rows), ", ".join(named))


def _only(layout: Layout, kept: Sequence[int]) -> Layout:
    sections = tuple(
        replace(section, rows=tuple(tuple(row[at] for at in kept) for row in section.rows))
        for section in layout.sections
    )
    return replace(layout, columns=tuple(layout.columns[at] for at in kept), sections=sections)


def _shorten(layout: Layout) -> Layout:
    """Shorten names by what does not tell them apart."""
    for at, column in enumerate(layout.columns):
        if column.shorten:
            names = column.shorten(dict.fromkeys(cell.plain for cell in layout.cells(at)))
            layout = _renamed(layout, at, names)
            changed = tuple((short, name) for name, short in names.items() if short != name)
            layout = replace(layout, full_names=(*layout.full_names, *changed))
    return layout


def _renamed(layout: Layout, at: int, names: Mapping[str, str]) -> Layout:
    def renamed(row: tuple[Text, ...]) -> tuple[Text, ...]:
        cell = Text(names.get(row[at].plain, row[at].plain), row[at].style)
        return (*row[:at], cell, *row[at + 1 :])

    sections = (replace(one, rows=tuple(map(renamed, one.rows))) for one in layout.sections)
    return replace(layout, sections=tuple(sections))


def _dropping(layout: Layout) -> Iterator[Layout]:
    """Leave columns out, one after the other; the first of these layouts has them all."""
    yield layout
    while any(column.rank for column in layout.columns):
        ranks = [column.rank for column in layout.columns]
        last = len(ranks) - 1 - ranks[::-1].index(max(ranks))
        kept = [at for at in range(len(ranks)) if at != last]
        dropped = (*layout.dropped, layout.columns[last].title)
        layout = replace(_only(layout, kept), dropped=dropped)
        yield layout


def _share_out(layout: Layout, room: int) -> Layout | None:
    """Give each column its width: what it must have, then names theirs, then prose and headings."""
    widths, natural = [*layout.narrowest()], layout.natural()
    left = room - layout.total(widths)
    if left < 0:
        return None
    kinds = [column.kind for column in layout.columns]
    some_prose = [
        min(n, _SOME_PROSE) if kind == "prose" else 0
        for n, kind in zip(natural, kinds, strict=True)
    ]
    names = [n if kind == "name" else 0 for n, kind in zip(natural, kinds, strict=True)]
    for wanted in (some_prose, names, natural):
        while left and (lacking := [at for at, n in enumerate(wanted) if widths[at] < n]):
            widths[max(lacking, key=lambda at: wanted[at] / max(widths[at], 1))] += 1
            left -= 1
    return replace(layout, widths=tuple(widths))


def _squeeze(layout: Layout, room: int) -> Layout:
    """Take letters out of the middle of names, as long as they still differ; numbers stay."""
    for at, column in enumerate(layout.columns):
        over = layout.total(layout.narrowest()) - room
        if column.kind == "name" and over > 0:
            names = dict.fromkeys(cell.plain for cell in layout.cells(at))
            width = max(layout.narrowest()[at] - over, 8)
            cut = {name: _cut(name, width) for name in names}
            if len({*cut.values()}) == len(names):
                layout = _renamed(layout, at, cut)
    return _share_out(layout, room) or replace(layout, widths=layout.narrowest())


def _cut(name: str, width: int) -> str:
    if len(name) <= width:
        return name
    head = (width - 1) // 2
    return f"{name[:head]}…{name[len(name) - (width - 1 - head) :]}"
