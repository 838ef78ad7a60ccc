"""Stage 1 against the gold constraints of ConstraintBench (paper: Stage 1 Constraint Reliability).

Other benchmarks have no gold constraints; there a person has to judge, and hands the rates in.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from random import Random
from typing import Final

from cfr.analysis.audit.stage1.agreement import report
from cfr.analysis.audit.stage1.soundness import Audit, audit
from cfr.analysis.statistics.interval import Interval, wilson
from cfr.analysis.study.study import Arm, Study
from cfr.benchmark.constraintbench.item import Item
from cfr.benchmark.constraintbench.split import is_constraintbench, load
from cfr.evaluation.record import RecordKey

__all__ = ["Quality", "gold_item", "gold_quality"]

_SAMPLE: Final = 200


@dataclass(frozen=True, slots=True)
class Quality:
    """How sound the constraints of Stage 1 are."""

    validity: float | None
    hallucination: float | None
    judged: str
    """What was judged, and how, in words."""
    notes: tuple[str, ...] = ()
    n: int = field(default=0, compare=False)
    """How many statements or constraints the two are shares of; 0 where that is not known."""

    def interval(self, share: float | None) -> Interval | None:
        """Give Wilson's 95 % interval of one of the two shares, in per cent."""
        if share is None or not self.n:
            return None
        low, high = wilson(share * self.n, self.n)
        return 100 * low, 100 * high


def gold_item(study: Study, benchmark: str, problem: str) -> Item | None:
    """Find the ConstraintBench item that a problem is; None where it is another problem."""
    item = _items().get(problem) if is_constraintbench(benchmark) else None
    asked = study.problems.get((benchmark, problem))
    return item if item and (asked is None or asked.text == item.text) else None


@cache
def _items() -> dict[str, Item]:
    return {item.id: item for item in load("public")}


def gold_quality(
    study: Study, sample: int = _SAMPLE, seed: int = 0
) -> dict[tuple[str, str], Quality]:
    """Audit a sample of the Stage 1 replies to ConstraintBench, by model and method."""
    wanted: dict[tuple[str, str], list[tuple[RecordKey, Item]]] = {}
    for arm in study.main_arms():
        wanted.setdefault((arm.model, arm.method), []).extend(_audited(study, arm))
    drawn = {group: _draw(found, sample, seed) for group, found in wanted.items() if found}
    # One look-up for all: in a file every look-up reads the whole of it.
    said = study.transcripts([key for found in drawn.values() for key, _ in found])
    return {
        group: _quality(
            [
                audit(item, spec)
                for key, item in found
                if key in said and (spec := said[key].constraints)
            ],
            len(wanted[group]),
        )
        for group, found in drawn.items()
    }


def _audited(study: Study, arm: Arm) -> Iterable[tuple[RecordKey, Item]]:
    for problem, attempts in arm.attempts.items():
        if item := gold_item(study, arm.benchmark, problem):
            for attempt in attempts:
                if attempt.extraction and attempt.extraction.rung != "fallback":
                    yield (*arm.key, problem, attempt.run), item


def _draw(
    found: list[tuple[RecordKey, Item]], sample: int, seed: int
) -> list[tuple[RecordKey, Item]]:
    # Dice for a sample, not for secrets.
    return found if len(found) <= sample else Random(seed).sample(found, sample)  # noqa: S311


def _quality(audits: list[Audit], replies: int) -> Quality:
    found = report(audits)
    total = sum(found.statements.values())
    decided = total - found.statements.get("undecided", 0)
    of = f" of {replies:,}" if len(audits) < replies else ""
    judged = f"by gold: {decided:,} of {total:,} statements in {len(audits):,}{of} replies"
    return Quality(found.validity, found.hallucination, judged, (_BY_GOLD,), decided)


_BY_GOLD: Final = (
    "By gold: valid is what the gold constraints of a problem imply, hallucinated what its true "
    "answer contradicts; what is true and not implied is neither. Statements whose words decide "
    "nothing are left out."
)
