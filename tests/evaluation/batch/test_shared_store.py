"""Batches on a store that workers share: one run sends and collects them, and nobody beside it."""

from collections.abc import Iterator
from dataclasses import replace

import pytest
from batch_evaluation import BATCH, GRID, batches, calls, evaluate
from batch_server import BatchServer, Provider
from loopback import Endpoint, failure
from postgres import empty_database
from sums import reply_right

from constraint_first import RunOptions
from constraint_first.error import CfrError
from constraint_first.run.grid import BatchOptions
from constraint_first.run.shared import NothingRunnable, awork
from constraint_first.store.database import StoreError
from constraint_first.store.store import Store

DIRECT = replace(GRID, methods=("direct",))


@pytest.fixture
def shared(postgres: str) -> Iterator[RunOptions]:
    yield RunOptions(store=postgres, batch=BATCH, lease=1.0)
    empty_database(postgres)


async def test_a_run_in_batches_has_the_store_alone(
    server: BatchServer, provider: Provider, shared: RunOptions
) -> None:
    with Store(shared.store) as store, store.running(), pytest.raises(StoreError, match="is using"):
        await evaluate(server, shared, DIRECT)
    assert not provider.batches
    with (
        Store(shared.store) as store,
        store.exclusively(),
        pytest.raises(StoreError, match="alone"),
    ):
        await awork(shared)
    assert (await evaluate(server, shared, DIRECT)).complete
    assert set(provider.performed.values()) == {1}


async def test_it_makes_what_workers_left_and_leaves_them_nothing(
    server: BatchServer, provider: Provider, shared: RunOptions, endpoint: Endpoint
) -> None:
    endpoint.respond = lambda body: reply_right(body) if "1 +" in str(body) else failure(400, "no")
    single = replace(shared, batch=BatchOptions())
    left = await evaluate(endpoint, single, DIRECT)
    assert 0 < left.series[0].tally.failed < 12
    made = len(calls(shared.store))
    assert (await evaluate(server, shared, DIRECT)).complete
    assert sum(provider.performed.values()) == 12 - made
    assert (await awork(single)).series == ()


async def test_a_worker_does_not_pay_for_what_is_in_a_batch(
    server: BatchServer, provider: Provider, shared: RunOptions, endpoint: Endpoint
) -> None:
    endpoint.script(failure(400, "not now"))
    await evaluate(endpoint, replace(shared, batch=BatchOptions()), DIRECT)
    endpoint.requests.clear()
    server.interrupt = lambda route, _moment: "401" if route == "look" else None
    with pytest.raises(CfrError, match="401"):
        await evaluate(server, shared, DIRECT)
    with pytest.raises(NothingRunnable, match="1 batch has not been collected yet"):
        await awork(replace(shared, batch=BatchOptions()))
    assert not endpoint.requests
    server.interrupt = lambda _route, _moment: None
    assert (await evaluate(server, shared, DIRECT)).complete
    assert [one.state for one in batches(shared.store)] == ["closed"]
    assert set(provider.performed.values()) == {1}
