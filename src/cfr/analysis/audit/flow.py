"""Counts of problems on each way through the protocol: router, Stage 1, Stage 2, Direct CoT."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from cfr.analysis.study.study import Study

__all__ = ["FlowCounts", "count_flow"]


@dataclass(frozen=True, slots=True)
class FlowCounts:
    """How many went each way; None where it is not known."""

    problems: int | None = None
    routed: int | None = None
    """With a cue, to Stage 1."""
    direct: int | None = None
    """Without a cue, to Direct CoT."""
    rungs: Mapping[str, int] = field(default_factory=dict[str, int])
    """Stage 1 replies by the recovery step that could read them."""
    fallback: int | None = None
    """From Stage 1 to Direct CoT, because its reply could not be used."""
    answers: int | None = None
    right: int | None = None
    unit: str = "problems"
    """What is counted: problems, or attempts at them."""

    @property
    def solved_under(self) -> int | None:
        """How many reach Stage 2."""
        if self.routed is None or self.fallback is None:
            return None
        return self.routed - self.fallback

    @property
    def solved_directly(self) -> int | None:
        """How many are solved by Direct CoT, whichever way they came."""
        if self.direct is None or self.fallback is None:
            return None
        return self.direct + self.fallback

    @property
    def known(self) -> bool:
        """Whether any number is known."""
        ways = (self.problems, self.routed, self.direct, self.fallback, self.answers, self.right)
        return any(number is not None for number in ways) or bool(self.rungs)


def count_flow(study: Study, method: str) -> FlowCounts:
    """Count the ways that problems took in their first run; nothing where none had a Stage 1."""
    first = [
        attempts[0]
        for arm in study.main_arms()
        if arm.method == method
        for attempts in arm.attempts.values()
    ]
    rungs = Counter(attempt.extraction.rung for attempt in first if attempt.extraction)
    if not rungs:
        return FlowCounts()
    staged = rungs.total()
    return FlowCounts(len(first), staged, len(first) - staged, rungs, rungs["fallback"])
