"""The console of every command: tables, progress and colours, with hostile text made harmless."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, TypeAlias

from rich import console
from rich import table as rich_table
from rich.cells import cell_len
from rich.console import ConsoleOptions, RenderResult
from rich.segment import Segment
from rich.text import Text

from constraint_first.file.safe import one_line, printable
from constraint_first.pattern import lazy_pattern
from constraint_first.protocol import Call, Completion

if TYPE_CHECKING:
    from rich.status import Status

    from constraint_first.model.pull import Progress

AnyConsole: TypeAlias = console.Console
"""What rich hands to whatever renders itself."""


class SafeConsole(console.Console):
    """A rich console without markup that shows control characters and never obeys them.

    All output passes ``render``; only rich's own control segments (to move the cursor of a
    progress bar) come through it unchanged.
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
        self, renderable: console.RenderableType, options: console.ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """Make every segment printable, whatever its origin."""
        for segment in super().render(renderable, options):
            text, style, control = segment
            yield segment if control or text.isprintable() else Segment(printable(text), style)

    def status(self, status: console.RenderableType, **options: Any) -> Status:
        """Show a spinner; rich would read markup in a string."""
        return super().status(Text(status) if isinstance(status, str) else status, **options)

    def on_broken_pipe(self) -> None:
        """Leave the exit code to ``main``; rich would exit with 1."""
        self.quiet = True
        raise BrokenPipeError


# Progress bars on standard error: shown on a terminal, a few plain lines or nothing elsewhere.


@contextmanager
def bytes_bar(name: str, *, quiet: bool = False) -> Generator[Progress]:
    """Show how far a long file operation is."""
    console, name = SafeConsole(stderr=True, quiet=quiet), one_line(name)
    if not console.is_terminal:
        yield _in_quarters(console, name)
        return
    from rich import progress

    bar = progress.Progress(
        progress.TextColumn("{task.description}", markup=False),
        progress.BarColumn(),
        progress.DownloadColumn(),
        progress.TransferSpeedColumn(),
        progress.TimeRemainingColumn(),
        console=console,
    )
    task = bar.add_task(name, total=None)

    def report(done: int, total: int, doing: str) -> None:
        bar.start()  # only now: where nothing is fetched there is no bar
        bar.update(task, completed=done, total=total, description=f"{name}: {doing}")

    try:
        yield report
    finally:
        bar.stop()


