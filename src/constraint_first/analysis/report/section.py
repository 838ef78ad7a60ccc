"""Section of a report, and what is left out of it because the data have nothing for it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from constraint_first.analysis.figure.figure import Figure
from constraint_first.analysis.table.table import Table

__all__ = ["Section", "filled", "left_out"]


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a report."""

    name: str
    title: str
    claims: tuple[str, ...] = ()
    tables: tuple[Table, ...] = ()
    figures: tuple[Figure, ...] = ()
    published: tuple[Table, ...] = ()
    """What the paper printed in the place of these."""
    notes: tuple[str, ...] = ()
    """Sentences that belong under the claims."""

    @property
    def empty(self) -> bool:
        """Whether there is nothing to see in it."""
        return not (self.figures or any(table.rows for table in self.tables))


def filled(section: Section) -> Section:
    """Keep the tables of a section that have rows."""
    return replace(section, tables=tuple(table for table in section.tables if table.rows))


def left_out(sections: Iterable[Section], keep: str) -> Section:
    """Gather what sections could not show: a sentence for each reason, and the paper's tables.

    The section that is named in ``keep`` stays where it is, even if all it has is a sentence.
    """
    reasons: dict[str, list[str]] = {}
    published: list[Table] = []
    for section in sections:
        for table in section.tables:
            if not table.rows:
                reasons.setdefault(" ".join(table.notes), []).append(table.title)
        if section.empty and section.name != keep:
            published += section.published
            for claim in section.claims:
                reasons.setdefault(claim, []).append(section.title)
    claims = (f"{'; '.join(dict.fromkeys(what))}: {why}" for why, what in reasons.items() if why)
    return Section("left-out", "Not in these data", tuple(claims), published=tuple(published))
