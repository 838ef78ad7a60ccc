"""Audits over many replies: the rates that the paper reports, and agreement with an annotator."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from constraint_first.analysis.audit.stage1.soundness import (
    GOLD,
    STATEMENTS,
    Audit,
    GoldStatus,
    StatementStatus,
    audit,
    statements,
)
from constraint_first.analysis.statistics.kappa import kappa
from constraint_first.benchmark.constraintbench.item import Item
from constraint_first.constraint.spec import ConstraintSpec
from constraint_first.error import InputError
from constraint_first.file.jsonl import read_rows
from constraint_first.problem import Json

__all__ = [
    "Agreement",
    "AuditReport",
    "GoldCounts",
    "Labelled",
    "StatementCounts",
    "agreement",
    "read_labelled",
    "report",
]

W = TypeVar("W", bound=str)


@dataclass(frozen=True, slots=True)
class AuditReport:
    """Counts over many audits, and the rates that the paper reports.

    Range and format of the answer are not constraints and count for themselves. Only completeness
    looks at all that a reply states.
    """

    gold: GoldCounts
    constraints: StatementCounts
    answer_range: StatementCounts
    answer_format: StatementCounts


@dataclass(frozen=True, slots=True)
class GoldCounts:
    """Gold constraints by whether replies state them."""

    counts: Mapping[str, int]

    @property
    def decided(self) -> int:
        """How many could be decided."""
        return sum(self.counts.values()) - self.counts.get("undecided", 0)

    @property
    def completeness(self) -> float | None:
        """Stated gold constraints among those that could be decided."""
        return _rate(self.counts, "stated", self.decided)


@dataclass(frozen=True, slots=True)
class StatementCounts:
    """Statements of replies by what they are worth."""

    counts: Mapping[str, int]

    @property
    def total(self) -> int:
        """All of them."""
        return sum(self.counts.values())

    @property
    def decided(self) -> int:
        """How many could be decided."""
        return self.total - self.counts.get("undecided", 0)

    @property
    def validity(self) -> float | None:
        """Valid statements among those that could be decided."""
        return _rate(self.counts, "valid", self.decided)

    @property
    def hallucination(self) -> float | None:
        """Statements that the answer violates among those that could be decided."""
        return _rate(self.counts, "hallucinated", self.decided)

    @property
    def undecided(self) -> float | None:
        """Statements that could not be decided among all."""
        return _rate(self.counts, "undecided", self.total)


def report(audits: Iterable[Audit]) -> AuditReport:
    """Count over many audits."""
    done = list(audits)
    return AuditReport(
        GoldCounts(Counter[str](status for one in done for status in one.gold)),
        StatementCounts(Counter[str](status for one in done for status in one.constraints)),
        StatementCounts(Counter[str](one.answer_range for one in done if one.answer_range)),
        StatementCounts(Counter[str](one.answer_format for one in done if one.answer_format)),
    )


def _rate(counts: Mapping[str, int], wanted: str, total: int) -> float | None:
    return counts.get(wanted, 0) / total if total else None


@dataclass(frozen=True, slots=True)
class Labelled:
    """A reply with the labels of a person."""

    item: Item
    reply: ConstraintSpec
    labels: Audit


def read_labelled(path: Path, items: Iterable[Item]) -> Iterator[Labelled]:
    """Read rows of an ``item_id``, a ``reply``, and ``labels`` under ``gold`` and ``stated``."""
    by_id = {item.id: item for item in items}
    for row in read_rows(path):
        item_id, reply, labels = (row.value.get(name) for name in ("item_id", "reply", "labels"))
        item = by_id.get(item_id) if isinstance(item_id, str) else None
        if item is None or not isinstance(reply, dict) or not isinstance(labels, dict):
            raise InputError(
                f"{path}, line {row.number}: needs a known 'item_id', a 'reply' and 'labels'"
            )
        read = ConstraintSpec.from_mapping(reply)
        said = statements(read)
        gold: tuple[GoldStatus, ...] = _labels(labels.get("gold"), GOLD)
        stated: tuple[StatementStatus, ...] = _labels(labels.get("stated"), STATEMENTS)
        if len(gold) != len(item.constraints) or len(stated) != len(said):
            raise InputError(
                f"{path}, line {row.number}: needs {len(item.constraints)} known gold label(s) and "
                f"{len(said)} known statement label(s)"
            )
        yield Labelled(item, read, Audit.of_statements(gold, said, stated))


def _labels(value: Json, known: tuple[W, ...]) -> tuple[W, ...]:
    """Keep the labels that are known; a missing one shows in the length."""
    given = value if isinstance(value, list) else []
    return tuple(label for one in given for label in known if label == one)


@dataclass(frozen=True, slots=True)
class Agreement:
    """How often the audit and a person say the same, and how far beyond chance (Cohen's kappa)."""

    n: int
    agree: int
    kappa: float | None


def agreement(labelled: Iterable[Labelled]) -> Mapping[str, Agreement]:
    """Audit replies and compare with a person, for gold constraints and statements apart."""
    gold: list[tuple[str, str]] = []
    stated: list[tuple[str, str]] = []
    for one in labelled:
        ours = audit(one.item, one.reply)
        gold.extend(zip(ours.gold, one.labels.gold, strict=True))
        stated.extend(zip(ours.statements, one.labels.statements, strict=True))
    return {"gold": _agree(gold), "stated": _agree(stated)}


def _agree(pairs: list[tuple[str, str]]) -> Agreement:
    return Agreement(len(pairs), sum(ours == theirs for ours, theirs in pairs), kappa(pairs))
