"""Tables of the command line: they fit a terminal without splitting a number or a word.

In a file or a pipe a row is always one line. ``cli.layout`` says what is done elsewhere where
room is short.
"""

from __future__ import annotations

from dataclasses import replace

from rich import table as rich_table
from rich.console import ConsoleOptions, RenderResult
from rich.text import Text

from constraint_first.cli.console import AnyConsole
from constraint_first.cli.fold import Folded, fold, room_of
from constraint_first.cli.layout import GAP, Column, Layout, Section, fit
from constraint_first.file.printable import printable

__all__ = ["Column", "Table"]


class Table:
    """A table that rich renders: as wide as it must be, and no wider than there is room."""

    def __init__(
        self, *columns: Column | str, title: str = "", header: bool = True, more: str = "--json"
    ) -> None:
        self.columns = tuple(Column(c, "name") if isinstance(c, str) else c for c in columns)
        self.title = title
        self.caption = ""
        self._header = header
        self._more = more
        self._sections = [Section(())]

    @property
    def row_count(self) -> int:
        """How many rows it has."""
        return sum(len(section.rows) for section in self._sections)

    def add_row(self, *cells: Text | str, style: str = "") -> None:
        """Add a row to the section that was begun last."""
        row = tuple(_text(cell, style) for cell in cells)
        last = self._sections[-1]
        self._sections[-1] = replace(last, rows=(*last.rows, row))

    def add_section(self, heading: str) -> None:
        """Begin rows under a heading of their own."""
        if self._sections == [Section(())]:
            self._sections.clear()
        self._sections.append(Section((), heading))

    def __rich_console__(self, console: AnyConsole, options: ConsoleOptions) -> RenderResult:
        """Write it at the width of a console; in a file or a pipe at its own."""
        whole = Layout(self.columns, tuple(self._sections), self._header)
        yield from self._parts(fit(whole, room_of(console, options)))

    def _parts(self, layout: Layout) -> RenderResult:
        if self.title:
            yield Folded(Text(printable(self.title), "bold"))
        filled = (section for section in layout.sections if section.rows)
        for number, section in enumerate(filled):
            if section.heading:
                if number or (self.title and not layout.grouped):
                    yield ""
                yield Folded(Text(printable(section.heading), "bold"))
            yield _Grid(layout, section, header=self._header and (not number or not layout.grouped))
        for note in layout.notes(self._more):
            yield Folded(Text(note, "dim"))
        if self.caption:
            yield Folded(Text(printable(self.caption), "dim"))


class _Grid:
    """The rows of a section, laid out."""

    def __init__(self, layout: Layout, section: Section, *, header: bool) -> None:
        self._layout, self._section, self._header = layout, section, header

    def __rich_console__(self, console: AnyConsole, options: ConsoleOptions) -> RenderResult:
        layout = self._layout
        made = rich_table.Table(
            box=None, padding=(0, GAP, 0, 0), pad_edge=False, header_style="dim",
            show_header=self._header,
        )  # fmt: skip
        for column, width in zip(layout.columns, layout.widths, strict=True):
            title = Text("\n").join(fold(_text(column.title), width, "prose"))
            made.add_column(title, justify=column.justify, width=width, no_wrap=True)
        for row in self._section.rows:
            cells = zip(row, layout.widths, layout.columns, strict=True)
            made.add_row(*(Text("\n").join(fold(cell, w, c.kind)) for cell, w, c in cells))
        width = layout.total(layout.widths)
        yield from console.render(made, options.update_width(max(width, 1)))


def _text(cell: Text | str, style: str = "") -> Text:
    shown = Text(printable(cell)) if isinstance(cell, str) else cell.copy()
    if style:
        shown.style = style
    return shown
