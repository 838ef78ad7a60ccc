"""The console of every command: tables, progress and colours, with hostile text made harmless."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shlex
import signal
import sys
import threading
import time
from collections.abc import Callable, Coroutine, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import combinations, groupby
from typing import Any, Final, Literal, TypeAlias, TypeVar

import click
from rich import console
from rich import table as rich_table
from rich.cells import cell_len
from rich.console import ConsoleOptions, RenderResult
from rich.progress import (
    BarColumn,
    DownloadColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeRemainingColumn,
    TransferSpeedColumn,
)
from rich.segment import Segment
from rich.status import Status
from rich.text import Text

from constraint_first.file.safe import one_line, printable, printable_json
from constraint_first.model.pull import Progress as Report
from constraint_first.pattern import lazy_pattern
from constraint_first.protocol import Call, Completion

AnyConsole: TypeAlias = console.Console
"""What rich hands to whatever renders itself."""


class SafeConsole(console.Console):
    """A rich console that takes brackets as brackets and shows control characters.

    Whatever is printed passes ``render``; only rich's own control segments (to move the cursor of
    a progress bar) come through it unchanged.
    """

    def __init__(
        self, *, stderr: bool = False, quiet: bool = False, width: int | None = None
    ) -> None:
        super().__init__(
            stderr=stderr, quiet=quiet, width=width, markup=False, emoji=False, highlight=False
        )

        self.is_unbounded = width is None and not self.is_terminal and "COLUMNS" not in os.environ
        """Whether lines may be of any length: in a file or a pipe, unless a width was asked for."""

    def print(self, *objects: Any, **options: Any) -> None:
        """Print whole lines: a number that is cut short is a wrong number."""
        options.setdefault("crop", False)
        super().print(*objects, **options)

    def render_str(self, text: str, **options: Any) -> Text:
        """Make a string printable before its width is measured."""
        return super().render_str(printable(text), **options)

    def render(
        self,
        renderable: console.RenderableType,
        options: console.ConsoleOptions | None = None,
    ) -> Iterable[Segment]:
        """Make printable what is about to be written, wherever it comes from."""
        for segment in super().render(renderable, options):
            text, style, control = segment
            yield segment if control or text.isprintable() else Segment(printable(text), style)

    def status(self, status: console.RenderableType, **options: Any) -> Status:
        """Show that something goes on; a spinner would read markup in a string."""
        return super().status(Text(status) if isinstance(status, str) else status, **options)

    def on_broken_pipe(self) -> None:
        """Leave it to ``main`` to end when nobody reads any more; rich would exit with 1."""
        self.quiet = True
        raise BrokenPipeError


# Standard output and standard error: the way there for everything that is not a rich table.
#
# Commands write through this module or through ``cli.console`` and in no other way: texts of
# models, endpoints and files are shown, never obeyed. ``tests/cli/test_output.py`` holds them to
# it.


def print_text(text: object = "") -> None:
    """Write to standard output: a text for people, of any number of lines."""
    click.echo(printable(str(text)))


def print_note(text: str) -> None:
    """Write one line to standard error."""
    click.echo(one_line(text), err=True)


def print_error(text: str) -> None:
    """Write to standard error: what went wrong, in any number of lines."""
    click.echo(printable(text), err=True)


def print_json(value: Any, indent: int | None = None) -> None:
    """Write JSON to standard output for programs: exact, and safe on a terminal all the same."""
    written = printable_json(value, indent)
    try:
        written.encode(getattr(sys.stdout, "encoding", None) or "utf-8")
    except UnicodeEncodeError:  # an output that holds only some signs must not spoil the others
        written = json.dumps(value, indent=indent)
    click.echo(written)


# Progress bars on standard error: shown on a terminal, a few plain lines elsewhere.


@contextmanager
def bytes_bar(name: str, *, quiet: bool = False) -> Generator[Report]:
    """Show how a long file operation gets on."""
    console, name = SafeConsole(stderr=True, quiet=quiet), one_line(name)
    if not console.is_terminal:
        yield _plain(console, name)
        return
    columns = (BarColumn(), DownloadColumn(), TransferSpeedColumn(), TimeRemainingColumn())
    progress = Progress(TextColumn("{task.description}", markup=False), *columns, console=console)
    task = progress.add_task(name, total=None)

    def report(done: int, total: int, doing: str) -> None:
        progress.start()  # only now: where nothing is fetched there is no bar
        progress.update(task, completed=done, total=total, description=f"{name}: {doing}")

    try:
        yield report
    finally:
        progress.stop()


def _plain(console: SafeConsole, name: str) -> Report:
    said = ("", -1)

    def report(done: int, total: int, doing: str) -> None:
        nonlocal said
        step = (doing, done * 4 // max(total, 1))
        if step != said:
            said = step
            text = f"{name}: {doing}, {done / 1e6:,.0f} of {total / 1e6:,.0f} MB"
            console.print(text)

    return report


@contextmanager
def count_bar(name: str) -> Generator[Callable[[int, int], None]]:
    """Show on a terminal how many things of how many are done; elsewhere nothing."""
    console = SafeConsole(stderr=True)
    if not console.is_terminal:
        yield lambda _done, _total: None
        return
    columns = (BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    label = TextColumn("{task.description}", markup=False)
    with Progress(label, *columns, console=console, transient=True) as progress:
        task = progress.add_task(one_line(name), total=None)
        yield lambda done, total: progress.update(task, completed=done, total=total)


# Ctrl-C: the first ends the work in good order and says how to go on, the second ends at once.

T = TypeVar("T")

INTERRUPTED: Final = 130
"""The exit code of a command that was interrupted."""
_AT_ONCE: Final = b"cfr: stopped at once\n"
_SHOW_CURSOR: Final = b"\x1b[?25h"


class Stopped(click.Abort):
    """The end of a command after Ctrl-C, with what is to be said of it."""


def run_interruptible(
    work: Coroutine[Any, Any, T], say: Callable[[], str], noticed: Callable[[], None] | None = None
) -> T:
    """Run a coroutine; Ctrl-C cancels it, and once it has ended ``say`` tells what is to be said.

    ``noticed`` hears of it at once, while everything still stands as it did. Where interrupts are
    ignored, or handled by somebody else, they stay so.
    """
    ours = threading.current_thread() is threading.main_thread()
    if not ours or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        return asyncio.run(work)
    interrupt = _Interrupt(noticed)

    async def main() -> T:
        interrupt.task = asyncio.current_task()
        return await work

    signal.signal(signal.SIGINT, interrupt.handle)
    try:
        return asyncio.run(main())
    except asyncio.CancelledError:
        raise Stopped(say()) from None
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


class _Interrupt:
    """What Ctrl-C does while a task runs."""

    def __init__(self, noticed: Callable[[], None] | None) -> None:
        self.task: asyncio.Task[Any] | None = None
        self._noticed = noticed
        self._seen = False

    def handle(self, *_: object) -> None:
        """Cancel the task; what was written so far is safe, so a second time just end."""
        if self._seen:
            os.write(2, _SHOW_CURSOR * os.isatty(2) + _AT_ONCE)
            os._exit(INTERRUPTED)
        if self.task is None:
            raise KeyboardInterrupt
        self._seen = True
        if self._noticed:
            self._noticed()
        self.task.get_loop().call_soon_threadsafe(self.task.cancel)


def typed_command() -> str:
    """Write the command that was typed, for whoever repeats it; without a store's password."""
    from constraint_first.store.database import without_password

    return shlex.join(["cfr", *map(without_password, sys.argv[1:])])


