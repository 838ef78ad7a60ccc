"""How commands show problems, cues, constraints, programs, checks and tables to a person."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Final

from rich.console import Group, RenderableType
from rich.text import Text

from constraint_first.cli.console import Column, Folded, SafeConsole, Table
from constraint_first.constraint.router import FAMILIES, Cue
from constraint_first.file.safe import one_line, printable
from constraint_first.protocol import Exchange, Output, Program, Usage

if TYPE_CHECKING:
    from constraint_first.constraint.stage1 import Recovered
    from constraint_first.method.sound import CheckSummary, Intervention
    from constraint_first.problem import Json
    from constraint_first.report.table import Table as Value

_LONGEST_OUTPUT: Final = 4_000
"""Characters of a program's output that are shown while it works; a store keeps them all."""
_MOST_SAMPLES: Final = 12
"""Answers of a vote that are listed."""
_LONGEST_SAMPLE: Final = 24
"""Characters of each."""
_LONGEST_CHANGED: Final = 72
"""Characters of an answer, or of a whole reply, before and after it was changed."""
_STYLES: Final = ("cyan", "magenta", "yellow", "green", "blue", "red", "bright_magenta")
_TONES: Final = {"plain": "", "gain": "green", "loss": "red", "muted": "dim"}
MARKS: Final = {
    "holds": Text("✓", "green"),
    "violated": Text("✗", "bold red"),
    "undecided": Text("?", "yellow"),
}
"""How each truth is marked."""


def cell(text: str, style: str = "") -> Text:
    """Make a text of any origin printable, brackets and control characters included."""
    return Text(printable(text), style)


def highlighted(text: str, found: tuple[Cue, ...]) -> Text:
    """Show a problem with its cues coloured by family."""
    shown = cell(text)
    for cue in found:
        for start, end in cue.spans:
            shown.stylize(f"bold {style_of(cue.family)}", start, end)
    return shown


def style_of(family: str) -> str:
    return _STYLES[[*FAMILIES].index(family)] if family in FAMILIES else "white"


def cues(text: str, found: tuple[Cue, ...]) -> Table:
    """List the cues that fired and the words that did it."""
    table = Table("family", Column("phrases", "prose"), header=False)
    for cue in found:
        phrases = ", ".join(dict.fromkeys(f"“{phrase}”" for phrase in cue.phrases(text)))
        table.add_row(Text(cue.family, style_of(cue.family)), phrases)
    return table


def constraints(recovered: Recovered) -> RenderableType:
    """Show Stage 1's constraints as a table, with what it says of the answer below."""
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
    """Show what a program printed, and its error; on the title's line where both fit in one."""
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
    """Print a table of a study, and its notes below."""
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
    """Rank the columns; where the table does not, the last ones are dropped first."""
    ranked = any(column.rank for column in table.columns)
    for at, column in enumerate(table.columns):
        title = f"{column.group} {column.title}".strip()
        rank = column.rank if ranked else max(at - 1, 0)
        yield Column(title, "number" if column.align == "right" else "name", rank)


def shown_checks(details: Mapping[str, Json], problem: str) -> RenderableType:
    """Show what the text demands, whether the answer meets it, and how far to trust the answer."""
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
    """List the answers that voted, to show how far they agree."""
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
