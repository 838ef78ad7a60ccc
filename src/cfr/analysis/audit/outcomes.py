"""What became of each problem under two methods (paper: appendix Per-Problem Analysis)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from cfr.analysis.audit.error_rule import RULES, Judging, Rule
from cfr.analysis.notation import several
from cfr.analysis.statistics.subset import BASELINE, Sides, sides
from cfr.analysis.study.study import Arm, Attempt, Study, benchmark_label, model_label
from cfr.analysis.table.gain import absent
from cfr.analysis.table.table import Column, Row, Table, row

__all__ = [
    "RULES",
    "Outcomes",
    "Rule",
    "both_outcomes",
    "outcome",
    "outcomes",
    "outcomes_table",
    "unequal_runs",
]

_JUDGING: Final = Judging()


def outcome(attempts: Sequence[Attempt], rule: Rule = "any") -> bool | None:
    """Say whether a problem counts as right; None where none of its runs was judged."""
    judged = [attempt.correct for attempt in attempts if attempt.correct is not None]
    if not judged:
        return None
    return any(judged) if rule == "any" else judged[0]


def both_outcomes(base: Arm, method: Arm, rule: Rule) -> Iterator[tuple[str, tuple[bool, bool]]]:
    """Go through the problems that were judged on both sides: before and after."""
    for problem, attempts in base.attempts.items():
        before = outcome(attempts, rule)
        after = outcome(method.attempts.get(problem, ()), rule)
        if before is not None and after is not None:
            yield problem, (before, after)


@dataclass(frozen=True, slots=True)
class Outcomes:
    """Problems by what became of them."""

    model: str
    benchmark: str | None
    """None for several together."""
    both: int
    gained: int
    lost: int
    neither: int

    @property
    def problems(self) -> int:
        """All of them."""
        return self.both + self.gained + self.lost + self.neither


def outcomes(
    study: Study, method: str, baseline: str = BASELINE, rule: Rule = "any"
) -> tuple[Outcomes, ...]:
    """Count outcomes by model and benchmark, and for each model over all its benchmarks."""
    return tuple(one for side in sides(study, method, baseline) for one in _outcomes_of(side, rule))


def _outcomes_of(side: Sides, rule: Rule) -> Iterator[Outcomes]:
    total: Counter[tuple[bool, bool]] = Counter()
    for base, method in side.pairs:
        counts = Counter(ends for _, ends in both_outcomes(base, method, rule))
        total += counts
        yield _counted(side.model, base.benchmark, counts)
    if len(side.pairs) > 1:
        yield _counted(side.model, None, total)


def _counted(model: str, benchmark: str | None, counts: Counter[tuple[bool, bool]]) -> Outcomes:
    order = ((True, True), (False, True), (True, False), (False, False))
    return Outcomes(model, benchmark, *(counts[ends] for ends in order))


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
