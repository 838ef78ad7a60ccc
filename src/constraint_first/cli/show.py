"""What commands print for people: the same cues, constraints and token tables everywhere."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from rich.console import Group, RenderableType
from rich.text import Text

from constraint_first.analysis.table.table import Cell
from constraint_first.analysis.table.table import Table as Value
from constraint_first.cli.console import SafeConsole
from constraint_first.cli.fold import Folded
from constraint_first.cli.table import Column, Table
from constraint_first.constraint.recovery import Recovered
from constraint_first.constraint.router import FAMILIES, Cue
from constraint_first.file.printable import one_line, printable
from constraint_first.protocol import Exchange, Output, Program, Usage

__all__ = [
    "constraints",
    "cues",
    "highlighted",
    "listing",
    "output",
    "print_notes",
    "print_table",
    "printable",
    "tokens",
]

_LONGEST_OUTPUT: Final = 4_000
"""Characters of a program's output that are shown while it works; a store keeps them all."""
_SHARED: Final = ("Model", "Benchmark")
"""Columns whose values may stand above the rows that have them in common."""
_STYLES: Final = ("cyan", "magenta", "yellow", "green", "blue", "red", "bright_magenta")


def highlighted(text: str, found: tuple[Cue, ...]) -> Text:
    """Show a problem with its cues coloured by family."""
    shown = Text(printable(text))
    for cue in found:
        for start, end in cue.spans:
            shown.stylize(f"bold {style_of(cue.family)}", start, end)
    return shown


def style_of(family: str) -> str:
    """Return the colour of a cue family."""
    return _STYLES[[*FAMILIES].index(family)] if family in FAMILIES else "white"


def cues(text: str, found: tuple[Cue, ...]) -> Table:
    """List the cues that fired and the words that did it."""
    table = Table("family", Column("phrases", "prose"), header=False)
    for cue in found:
        phrases = ", ".join(dict.fromkeys(f"“{phrase}”" for phrase in cue.phrases(text)))
        table.add_row(Text(cue.family, style=style_of(cue.family)), Text(printable(phrases)))
    return table


def constraints(recovered: Recovered) -> RenderableType:
    """Show Stage 1's constraints as a table, with what it says of the answer below."""
    spec = recovered.spec
    table = Table("", "kind", Column("constraint", "prose"))
    for raw in spec.raw_constraints:
        table.add_row(*map(_cell, (raw.id, raw.type, raw.description)))
    for derived in spec.propagated_constraints:
        source = f"from {', '.join(derived.derived_from)}" if derived.derived_from else "derived"
        table.add_row(*map(_cell, (derived.id, source, derived.description)))
    notes = Table("name", Column("value", "prose"), header=False)
    for name, value in (
        ("range", spec.likely_answer_range),
        ("format", spec.answer_format),
        ("critical", ", ".join(spec.critical_constraints)),
        ("danger", spec.danger_note),
    ):
        if value:
            notes.add_row(Text(name, style="dim"), _cell(value))
    return Group(table, notes) if table.row_count else notes


def listing(program: Program) -> Text:
    """Show the source of a program."""
    source = printable(program.source.strip("\n"))
    return Text.assemble(("Program\n", "bold"), (f"{source}\n", "cyan"))


def output(output: Output, title: str = "Output") -> Text:
    """Show what a program printed, and why it did not run to its end; one line where that does."""
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
    """Account for the tokens of each stage and of all together."""
    less = {"reasoning": 1, "cached": 2}
    counted = ("input", "output", "reasoning", "cached", "total")
    table = Table("stage", *(Column(title, rank=less.get(title, 0)) for title in counted))
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


def print_table(table: Value) -> None:
    """Print a table for people, with the sentences that belong under it."""
    shown = Table(*_columns(table), title=table.title)
    for line in table.rows:
        if line.kind == "heading":
            shown.add_section(line.cells[0].text)
        else:
            shown.add_row(*map(_toned, line.cells))
    SafeConsole().print(shown)
    print_notes(table.notes)


def print_notes(notes: Iterable[str]) -> None:
    """Print sentences that belong under a table."""
    console = SafeConsole()
    for note in notes:
        console.print(Folded(Text(printable(note), style="dim")))


def _columns(table: Value) -> Iterator[Column]:
    """Say what may become of each column; where none is said to matter less, the last ones do."""
    ranked = any(column.rank for column in table.columns)
    for at, column in enumerate(table.columns):
        title = f"{column.group} {column.title}".strip()
        rank = column.rank if ranked else max(at - 1, 0)
        if column.align == "right":
            yield Column(title, rank=rank)
        else:
            yield Column(title, "name", rank, shared=title in _SHARED)


def _toned(cell: Cell) -> Text:
    tones = {"plain": "", "gain": "green", "loss": "red", "muted": "dim"}
    return Text(printable(cell.text), style=("bold " if cell.bold else "") + tones[cell.tone])


def _counts(usage: Usage) -> tuple[str, ...]:
    counts = (usage.input, usage.output, usage.reasoning, usage.cached, usage.total)
    return tuple(f"{count:,}" if usage.reported else "not reported" for count in counts)


def _cell(text: str) -> Text:
    return Text(printable(text))
