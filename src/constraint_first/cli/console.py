"""The console of every command: tables, progress and colours, with hostile text made harmless."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, TypeAlias

from rich import console
from rich import table as rich_table
from rich.cells import cell_len
from rich.console import ConsoleOptions, Group, RenderableType, RenderResult
from rich.segment import Segment
from rich.text import Text

from constraint_first.constraint.router import FAMILIES, Cue
from constraint_first.file.safe import one_line, printable
from constraint_first.pattern import lazy_pattern
from constraint_first.protocol import Call, Completion, Exchange, Output, Program, Usage

if TYPE_CHECKING:
    from rich.status import Status

    from constraint_first.constraint.stage1 import Recovered
    from constraint_first.method.sound import CheckSummary, Intervention
    from constraint_first.model.local import Progress
    from constraint_first.problem import Json
    from constraint_first.report.table import Table as Value

AnyConsole: TypeAlias = console.Console
"""The console that rich passes to an object that renders itself."""


class SafeConsole(console.Console):
    """A rich console without markup that makes control characters visible and harmless.

    All output passes through ``render``; only rich's own control segments (which move the cursor
    of a progress bar) stay unchanged.
    """

    def __init__(
        self, *, stderr: bool = False, quiet: bool = False, width: int | None = None
    ) -> None:
        super().__init__(
            stderr=stderr, quiet=quiet, width=width, markup=False, emoji=False, highlight=False
        )

        self.is_unbounded = width is None and not self.is_terminal and "COLUMNS" not in os.environ
        """Whether lines may have any length: in a file or a pipe, unless a width was requested."""

    def print(self, *objects: Any, **options: Any) -> None:
        """Print whole lines: a truncated number is a wrong number."""
        options.setdefault("crop", False)
        super().print(*objects, **options)

    def render_str(self, text: str, **options: Any) -> Text:
        """Make a string printable before its width is measured."""
        return super().render_str(printable(text), **options)

    def render(
        self, renderable: console.RenderableType, options: console.ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """Make every segment printable, including those made by rich."""
        for segment in super().render(renderable, options):
            text, style, control = segment
            yield segment if control or text.isprintable() else Segment(printable(text), style)

    def status(self, status: console.RenderableType, **options: Any) -> Status:
        """Show a spinner; rich would parse markup in a string."""
        return super().status(Text(status) if isinstance(status, str) else status, **options)

    def on_broken_pipe(self) -> None:
        """Leave the exit code to ``main``; rich would exit with 1."""
        self.quiet = True
        raise BrokenPipeError


# Progress bars on standard error: shown on a terminal, a few plain lines or nothing elsewhere.


@contextmanager
def bytes_bar(name: str, *, quiet: bool = False) -> Generator[Progress]:
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
        bar.start()  # started late: without a download there is no bar
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
    """Show on a terminal how many items are done; elsewhere nothing."""
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


# A status line while nothing is printed: the running calls, their tokens and seconds so far.


class Activity:
    """The calls and programs that are under way; rich renders it again at each refresh."""

    def __init__(self, title: str = "") -> None:
        self.programs = 0
        """Programs that are running."""
        self._title = title
        self._began = time.monotonic()
        self._written = 0
        self._running: dict[int, tuple[Call, int]] = {}

    def __bool__(self) -> bool:
        return bool(self._running or self.programs)

    def __rich__(self) -> Text:
        tokens = self._written + sum(count for _, count in self._running.values())
        said = f"about {tokens:,} tokens, " if tokens else ""
        return Text(f"{self._what()}  {said}{time.monotonic() - self._began:.0f} s")

    def started(self, call: Call) -> None:
        """Add a call; the first one resets the counts of seconds and tokens."""
        if not self and not self._title:
            self._began, self._written = time.monotonic(), 0
        self._running[id(call)] = (call, 0)

    def wrote(self, call: Call) -> None:
        """Count a piece of a reply: most endpoints send one for each token."""
        self._running[id(call)] = (call, self._running.get(id(call), (call, 0))[1] + 1)

    def restarted(self, call: Call) -> None:
        self._running[id(call)] = (call, 0)

    def finished(self, call: Call, completion: Completion) -> None:
        """Count a reply by its reported usage, else by its pieces."""
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


# Tables that fit a terminal: texts are folded, and the least important columns are dropped in
# narrow terminals.

Kind: TypeAlias = Literal["number", "name", "prose"]
"""Numbers stay whole and are aligned right; names may fold anywhere, prose between words."""

_GAP: Final = 2
"""Spaces between columns."""
_SEAM: Final = lazy_pattern(r"\(?[^\s,(/]*(?:\s+|[,(/]+\s*|$)")
"""A part of a name with the punctuation after which it may be folded."""
_SHORT_NAME: Final = 16
"""Characters of a name on a line; if there is less room, a column is dropped."""
_SHORTEST_NAME: Final = 8
"""The same if no column is left to drop."""


class Column(NamedTuple):
    """A column: its heading, its type, and how soon it is dropped."""

    title: str = ""
    kind: Kind = "number"
    rank: int = 0
    """The highest rank is dropped first; 0 never is."""


class Section(NamedTuple):
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
        self._sections[-1].rows.append(tuple(_text(cell, style) for cell in cells))

    def add_section(self, heading: str) -> None:
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
        kept = [*range(len(self.columns))]
        most = [self._longest(at, "\n") for at in kept]
        if room is None:
            return kept, most
        least = [self._least(at, _SHORT_NAME) for at in kept]
        while _total([least[at] for at in kept]) > room:
            # Drop a name that all rows share first; then the last column of the highest rank.
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
            # Narrow the widest column that can still be folded.
            spare = [i for i, at in enumerate(kept) if widths[i] > least[at]]
            if not spare:
                break
            widths[max(spare, key=widths.__getitem__)] -= 1
        return kept, widths

    def _shared(self, at: int) -> str:
        """Return the name that all rows share; empty if they differ."""
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
    """Fold a name after punctuation: rich folds only at spaces and would cut words."""
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


def _text(content: Text | str, style: str = "") -> Text:
    shown = cell(content) if isinstance(content, str) else content.copy()
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


# Problems, cues, constraints, programs, checks and tables, as text for people.

_LONGEST_OUTPUT: Final = 4_000
"""Characters of a program's output that are shown while it works; a store keeps them all."""
_MOST_SAMPLES: Final = 12
"""Answers of a vote that are listed."""
_LONGEST_SAMPLE: Final = 24
"""Characters of each answer."""
_LONGEST_CHANGED: Final = 72
"""Characters shown of an answer or a whole reply before and after a change."""
_STYLES: Final = ("cyan", "magenta", "yellow", "green", "blue", "red", "bright_magenta")
_TONES: Final = {"plain": "", "gain": "green", "loss": "red", "muted": "dim"}
MARKS: Final = {
    "holds": Text("✓", "green"),
    "violated": Text("✗", "bold red"),
    "undecided": Text("?", "yellow"),
}
"""The mark of each truth value."""


