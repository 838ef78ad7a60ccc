"""Tables of the errors that a method removes and brings in.

Paper: Error Analysis; appendix Per-Problem Analysis, "Constraint-type breakdown".
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from constraint_first.analysis.audit.error_rule import DEFAULT_RULE, ErrorRule
from constraint_first.analysis.audit.flips import ErrorCount, Flip, count_errors, count_flips, flips
from constraint_first.analysis.audit.mistake import CONSTRAINT_LABELS, MISTAKE_LABELS, Mistake
from constraint_first.analysis.notation import percent, several, share
from constraint_first.analysis.statistics.subset import BASELINE, pairs_by_model
from constraint_first.analysis.study.study import Study, benchmark_label, model_label
from constraint_first.analysis.table.gain import absent
from constraint_first.analysis.table.note import RIGHT_RULES, not_routed, unequal_runs
from constraint_first.analysis.table.table import Column, Row, Table, row

__all__ = ["errors_table", "fixes_table"]

_ALWAYS: Final[tuple[Mistake, ...]] = (
    *("forgot_modular_reduction", "not_an_integer", "encoded_form_not_applied", "out_of_range"),
    *("arithmetic", "no_answer", "other"),
)
"""Classes that are shown even where nobody made such an error."""
_NOT_COUNTED: Final = " and is not counted here"


def errors_table(
    study: Study, method: str, baseline: str = BASELINE, rule: ErrorRule = DEFAULT_RULE
) -> Table:
    """Show the errors that a method removes and those that it brings in."""
    both = pairs_by_model(study, method, baseline)
    found = flips(study, method, baseline, rule)
    names = both[0].names if both else (baseline, method)
    columns = (
        *(Column("Model", "left"), Column("Error", "left")),
        *(Column("Problems", group="Fixed"), Column("Share", group="Fixed")),
        *(Column("Problems", group="Introduced"), Column("Share", group="Introduced")),
    )
    rows = (line for one in both for line in _rows(one.model, found))
    chance = not_routed(both, rule.right, _NOT_COUNTED)
    notes = (*_notes(found, rule), *chance, *unequal_runs(both, rule.right))
    return Table(
        "errors",
        f"Errors of {names[0]} that {names[1]} fixes, and those that it introduces",
        columns,
        tuple(rows),
        notes=notes if both else (absent(method, baseline),),
        paper=("tab:error-analysis",),
    )


def _rows(model: str, found: Sequence[Flip]) -> Iterator[Row]:
    *classes, all_of_them = count_errors(flip for flip in found if flip.model == model)
    label = model_label(model)
    for one in classes:
        if one.mistake and (one.fixed or one.introduced or one.mistake in _ALWAYS):
            yield row(label, MISTAKE_LABELS[one.mistake], *_numbers(one))
            label = ""
    yield row("", "All", *_numbers(all_of_them), kind="delta")


def _numbers(one: ErrorCount) -> tuple[str, str, str, str]:
    fixed, introduced = percent(one.fixed_share), percent(one.introduced_share)
    return f"{one.fixed:,}", fixed, f"{one.introduced:,}", introduced


def _notes(found: Sequence[Flip], rule: ErrorRule) -> Iterator[str]:
    yield RIGHT_RULES[rule.right]
    yield (
        "Classes are derived from the wrong answers, the right one and what the problem demands of "
        "its answer. Forgot modular reduction: the right value before the reduction that the "
        "problem asks for. Arithmetic error: only a slip that is known beforehand (ConstraintBench "
        "labels some wrong answers) or that a person named. Other: whatever these do not decide, "
        "wrong reasoning and all other wrong calculations among it."
    )
    totals = count_flips(found)
    if totals.by_person:
        yield f"{totals.by_person:,} of {totals.flips:,} were classed by a person."
    if totals.without_answer:
        count = several(totals.without_answer, "problem")
        yield f"Counted as other, as no wrong answer is on record: {count}."
    if totals.without_gold:
        count = several(totals.without_gold, "problem")
        yield f"Counted as other, as the right answer is not on record: {count}."
    if unknown := rule.classes.unknown:
        lines = several(unknown, "line")
        yield f"Classes for problems or models that are not in this study: {lines}."
    if disputed := rule.classes.disputed:
        count = several(disputed, "error")
        yield f"Classed by the answer, as annotators differ and no class has the most: {count}."


def fixes_table(
    study: Study, method: str, baseline: str = BASELINE, rule: ErrorRule = DEFAULT_RULE
) -> Table:
    """Show which constraints the errors that a method fixes break, by benchmark, over all models.

    The paper tells it of AIME 2025 in a sentence.
    """
    both = pairs_by_model(study, method, baseline)
    fixed = [flip for flip in flips(study, method, baseline, rule) if flip.fixed]
    places = list(dict.fromkeys(name for one in both for name in one.benchmarks))
    counts: Counter[tuple[str | None, Mistake]] = Counter(
        (place, flip.mistake) for flip in fixed for place in (None, flip.benchmark)
    )
    shown = [None, *places] if len(places) > 1 else places
    titles = (
        "All benchmarks" if one is None else benchmark_label(one) or "This set" for one in shown
    )
    names = both[0].names if both else (baseline, method)
    chance = not_routed(both, rule.right, _NOT_COUNTED)
    return Table(
        "fixes",
        f"Constraints in the errors of {names[0]} that {names[1]} fixes, all models together",
        (Column("Constraint", "left"), *map(Column, titles)),
        tuple(_fix_rows(shown, counts)) if both else (),
        notes=(_FIXES, RIGHT_RULES[rule.right], *chance) if both else (absent(method, baseline),),
    )


_FIXES: Final = (
    "Shares are of the fixed problems whose error breaks a constraint. The paper has the first "
    "four of AIME 2025. No constraint: arithmetic, a misleading cue, no answer, or nothing that "
    "the answer shows."
)


def _fix_rows(
    places: Sequence[str | None], counts: Counter[tuple[str | None, Mistake]]
) -> Iterator[Row]:
    every = {place: sum(n for (at, _), n in counts.items() if at == place) for place in places}
    breaking = {place: sum(counts[place, one] for one in CONSTRAINT_LABELS) for place in places}
    for mistake, label in CONSTRAINT_LABELS.items():
        cells = (share(counts[at, mistake], breaking[at]) if breaking[at] else "0" for at in places)
        yield row(label, *cells)
    yield row("No constraint", *(f"{every[at] - breaking[at]:,}" for at in places))
    yield row("Fixed", *(f"{every[at]:,}" for at in places), kind="delta")
