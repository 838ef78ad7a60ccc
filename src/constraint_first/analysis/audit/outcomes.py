"""Outcomes of problems under two methods (paper: appendix Per-Problem Analysis)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from constraint_first.analysis.audit.error_rule import RightRule
from constraint_first.analysis.statistics.subset import BASELINE, ModelPairs, pairs_by_model
from constraint_first.analysis.study.family import family_of
from constraint_first.analysis.study.group import groups_and_all
from constraint_first.analysis.study.study import Arm, Attempt, Study

__all__ = [
    "Outcomes",
    "both_outcomes",
    "changed_by_chance",
    "left_to_baseline",
    "outcome",
    "outcomes",
]


def outcome(attempts: Sequence[Attempt], rule: RightRule = "any") -> bool | None:
    """Say whether a problem counts as right; None where none of its runs was judged."""
    judged = [attempt.correct for attempt in attempts if attempt.correct is not None]
    if not judged:
        return None
    return any(judged) if rule == "any" else judged[0]


def both_outcomes(
    base: Arm, method: Arm, rule: RightRule
) -> Iterator[tuple[str, tuple[bool, bool]]]:
    """Go through the problems that were judged on both sides: before and after."""
    for problem, attempts in base.attempts.items():
        before = outcome(attempts, rule)
        after = outcome(method.attempts.get(problem, ()), rule)
        if before is not None and after is not None:
            yield problem, (before, after)


def left_to_baseline(base: Arm, attempts: Sequence[Attempt]) -> bool:
    """Say whether a router left all judged attempts to Direct CoT, and that is the baseline.

    Such a problem is solved as the baseline solves it: where the two differ, it is by chance.
    """
    judged = [attempt.routed for attempt in attempts if attempt.correct is not None]
    return family_of(base) == BASELINE and {*judged} == {False}


def changed_by_chance(base: Arm, method: Arm, rule: RightRule) -> int:
    """Count the problems that changed sides although the router left them to the baseline."""
    return sum(
        before != after and left_to_baseline(base, method.attempts[problem])
        for problem, (before, after) in both_outcomes(base, method, rule)
    )


@dataclass(frozen=True, slots=True)
class Outcomes:
    """Counts of problems that both methods, one of them or neither has right."""

    model: str
    benchmark: str | None
    """None for several together, which ``pooled`` names."""
    both: int
    gained: int
    lost: int
    neither: int
    pooled: tuple[str, ...] = ()

    @property
    def problems(self) -> int:
        """All of them."""
        return self.both + self.gained + self.lost + self.neither


def outcomes(
    study: Study, method: str, baseline: str = BASELINE, rule: RightRule = "any"
) -> tuple[Outcomes, ...]:
    """Count outcomes by model and benchmark, and over each group of benchmarks and all of them."""
    found = pairs_by_model(study, method, baseline)
    return tuple(one for paired in found for one in _outcomes_of(paired, rule))


def _outcomes_of(paired: ModelPairs, rule: RightRule) -> Iterator[Outcomes]:
    counts = {
        base.benchmark: Counter(ends for _, ends in both_outcomes(base, method, rule))
        for base, method in paired.pairs
    }
    every = tuple(counts)
    for name in every:
        yield _counted(paired.model, name, counts[name])
    for names in groups_and_all(every) if len(every) > 1 else ():
        total = sum((counts[name] for name in names), Counter[_Ends]())
        yield _counted(paired.model, None, total, names)


_Ends: TypeAlias = tuple[bool, bool]


def _counted(
    model: str, benchmark: str | None, counts: Counter[_Ends], pooled: tuple[str, ...] = ()
) -> Outcomes:
    order = ((True, True), (False, True), (True, False), (False, False))
    both, gained, lost, neither = (counts[ends] for ends in order)
    return Outcomes(model, benchmark, both, gained, lost, neither, pooled)