def _in_quarters(console: SafeConsole, name: str) -> Progress:
    said = ("", -1)

    def report(done: int, total: int, doing: str) -> None:
        nonlocal said
        step = (doing, done * 4 // max(total, 1))
        if step != said:
            said = step
            console.print(f"{name}: {doing}, {done / 1e6:,.0f} of {total / 1e6:,.0f} MB")

    return report


@contextmanager
def count_bar(name: str) -> Generator[Callable[[int, int], None]]:
    """Show on a terminal how many things of how many are done; elsewhere nothing."""
    console = SafeConsole(stderr=True)
    if not console.is_terminal:
        yield lambda _done, _total: None
        return
    from rich import progress

    with progress.Progress(
        progress.TextColumn("{task.description}", markup=False),
        progress.BarColumn(),
        progress.MofNCompleteColumn(),
        progress.TimeRemainingColumn(),
        console=console,
        transient=True,
    ) as bar:
        task = bar.add_task(one_line(name), total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


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
        """Begin a call; the first one restarts the counts of seconds and tokens."""
        if not self and not self._title:
            self._began, self._written = self._clock(), 0
        self._running[id(call)] = (call, 0)

    def wrote(self, call: Call) -> None:
        """Count a piece of a reply: most endpoints send one for each token."""
        self._running[id(call)] = (call, self._running.get(id(call), (call, 0))[1] + 1)

    def restarted(self, call: Call) -> None:
        """Reset the count of a reply that is asked for again."""
        self._running[id(call)] = (call, 0)

    def finished(self, call: Call, completion: Completion) -> None:
        """Count a reply by the usage that the endpoint reports, else by its pieces."""
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


# Tables that fit a terminal: texts fold, and the least important columns go where room is short.

Kind: TypeAlias = Literal["number", "name", "prose"]
"""Numbers stay whole and stand to the right; names may fold anywhere, prose between words."""

_GAP: Final = 2
"""Spaces between columns."""
_SEAM: Final = lazy_pattern(r"[^\s,(/]*(?:[\s,(/]+|$)")
"""A part of a name with the marks behind which it may be folded."""
_SHORT_NAME: Final = 16
"""Characters of a name on a line; with less room for it a column is dropped."""
_SHORTEST_NAME: Final = 8
"""The same where no column is left to drop."""


class Column(NamedTuple):
    """A column: its heading, what is in it, and how soon it is dropped."""

    title: str = ""
    kind: Kind = "number"
    rank: int = 0
    """The highest goes first; 0 stays."""


class Section(NamedTuple):
    """Rows under a heading, or under none."""

    heading: str
    rows: list[tuple[Text, ...]]


class Table:
    """A table that rich renders at its own width in a file or a pipe, else within the terminal."""

    def __init__(
        self, *columns: Column | str, title: str = "", header: bool = True, more: str = "--json"
    ) -> None:
        self.columns = tuple(Column(c, "name") if isinstance(c, str) else c for c in columns)
        self.title = title
        self.caption = ""
        self._header = header
        self._more = more
        self._sections = [Section("", [])]

    @property
    def row_count(self) -> int:
        return sum(len(section.rows) for section in self._sections)

    def add_row(self, *cells: Text | str, style: str = "") -> None:
        """Add a row to the last section."""
        self._sections[-1].rows.append(tuple(_text(cell, style) for cell in cells))

    def add_section(self, heading: str) -> None:
        """Begin rows under a heading of their own."""
        self._sections.append(Section(heading, []))

    def __rich_console__(self, console: AnyConsole, options: ConsoleOptions) -> RenderResult:
        room = _room(console, options)
        kept, widths = self._fit(room)
        if self.title:
            yield Folded(Text(printable(self.title), "bold"))
        sections = [section for section in self._sections if section.rows]
        for number, section in enumerate(sections):
            if section.heading:
                if number or self.title:
                    yield ""
                yield Folded(Text(printable(section.heading), "bold"))
            # Explicit widths keep the columns of all sections aligned.
            yield from console.render(
                self._grid(section, kept, widths), options.update_width(max(_total(widths), 1))
            )
        gone = [at for at in range(len(self.columns)) if at not in kept]
        if shared := [
            f"{self.columns[at].title} {self._shared(at)}" for at in gone if self._shared(at)
        ]:
            yield Folded(Text(f"In all rows: {', '.join(shared)}.", "dim"))
        if dropped := [self.columns[at].title for at in gone if not self._shared(at)]:
            more = (
                f"a wider terminal or {self._more} shows"
                if self._more
                else "a wider terminal shows"
            )
            yield Folded(Text(f"Not shown at this width: {', '.join(dropped)}; {more} all.", "dim"))
        if self.caption:
            yield Folded(Text(printable(self.caption), "dim"))

    def _grid(
        self, section: Section, kept: Sequence[int], widths: Sequence[int]
    ) -> rich_table.Table:
        grid = rich_table.Table(
            box=None, padding=(0, _GAP, 0, 0), pad_edge=False, header_style="dim",
            show_header=self._header,
        )  # fmt: skip
        for at, width in zip(kept, widths, strict=True):
            column = self.columns[at]
            side = "right" if column.kind == "number" else "left"
            grid.add_column(_text(column.title), justify=side, width=width, overflow="fold")
        for row in section.rows:
            cells = zip(kept, widths, strict=True)
            grid.add_row(
                *(
                    _folded(row[at], w) if self.columns[at].kind == "name" else row[at]
                    for at, w in cells
                )
            )
        return grid

    def _fit(self, room: int | None) -> tuple[list[int], list[int]]:
        """Choose the columns that have room, and the width of each."""
        kept = [*range(len(self.columns))]
        most = [self._longest(at, "\n") for at in kept]
        if room is None:
            return kept, most
        least = [self._least(at, _SHORT_NAME) for at in kept]
        while _total([least[at] for at in kept]) > room:
            # A name that all rows share goes first; then the last of the highest rank.
            shared = [at for at in kept if self._shared(at)]
            last = max(shared or kept, key=lambda at: (self.columns[at].rank, at))
            if shared:
                kept.remove(last)
                continue
            if not self.columns[last].rank:
                least = [self._least(at, _SHORTEST_NAME) for at in range(len(self.columns))]
                break
            kept.remove(last)
        widths = [most[at] for at in kept]
        while _total(widths) > room:
            # The widest column that can still be folded gives way.
            spare = [i for i, at in enumerate(kept) if widths[i] > least[at]]
            if not spare:
                break
            widths[max(spare, key=widths.__getitem__)] -= 1
        return kept, widths

    def _shared(self, at: int) -> str:
        """Return the name that all of several rows have; empty where they differ."""
        names = [row[at].plain for section in self._sections for row in section.rows]
        alike = self.columns[at].kind == "name" and len(names) > 1 and len({*names}) == 1
        return names[0] if alike else ""

    def _least(self, at: int, name: int) -> int:
        """Measure a column folded between words, names within them, numbers not at all."""
        kind = self.columns[at].kind
        title = max(map(cell_len, self.columns[at].title.split()), default=0) * self._header
        if kind == "number":
            return max(title, self._longest(at, "\n", title=False))
        longest = self._longest(at, None, title=False)
        return max(title, min(longest, name) if kind == "name" else longest)

    def _longest(self, at: int, separator: str | None, *, title: bool = True) -> int:
        texts = [row[at].plain for section in self._sections for row in section.rows]
        texts += [self.columns[at].title] * (title and self._header)
        return max((cell_len(part) for text in texts for part in text.split(separator)), default=0)


def _folded(name: Text, width: int) -> Text:
    """Fold a name behind its marks, so that rich, which folds at spaces alone, cuts no word."""
    if name.cell_len <= width:
        return name
    lines, start = [name[:0]], 0
    for seam in _SEAM.finditer(name.plain):
        part = name[start : seam.end()]
        start = seam.end()
        if lines[-1].cell_len and lines[-1].cell_len + part.cell_len > width:
            lines.append(part)
        else:
            lines[-1] = lines[-1] + part
    return Text("\n").join(lines)


def _total(widths: Sequence[int]) -> int:
    return sum(widths) + _GAP * (len(widths) - 1)


def _text(cell: Text | str, style: str = "") -> Text:
    shown = Text(printable(cell)) if isinstance(cell, str) else cell.copy()
    if style:
        shown.style = style
    return shown


@dataclass(frozen=True, slots=True)
class Folded:
    """A text that keeps its lines in a file or a pipe, and folds between words on a terminal."""

    text: Text

    def __rich_console__(self, console: AnyConsole, options: ConsoleOptions) -> RenderResult:
        if _room(console, options) is None:
            options = options.update(width=max(self.text.cell_len, 1))
        yield from console.render(self.text, options)


def _room(console: AnyConsole, options: ConsoleOptions) -> int | None:
    return None if isinstance(console, SafeConsole) and console.is_unbounded else options.max_width
