"""Stage 1 against the gold constraints of ConstraintBench (paper: Stage 1 Constraint Reliability).

Other benchmarks have no gold constraints; there a person has to judge, and hands the rates in.
"""

from __future__ import annotations

from collections.abc import Iterable
from random import Random
from typing import Final

from constraint_first.analysis.audit.extraction import GoldSample, Quality
from constraint_first.analysis.audit.stage1.agreement import StatementCounts, report
from constraint_first.analysis.audit.stage1.soundness import Audit, audit
from constraint_first.analysis.study.study import Arm, Study
from constraint_first.benchmark.constraintbench.item import Item
from constraint_first.benchmark.constraintbench.split import find_item, is_constraintbench
from constraint_first.constraint.recovery import DEFERRED
from constraint_first.evaluation.record import RecordKey

__all__ = ["gold_item", "gold_quality"]

_SAMPLE: Final = 200


def gold_item(study: Study, benchmark: str, problem: str) -> Item | None:
    """Find the ConstraintBench item that a problem is; None where it is another problem."""
    item = find_item(problem) if is_constraintbench(benchmark) else None
    asked = study.problems.get((benchmark, problem))
    return item if item and (asked is None or asked.text == item.text) else None


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
                if (said := attempt.extraction) and said.rung not in DEFERRED:
                    yield (*arm.key, problem, attempt.run), item


def _draw(
    found: list[tuple[RecordKey, Item]], sample: int, seed: int
) -> list[tuple[RecordKey, Item]]:
    # Dice for a sample, not for secrets.
    return found if len(found) <= sample else Random(seed).sample(found, sample)  # noqa: S311


def _quality(audits: list[Audit], replies: int) -> Quality:
    found = report(audits)
    sample = GoldSample(found.constraints.total, len(audits), replies)
    apart = {"answer range": found.answer_range, "answer format": found.answer_format}
    return Quality(
        *_rates(found.constraints),
        completeness=found.gold.completeness,
        expected=found.gold.decided,
        gold=sample,
        apart={
            name: Quality(*_rates(one), gold=GoldSample(one.total, one.total, one.total))
            for name, one in apart.items()
            if one.total
        },
    )


def _rates(found: StatementCounts) -> tuple[float | None, float | None, int]:
    return found.validity, found.hallucination, found.decided
