"""Tables of instructions: the four numbers of IFEval for each method, and each kind apart."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Final

from constraint_first.analysis.audit.instructions import Following, follow_instructions
from constraint_first.analysis.notation import NONE, scored, several
from constraint_first.analysis.statistics.score import Score
from constraint_first.analysis.study.study import Study, benchmark_label, model_label
from constraint_first.analysis.table.note import ACCURACY_INTERVAL
from constraint_first.analysis.table.table import Column, Row, Table, row

__all__ = ["instruction_tables"]

_LEVELS: Final = (
    "Prompt level: a request counts where all its instructions are followed; instruction level: "
    "each instruction counts for itself. Strict: the reply as it stands; loose: also without its "
    "first line, its last line or both, and without the asterisks of Markdown. Comparisons of "
    "methods are made on prompt-level strict verdicts."
)
_RESAMPLED: Final = (
    f"{ACCURACY_INTERVAL} At the instruction level requests are resampled, each with all its "
    "instructions."
)


def instruction_tables(study: Study) -> tuple[Table, ...]:
    """Tabulate how well each method's replies follow gold instructions, together and by kind.

    None where the study has no replies to requests with gold instructions.
    """
    found = follow_instructions(study)
    return (_levels_table(found), _kinds_table(found)) if found else ()


def _levels_table(found: Sequence[Following]) -> Table:
    columns = (
        *(Column("Model", "left"), Column("Benchmark", "left"), Column("Method", "left")),
        *(Column("Requests"), Column("Runs"), Column("Instructions", rank=1)),
        *(Column(title, group="Prompt level") for title in ("Strict", "Loose")),
        *(Column(title, group="Instruction level") for title in ("Strict", "Loose")),
    )
    return Table(
        "instructions",
        "Instructions followed, % [95 %]",
        columns,
        tuple(map(_row, found)),
        (_LEVELS, *_notes(found), _RESAMPLED),
    )


def _row(one: Following) -> Row:
    arm, levels = one.arm, (one.prompt_strict, one.prompt_loose)
    return row(
        *(model_label(arm.model) or NONE, benchmark_label(arm.benchmark) or NONE, arm.name),
        *(f"{one.prompt_strict.problems:,}", str(one.prompt_strict.runs)),
        f"{one.instruction_strict.problems:,}",
        *map(_cell, (*levels, one.instruction_strict, one.instruction_loose)),
    )


def _cell(found: Score | None) -> str:
    return scored(found.accuracy, found.interval) if found else NONE


def _notes(found: Sequence[Following]) -> Iterator[str]:
    if undecided := sum(one.undecided for one in found):
        checks = several(undecided, "check")
        yield (
            f"Counted as not followed, because it could not be decided: {checks}. A kind is not "
            "known, or a language cannot be told."
        )
    if changed := sum(one.changed for one in found):
        verdicts = several(changed, "stored verdict")
        yield (
            f"Judged otherwise when stored: {verdicts}; 'cfr runs --regrade' brings them up to "
            "date."
        )


def _kinds_table(found: Sequence[Following]) -> Table:
    methods = {one.arm.method: one.arm.name for one in found}
    rows: list[Row] = []
    for (model, benchmark), several_arms in groupby(
        sorted(found, key=_place), key=lambda one: (one.arm.model, one.arm.benchmark)
    ):
        by_method = {one.arm.method: one for one in several_arms}
        title = ", ".join(filter(None, (model_label(model), benchmark_label(benchmark))))
        rows += [row(title, kind="heading"), *_kind_rows(by_method, [*methods])]
    columns = (
        *(Column("Kind of instruction", "left"), Column("Instructions", rank=1)),
        *(Column(name) for name in methods.values()),
    )
    return Table(
        "instruction-kinds",
        "Instructions followed by kind, strictly, % [95 %]",
        columns,
        tuple(rows),
        (ACCURACY_INTERVAL.replace("problem", "instruction"),),
    )


def _place(one: Following) -> tuple[str, str]:
    return one.arm.model, one.arm.benchmark


def _kind_rows(found: dict[str, Following], methods: Sequence[str]) -> Iterator[Row]:
    for kind in sorted({kind for one in found.values() for kind in one.kinds}):
        scores = [found[name].kinds.get(kind) if name in found else None for name in methods]
        most = max(one.problems for one in scores if one)
        yield row(kind, f"{most:,}", *map(_cell, scores))
