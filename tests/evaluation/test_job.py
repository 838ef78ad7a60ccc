from sums import number_in, right, sums

from constraint_first.engine.engine import SILENT, Watcher
from constraint_first.engine.error import Rejected
from constraint_first.engine.price import Price, PriceList
from constraint_first.evaluation.job import prepare, read_standing
from constraint_first.evaluation.runner import run
from constraint_first.evaluation.series import Series
from constraint_first.evaluation.store import Store
from constraint_first.protocol import Call, Completion, Usage

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
        found = read_standing(two, second)
        found.apply(second.tally)
        tally = second.tally
        assert (tally.ok, tally.failed, tally.correct, tally.total) == (2, 2, 2, 4)
        assert tally.usage == Usage(6, 8)
        assert list(tally.reasons.items()) == [("HTTP 400: no odd numbers", 2)]
        assert str(tally.cost) == str(first.tally.cost)
        again = prepare(two, SERIES, sums(4), 1, Choosy(), PRICES)  # they are to be made again
        assert (again.tally.failed, again.tally.resumed) == (0, 2)
        read_standing(two, again).apply(again.tally)
        assert again.tally.failed == 0
        from constraint_first.evaluation import schema

        schema.METADATA.drop_all(one.database)