# Activity that goes on unseen, as one line: what it is, its tokens so far and its seconds.


class Activity:
    """The calls and programs that are under way; rich renders it anew whenever it redraws."""

    def __init__(self, title: str = "", clock: Callable[[], float] = time.monotonic) -> None:
        self.programs = 0
        """Programs that are running."""
        self._title = title
        self._clock = clock
        self._began = clock()
        self._written = 0
        self._running: dict[int, tuple[Call, int]] = {}

    def __bool__(self) -> bool:
        return bool(self._running or self.programs)

    def __rich__(self) -> Text:
        """Write the line as it is now."""
        tokens = self._written + sum(count for _, count in self._running.values())
        said = f"about {tokens:,} tokens, " if tokens else ""
        return Text(f"{self._what()}  {said}{self._clock() - self._began:.0f} s")

    def started(self, call: Call) -> None:
        """Note that a call begins; where nothing went on, seconds and tokens begin with it."""
        if not self and not self._title:
            self._began, self._written = self._clock(), 0
        self._running[id(call)] = (call, 0)

    def wrote(self, call: Call) -> None:
        """Count a piece of a reply: most endpoints send one for each token."""
        self._running[id(call)] = (call, self._running.get(id(call), (call, 0))[1] + 1)

    def restarted(self, call: Call) -> None:
        """Forget what was written of a reply that begins anew."""
        self._running[id(call)] = (call, 0)

    def finished(self, call: Call, completion: Completion) -> None:
        """Count a reply as whoever wrote it does, where that is told."""
        _, pieces = self._running.pop(id(call), (call, 0))
        used = completion.usage
        self._written += used.output if used.reported else pieces

    def _what(self) -> str:
        if self._title:
            return self._title
        calls = [call for call, _ in self._running.values()]
        if any(call.stage == "stage1" for call in calls):
            return "Stage 1: what must the answer satisfy?"
        if calls:
            return f"{len(calls)} more repl{'y is' if len(calls) == 1 else 'ies are'} written"
        return "A program runs" if self.programs == 1 else f"{self.programs} programs run"


