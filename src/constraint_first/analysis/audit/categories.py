"""Kinds of constraint that Stage 1 names, and a method's gain where it names them.

Paper: Constraint Category Analysis.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from constraint_first.analysis.audit.extraction import arms_with_stage1, stage1_replies
from constraint_first.analysis.statistics.subset import BASELINE, Gain, Key, pairs_by_model
from constraint_first.analysis.study.study import Arm, Study
from constraint_first.constraint.spec import KINDS

__all__ = ["OTHER_KIND", "Category", "categories", "kinds_named"]

OTHER_KIND: Final = "other"
"""All kinds that a model names outside the paper's eight, and constraints without a kind."""

_KINDS: Final = (*KINDS, OTHER_KIND)


@dataclass(frozen=True, slots=True)
class Category:
    """A kind of constraint: the problems for which Stage 1 names it, and a method's gain there."""

    model: str
    kind: str
    present: int
    problems: int
    """Problems that have a Stage 1 reply."""
    gain: Gain | None

    @property
    def frequency(self) -> float:
        """The share of problems that have the kind."""
        return self.present / self.problems


def categories(study: Study, method: str, baseline: str = BASELINE) -> tuple[Category, ...]:
    """Find the kinds that Stage 1 names, by model, and the gain on the problems that have each.

    A problem has a kind where at least half of the replies to it name one. To ask for any reply
    would let every kind grow with the number of runs.
    """
    gains = {side.model: side for side in pairs_by_model(study, method, baseline)}
    found: list[Category] = []
    for (model, name), arms in arms_with_stage1(study).items():
        if name == method:
            named, side = kinds_named(arms), gains.get(model)
            for kind in _KINDS:
                having = {key for key, kinds in named.items() if kind in kinds}
                gain = side.gain(having) if side else None
                found.append(Category(model, kind, len(having), len(named), gain))
    return tuple(found)


def kinds_named(arms: Iterable[Arm]) -> dict[Key, tuple[str, ...]]:
    """List the kinds that each problem with a Stage 1 reply has, in the paper's order."""
    named: Counter[tuple[Key, str]] = Counter()
    made: Counter[Key] = Counter()
    for key, reply in stage1_replies(arms):
        made[key] += 1
        for kind in {kind if kind in KINDS else OTHER_KIND for kind in reply.kinds}:
            named[key, kind] += 1
    return {
        key: tuple(kind for kind in _KINDS if 2 * named[key, kind] >= count)
        for key, count in made.items()
    }
