from sums import number_in, right, sums

from constraint_first.model.error import Rejected
from constraint_first.model.resolve import Price, PriceList
from constraint_first.model.wire import SILENT, Watcher
from constraint_first.protocol import Call, Completion, Usage
from constraint_first.run.job import prepare, recount, run
from constraint_first.store.series import Series
from constraint_first.store.store import Store

SERIES = Series("sums", "direct", "m")
PRICES = PriceList(Price(1_000, 2_000))


class Choosy:
    """An engine that refuses odd problems."""

    async def complete(self, call: Call, watcher: Watcher = SILENT) -> Completion:
        if number_in(call) % 2:
            raise Rejected("HTTP 400: no odd numbers")
        return Completion(right(call), usage=Usage(3, 4))


async def test_a_worker_counts_what_another_has_made_and_why_it_failed(postgres: str) -> None:
    with Store(postgres) as one, Store(postgres) as two:
        first = prepare(one, SERIES, sums(4), 1, Choosy(), PRICES)
        second = prepare(two, SERIES, sums(4), 1, Choosy(), PRICES)
        await run(one, [first], width=2)
        await recount(two, [second])
        tally = second.tally
        assert (tally.ok, tally.failed, tally.correct, tally.total) == (2, 2, 2, 4)
        assert tally.usage == Usage(6, 8)
        assert list(tally.reasons.items()) == [("HTTP 400: no odd numbers", 2)]
        assert str(tally.cost) == str(first.tally.cost)
        again = prepare(two, SERIES, sums(4), 1, Choosy(), PRICES)  # they are to be made again
        assert (again.tally.failed, again.tally.resumed) == (0, 2)
        await recount(two, [again])
        assert again.tally.failed == 0
        from constraint_first.store import schema

        schema.METADATA.drop_all(one.database)
