"""Stage 1 replies on record: how they parsed, how many constraints they list, how sound those are.

Paper: Stage 1 Constraint Reliability; appendix JSON Parsing and Error Handling. A reply is read by
the first recovery step that can (``constraint.recovery``): parsed, empty, repaired, fields,
fallback. Stores keep the name of the step as ``rung``.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from constraint_first.analysis.statistics.interval import Interval, wilson
from constraint_first.analysis.statistics.resample import bootstrap
from constraint_first.analysis.statistics.subset import Key
from constraint_first.analysis.study.study import Arm, Extraction, Study
from constraint_first.constraint.recovery import RUNGS, WELL_FORMED

__all__ = [
    "ConstraintCounts",
    "GoldSample",
    "Mean",
    "Quality",
    "RecoveryCounts",
    "arms_with_stage1",
    "count_constraints",
    "count_recovery",
    "stage1_replies",
]


def arms_with_stage1(study: Study) -> dict[tuple[str, str], list[Arm]]:
    """Group the arms that have a Stage 1 by model and method, in their primary decoding."""
    found: dict[tuple[str, str], list[Arm]] = {}
    for arm in study.main_arms():
        if any(attempt.extraction for attempt in arm.all_attempts()):
            found.setdefault((arm.model, arm.method), []).append(arm)
    return found


@dataclass(frozen=True, slots=True)
class RecoveryCounts:
    """Stage 1 replies of a method, by recovery step."""

    model: str
    name: str
    """The method as tables print it."""
    by_rung: Mapping[str, int]
    """Replies by the name of the recovery step that read them."""

    @property
    def total(self) -> int:
        """All replies."""
        return sum(self.by_rung.values())

    @property
    def unknown(self) -> int:
        """Replies whose step has a name that is none of these."""
        return self.total - sum(self.by_rung.get(rung, 0) for rung in RUNGS)

    @property
    def malformed(self) -> int:
        """Replies that were no JSON as they stood."""
        return self.total - sum(self.by_rung.get(rung, 0) for rung in WELL_FORMED)

    @property
    def malformed_rate(self) -> float:
        """The share of replies that were no JSON as they stood."""
        return self.malformed / self.total

    @property
    def malformed_interval(self) -> Interval:
        """The 95 % Wilson interval of that share."""
        return wilson(self.malformed, self.total)


def count_recovery(study: Study) -> tuple[RecoveryCounts, ...]:
    """Count Stage 1 replies by recovery step, for each model and method."""
    return tuple(
        RecoveryCounts(model, arms[0].name, Counter(e.rung for _, e in stage1_replies(arms)))
        for (model, _), arms in arms_with_stage1(study).items()
    )


def stage1_replies(arms: Iterable[Arm]) -> Iterator[tuple[Key, Extraction]]:
    """Go through all Stage 1 replies, each with its problem."""
    for arm in arms:
        for problem, attempts in arm.attempts.items():
            key = (arm.benchmark, problem)
            for attempt in attempts:
                if attempt.extraction:
                    yield key, attempt.extraction


@dataclass(frozen=True, slots=True)
class GoldSample:
    """Extent of an audit of Stage 1 against gold constraints."""

    statements: int
    """Constraints in the audited replies, the undecided ones among them."""
    audited: int
    """Replies that were audited."""
    replies: int
    """Replies that the audited ones were drawn from."""


@dataclass(frozen=True, slots=True)
class Quality:
    """Soundness and completeness of the constraints that Stage 1 lists."""

    validity: float | None
    """From 0 to 1, as are the others; None where nothing could be decided."""
    hallucination: float | None
    n: float
    """How many constraints the two are shares of."""
    completeness: float | None = None
    """Of what a problem demands, the share that its replies state."""
    expected: float = 0
    """How many demands that is a share of."""
    gold: GoldSample | None = None
    """The extent of the audit against gold constraints; None where people judged."""
    apart: Mapping[str, Quality] = field(default_factory=dict[str, "Quality"])
    """The range and the format that replies give for the answer, which are no constraints."""


@dataclass(frozen=True, slots=True)
class Mean:
    """A mean over problems."""

    value: float
    interval: Interval | None
    """95 %, by bootstrap over problems; None where all problems are alike."""


@dataclass(frozen=True, slots=True)
class ConstraintCounts:
    """Mean numbers of constraints that Stage 1 lists for a problem."""

    model: str
    method: str
    name: str
    raw: Mean
    propagated: Mean
    problems: int
    replies: int


def count_constraints(study: Study) -> tuple[ConstraintCounts, ...]:
    """Average the constraints listed: over the replies to a problem, then over problems."""
    return tuple(_counts(model, arms) for (model, _), arms in arms_with_stage1(study).items())


def _counts(model: str, arms: Sequence[Arm]) -> ConstraintCounts:
    raw: dict[Key, int] = Counter()
    propagated: dict[Key, int] = Counter()
    made: dict[Key, int] = Counter()
    for key, reply in stage1_replies(arms):
        made[key] += 1
        raw[key] += len(reply.kinds)
        propagated[key] += reply.propagated
    return ConstraintCounts(
        model,
        arms[0].method,
        arms[0].name,
        _mean(raw, made),
        _mean(propagated, made),
        problems=len(made),
        replies=sum(made.values()),
    )


def _mean(totals: Mapping[Key, int], runs: Mapping[Key, int]) -> Mean:
    unit = math.lcm(*set(runs.values()))
    values = [totals[key] * unit // count for key, count in runs.items()]
    mean = sum(values) / len(values) / unit
    if len(set(values)) == 1:
        return Mean(mean, None)
    return Mean(mean, bootstrap(values, 1 / unit).interval())
