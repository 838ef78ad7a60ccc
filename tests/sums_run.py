"""A series of sums that is run against a store with an engine that is always right."""

from sums import right, sums

from constraint_first.attempt.drive import Scripted
from constraint_first.run.job import prepare, run
from constraint_first.store.series import Series
from constraint_first.store.store import Store

__all__ = ["PROBLEMS", "SERIES", "evaluate"]
PROBLEMS = sums(5)
SERIES = Series("sums", "direct", "model-a")


async def evaluate(store: Store, series: Series = SERIES, runs: int = 2) -> Scripted:
    engine = Scripted(right)
    await run(store, [prepare(store, series, PROBLEMS, runs, engine)], width=4)
    return engine
