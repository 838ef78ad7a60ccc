import asyncio

import pytest

from cfr.engine.engine import SILENT, Watcher
from cfr.engine.presets import Price
from cfr.evaluation.budget import Budget, Budgeted, BudgetSpent
from cfr.protocol import Call, Completion, Usage

CALL = Call.user("x" * 36, stage="direct", max_tokens=100)  # at most 100 in, 100 out


class Charging:
    def __init__(self, usage: Usage) -> None:
        self.usage = usage
        self.asked = 0

    async def complete(self, call: Call, watcher: Watcher = SILENT) -> Completion:
        self.asked += 1
        await asyncio.sleep(0)
        return Completion("", usage=self.usage)


async def spend(engine: Budgeted, times: int) -> int:
    results = await asyncio.gather(
        *(engine.complete(CALL) for _ in range(times)), return_exceptions=True
    )
    assert all(isinstance(r, Completion | BudgetSpent) for r in results)
    return sum(isinstance(r, Completion) for r in results)


@pytest.mark.parametrize("used", [Usage(100, 100), Usage(10, 10)])
async def test_no_more_tokens_than_allowed_however_many_calls_at_once(used: Usage) -> None:
    budget = Budget(max_tokens=1_000)
    charging = Charging(used)
    done = await spend(Budgeted(charging, budget, None), 100)
    assert budget.tokens <= 1_000
    assert done == charging.asked
    # It stops only when the next call could go over.
    assert budget.tokens + 200 > 1_000


async def test_no_more_money_than_allowed() -> None:
    budget = Budget(max_cost=1.0)
    price = Price(input=1_000, output=2_000)  # a call costs 0.3 at the most
    done = await spend(Budgeted(Charging(Usage(100, 100)), budget, price), 10)
    assert done == 3
    assert budget.cost == pytest.approx(0.9)  # pyright: ignore


async def test_a_failed_call_gives_back_what_it_set_aside() -> None:
    class Failing:
        async def complete(self, call: Call, watcher: Watcher = SILENT) -> Completion:
            raise OSError("cut")

    budget = Budget(max_tokens=200)
    for _ in range(3):
        with pytest.raises(OSError, match="cut"):
            await Budgeted(Failing(), budget, None).complete(CALL)
    assert await spend(Budgeted(Charging(Usage(1, 1)), budget, None), 1) == 1


async def test_the_message_says_what_to_do() -> None:
    with pytest.raises(BudgetSpent, match="raise the limit and run the same command again"):
        await Budgeted(Charging(Usage()), Budget(max_tokens=10), None).complete(CALL)
