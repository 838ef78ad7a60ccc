"""Table of the kinds of constraint that Stage 1 names (paper: Constraint Category Analysis)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from constraint_first.analysis.audit.categories import OTHER_KIND, Category, categories
from constraint_first.analysis.notation import several, share
from constraint_first.analysis.statistics.subset import BASELINE
from constraint_first.analysis.study.study import Study, benchmark_label, model_label
from constraint_first.analysis.table.extraction import NOTHING
from constraint_first.analysis.table.gain import gain_cell
from constraint_first.analysis.table.note import GAIN_INTERVAL
from constraint_first.analysis.table.table import Column, Row, Table, row

__all__ = ["categories_table"]


def categories_table(study: Study, method: str, baseline: str = BASELINE) -> Table:
    """Tabulate the kinds that Stage 1 names, the most frequent first."""
    found = categories(study, method, baseline)
    rows: list[Row] = []
    for model in dict.fromkeys(one.model for one in found):
        own = sorted((o for o in found if o.model == model), key=lambda one: -one.present)
        rows += [
            row(
                "" if at else model_label(model),
                one.kind.capitalize(),
                share(one.present, one.problems),
                gain_cell(one.gain),
                f"{one.gain.n if one.gain else 0:,}",
            )
            for at, one in enumerate(own)
        ]
    names = {arm.method: arm.name for arm in study.arms}
    columns = (
        *(Column("Model", "left"), Column("Category", "left"), Column("Problems that have it")),
        *(Column("Δ there, points [95 %]"), Column("Problems compared")),
    )
    return Table(
        "categories",
        f"Kinds of constraint that Stage 1 of {names.get(method, method)} names, and its gain over "
        f"{names.get(baseline, baseline)} there",
        columns,
        tuple(rows),
        notes=tuple(_category_notes(study, found, method)) if found else (NOTHING,),
        paper=("tab:constraint-categories",),
    )


def _category_notes(study: Study, found: Sequence[Category], method: str) -> Iterator[str]:
    yield "A problem has a kind where at least half of the Stage 1 replies to it name one."
    yield GAIN_INTERVAL
    for model in dict.fromkeys(one.model for one in found):
        where = ", ".join(
            benchmark_label(arm.benchmark)
            for arm in study.main_arms()
            if arm.model == model and arm.method == method and arm.attempts
        )
        problems = next(one.problems for one in found if one.model == model)
        replied = several(problems, "problem")
        yield f"{model_label(model)}: {replied} of {where} with a Stage 1 reply."
    if any(one.present for one in found if one.kind == OTHER_KIND):
        yield "Other: kinds outside the eight, and constraints that name none."
    yield "Problems of a kind differ in other ways too: a gain there is not an effect of the kind."
