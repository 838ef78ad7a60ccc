from sums import right, sums

from cfr.engine.scripted import Scripted
from cfr.evaluation.runner import prepare, run
from cfr.evaluation.series import Series
from cfr.evaluation.store import Store
from cfr.protocol import Completion, Usage

SERIES = Series("sums", "direct", "model-a")


async def test_a_smaller_run_counts_only_what_belongs_to_it(url: str) -> None:
    with Store(url) as store:
        engine = Scripted(lambda call: Completion(right(call), usage=Usage(3, 4)))
        await run(store, [prepare(store, SERIES, sums(6), 3, engine)], width=4)
        job = prepare(store, SERIES, sums(2), 2, engine)
    assert not list(job.missing())
    tally = job.tally
    assert (tally.total, tally.ok, tally.correct, tally.resumed) == (4, 4, 4, 4)
    assert tally.usage == Usage(12, 16)
