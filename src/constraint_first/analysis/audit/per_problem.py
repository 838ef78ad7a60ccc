"""Facts of each problem under two methods (paper: the appendices Per-Problem Analysis)."""

from __future__ import annotations

from dataclasses import dataclass

from constraint_first.analysis.audit.dominant import Dominant, dominant_constraint
from constraint_first.analysis.audit.error_rule import DEFAULT_RULE, ErrorRule
from constraint_first.analysis.audit.flips import Flip, flips_between
from constraint_first.analysis.audit.outcomes import both_outcomes, left_to_baseline
from constraint_first.analysis.study.study import Arm, Study

__all__ = ["PerProblem", "ProblemFacts", "ProblemResult", "per_problem"]


@dataclass(frozen=True, slots=True)
class ProblemResult:
    """Whether one method has a problem right, and in how many of its judged runs."""

    right: bool
    right_runs: int
    runs: int


@dataclass(frozen=True, slots=True)
class ProblemFacts:
    """A problem with what restricts it, both results, and its flip where it changed sides."""

    problem: str
    dominant: Dominant
    before: ProblemResult
    after: ProblemResult
    flip: Flip | None
    routed: bool = True
    """False where the method's router left it to the baseline."""

    @property
    def missed(self) -> bool:
        """Whether both have it wrong."""
        return not (self.before.right or self.after.right)


@dataclass(frozen=True, slots=True)
class PerProblem:
    """A baseline and a method on one benchmark, problem by problem, with totals over all."""

    base: Arm
    method: Arm
    shown: tuple[ProblemFacts, ...]
    problems: int
    """How many were judged on both sides; not all need be shown."""
    right_before: int
    right_after: int
    fixed: int
    introduced: int
    by_stage1: bool
    """Whether Stage 1 named what dominates any problem that is shown."""

    @property
    def left_out(self) -> int:
        """Problems that are not shown."""
        return self.problems - len(self.shown)


def per_problem(
    study: Study, base: Arm, method: Arm, rule: ErrorRule = DEFAULT_RULE, *, most: int
) -> PerProblem:
    """Gather the facts of at most so many problems; those that changed sides come first then."""
    ends = dict(both_outcomes(base, method, rule.right))
    flipped = {flip.problem: flip for flip in flips_between(study, base, method, rule)}
    chosen = sorted(ends, key=lambda p: p not in flipped) if len(ends) > most else [*ends]
    shown = [
        ProblemFacts(
            problem,
            dominant_constraint(study, method, problem),
            ProblemResult(ends[problem][0], *base.scores[problem]),
            ProblemResult(ends[problem][1], *method.scores[problem]),
            flipped.get(problem),
            routed=not left_to_baseline(base, method.attempts[problem]),
        )
        for problem in chosen[:most]
    ]
    fixed = sum(flip.fixed for flip in flipped.values())
    return PerProblem(
        base,
        method,
        tuple(shown),
        len(ends),
        sum(before for before, _ in ends.values()),
        sum(after for _, after in ends.values()),
        fixed,
        len(flipped) - fixed,
        any(one.dominant.by_stage1 for one in shown),
    )
