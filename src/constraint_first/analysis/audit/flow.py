"""Counts of problems on each way through the protocol: router, Stage 1, Stage 2, Direct CoT."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from constraint_first.analysis.study.study import Attempt, Study
from constraint_first.constraint.recovery import DEFERRED
from constraint_first.constraint.router import route

__all__ = ["FlowCounts", "count_flow"]


@dataclass(frozen=True, slots=True)
class FlowCounts:
    """How many went each way; None where it is not known."""

    problems: int | None = None
    with_cue: int | None = None
    """Whose text has a cue, by the text-only router; unknown where any text is not on record."""
    staged: int | None = None
    """That had a Stage 1."""
    direct: int | None = None
    """That went to Direct CoT at once."""
    rungs: Mapping[str, int] = field(default_factory=dict[str, int])
    """Stage 1 replies by the recovery step that could read them."""
    fallback: int | None = None
    """From Stage 1 to Direct CoT, because its reply lists nothing or could not be read."""
    answers: int | None = None
    right: int | None = None
    unit: str = "problems"
    """What is counted: problems, or attempts at them."""
    always_on: bool = False
    """Whether every problem had a Stage 1 because the method asks no router."""

    @property
    def without_cue(self) -> int | None:
        """How many have a text without a cue."""
        if self.problems is None or self.with_cue is None:
            return None
        return self.problems - self.with_cue

    @property
    def by_cue(self) -> bool:
        """Whether it was the cues that decided, as far as the numbers tell."""
        return not self.always_on and self.with_cue == self.staged

    @property
    def solved_under(self) -> int | None:
        """How many reach Stage 2."""
        if self.staged is None or self.fallback is None:
            return None
        return self.staged - self.fallback

    @property
    def solved_directly(self) -> int | None:
        """How many are solved by Direct CoT, whichever way they came."""
        if self.direct is None or self.fallback is None:
            return None
        return self.direct + self.fallback

    @property
    def known(self) -> bool:
        """Whether any number is known."""
        ways = (self.problems, self.staged, self.direct, self.fallback, self.answers, self.right)
        return any(number is not None for number in ways) or bool(self.rungs)


def count_flow(study: Study, method: str) -> FlowCounts:
    """Count the ways that problems took in their first run; nothing where none had a Stage 1.

    Cues are counted in the problems' texts, and Stage 1 by what was done: a method that is always
    on, or that asks another router, sends problems on that have no cue.
    """
    arms = [arm for arm in study.main_arms() if arm.method == method]
    first = {
        (arm.model, arm.benchmark, problem): found
        for arm in arms
        for problem, attempts in arm.attempts.items()
        if (found := _first(attempts))
    }
    rungs = Counter(one.extraction.rung for one in first.values() if one.extraction)
    if not rungs:
        return FlowCounts()
    texts = [study.problems.get(key[1:]) for key in first]
    direct = len(first) - rungs.total()
    return FlowCounts(
        problems=len(first),
        with_cue=sum(bool(route(posed.text)) for posed in texts if posed)
        if all(posed and posed.text for posed in texts)
        else None,
        staged=rungs.total(),
        direct=direct,
        rungs=rungs,
        fallback=sum(rungs[rung] for rung in DEFERRED),
        unit="problems" if len({arm.model for arm in arms}) == 1 else "attempts",
        always_on=not direct and all(one.routed is None for one in first.values()),
    )


def _first(attempts: list[Attempt]) -> Attempt | None:
    """Find the first attempt that came to an end; one whose calls failed took no way."""
    return next((one for one in attempts if one.status != "failed"), None)
