"""Summaries of a store: attempts, verdicts and tokens of each series, and why attempts failed."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass, replace
from typing import Any, Final

import orjson
import sqlalchemy as sa

from constraint_first.engine.price import Cost
from constraint_first.evaluation import schema
from constraint_first.evaluation.series_name import (
    ALL_SERIES,
    SeriesRow,
    current,
    find_rows,
    read_row,
)
from constraint_first.evaluation.spending import series_costs
from constraint_first.evaluation.status import STATUSES
from constraint_first.evaluation.store import Store, summed_usage
from constraint_first.evaluation.tally import ProblemScores, mean_share, without_numbers
from constraint_first.evaluation.traffic import SERVED
from constraint_first.problem import Json
from constraint_first.protocol import Usage

__all__ = ["Failure", "Summary", "failures", "mean_output", "problem_scores", "summaries"]

_AGAIN: Final = "run the same 'cfr eval' command again"


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
    undecided: int
    scores: ProblemScores
    usage: Usage
    cost: Cost | None = None
    """At the prices of today; None where no model has a price."""

    @property
    def correct(self) -> int:
        """Attempts that were right."""
        return sum(right * problems for (right, _), problems in self.scores.items())

    @property
    def accuracy(self) -> float | None:
        """The mean over problems of the share of right runs; None where none was judged."""
        return mean_share(self.scores)

    def to_json(self) -> dict[str, Json]:
        """Describe the series for programs."""
        cost = self.cost.to_json() if self.cost else {}
        return {
            "series": self.series,
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
            "shared_tokens": self.usage.shared,
            **cost,
        }


@dataclass(frozen=True, slots=True)
class Failure:
    """A reason for which attempts failed, how many did, and the first of them."""

    reason: str
    count: int
    benchmark: str
    method: str
    model: str
    problem: str
    run: int

    @property
    def way_out(self) -> str:
        """What a person can do about it: a reason that knows says so after its last semicolon."""
        if self.benchmark == SERVED:
            return "nothing is left to do: whoever asked was told"
        told = self.reason.rpartition("; ")[2]
        known = told != self.reason and not told.endswith(")")
        return f"{told}, then {_AGAIN}" if known else _AGAIN

    def to_json(self) -> dict[str, Json]:
        """Describe it for programs."""
        return asdict(self) | {"way_out": self.way_out}


def summaries(store: Store) -> list[Summary]:
    """Summarise every series of a store."""
    s, a = schema.series, schema.attempts
    scores = problem_scores(store)

    def count(condition: sa.ColumnElement[bool]) -> sa.ColumnElement[int]:
        return sa.func.coalesce(sa.func.sum(sa.case((condition, 1), else_=0)), 0)

    statuses = [count(a.c.status == status) for status in STATUSES]
    query = (
        sa.select(
            *(s.c[name] for name in SeriesRow._fields),
            sa.func.count(a.c.series),
            *statuses,
            count(a.c.verdict == "undecided"),
            *summed_usage(),
        )
        .outerjoin(a, a.c.series == s.c.id)
        .group_by(*s.c)
        .order_by(s.c.id)
    )
    rows = [tuple(row) for row in store.read(query)]
    found = [_summary(store, row, scores.get(row[0], Counter())) for row in rows]
    costs = series_costs(store, {one.series: one.model for one in found})
    return [replace(one, cost=costs[one.series]) for one in found]


def problem_scores(store: Store, *where: sa.ColumnElement[bool]) -> dict[int, ProblemScores]:
    """Count the problems of each series by how many of their runs were right, and of how many.

    The database goes through the attempts; what comes back is a few rows a series.
    """
    a = schema.attempts
    right = sa.func.sum(sa.case((a.c.verdict == "correct", 1), else_=0)).label("right")
    problems = (
        sa.select(a.c.series, right, sa.func.count().label("runs"))
        .where(a.c.verdict.is_not(None), *where)
        .group_by(a.c.series, a.c.problem)
        .subquery()
    )
    key = (problems.c.series, problems.c.right, problems.c.runs)
    found: dict[int, ProblemScores] = {}
    for row in store.read(sa.select(*key, sa.func.count()).group_by(*key)):
        number, correct, runs, count = tuple(row)
        found.setdefault(number, Counter())[correct, runs] = count
    return found


def mean_output(store: Store, method: str, model: str) -> float | None:
    """Average the output tokens of all attempts of a method with a model; None without any."""
    a = schema.attempts
    series = [row.id for row in find_rows(store.read(ALL_SERIES), method=method, model=model)]
    query = sa.select(sa.func.avg(a.c.output_tokens)).where(
        a.c.series.in_(series), a.c.output_tokens > 0
    )
    ((found,),) = (tuple(row) for row in store.read(query))
    return None if found is None else float(found)


def failures(store: Store) -> list[Failure]:
    """List why attempts failed, the most frequent reason first; numbers in it make no other."""
    s, p, a = schema.series, schema.problems, schema.attempts
    query = (
        sa.select(s, a.c.error, p.c.name, a.c.run)
        .join(s, a.c.series == s.c.id)
        .join(p, a.c.problem == p.c.id)
        .where(a.c.status == "failed")
        .order_by(a.c.series, a.c.problem, a.c.run)
    )
    found: dict[str, Failure] = {}
    for row in store.read(query):
        reason, series = row.error or "", read_row(row._mapping)
        alike = without_numbers(reason)
        attempt = (series.benchmark, series.method, series.model, row.name, row.run)
        first = found.get(alike) or Failure(reason, 0, *attempt)
        found[alike] = replace(first, count=first.count + 1)
    return sorted(found.values(), key=lambda failure: -failure.count)


def _summary(store: Store, row: tuple[Any, ...], scores: ProblemScores) -> Summary:
    split = len(SeriesRow._fields)
    one = current(SeriesRow(*row[:split]))
    *numbers, a, b, c, d, shared = row[split:]
    with store.reading():
        settings = orjson.loads(one.decoding)
    named = (one.id, one.benchmark, one.method, one.label, one.model, settings)
    return Summary(*named, *numbers, scores=scores, usage=Usage(a, b, c, d, shared=shared))
