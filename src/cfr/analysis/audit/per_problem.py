"""Facts of each problem under two methods (paper: the appendices Per-Problem Analysis)."""

from __future__ import annotations

from dataclasses import dataclass

from cfr.analysis.audit.categories import kinds_named
from cfr.analysis.audit.error_rule import DEFAULT_RULE, ErrorRule
from cfr.analysis.audit.flips import Flip, flips_between
from cfr.analysis.audit.outcomes import both_outcomes
from cfr.analysis.statistics.subset import Key
from cfr.analysis.study.study import Arm, Study
from cfr.constraint.router import CueFamily, route

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
    kinds: tuple[str, ...]
    """The kinds of constraint that Stage 1 named."""
    families: tuple[CueFamily, ...]
    """The families of the router's cues in its text; only where Stage 1 named no kind."""
    before: ProblemResult
    after: ProblemResult
    flip: Flip | None


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
    """Whether any problem has kinds that Stage 1 named."""

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
    kinds = kinds_named([method])
    shown = [
        ProblemFacts(
            problem,
            *_restrictions(study, (method.benchmark, problem), kinds),
            ProblemResult(ends[problem][0], *base.scores[problem]),
            ProblemResult(ends[problem][1], *method.scores[problem]),
            flipped.get(problem),
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
        bool(kinds),
    )


def _restrictions(
    study: Study, key: Key, kinds: dict[Key, tuple[str, ...]]
) -> tuple[tuple[str, ...], tuple[CueFamily, ...]]:
    """Find the kinds that Stage 1 named or, where it has none, the cues in the text."""
    if named := kinds.get(key):
        return named, ()
    posed = study.problems.get(key)
    return (), tuple(cue.family for cue in route(posed.text)) if posed else ()
