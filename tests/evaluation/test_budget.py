import asyncio

import pytest

from cfr.engine.engine import SILENT, Watcher
from cfr.engine.presets import Price
from cfr.evaluation.budget import BudgetSpent, Frugal, Purse
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


async def spend(engine: Frugal, times: int) -> int:
    results = await asyncio.gather(
        *(engine.complete(CALL) for _ in range(times)), return_exceptions=True
    )
    assert all(isinstance(r, Completion | BudgetSpent) for r in results)
    return sum(isinstance(r, Completion) for r in results)


@pytest.mark.parametrize("used", [Usage(100, 100), Usage(10, 10)])
async def test_no_more_tokens_than_allowed_however_many_calls_at_once(used: Usage) -> None:
    purse = Purse(max_tokens=1_000)
    charging = Charging(used)
    done = await spend(Frugal(charging, purse, None), 100)
    assert purse.tokens <= 1_000
    assert done == charging.asked
    # It stops only when the next call could go over.
    assert purse.tokens + 200 > 1_000


async def test_no_more_money_than_allowed() -> None:
    purse = Purse(max_cost=1.0)
    price = Price(input=1_000, output=2_000)  # a call costs 0.3 at the most
    done = await spend(Frugal(Charging(Usage(100, 100)), purse, price), 10)
    assert done == 3
    assert purse.cost == pytest.approx(0.9)  # pyright: ignore


async def test_a_failed_call_gives_back_what_it_set_aside() -> None:
    class Failing:
        async def complete(self, call: Call, watcher: Watcher = SILENT) -> Completion:
            raise OSError("cut")

    purse = Purse(max_tokens=200)
    for _ in range(3):
        with pytest.raises(OSError, match="cut"):
            await Frugal(Failing(), purse, None).complete(CALL)
    assert await spend(Frugal(Charging(Usage(1, 1)), purse, None), 1) == 1


async def test_the_message_says_what_to_do() -> None:
    with pytest.raises(BudgetSpent, match="raise the limit and run the same command again"):
        await Frugal(Charging(Usage()), Purse(max_tokens=10), None).complete(CALL)
