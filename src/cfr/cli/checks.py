"""The checks of an answer as a person sees them: each constraint with a mark, and a confidence."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from rich.console import Group, RenderableType
from rich.text import Text

from cfr.cli.table import Column, Table
from cfr.file.printable import one_line
from cfr.problem import Json

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


def shown_checks(details: Mapping[str, Json], problem: str) -> RenderableType:
    """Show what the text demands, whether the answer meets it, and how far to trust the answer."""
    table = Table("", Column("demand", "prose"), Column("words", "prose"), header=False)
    checks = {str(check.get("sentence")): check for check in _objects(details.get("checks"))}
    for sentence, check in checks.items():  # what the text says twice is shown once
        mark = MARKS.get(str(check.get("truth")), MARKS["undecided"])
        words = Text(f"“{_words(check, problem)}”", "dim")
        table.add_row(mark, Text(one_line(sentence)), words)
    notes = [Text(line, "yellow") for line in _mended(details)]
    confidence = Text(f"Confidence {details.get('confidence', 0):.2f}{_samples(details)}", "dim")
    return Group(*([table] if table.row_count else []), *notes, confidence)


def _samples(details: Mapping[str, Json]) -> str:
    """List the answers that voted, for a person to see how far they agree."""
    samples = details.get("samples")
    if not isinstance(samples, list):
        return ""
    said = ["none" if one is None else _short(str(one)) for one in samples[:_MOST_SAMPLES]]
    return f" (answers: {', '.join(said)}{', …' if len(samples) > len(said) else ''})"


def _short(answer: str) -> str:
    shown = one_line(answer)
    return shown if len(shown) <= _LONGEST_SAMPLE else f"{shown[:_LONGEST_SAMPLE]}…"


def _mended(details: Mapping[str, Json]) -> Iterator[str]:
    """Say what was done about an answer that broke a constraint."""
    for done in _objects(details.get("interventions")):
        before, after = (one_line(str(done.get(name))) for name in ("before", "after"))
        yield f"{one_line(str(done.get('what')))}: {before} → {after}"


def _objects(value: Json) -> list[dict[str, Json]]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _words(check: Mapping[str, Json], problem: str) -> str:
    """Quote the text where it states a constraint."""
    span = check.get("span")
    ends = [end for end in span if isinstance(end, int)] if isinstance(span, list) else []
    return one_line(problem[slice(*ends)]) if len(ends) == 2 else ""
