"""Table of outcomes: problems that both, one or neither has right (paper: Per-Problem Analysis)."""

from __future__ import annotations

from typing import Literal

from constraint_first.analysis.audit.error_rule import DEFAULT_RULE, ErrorRule
from constraint_first.analysis.audit.outcomes import Outcomes, outcomes
from constraint_first.analysis.statistics.subset import BASELINE, pairs_by_model
from constraint_first.analysis.study.study import Study, benchmark_label, model_label, pooled_label
from constraint_first.analysis.table.gain import absent
from constraint_first.analysis.table.note import RIGHT_RULES, not_routed, unequal_runs
from constraint_first.analysis.table.table import Column, Row, Table, row

__all__ = ["outcomes_table"]


def outcomes_table(
    study: Study, method: str, baseline: str = BASELINE, rule: ErrorRule = DEFAULT_RULE
) -> Table:
    """Show on how many problems both, one or neither of the two is right."""
    both = pairs_by_model(study, method, baseline)
    names = both[0].names if both else (baseline, method)
    columns = (
        *(Column("Model", "left"), Column("Benchmark", "left"), Column("Problems")),
        *(Column("✓✓", group="Both"), Column("✗✓", group="Gained")),
        *(Column("✓✗", group="Lost"), Column("✗✗", group="Neither")),
    )
    chance = not_routed(both, rule.right, "; it is counted here all the same")
    notes = (RIGHT_RULES[rule.right], *chance, *unequal_runs(both, rule.right))
    return Table(
        "outcomes",
        f"Outcomes of problems: {names[0]} before, {names[1]} after",
        columns,
        tuple(map(_row, outcomes(study, method, baseline, rule.right))),
        notes=notes if both else (absent(method, baseline),),
        paper=("tab:perproblem-summary",),
    )


def _row(one: Outcomes) -> Row:
    where = pooled_label(one.pooled) if one.benchmark is None else benchmark_label(one.benchmark)
    counts = (one.problems, one.both, one.gained, one.lost, one.neither)
    kind: Literal["row", "delta"] = "delta" if one.benchmark is None else "row"
    return row(model_label(one.model), where, *(f"{count:,}" for count in counts), kind=kind)
