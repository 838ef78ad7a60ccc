import asyncio
from collections.abc import Callable, Iterator

import pytest
import sqlalchemy as sa
from postgres import empty_database

from constraint_first.model.client import Client, ServedModel
from constraint_first.model.error import StreamCut
from constraint_first.model.limit import Budget, BudgetSpent, Price
from constraint_first.model.wire import SILENT, Engine, Watcher
from constraint_first.protocol import Call, Completion, Usage
from constraint_first.run.grid import RunOptions
from constraint_first.run.shared import (
    Amount,
    Ledger,
    SharedBudget,
    name_budget,
    open_budget,
)
from constraint_first.store import database as schema
from constraint_first.store.series import Series
from constraint_first.store.store import Store

CALL = Call.user("x" * 36, stage="direct", max_tokens=100)  # at most 100 in, 100 out
ALL = Usage(100, 100)


@pytest.fixture
def shared(postgres: str) -> Iterator[str]:
    yield postgres
    empty_database(postgres)


class Charging:
    def __init__(self, usage: Usage = ALL) -> None:
        self.usage = usage
        self.asked = 0

    async def complete(self, call: Call, watcher: Watcher = SILENT) -> Completion:
        self.asked += 1
        await asyncio.sleep(0.001)
        return Completion("", usage=self.usage)


def opened(store: Store, lease: float = 60.0, **limits: float) -> SharedBudget:
    tokens, cost = limits.get("tokens"), limits.get("cost")
    most = None if tokens is None else int(tokens)
    options = RunOptions(max_tokens_total=most, max_cost=cost, lease=lease)
    found = open_budget(store, "grid", options)
    assert isinstance(found, SharedBudget)
    return found


def paying(engine: Engine, budget: Budget, price: Price | None) -> Client:
    model = ServedModel(engine, price=price)  # pyright: ignore[reportArgumentType]
    return Client(model, budget=budget)


async def spend(engine: Client, times: int) -> int:
    results = await asyncio.gather(
        *(engine.complete(CALL) for _ in range(times)), return_exceptions=True
    )
    assert all(isinstance(one, Completion | BudgetSpent) for one in results), results
    return sum(isinstance(one, Completion) for one in results)


def row(store: Store) -> tuple[int, float, int]:
    ((tokens, cost),) = store.read(sa.select(schema.budgets.c.tokens, schema.budgets.c.cost))
    reserved = sa.func.coalesce(sa.func.sum(schema.reservations.c.tokens), 0)
    ((aside,),) = store.read(sa.select(reserved))
    return tokens, cost, int(aside)


@pytest.mark.parametrize("used", [Usage(100, 100), Usage(10, 10)])
async def test_workers_together_spend_no_more_than_allowed(shared: str, used: Usage) -> None:
    charging = Charging(used)
    with Store(shared) as one, Store(shared) as two, Store(shared) as three:
        budgets = [opened(store, tokens=2_000) for store in (one, two, three)]
        done = await asyncio.gather(
            *(spend(paying(charging, budget, None), 60) for budget in budgets)
        )
        for budget in budgets:
            await budget.close()
        tokens, _, reserved = row(one)
    assert sum(done) == charging.asked
    assert tokens == charging.asked * used.total <= 2_000
    assert tokens + 200 > 2_000  # it stops only when the next call could go over
    assert reserved == 0


async def test_it_goes_on_where_it_was_when_the_command_is_run_again(shared: str) -> None:
    with Store(shared) as store:
        budget = opened(store, cost=1.0)
        assert await spend(paying(Charging(), budget, Price(1_000, 2_000)), 10) == 3
        await budget.close()
    with Store(shared) as store:
        assert opened(store)._max_cost == 1.0  # pyright: ignore[reportPrivateUsage]
        with pytest.raises(BudgetSpent, match=r"spent: \$0.90 of \$1.00; .*raise --max-cost"):
            await paying(Charging(), opened(store), Price(1_000, 2_000)).complete(CALL)
        more = opened(store, cost=1.3)
        assert await spend(paying(Charging(), more, Price(1_000, 2_000)), 10) == 1
        await more.close()
        assert row(store)[1] == pytest.approx(1.2)  # pyright: ignore


