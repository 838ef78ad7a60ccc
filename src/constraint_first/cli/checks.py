"""The checks of an answer as a person sees them: each constraint with a mark, and a confidence."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from rich.console import Group, RenderableType
from rich.text import Text

from constraint_first.cli.table import Column, Table
from constraint_first.file.printable import one_line
from constraint_first.method.check_summary import CheckSummary, Intervention, read_summary
from constraint_first.problem import Json

__all__ = ["MARKS", "shown_checks"]

MARKS: Final = {
    "holds": Text("✓", "green"),
    "violated": Text("✗", "bold red"),
    "undecided": Text("?", "yellow"),
}
"""How each truth is marked."""

_MOST_SAMPLES: Final = 12
"""Answers of a vote that are listed."""
_LONGEST_SAMPLE: Final = 24
"""Characters of each."""
_LONGEST_CHANGED: Final = 72
"""Characters of an answer, or of a whole reply, before and after it was changed."""


def shown_checks(details: Mapping[str, Json], problem: str) -> RenderableType:
    """Show what the text demands, whether the answer meets it, and how far to trust the answer."""
    found = read_summary(details, problem)
    table = Table("", Column("demand", "prose"), Column("words", "prose"), header=False)
    for check in found.checks:
        words = Text(f"“{one_line(check.words)}”", "dim")
        table.add_row(MARKS[check.truth], Text(one_line(check.sentence)), words)
    notes = [Text(one_line(said), "bold yellow") for said in found.conflicts]
    notes += [Text(_told(done), "yellow") for done in found.interventions]
    confidence = Text(f"Confidence {found.confidence:.2f}{_samples(found)}", "dim")
    return Group(*([table] if table.row_count else []), *notes, confidence)


def _told(done: Intervention) -> str:
    said = f"{one_line(done.what)}: {_cut(done.before)} → {_cut(done.after)}"
    return f"{said}, because of {one_line(done.because)}" if done.words else said


def _samples(found: CheckSummary) -> str:
    """List the answers that voted, for a person to see how far they agree."""
    if not found.samples:
        return ""
    said = ["none" if one is None else _short(one) for one in found.samples[:_MOST_SAMPLES]]
    return f" (answers: {', '.join(said)}{', …' if len(found.samples) > len(said) else ''})"


def _short(answer: str) -> str:
    return _cut(answer, _LONGEST_SAMPLE)


def _cut(answer: str, longest: int = _LONGEST_CHANGED) -> str:
    shown = one_line(answer)
    return shown if len(shown) <= longest else f"{shown[:longest]}…"
