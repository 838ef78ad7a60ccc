"""Summaries of the series in a store: attempts, verdicts and tokens, counted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import orjson
import sqlalchemy as sa

from cfr.evaluation import schema
from cfr.evaluation.status import STATUSES
from cfr.evaluation.store import Store, usage_columns
from cfr.problem import Json
from cfr.protocol import Usage

__all__ = ["Summary", "summaries"]


@dataclass(frozen=True, slots=True)
class Summary:
    """The counts of one series."""

    series: int
    benchmark: str
    method: str
    label: str
    model: str
    decoding: dict[str, Json]
    attempts: int
    ok: int
    truncated: int
    unparsed: int
    failed: int
    correct: int
    undecided: int
    graded: int
    usage: Usage

    @property
    def accuracy(self) -> float | None:
        """The share of correct answers among graded attempts; None where there are none."""
        return self.correct / self.graded if self.graded else None

    def to_json(self) -> dict[str, Json]:
        """Describe the series for programs."""
        return {
            "benchmark": self.benchmark,
            "method": self.method,
            "label": self.label,
            "model": self.model,
            "decoding": self.decoding,
            "attempts": self.attempts,
            "ok": self.ok,
            "truncated": self.truncated,
            "unparsed": self.unparsed,
            "failed": self.failed,
            "undecided": self.undecided,
            "accuracy": self.accuracy,
            "tokens": self.usage.total,
            "input_tokens": self.usage.input,
            "output_tokens": self.usage.output,
        }


def summaries(store: Store) -> list[Summary]:
    """Summarise every series of a store, in one query."""
    s, a = schema.series, schema.attempts

    def count(condition: sa.ColumnElement[bool]) -> sa.ColumnElement[int]:
        return sa.func.coalesce(sa.func.sum(sa.case((condition, 1), else_=0)), 0)

    statuses = [count(a.c.status == status) for status in STATUSES]
    verdicts = [count(a.c.verdict == verdict) for verdict in ("correct", "undecided")]
    tokens = [sa.func.coalesce(sa.func.sum(a.c[name]), 0) for name in usage_columns(Usage())]
    query = (
        sa.select(
            *(s.c[name] for name in ("id", "benchmark", "method", "label", "model", "decoding")),
            sa.func.count(a.c.series),
            *statuses,
            *verdicts,
            count(a.c.verdict.is_not(None)),
            *tokens,
        )
        .outerjoin(a, a.c.series == s.c.id)
        .group_by(*s.c)
        .order_by(s.c.id)
    )
    with store.database.connect() as connection:
        return [_summary(tuple(row)) for row in connection.execute(query)]


def _summary(row: tuple[Any, ...]) -> Summary:
    number, benchmark, method, label, model, decoding, *counts = row
    *numbers, a, b, c, d = counts
    usage = Usage(a, b, c, d)
    return Summary(
        number, benchmark, method, label, model, orjson.loads(decoding), *numbers, usage=usage
    )