def cell(text: str, style: str = "") -> Text:
    """Make a text of any origin printable, brackets and control characters included."""
    return Text(printable(text), style)


def highlighted(text: str, found: tuple[Cue, ...]) -> Text:
    shown = cell(text)
    for cue in found:
        for start, end in cue.spans:
            shown.stylize(f"bold {style_of(cue.family)}", start, end)
    return shown


def style_of(family: str) -> str:
    at = [*FAMILIES].index(family) if family in FAMILIES else None
    return "white" if at is None else _STYLES[at % len(_STYLES)]


def cues(text: str, found: tuple[Cue, ...]) -> Table:
    table = Table("family", Column("phrases", "prose"), header=False)
    for cue in found:
        phrases = ", ".join(dict.fromkeys(f"“{phrase}”" for phrase in cue.phrases(text)))
        table.add_row(Text(cue.family, style_of(cue.family)), phrases)
    return table


def constraints(recovered: Recovered) -> RenderableType:
    spec = recovered.spec
    table = Table("", "kind", Column("constraint", "prose"))
    for raw in spec.raw_constraints:
        table.add_row(raw.id, raw.type, raw.description)
    for derived in spec.propagated_constraints:
        source = f"from {', '.join(derived.derived_from)}" if derived.derived_from else "derived"
        table.add_row(derived.id, source, derived.description)
    notes = Table("name", Column("value", "prose"), header=False)
    for name, value in (
        ("range", spec.likely_answer_range),
        ("format", spec.answer_format),
        ("critical", ", ".join(spec.critical_constraints)),
        ("danger", spec.danger_note),
    ):
        if value:
            notes.add_row(Text(name, "dim"), value)
    return Group(table, notes) if table.row_count else notes


