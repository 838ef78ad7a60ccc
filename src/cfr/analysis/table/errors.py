"""The errors that a method removes and brings in (paper: Error Analysis)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from cfr.analysis.audit.error_rule import RULES, Judging
from cfr.analysis.audit.flips import Flip, flips
from cfr.analysis.audit.mistake import MISTAKE_LABELS, MISTAKES, Mistake
from cfr.analysis.notation import NONE, percent, several
from cfr.analysis.statistics.subset import BASELINE, sides
from cfr.analysis.study.study import Study, model_label
from cfr.analysis.table.gain import absent
from cfr.analysis.table.outcomes import unequal_runs
from cfr.analysis.table.table import Column, Row, Table, row

__all__ = ["errors_table"]

_JUDGING: Final = Judging()
_ALWAYS: Final[tuple[Mistake, ...]] = (
    *("forgot_modular_reduction", "not_an_integer", "encoded_form_not_applied", "out_of_range"),
    *("no_answer", "other"),
)


def errors_table(
    study: Study, method: str, baseline: str = BASELINE, judging: Judging = _JUDGING
) -> Table:
    """Show the errors that a method removes and those that it brings in."""
    both = sides(study, method, baseline)
    found = flips(study, method, baseline, judging)
    names = both[0].names if both else (baseline, method)
    columns = (
        *(Column("Model", "left"), Column("Error", "left")),
        *(Column("Problems", group="Fixed"), Column("Share", group="Fixed")),
        *(Column("Problems", group="Introduced"), Column("Share", group="Introduced")),
    )
    rows = (line for side in both for line in _rows(side.model, found))
    notes = (*_notes(found, judging), *unequal_runs(both, judging.rule))
    return Table(
        "errors",
        f"Errors of {names[0]} that {names[1]} fixes, and those that it introduces",
        columns,
        tuple(rows),
        notes=notes if both else (absent(method, baseline),),
        paper=("tab:error-analysis",),
    )


def _rows(model: str, found: Sequence[Flip]) -> Iterator[Row]:
    own = [flip for flip in found if flip.model == model]
    counts = Counter((flip.mistake, flip.fixed) for flip in own)
    totals = [sum(flip.fixed is way for flip in own) for way in (True, False)]
    label = model_label(model)
    for kind in MISTAKES:
        numbers = [counts[kind, way] for way in (True, False)]
        if any(numbers) or kind in _ALWAYS:
            yield row(label, MISTAKE_LABELS[kind], *_pairs(numbers, totals))
            label = ""
    yield row("", "All", *_pairs(totals, totals), kind="delta")


def _pairs(numbers: Sequence[int], totals: Sequence[int]) -> Iterator[str]:
    for number, total in zip(numbers, totals, strict=True):
        yield f"{number:,}"
        yield percent(number / total) if total else NONE


def _notes(found: Sequence[Flip], judging: Judging) -> Iterator[str]:
    yield RULES[judging.rule]
    yield (
        "Classes are read from the wrong answers, against the right one and what the problem says "
        "of its answer; other is all that these leave open, wrong reasoning among it."
    )
    if by_person := sum(flip.by_person for flip in found):
        yield f"{by_person:,} of {len(found):,} were classed by a person."
    if lost := sum(not flip.kept and not flip.by_person for flip in found):
        yield f"Counted as other, as no wrong answer is on record: {several(lost, 'problem')}."
    if without := sum(flip.for_want_of_gold for flip in found):
        count = several(without, "problem")
        yield f"Counted as other, as the right answer is not on record: {count}."
    if unknown := judging.classes.unknown:
        lines = several(unknown, "line")
        yield f"Classes for problems or models that are not in this study: {lines}."
