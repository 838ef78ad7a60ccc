"""Tables of Stage 1 replies: recovery steps, numbers of constraints, and their soundness.

Paper: Stage 1 Constraint Reliability; appendix JSON Parsing and Error Handling.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from cfr.analysis.audit.extraction import (
    ConstraintCounts,
    Quality,
    RecoveryCounts,
    count_constraints,
    count_recovery,
)
from cfr.analysis.notation import NONE, decimal, interval, percent, several, share
from cfr.analysis.study.study import Study, model_label
from cfr.analysis.table.table import Column, Row, Table, row
from cfr.constraint.recovery import RUNGS

__all__ = ["NOTHING", "extraction_table", "parsing_table"]


NOTHING: Final = "No attempt of this study has a Stage 1 reply on record."
"""The note of a table about Stage 1 in a study that has none."""


def parsing_table(study: Study) -> Table:
    """Tabulate Stage 1 replies by recovery step."""
    found = count_recovery(study)
    columns = (
        *(Column("Model", "left"), Column("Method", "left"), Column("Replies")),
        *(Column(rung.capitalize()) for rung in RUNGS),
        Column("Malformed [95 %]"),
    )
    odd = sum(one.unknown for one in found)
    notes = [
        "A reply is read by the first recovery step that can: parsed as JSON; repaired into JSON; "
        "fields, picked out of the text; fallback, where the problem is solved without "
        "constraints. Malformed: not JSON as it stood; a fence of code around it is enough. "
        "Its interval is Wilson's."
    ]
    if odd:
        unknown = several(odd, "reply", "replies")
        notes.append(f"Read by a step of another name and counted as malformed: {unknown}.")
    return Table(
        "parsing",
        "Stage 1 replies by recovery step",
        columns,
        tuple(map(_parsing_row, found)),
        notes=tuple(notes) if found else (NOTHING,),
    )


def _parsing_row(one: RecoveryCounts) -> Row:
    low, high = one.malformed_interval
    return row(
        model_label(one.model),
        one.name,
        f"{one.total:,}",
        *(share(one.by_rung.get(rung, 0), one.total) for rung in RUNGS),
        percent(one.malformed_rate) + interval((100 * low, 100 * high)),
    )


def extraction_table(
    study: Study, quality: Mapping[tuple[str, str], Quality] | None = None
) -> Table:
    """Tabulate how many constraints Stage 1 lists and, where they were audited, how sound they are.

    ``quality`` is by model and method.
    """
    found, quality = count_constraints(study), quality or {}
    columns = (
        *(Column("Model", "left"), Column("Method", "left"), Column("Problems")),
        *(Column("Raw [95 %]"), Column("Propagated [95 %]")),
        *(Column("Validity"), Column("Halluc."), Column("Judged", "left")),
    )
    chosen = [quality.get((one.model, one.method)) for one in found]
    rows = [_counts_row(one, known) for one, known in zip(found, chosen, strict=True)]
    return Table(
        "extraction",
        "Stage 1: constraints for a problem, and their soundness",
        columns,
        tuple(rows),
        notes=tuple(_extraction_notes(found, chosen)) if found else (NOTHING,),
        paper=("tab:extraction-reliability",),
    )


def _counts_row(one: ConstraintCounts, quality: Quality | None) -> Row:
    return row(
        model_label(one.model),
        one.name,
        f"{one.problems:,}",
        *(decimal(m.value, 2) + interval(m.interval, 2) for m in (one.raw, one.propagated)),
        *_sound(quality),
        _judged(quality),
    )


def _sound(quality: Quality | None) -> tuple[str, str]:
    if quality is None:
        return NONE, NONE
    valid, made_up = (
        percent(share) + interval(quality.interval(share))
        for share in (quality.validity, quality.hallucination)
    )
    return valid, made_up


def _judged(quality: Quality | None) -> str:
    if quality is None:
        return NONE
    if (gold := quality.gold) is None:
        return f"by hand: {quality.n:,}"
    of = f" of {gold.replies:,}" if gold.audited < gold.replies else ""
    statements = f"{quality.n:,} of {gold.statements:,} statements"
    return f"by gold: {statements} in {gold.audited:,}{of} replies"


_BY_GOLD: Final = (
    "By gold: valid is what the gold constraints of a problem imply, hallucinated what its true "
    "answer contradicts; what is true and not implied is neither. Statements that cannot be "
    "decided are left out."
)


def _extraction_notes(
    found: Sequence[ConstraintCounts], chosen: Sequence[Quality | None]
) -> Iterator[str]:
    yield (
        "Raw: constraints read from the problem. Propagated: consequences that the reply derives. "
        "Both are means over the replies to a problem, then over problems; a reply that could not "
        "be used counts as none. Their intervals are BCa, of a bootstrap over problems."
    )
    known = list(filter(None, chosen))
    if any(one.n for one in known):
        yield (
            "Intervals of validity and hallucination are Wilson's and take statements to be "
            "independent: they understate the uncertainty."
        )
    if len(known) < len(found):
        yield f"{NONE}: not audited, which takes gold constraints or a person's marks."
    if any(one.gold for one in known):
        yield _BY_GOLD
