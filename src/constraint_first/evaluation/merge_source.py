"""The stores that a merge reads: a snapshot of each, and how far its attempts are."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

import sqlalchemy as sa

from constraint_first.evaluation import schema
from constraint_first.evaluation.registration import current_name
from constraint_first.evaluation.store import AttemptKey, Store

__all__ = [
    "ROWS_AT_ONCE",
    "STREAMED",
    "MergePart",
    "MergeSource",
    "Standing",
    "read_standing",
    "snapshot",
]

ROWS_AT_ONCE: Final = 500
STREAMED: Final = {"yield_per": ROWS_AT_ONCE}
"""The options of a query whose rows do not all fit into memory."""


class MergeSource:
    """A store that is read, as it is at one moment."""

    def __init__(self, store: Store, reading: sa.Connection) -> None:
        self.url = store.url
        self.reading = reading
        self._store = store
        table = schema.series
        stored = reading.scalars(sa.select(table.c.benchmark).distinct()).all()
        posed = reading.scalars(sa.select(schema.problems.c.benchmark).distinct()).all()
        self.names = {name: current_name(reading, name) for name in (*stored, *posed)}
        """What each of its benchmarks is called today."""

    def rows(self, table: sa.Table, series: int | None = None) -> Iterator[dict[str, Any]]:
        """Go through a table, or the part of it that belongs to a series."""
        query = sa.select(table).order_by(*table.primary_key)
        query = query if series is None else query.where(table.c.series == series)
        with self._store.reading():
            for row in self.reading.execute(query, execution_options=STREAMED).mappings():
                yield dict(row)

    def count_lone(self) -> int:
        """Count the attempts, begun or ended, whose series or problem is missing."""
        keys = [
            sa.select(table.c.series, table.c.problem, table.c.run).where(
                sa.or_(
                    table.c.series.not_in(sa.select(schema.series.c.id)),
                    table.c.problem.not_in(sa.select(schema.problems.c.id)),
                )
            )
            for table in (schema.attempts, schema.calls)
        ]
        lone = sa.union(*keys).subquery()
        return self.reading.execute(sa.select(sa.func.count()).select_from(lone)).scalar_one()


@dataclass(frozen=True, slots=True)
class MergePart:
    """A series of a source, with the numbers that it and its problems have in the target."""

    row: Mapping[str, Any]
    number: int
    problems: Mapping[int, int]

    @property
    def source(self) -> int:
        """Its number in the source."""
        return self.row["id"]

    def key(self, problem: int, run: int) -> AttemptKey:
        """Name an attempt as the target does."""
        return self.problems[problem], run

    def move(self, rows: Iterable[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
        """Give rows the numbers that they have in the target; leave out those without a problem."""
        for row in rows:
            if row["problem"] in self.problems:
                yield {**row, "series": self.number, "problem": self.problems[row["problem"]]}


@dataclass(frozen=True, slots=True, order=True)
class Standing:
    """How far an attempt is: the further one is kept."""

    finished: bool
    calls: int
    finished_at: float = 0.0


def read_standing(connection: sa.Connection, series: int) -> dict[AttemptKey, Standing]:
    """Say of each attempt of a series how far it is, also where it has calls alone."""
    calls, attempts = schema.calls.c, schema.attempts.c
    key = (calls.problem, calls.run)
    counted = sa.select(*key, sa.func.count()).where(calls.series == series).group_by(*key)
    made = {(problem, run): count for problem, run, count in connection.execute(counted)}
    found = {at: Standing(finished=False, calls=count) for at, count in made.items()}
    columns = (attempts.problem, attempts.run, attempts.status, attempts.finished_at)
    for problem, run, status, when in connection.execute(
        sa.select(*columns).where(attempts.series == series)
    ):
        found[problem, run] = Standing(status != "failed", made.get((problem, run), 0), when)
    return found


@contextmanager
def snapshot(store: Store) -> Generator[sa.Connection]:
    """Open a connection that sees a store as it is now, whatever a run adds to it meanwhile."""
    with store.database.connect() as connection:
        if connection.dialect.name == "sqlite":
            connection.exec_driver_sql("BEGIN")
            yield connection
        else:
            yield connection.execution_options(isolation_level="REPEATABLE READ")