async def test_what_a_worker_had_set_aside_when_it_died_counts_as_spent(shared: str) -> None:
    with Store(shared) as store:
        await opened(store, tokens=500).reserve(Usage(100, 100), 0.0)
        with store.database.begin() as connection:
            past = sa.text("UPDATE reservations SET expires = expires - interval '1 hour'")
            connection.execute(past)
    with Store(shared) as store:
        budget, charging = opened(store, lease=0.01), Charging()
        assert await spend(paying(charging, budget, None), 5) == 1
        with pytest.raises(BudgetSpent, match=r"spent: 400 of 500 tokens \(200 of it set aside by"):
            await paying(charging, budget, None).complete(CALL)
        assert row(store) == (400, 0.0, 0)


async def test_who_waits_for_what_another_has_set_aside_gets_what_that_gives_back(
    shared: str,
) -> None:
    with Store(shared) as one, Store(shared) as two:
        first, second = opened(one, tokens=300), opened(two)
        await first.reserve(Usage(100, 100), 0.0)
        waiting = asyncio.create_task(second.reserve(Usage(100, 100), 0.0))
        done, _ = await asyncio.wait([waiting], timeout=0.1)
        assert not done
        first.settle(Usage(100, 100), 0.0, Usage(10, 10), 0.0)
        await waiting
        second.settle(Usage(100, 100), 0.0, Usage(10, 10), 0.0)
        await second.close()
        await first.close()
        assert row(one) == (40, 0.0, 0)


async def test_whoever_is_cancelled_while_it_waits_holds_nothing(shared: str) -> None:
    with Store(shared) as store:
        budget = opened(store, tokens=300)
        waiting = [asyncio.create_task(budget.reserve(Usage(100, 100), 0.0)) for _ in range(3)]
        await asyncio.sleep(0)  # it is under way
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
        await budget.close()
        assert row(store) == (0, 0.0, 0)


async def test_a_try_that_failed_is_paid_and_the_next_only_made_if_it_can_be(shared: str) -> None:
    class Failing:
        asked = 0

        async def complete(self, call: Call, watcher: Watcher = SILENT) -> Completion:
            while True:
                self.asked += 1
                watcher.retrying(call, StreamCut("cut"), 0.0)

    with Store(shared) as store:
        budget, failing = opened(store, tokens=500), Failing()
        with pytest.raises(StreamCut):
            await paying(failing, budget, None).complete(CALL)
        await budget.close()
        assert failing.asked == 2
        assert row(store) == (400, 0.0, 0)


async def test_a_change_that_is_sent_twice_is_made_once(
    shared: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def twice(_url: str, _done: str, once: Callable[[], object]) -> object:
        once()  # a server that breaks off after a commit has made it, and nobody hears of it
        return once()

    with Store(shared) as store:
        budget = opened(store, tokens=1_000)
        monkeypatch.setattr("constraint_first.run.shared.patiently", twice)
        await budget.reserve(Usage(100, 100), 0.0)
        assert row(store) == (0, 0.0, 200)
        budget.settle(Usage(100, 100), 0.0, Usage(50, 50), 0.0)
        await budget.close()
        assert row(store) == (100, 0.0, 0)


def test_there_is_a_budget_where_there_is_a_limit_and_the_same_grid_has_one_name(
    shared: str,
) -> None:
    with Store(shared) as store:
        assert open_budget(store, "grid", RunOptions()) is None
        assert open_budget(store, "grid", RunOptions(max_tokens_total=5))
    one, other = Series("a", "direct", "m"), Series("b", "direct", "m")
    assert name_budget([one, other]) == name_budget([other, one]) != name_budget([one])


def ledger(spent: int = 0, mine: int = 0, others: int = 0) -> Ledger:
    limits = (1_000, None)
    return Ledger(limits, Amount(spent), Amount(), Amount(mine), Amount(others))


def test_what_was_counted_as_spent_when_its_worker_seemed_dead_is_not_counted_again() -> None:
    found = ledger(spent=200)  # all that it had set aside was taken for lost
    found.settle(Amount(200), Amount(40))
    assert (found.mine, found.spent) == (Amount(0), Amount(200))
    found.settle(Amount(200), Amount(260))  # an endpoint that counts more is believed
    assert found.spent == Amount(260)
