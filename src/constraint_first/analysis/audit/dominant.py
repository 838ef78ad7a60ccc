"""Dominant constraint of each problem: the kind that says most about its answer.

Paper: Per-Problem Analysis (the column "Constraint"); Detailed Positive Cases by Constraint Type.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Final

from constraint_first.analysis.audit.categories import OTHER_KIND
from constraint_first.analysis.audit.routing import FAMILY_LABELS
from constraint_first.analysis.statistics.subset import Key
from constraint_first.analysis.study.study import Arm, Study
from constraint_first.constraint.router import route
from constraint_first.constraint.spec import KINDS

__all__ = ["Dominant", "dominant_constraint"]

_MOST_NAMED: Final = 2
_LEAST_TELLING: Final = ("domain", "final_integer_or_count")
"""What nearly every problem has: a domain, and the cue of an integer or a count."""


@dataclass(frozen=True, slots=True)
class Dominant:
    """What dominates one problem: a kind of constraint, or several that are equal."""

    names: tuple[str, ...] = ()
    by_stage1: bool = False
    """Whether Stage 1 named it; otherwise the router found it in the text."""

    @property
    def label(self) -> str:
        """One kind, two that are equal, or no more than that there are several; may be empty."""
        if len(self.names) > _MOST_NAMED:
            return "Multiple"
        named = " + ".join(self.names)
        return named[:1].upper() + named[1:]


def dominant_constraint(study: Study, arm: Arm, problem: str) -> Dominant:
    """Find what dominates a problem of an arm.

    It is the kind of most constraints that the Stage 1 replies call critical, or of most that they
    list where they call none critical. Where Stage 1 names none, it is the cues in the text.
    """
    counts: Counter[str] = Counter()
    for attempt in arm.attempts.get(problem, ()):
        if reply := attempt.extraction:
            counts.update(
                kind if kind in KINDS else OTHER_KIND for kind in reply.critical or reply.kinds
            )
    return _most(counts) if counts else _by_text(study, (arm.benchmark, problem))


def _most(counts: Counter[str]) -> Dominant:
    telling = {kind: n for kind, n in counts.items() if kind not in _LEAST_TELLING} or counts
    most = max(telling.values())
    names = (kind for kind in (*KINDS, OTHER_KIND) if telling.get(kind) == most)
    return Dominant(tuple(names), by_stage1=True)


def _by_text(study: Study, key: Key) -> Dominant:
    posed = study.problems.get(key)
    fired = [cue.family for cue in route(posed.text)] if posed else []
    telling = [family for family in fired if family not in _LEAST_TELLING] or fired
    return Dominant(tuple(FAMILY_LABELS[family].partition(": ")[2] for family in telling))
