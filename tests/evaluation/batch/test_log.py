from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import sqlalchemy as sa
from sums_run import evaluate

from constraint_first.error import InputError
from constraint_first.model.batch import Place, RequestId
from constraint_first.protocol import Usage
from constraint_first.run.batch_service import BatchLog, new_batch
from constraint_first.run.job import refuse_in_flight
from constraint_first.store import database as schema
from constraint_first.store.query import saved_by_batches
from constraint_first.store.store import Store

NAMES = [RequestId(Place(1, n, 0, 0), "0" * 12, "1" * 12) for n in range(3)]


@pytest.fixture
def store(url: str) -> Iterator[Store]:
    with Store(url) as opened, opened.exclusively():
        yield opened


@pytest.fixture
def log(store: Store) -> BatchLog:
    return BatchLog(store)


def states(store: Store) -> list[str]:
    return [row.state for row in store.read(sa.select(schema.batches.c.state))]


def statuses(store: Store) -> list[int | None]:
    table = schema.requests
    return [row.status for row in store.read(sa.select(table.c.status).order_by(table.c.problem))]


def test_a_batch_and_its_requests_are_there_before_anything_is_done(log: BatchLog) -> None:
    assert log.next_wave() == 1
    batch = new_batch("http://a", "m", 1, 3, 0.5)
    log.collect(batch, NAMES)
    assert log.open() == [batch]
    assert log.wanted(batch.tag) == set(map(str, NAMES))
    log.change(batch.tag, state="created", batch="batch_1", status="validating")
    (found,) = log.open()
    assert found == replace(batch, state="created", batch="batch_1", status="validating")
    assert (batch.shown, found.shown) == (batch.tag, "batch_1")
    assert log.next_wave() == 2


def test_what_is_in_flight_elsewhere_is_not_asked_for(log: BatchLog, store: Store) -> None:
    batch = new_batch("http://a", "m", 1, 3, 0.5)
    log.collect(batch, NAMES)
    refuse_in_flight(store, [2], forget=False)
    refuse_in_flight(store, [1], [("http://a", "m")], forget=False)
    why = "1 batch has not been collected yet, of m at http://a; run the command that made"
    with pytest.raises(InputError, match=why):
        refuse_in_flight(store, [1], [("http://b", "m")], forget=False)
    log.collect(new_batch("http://a", "m", 1, 3, 0.5), NAMES)
    with pytest.raises(InputError, match="2 batches have not"):
        refuse_in_flight(store, [1, 2], forget=False)
    refuse_in_flight(store, [1], forget=True)
    assert states(store) == ["forgotten", "forgotten"]
    refuse_in_flight(store, [1], forget=False)


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


def test_the_tables_of_batches_stand_apart(tmp_path: Path) -> None:
    assert not set(schema.BATCHES.tables) & set(schema.METADATA.tables)
    path = str(tmp_path / "runs.db")
    with Store(path) as store:
        assert not sa.inspect(store.database).has_table("batches")
    with Store(path) as store, store.exclusively():
        BatchLog(store)
        assert sa.inspect(store.database).has_table("batch_requests")
    with Store(path, existing=True) as store:
        assert store.read(sa.select(schema.batches)) == []
