"""Tables of Stage 1 replies: recovery steps, numbers of constraints, and their soundness.

Paper: Stage 1 Constraint Reliability; appendix JSON Parsing and Error Handling.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from constraint_first.analysis.audit.extraction import (
    ConstraintCounts,
    Quality,
    RecoveryCounts,
    count_constraints,
    count_recovery,
)
from constraint_first.analysis.notation import NONE, decimal, interval, percent, several, share
from constraint_first.analysis.statistics.interval import wilson
from constraint_first.analysis.study.study import Study, model_label
from constraint_first.analysis.table.table import Column, Row, Table, row
from constraint_first.constraint.recovery import RUNGS

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
        "A reply is read by the first recovery step that can: parsed as JSON; empty, valid JSON "
        "without a constraint; repaired into JSON; fields, picked out of the text; fallback. After "
        "an empty reply and a fallback the problem is solved without constraints. Malformed: not "
        "JSON as it stood, thinking before it aside; a fence of code around it is enough. "
        "Its interval is Wilson's."
    ]
    if odd:
        unknown = several(odd, "reply", "replies")
        notes.append(f"Read by a step of another name and counted as malformed: {unknown}.")
    if any(one.by_rung.get("fallback") for one in found):
        notes.append(
            "Runs of versions that did not tell them apart keep valid but empty replies under "
            "fallback, and those with thinking before their JSON under repaired."
        )
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
        *(Column("Validity"), Column("Halluc."), Column("Complete")),
        Column("Judged", "left"),
    )
    chosen = [quality.get((one.model, one.method)) for one in found]
    rows = [
        line
        for one, known in zip(found, chosen, strict=True)
        for line in (_counts_row(one, known), *_rows_apart(known))
    ]
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
        *_rates(quality),
        _judged(quality),
    )


def _rows_apart(quality: Quality | None) -> Iterator[Row]:
    """Show what a reply says of the answer's range and format, which are no constraints."""
    for name, one in quality.apart.items() if quality else ():
        total = one.gold.statements if one.gold else one.n
        yield row("", name, "", "", "", *_rates(one)[:2], "", f"by gold: {one.n:,} of {total:,}")


def _rates(quality: Quality | None) -> tuple[str, str, str]:
    if quality is None:
        return NONE, NONE, NONE
    shares = (
        (quality.validity, quality.n),
        (quality.hallucination, quality.n),
        (quality.completeness, quality.expected),
    )
    valid, made_up, complete = (_rate(value, n) for value, n in shares)
    return valid, made_up, complete


def _rate(value: float | None, n: float) -> str:
    if value is None or not n:
        return NONE
    low, high = wilson(value * n, n)
    return percent(value) + interval((100 * low, 100 * high))


def _judged(quality: Quality | None) -> str:
    if quality is None:
        return NONE
    whole = f"; complete: of {quality.expected:,}" if quality.expected else ""
    if (gold := quality.gold) is None:
        return f"by hand: {quality.n:,}{whole}"
    of = f" of {gold.replies:,}" if gold.audited < gold.replies else ""
    listed = f"{quality.n:,} of {gold.statements:,} constraints"
    return f"by gold: {listed} in {gold.audited:,}{of} replies{whole}"


_BY_GOLD: Final = (
    "By gold: valid is what the gold constraints of a problem imply, hallucinated what its true "
    "answer contradicts; what is true and not implied is neither. What cannot be decided is left "
    "out. Complete: the gold constraints that a reply states anywhere."
)
_BY_HAND: Final = (
    "By hand: complete is what people found entailed among the raw constraints and what they found "
    "missing."
)
_APART: Final = (
    "Answer range and answer format are fields of the reply beside its constraints. They are "
    "judged alike and counted apart; the paper's figures are of constraints alone."
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
            "Intervals of validity, hallucination and completeness are Wilson's and take "
            "constraints to be independent: they understate the uncertainty."
        )
    if len(known) < len(found):
        yield f"{NONE}: not audited, which takes gold constraints or a person's marks."
    if any(one.gold for one in known):
        yield _BY_GOLD
    if any(one.gold is None for one in known):
        yield _BY_HAND
    if any(one.apart for one in known):
        yield _APART
