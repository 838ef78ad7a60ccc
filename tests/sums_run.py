"""A series of sums that is run against a store with an engine that is always right."""

import asyncio
from typing import Any

import sqlalchemy as sa
from sums import right, sums

from constraint_first.attempt.drive import Scripted
from constraint_first.model.wire import Engine
from constraint_first.run.job import Job, prepare, run
from constraint_first.store.series import Series
from constraint_first.store.store import Store

PROBLEMS = sums(5)
SERIES = Series("sums", "direct", "model-a")


async def evaluate(store: Store, series: Series = SERIES, runs: int = 2) -> Scripted:
    engine = Scripted(right)
    await run(store, [prepare(store, series, PROBLEMS, runs, engine)], width=4)
    return engine


async def run_sums(
    store: Store,
    method: str | Series = "direct",
    count: int = 3,
    runs: int = 1,
    engine: Engine | None = None,
    **settings: Any,
) -> Job:
    """Run a method (or a whole series) on the first sums."""
    series = method if isinstance(method, Series) else Series("sums", method, "m")
    job = prepare(store, series, sums(count), runs, engine or Scripted(right))
    await run(store, [job], settings.pop("width", 2), **settings)
    return job


def make_sums(store: Store, *series: Any, **settings: Any) -> Job:
    """Do the same in ordinary code."""
    return asyncio.run(run_sums(store, *series, **settings))


def execute(store: Store, statement: sa.Executable | str, rows: Any = ()) -> None:
    """Change a store by hand, past all that a run would check."""
    made = sa.text(statement) if isinstance(statement, str) else statement
    store.change(lambda connection: connection.execute(made, rows or None))
