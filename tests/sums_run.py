"""A series of sums that is run against a store with an engine that is always right."""

from sums import right, sums

from cfr.engine.scripted import Scripted
from cfr.evaluation.runner import prepare, run
from cfr.evaluation.series import Series
from cfr.evaluation.store import Store

__all__ = ["PROBLEMS", "SERIES", "evaluate"]

PROBLEMS = sums(5)
SERIES = Series("sums", "direct", "model-a")


async def evaluate(store: Store, series: Series = SERIES, runs: int = 2) -> Scripted:
    engine = Scripted(right)
    await run(store, [prepare(store, series, PROBLEMS, runs, engine)], width=4)
    return engine
