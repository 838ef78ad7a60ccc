"""Tables of interventions: accuracy with and without them, and what each kind did."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from constraint_first.analysis.audit.interventions import StepCount, Undone, undo_interventions
from constraint_first.analysis.notation import NONE, counted, decimal, p_value, several
from constraint_first.analysis.study.study import Study, benchmark_label, model_label
from constraint_first.analysis.table.gain import delta
from constraint_first.analysis.table.table import Column, Row, Table, row

__all__ = ["intervention_tables"]

_UNDONE: Final = (
    "Undone: the answers, or whole replies, as they were before any check changed them, judged by "
    "the same gold. Changed: attempts whose answer an intervention led to. The gain is paired, "
    "problem by problem, with a BCa interval and an exact sign-flip test, not corrected for the "
    "number of rows. Tokens that the interventions cost stay spent."
)
_STEPS: Final = (
    "Each step on the way to the answer that stands, judged before and after it; an attempt may "
    "have several. Steps that were tried and led to nothing are not counted."
)


def intervention_tables(study: Study) -> tuple[Table, ...]:
    """Tabulate the arms that have interventions on record; none where no arm has."""
    found = undo_interventions(study)
    return (_undone_table(found), _steps_table(found)) if found else ()


def _undone_table(found: Sequence[Undone]) -> Table:
    return Table(
        "interventions",
        "Interventions undone, accuracy in %",
        (
            *(Column("Model", "left"), Column("Benchmark", "left"), Column("Method", "left")),
            *(Column("Changed", rank=2), Column("Undone"), Column("As it is")),
            *(Column("Gain [95 %]"), Column("Better / worse", rank=1), Column("p", rank=3)),
        ),
        tuple(map(_row, found)),
        (_UNDONE, *_notes(found)),
    )


def _row(one: Undone) -> Row:
    pair = one.pair
    return row(
        *(model_label(one.arm.model) or NONE, benchmark_label(one.arm.benchmark) or NONE),
        *(one.arm.name, counted(one.changed, one.judged)),
        *(decimal(pair.before), decimal(pair.after), delta(pair.gain, pair.interval)),
        *(f"{pair.improved:,} / {pair.degraded:,}", p_value(pair.p)),
    )


def _notes(found: Sequence[Undone]) -> Iterator[str]:
    if in_votes := sum(one.in_votes for one in found):
        attempts = several(in_votes, "attempt")
        yield (
            f"Left as they are: {attempts} with interventions in the samples of a vote, where it "
            "is not on record which sample they changed."
        )


def _steps_table(found: Sequence[Undone]) -> Table:
    rows: list[Row] = []
    for one in found:
        places = (model_label(one.arm.model), benchmark_label(one.arm.benchmark), one.arm.name)
        rows.append(row(", ".join(filter(None, places)), kind="heading"))
        rows += [row(what, *_numbers(count)) for what, count in one.kinds.items()]
    columns = ("Made", "Fixed", "Broken", "Stayed right", "Stayed wrong")
    return Table(
        "intervention-steps",
        "What each kind of intervention did",
        (Column("Intervention", "left"), *map(Column, columns)),
        tuple(rows),
        (_STEPS,),
    )


def _numbers(one: StepCount) -> Iterator[str]:
    counts = (one.made, one.fixed, one.broken, one.stayed_right, one.stayed_wrong)
    return (f"{count:,}" for count in counts)