# Folding: texts in lines of a width, broken between words and never inside a number.

# Between words, but not in "[34.6, 39.7]", "36.8% – 49.2%", "3 / 4", "95 %" or "1 min 20 s".
# What rules most places out comes first in both: a name can be megabytes long.
_SPACE: Final = lazy_pattern(
    r"(?=[ \t])(?!(?<=\d,)\s[−+-]?\d|(?<=\d)\s(?:[–/]\s\d|%|(?:h|min|s)\b)|(?<=\d\sh|min)\s\d"
    r"|(?<=%)\s–\s|(?<=[–/])\s\d)[ \t]+"
)
# In a name behind what joins its parts; never inside a number.
_SEAM: Final = lazy_pattern(
    r"(?<=[-,(\[/_])(?:(?<![-_])(?=[^\W\d_])|(?<=[A-Za-z)\]][-_])(?=[^\W_]))"
)

Kind: TypeAlias = Literal["number", "name", "prose"]
"""Numbers stay whole; names fold between their parts as well, prose between words alone."""


@dataclass(frozen=True, slots=True)
class Folded:
    """A line of text that folds between words, and in names between their parts."""

    text: Text

    def __rich_console__(self, console: AnyConsole, options: ConsoleOptions) -> RenderResult:
        """Write it; a part that has no seam goes beyond the edge rather than being split."""
        room = room_of(console, options)
        for line in [self.text] if room is None else fold(self.text, room, "name"):
            whole = options.update(width=max(line.cell_len, 1), no_wrap=True, overflow="ignore")
            yield from console.render(line, whole)


def room_of(console: AnyConsole, options: ConsoleOptions) -> int | None:
    """Measure the room for a line; None in a file or a pipe, where lines may be of any length."""
    return None if isinstance(console, SafeConsole) and console.is_unbounded else options.max_width


def fold(text: Text, width: int, kind: Kind = "prose") -> list[Text]:
    """Fold a text at its seams into lines of a width; a piece that is longer stays whole."""
    return [
        line for part in text.split("\n", allow_blank=True) for line in _fold(part, width, kind)
    ]


def _fold(text: Text, width: int, kind: Kind) -> list[Text]:
    if text.cell_len <= width or kind == "number":
        return [text]
    lines = _pack(text, width, _SPACE)
    # Only what is too long between two spaces is folded at its seams.
    return (
        [part for line in lines for part in _pack(line, width, _SEAM)] if kind == "name" else lines
    )


