from collections.abc import Iterator

import pytest
import sqlalchemy as sa
from sums_run import evaluate

from constraint_first.model.batch import Place, RequestId
from constraint_first.protocol import Usage
from constraint_first.run.batch_service import BatchLog, new_batch
from constraint_first.store import schema
from constraint_first.store.query import saved_by_batches
from constraint_first.store.store import Store


@pytest.fixture
def store(url: str) -> Iterator[Store]:
    with Store(url) as opened, opened.exclusively():
        yield opened


async def test_batches_save_the_rest_of_the_price_of_their_calls(store: Store) -> None:
    await evaluate(store)
    given = schema.calls.update().values(input_tokens=100, output_tokens=10)
    store.change(lambda connection: connection.execute(given))
    assert saved_by_batches(store) == {}
    log = BatchLog(store)
    names = [RequestId(Place(1, n + 1, 0, 0), "0" * 12, "1" * 12) for n in range(2)]
    for factor in (0.25, 0.5):  # made again: it is one call all the same
        batch = new_batch("http://a", "m", 1, 2, factor)
        log.collect(batch, names)
    assert saved_by_batches(store) == {(1, ""): Usage(150, 15)}
    in_run_0 = schema.attempts.c.run == 1
    assert saved_by_batches(store, in_run_0) == {}
    log.change(batch.tag, state="forgotten")
    for one in log.open():
        log.change(one.tag, state="forgotten")
    assert saved_by_batches(store) == {}
    assert store.read(sa.select(sa.func.count()).select_from(schema.calls))[0][0] == 10
