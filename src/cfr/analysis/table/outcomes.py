"""Problems by what became of them under two methods (paper: appendix Per-Problem Analysis)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, Literal

from cfr.analysis.audit.error_rule import RULES, Judging, Rule
from cfr.analysis.audit.outcomes import Outcomes, outcomes
from cfr.analysis.notation import several
from cfr.analysis.statistics.subset import BASELINE, Sides, sides
from cfr.analysis.study.study import Study, benchmark_label, model_label
from cfr.analysis.table.gain import absent
from cfr.analysis.table.table import Column, Row, Table, row

__all__ = ["outcomes_table", "unequal_runs"]

_JUDGING: Final = Judging()


def outcomes_table(
    study: Study,
    method: str,
    baseline: str = BASELINE,
    judging: Judging = _JUDGING,
    *,
    rule: Rule | None = None,
) -> Table:
    """Show on how many problems both, one or neither of the two is right.

    The rule is that of ``judging``, as in the tables of errors, unless another is named.
    """
    rule = rule or judging.rule
    both = sides(study, method, baseline)
    names = both[0].names if both else (baseline, method)
    columns = (
        *(Column("Model", "left"), Column("Benchmark", "left"), Column("Problems")),
        *(Column("✓✓", group="Both"), Column("✗✓", group="Gained")),
        *(Column("✓✗", group="Lost"), Column("✗✗", group="Neither")),
    )
    return Table(
        "outcomes",
        f"Outcomes of problems: {names[0]} before, {names[1]} after",
        columns,
        tuple(map(_row, outcomes(study, method, baseline, rule))),
        notes=(RULES[rule], *unequal_runs(both, rule)) if both else (absent(method, baseline),),
        paper=("tab:perproblem-summary",),
    )


def _row(one: Outcomes) -> Row:
    where = "All" if one.benchmark is None else benchmark_label(one.benchmark)
    counts = (one.problems, one.both, one.gained, one.lost, one.neither)
    kind: Literal["row", "delta"] = "delta" if one.benchmark is None else "row"
    return row(model_label(one.model), where, *(f"{count:,}" for count in counts), kind=kind)


def unequal_runs(both: Sequence[Sides], rule: Rule) -> Iterator[str]:
    """Warn of chances that are not the same: more runs make it easier for any to be right."""
    pairs = [(side, base, arm) for side in both for base, arm in side.pairs]
    for side, base, arm in pairs if rule == "any" else ():
        if base.runs != arm.runs:
            yield (
                f"{model_label(side.model)} on {benchmark_label(base.benchmark) or 'this set'}: up "
                f"to {several(base.runs, 'run')} before and {arm.runs} after, so chances differ."
            )
