"""One stored series problem by problem, and how a store has grown; for people who look through it.

The database selects and counts: a series may have more attempts than anybody wants to see at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias, get_args

import orjson
import sqlalchemy as sa

from constraint_first.error import InputError
from constraint_first.evaluation import schema
from constraint_first.evaluation.series_name import ALL_SERIES, find_rows, read_row
from constraint_first.evaluation.store import Store
from constraint_first.problem import Json

__all__ = [
    "SHOWN",
    "AttemptLine",
    "ProblemLine",
    "ProblemPage",
    "SeriesGrowth",
    "Shown",
    "StoredSeries",
    "count_begun",
    "count_problems",
    "find_series",
    "list_problems",
    "read_growth",
    "read_series",
]

Shown: TypeAlias = Literal["all", "right", "mixed", "wrong", "unanswered", "failed"]
"""Which problems: those with all runs right, some, none; with a run that has no answer, or
failed."""
SHOWN: Final[tuple[Shown, ...]] = get_args(Shown)
_OPENING: Final = 300
_MOST_POINTS: Final = 400


@dataclass(frozen=True, slots=True)
class StoredSeries:
    """A series as it is named in its store."""

    id: int
    benchmark: str
    method: str
    label: str
    model: str
    decoding: dict[str, Json]


@dataclass(frozen=True, slots=True)
class AttemptLine:
    """How one run at a problem ended."""

    run: int
    status: str
    verdict: str | None
    answer: str | None


@dataclass(frozen=True, slots=True)
class ProblemLine:
    """A problem of a series, with all its runs and what they took together."""

    name: str
    opening: str
    """The beginning of its text."""
    right: int
    judged: int
    tokens: int
    seconds: float
    attempts: tuple[AttemptLine, ...]


@dataclass(frozen=True, slots=True)
class ProblemPage:
    """Some problems of a series, and how many there are of their kind."""

    lines: tuple[ProblemLine, ...]
    total: int


@dataclass(frozen=True, slots=True)
class SeriesGrowth:
    """How a series or a store grew: at each time, attempts so far and how many were right."""

    times: tuple[float, ...]
    attempts: tuple[int, ...]
    right: tuple[int, ...]


def read_series(store: Store, number: int) -> StoredSeries:
    """Find a series by its number."""
    rows = store.read(sa.select(schema.series).where(schema.series.c.id == number))
    if not rows:
        raise InputError(f"{store.url}: has no series {number}; 'cfr runs' lists them")
    row = read_row(rows[0]._mapping)
    with store.reading():
        decoding = orjson.loads(row.decoding)
    return StoredSeries(row.id, row.benchmark, row.method, row.label, row.model, decoding)


def find_series(store: Store, benchmark: str, method: str, model: str, decoding: str) -> int:
    """Find the number of a series by all that names it; ``decoding`` is as it is stored."""
    wanted = {"benchmark": benchmark, "method": method, "model": model, "decoding": decoding}
    rows = find_rows(store.read(ALL_SERIES), **wanted)
    if not rows:
        raise InputError(f"{store.url}: has no series of {method} on {benchmark} with {model}")
    return rows[0].id


def list_problems(
    store: Store, series: int, shown: Shown = "all", search: str = "", *, at: int = 0, most: int
) -> ProblemPage:
    """List problems of a series from the ``at``-th on, those whose name or text has some words."""
    a, p = schema.attempts.c, schema.problems.c
    counted = {
        "right": _sum(a.verdict == "correct"),
        "judged": _sum(a.verdict.is_not(None)),
        "failed": _sum(a.status == "failed"),
        "unanswered": _sum(a.status.in_(("truncated", "unparsed"))),
        "tokens": sa.cast(sa.func.sum(a.input_tokens + a.output_tokens), sa.BigInteger),
        "seconds": sa.func.sum(a.seconds),
    }
    found = (
        sa.select(a.problem, *(column.label(name) for name, column in counted.items()))
        .where(a.series == series)
        .group_by(a.problem)
        .subquery()
    )
    query = (
        sa.select(p.name, sa.func.substr(p.text, 1, _OPENING).label("opening"), found)
        .join(found, found.c.problem == p.id)
        .where(_wanted(found, shown))
    )
    if search.strip():
        has = (column.icontains(search.strip(), autoescape=True) for column in (p.name, p.text))
        query = query.where(sa.or_(*has))
    (total,) = store.read(sa.select(sa.func.count()).select_from(query.subquery()))[0]
    rows = store.read(query.order_by(p.id).limit(most).offset(at))
    return ProblemPage(_lines(store, series, rows), total)


def _sum(condition: sa.ColumnElement[bool]) -> sa.ColumnElement[int]:
    return sa.func.sum(sa.case((condition, 1), else_=0))


def _wanted(found: sa.Subquery, shown: Shown) -> sa.ColumnElement[bool]:
    right, judged = found.c.right, found.c.judged
    return {
        "all": sa.true(),
        "right": sa.and_(judged > 0, right == judged),
        "mixed": sa.and_(right > 0, right < judged),
        "wrong": sa.and_(judged > 0, right == 0),
        "unanswered": found.c.unanswered > 0,
        "failed": found.c.failed > 0,
    }[shown]


def _lines(store: Store, series: int, rows: Sequence[Any]) -> tuple[ProblemLine, ...]:
    a = schema.attempts.c
    numbers = [row.problem for row in rows]
    # What was read from a reply that is judged whole is no answer.
    answer = sa.case((a.tier == "instructions", None), else_=a.answer)
    query = sa.select(a.problem, a.run, a.status, a.verdict, answer).where(
        a.series == series, a.problem.in_(numbers)
    )
    runs: dict[int, list[AttemptLine]] = {number: [] for number in numbers}
    for problem, *ended in store.read(query.order_by(a.problem, a.run)):
        runs[problem].append(AttemptLine(*ended))
    return tuple(
        ProblemLine(
            *(row.name, row.opening, row.right, row.judged, row.tokens, row.seconds),
            attempts=tuple(runs[row.problem]),
        )
        for row in rows
    )


def count_problems(store: Store) -> dict[str, int]:
    """Count the problems that a store knows of each benchmark."""
    name = schema.problems.c.benchmark
    return {row[0]: row[1] for row in store.read(sa.select(name, sa.func.count()).group_by(name))}


def count_begun(store: Store) -> dict[int, int]:
    """Count the attempts of each series that were begun and have not ended."""
    c, a = schema.calls.c, schema.attempts.c
    names = ("series", "problem", "run")
    same = sa.and_(*(a[name] == c[name] for name in names))
    begun = (
        sa.select(*(c[name] for name in names))
        .where(c.ordinal == 0, ~sa.exists().where(same))
        .subquery()
    )
    query = sa.select(begun.c.series, sa.func.count()).group_by(begun.c.series)
    return {row[0]: row[1] for row in store.read(query)}


def read_growth(store: Store, series: int | None = None) -> SeriesGrowth:
    """Follow how a store grew, or one of its series, in a few hundred steps at most."""
    a = schema.attempts.c
    query = sa.select(a.finished_at, a.verdict).order_by(a.finished_at)
    if series is not None:
        query = query.where(a.series == series)
    rows = store.read(query.where(a.status != "failed"))
    step = max(1, -(-len(rows) // _MOST_POINTS))
    times, attempts, right, so_far = list[float](), list[int](), list[int](), 0
    for number, (time, verdict) in enumerate(rows, start=1):
        so_far += verdict == "correct"
        if number % step == 0 or number == len(rows):
            times.append(time)
            attempts.append(number)
            right.append(so_far)
    return SeriesGrowth(tuple(times), tuple(attempts), tuple(right))