def listing(program: Program) -> Text:
    source = printable(program.source.strip("\n"))
    return Text.assemble(("Program\n", "bold"), (f"{source}\n", "cyan"))


def output(output: Output, title: str = "Output") -> Text:
    """Show a program's output and its error, on the title's line if they fit."""
    printed = printable(output.text.strip("\n"))
    if len(printed) > _LONGEST_OUTPUT:
        printed = f"{printed[:_LONGEST_OUTPUT]} …"
    parts = [(printed, "")] if printed else []
    if output.error:
        parts.append((one_line(output.error), "red"))
    lines = Text("\n").join(Text(*part) for part in parts or [("nothing", "dim")])
    between = "\n" if "\n" in lines.plain else "  "
    return Text.assemble((title + between, "bold"), lines, "\n")


def tokens(exchanges: Iterable[Exchange]) -> Table:
    rank = {"reasoning": 1, "cached": 2}
    counted = ("input", "output", "reasoning", "cached", "total")
    table = Table("stage", *(Column(title, rank=rank.get(title, 0)) for title in counted))
    by_stage: dict[str, Usage] = {}
    for exchange in exchanges:
        call, usage = exchange.call, exchange.completion.usage
        stage = call.stage if call.model is None else f"{call.stage} by {printable(call.model)}"
        by_stage[stage] = by_stage[stage] + usage if stage in by_stage else usage
    for stage, usage in by_stage.items():
        table.add_row(stage, *_counts(usage))
    if len(by_stage) > 1:
        table.add_row("all", *_counts(sum(by_stage.values(), Usage())), style="bold")
    return table


def _counts(usage: Usage) -> tuple[str, ...]:
    counts = (usage.input, usage.output, usage.reasoning, usage.cached, usage.total)
    return tuple(f"{count:,}" if usage.reported else "not reported" for count in counts)


def print_table(table: Value) -> None:
    shown = Table(*_columns(table), title=table.title)
    for line in table.rows:
        if line.kind == "heading":
            shown.add_section(line.cells[0].text)
        else:
            shown.add_row(
                *(cell(one.text, "bold " * one.bold + _TONES[one.tone]) for one in line.cells)
            )
    SafeConsole().print(shown)
    print_notes(table.notes)


def print_notes(notes: Iterable[str]) -> None:
    console = SafeConsole()
    for note in notes:
        console.print(Folded(cell(note, "dim")))


def _columns(table: Value) -> Iterator[Column]:
    """Rank the columns; without ranks, the last ones are dropped first."""
    ranked = any(column.rank for column in table.columns)
    for at, column in enumerate(table.columns):
        title = f"{column.group} {column.title}".strip()
        rank = column.rank if ranked else max(at - 1, 0)
        yield Column(title, "number" if column.align == "right" else "name", rank)


def shown_checks(details: Mapping[str, Json], problem: str) -> RenderableType:
    """Show the text's demands, whether the answer meets them, and the confidence in the answer."""
    from constraint_first.method.sound import read_summary

    found = read_summary(details, problem)
    table = Table("", Column("demand", "prose"), Column("words", "prose"), header=False)
    for check in found.checks:
        words = Text(f"“{one_line(check.words)}”", "dim")
        table.add_row(MARKS[check.truth], one_line(check.sentence), words)
    notes = [Text(one_line(said), "bold yellow") for said in found.conflicts]
    notes += [Text(_change(done), "yellow") for done in found.interventions]
    confidence = Text(f"Confidence {found.confidence:.2f}{_samples(found)}", "dim")
    return Group(*([table] if table.row_count else []), *notes, confidence)


def _change(done: Intervention) -> str:
    said = f"{one_line(done.what)}: {_cut(done.before)} → {_cut(done.after)}"
    return f"{said}, because of {one_line(done.because)}" if done.words else said


def _samples(found: CheckSummary) -> str:
    if not found.samples:
        return ""
    said = [
        "none" if one is None else _cut(one, _LONGEST_SAMPLE)
        for one in found.samples[:_MOST_SAMPLES]
    ]
    return f" (answers: {', '.join(said)}{', …' if len(found.samples) > len(said) else ''})"


def _cut(answer: str, longest: int = _LONGEST_CHANGED) -> str:
    shown = one_line(answer)
    return shown if len(shown) <= longest else f"{shown[:longest]}…"