def _pack(text: Text, width: int, seam: re.Pattern[str]) -> list[Text]:
    """Put as much into each line as goes in, and one piece at least."""
    lines, begin, end = list[Text](), 0, 0
    for upto in (*(match.end() for match in seam.finditer(text.plain)), len(text.plain)):
        if cell_len(text.plain[begin:upto].rstrip()) > width and end > begin:
            lines.append(text[begin:end])
            begin = end
        end = upto
    lines.append(text[begin:])
    for line in lines:
        line.rstrip()
    return lines


def longest_line(text: Text) -> int:
    """Measure a text with nothing folded."""
    return max((line.cell_len for line in text.split("\n")), default=0)


def longest_piece(text: Text, kind: Kind) -> int:
    """Measure a text with all folded that can be."""
    return max((line.cell_len for line in fold(text, 1, kind)), default=0)


# The layout of a table in the room there is: what is shown of it, and how wide each column is.
#
# Where room is short, values that rows share go into a line above them, names lose the options that
# do not tell them apart, names and prose fold between words, and at last columns go, the least
# important first; notes say what is missing.

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


# Tables of the command line: they fit a terminal without splitting a number or a word.
#
# In a file or a pipe a row is always one line. ``cli.layout`` says what is done elsewhere where
# room is short.


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


# Text that arrives in pieces, written at the width of a terminal and broken between words.
#
# A word is written once it has ended, so that it is never broken over two lines; a pause ends it
# too. Blocks of code keep their lines. In a file or a pipe every line stays as it came.

_FENCE: Final = "```"
# A line's end, spaces, one wide character (such scripts break anywhere), or a word of others.
_WIDE: Final = "\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60"
_TOKEN: Final = lazy_pattern(rf"\n|[ \t]+|[{_WIDE}]|[^\s{_WIDE}]+|\s")


class TextStream:
    """A writer of pieces of text in one style after the other."""

    def __init__(self, console: SafeConsole) -> None:
        self._console = console
        self._room = None if console.is_unbounded else console.width
        self._column = 0
        self._gap = ""
        """Spaces that are written with the next word, if that goes on the same line."""
        self._word = ""
        self._style = ""
        self._in_code = False
        self._line = ""
        """The line so far, or as much of it as tells whether a block of code begins or ends."""

    @property
    def waits(self) -> bool:
        """Whether a word has begun and not ended."""
        return bool(self._word)

    def write(self, piece: str, style: str = "") -> None:
        """Write all words that have ended; the rest waits for the next piece."""
        if style != self._style:
            self.flush()
            self._style = style
        text, self._word = self._word + printable(piece), ""
        if self._room is None:
            self._print(text)
            return
        parts: list[str] = _TOKEN.findall(text)
        if parts and not self._is_whole(parts[-1]):
            self._word = parts.pop()
        self._print("".join(map(self._placed, parts)))

    def flush(self) -> None:
        """Write what waits."""
        word, self._word = self._word, ""
        self._print(self._placed(word) if word else "")

    def end(self) -> None:
        """Write what waits and end the line."""
        self.flush()
        self._print("\n")
        self.restart()

    def restart(self) -> None:
        """Forget what waits: the next piece begins a new text on a new line."""
        self._column, self._gap, self._word, self._line, self._in_code = 0, "", "", "", False

    def _is_whole(self, part: str) -> bool:
        return self._in_code or part.isspace() or cell_len(part[0]) > 1

    def _placed(self, part: str) -> str:
        """Return a part as it is written: behind its spaces, or on a line of its own."""
        if part == "\n":
            self._in_code ^= self._line.startswith(_FENCE)
            self._column, self._gap, self._line = 0, "", ""
            return part
        if part.isspace():
            self._gap += part
            return ""
        if len(self._line) < len(_FENCE):
            self._line += part
        gap, self._gap = self._gap, ""
        width = cell_len(gap + part)
        beyond = self._room is not None and self._column + width > self._room
        if beyond and self._column and not self._in_code:
            self._column = cell_len(part)
            return f"\n{part}"
        self._column += width
        return gap + part

    def _print(self, text: str) -> None:
        if text:
            self._console.print(Text(text, self._style), end="", soft_wrap=True)
