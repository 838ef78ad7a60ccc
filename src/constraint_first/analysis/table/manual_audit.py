"""Tables of the manual audit: rates by model, and agreement between annotators.

Paper: Stage 1 Constraint Reliability.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from constraint_first.analysis.audit.manual.annotation import (
    ALL,
    Accord,
    Rates,
    Share,
    accords,
    by_attempt,
    rates,
)
from constraint_first.analysis.audit.manual.error_label import ErrorLabel, error_accords
from constraint_first.analysis.audit.manual.label import Label
from constraint_first.analysis.notation import NONE, decimal, percent, scored, several
from constraint_first.analysis.study.study import model_label
from constraint_first.analysis.table.table import Cell, Column, Row, Table, row

__all__ = ["annotator_table", "error_annotator_table", "manual_audit_table"]


def manual_audit_table(labels: Sequence[Label]) -> Table:
    """Tabulate the rates, a row for each model."""
    found = rates(labels)
    return Table(
        "manual-extraction",
        "Manual audit of Stage 1 constraints",
        (
            Column("Model", "left"),
            Column("Attempts"),
            Column("Raw"),
            Column("Propagated"),
            Column("Marked"),
            Column("Validity % [95 %]"),
            Column("of propagated"),
            Column("Hallucination"),
            Column("Vague"),
            Column("Completeness"),
            Column("of n"),
        ),
        tuple(map(_row, found)),
        tuple(_notes(labels)),
        ("tab:extraction-reliability",),
    )


def _row(one: Rates) -> Row:
    return row(
        Cell(one.model if one.model == ALL else model_label(one.model), bold=one.model == ALL),
        str(one.attempts),
        f"{one.raw:.2f}",
        f"{one.propagated:.2f}",
        str(one.constraints),
        *map(_share, (one.validity, one.propagated_validity, one.hallucination, one.vague)),
        _share(one.completeness),
        f"{one.completeness.n:g}",
    )


def _share(share: Share) -> str:
    if share.value is None or share.interval is None:
        return NONE
    low, high = share.interval
    return scored(100 * share.value, (100 * low, 100 * high))


def _notes(labels: Sequence[Label]) -> Iterator[str]:
    yield (
        "Raw and propagated are mean numbers of constraints in an attempt, among attempts that "
        "have any. Validity: entailed among all that were marked, raw and propagated; all of them "
        "are carried into Stage 2."
    )
    yield (
        "Hallucination: not entailed, of the same. Completeness: entailed raw constraints among "
        "these and the missing ones. The Wilson intervals take constraints to be independent."
    )
    if any(len(group) > 1 for group in by_attempt(labels).values()):
        yield "An attempt that several people judged counts once, as the mean of their marks."
    if drafts := sum(not label.complete for label in labels):
        yield f"Begun, not finished and left out: {several(drafts, 'attempt')}."


def annotator_table(labels: Sequence[Label]) -> Table:
    """Tabulate agreement between annotators of constraints, a row for every two."""
    columns = (Column("Attempts"), Column("Constraints"))
    return _accord_table("Agreement between annotators", accords(labels), columns)


def error_annotator_table(labels: Sequence[ErrorLabel]) -> Table:
    """Tabulate agreement between annotators of errors, a row for every two."""
    return _accord_table(
        "Agreement on error classes", error_accords(labels), (Column("Errors"),), "error-annotators"
    )


def _accord_table(
    title: str, found: Sequence[Accord], counted: tuple[Column, ...], name: str = "annotators"
) -> Table:
    notes = [
        f"{' and '.join(a.annotators)}: κ is not defined, {a.reason}." for a in found if a.reason
    ]
    if not found:
        notes = ["Agreement needs two annotators."]
    return Table(
        name,
        title,
        (Column("Annotators", "left"), *counted, Column("Agreement"), Column("Cohen's κ")),
        tuple(
            row(
                ", ".join(one.annotators),
                *(str(count) for count in (one.attempts, one.n)[-len(counted) :]),
                percent(one.agreement),
                decimal(one.kappa, 2),
            )
            for one in found
        ),
        tuple(notes),
    )
