import asyncio

import pytest

from constraint_first.attempt.drive import Scripted
from constraint_first.model.budget import Budget, BudgetSpent
from constraint_first.model.client import Client, ServedModel
from constraint_first.model.error import (
    BadReply,
    EngineError,
    RateLimited,
    Rejected,
    ServerFault,
    StreamCut,
    TimedOut,
    Transient,
    Unreachable,
)
from constraint_first.model.resolve import Price
from constraint_first.model.wire import SILENT, Decoding, Engine, SampledCall, Watcher
from constraint_first.protocol import Call, Completion, Usage

CALL = Call.user("x" * 36, stage="direct", max_tokens=100)  # at most 100 in, 100 out


class Charging:
    def __init__(self, usage: Usage) -> None:
        self.usage = usage
        self.asked = 0

    async def complete(
        self, call: Call, watcher: Watcher = SILENT, decoding: Decoding | None = None
    ) -> Completion:
        self.asked += 1
        await asyncio.sleep(0)
        return Completion("", usage=self.usage)


def paying(
    engine: Engine, budget: Budget, price: Price | None, most_output: int | None = None
) -> Client:
    decoding = Decoding(max_tokens=most_output) if most_output else None
    model = ServedModel(engine, price=price)  # pyright: ignore[reportArgumentType]
    return Client(model, decoding=decoding, budget=budget)


async def spend(engine: Client, times: int) -> int:
    results = await asyncio.gather(
        *(engine.complete(CALL) for _ in range(times)), return_exceptions=True
    )
    assert all(isinstance(r, Completion | BudgetSpent) for r in results)
    return sum(isinstance(r, Completion) for r in results)


@pytest.mark.parametrize("used", [Usage(100, 100), Usage(10, 10)])
async def test_no_more_tokens_than_allowed_however_many_calls_at_once(used: Usage) -> None:
    budget = Budget(max_tokens=1_000)
    charging = Charging(used)
    done = await spend(paying(charging, budget, None), 100)
    assert budget.tokens <= 1_000
    assert done == charging.asked
    # It stops only when the next call could go over.
    assert budget.tokens + 200 > 1_000


async def test_no_more_money_than_allowed() -> None:
    budget = Budget(max_cost=1.0)
    price = Price(input=1_000, output=2_000)  # a call costs 0.3 at the most
    done = await spend(paying(Charging(Usage(100, 100)), budget, price), 10)
    assert done == 3
    assert budget.cost == pytest.approx(0.9)  # pyright: ignore


class Failing:
    """An engine that fails in given ways, one after the other, and then replies."""

    def __init__(self, *faults: EngineError, tries: int = 1) -> None:
        self.faults = list(faults)
        self.tries = tries
        self.asked = 0

    async def complete(self, call: Call, watcher: Watcher = SILENT) -> Completion:
        for left in reversed(range(self.tries)):
            self.asked += 1
            if not self.faults:
                return Completion("4", usage=Usage(10, 5))
            fault = self.faults.pop(0)
            if not left or not isinstance(fault, Transient):
                raise fault
            watcher.retrying(call, fault, 0.0)
        raise AssertionError("unreachable")


@pytest.mark.parametrize(
    ("fault", "charged"),
    [
        (Rejected("no"), 0),
        (RateLimited("slow"), 0),
        (Unreachable("gone"), 0),
        (ServerFault("oops"), 100),  # the prompt
        (StreamCut("cut"), 200),  # and all that it can have written
        (BadReply("odd"), 200),
        (TimedOut("late"), 200),
    ],
)
async def test_a_call_that_failed_costs_what_it_can_have_used(
    fault: EngineError, charged: int
) -> None:
    budget = Budget(max_tokens=1_000)
    with pytest.raises(type(fault)):
        await paying(Failing(fault), budget, None).complete(CALL)
    assert budget.tokens == charged
    retried = Budget(max_tokens=1_000)
    if isinstance(fault, Transient):
        await paying(Failing(fault, fault, tries=3), retried, None).complete(CALL)
        assert retried.tokens == 2 * charged + 15


async def test_money_is_charged_for_what_failed_too() -> None:
    budget = Budget(max_cost=1.0)
    price = Price(input=1_000, output=2_000)
    await paying(Failing(StreamCut("cut"), tries=2), budget, price).complete(CALL)
    assert budget.cost == pytest.approx(0.3 + 0.01 + 0.01)  # pyright: ignore


async def test_it_is_not_asked_again_where_the_budget_does_not_reach() -> None:
    budget = Budget(max_tokens=500)
    failing = Failing(*(StreamCut("cut") for _ in range(9)), tries=5)
    with pytest.raises(StreamCut):
        await paying(failing, budget, None).complete(CALL)
    assert failing.asked == 2
    assert budget.tokens == 400
    with pytest.raises(BudgetSpent):
        await paying(failing, budget, None).complete(CALL)


@pytest.mark.parametrize(
    ("completion", "charged"),
    [
        (Completion("4", usage=Usage(reported=False)), 200),
        (Completion("4", usage=Usage()), 200),
        (Completion("4", usage=Usage(30, reported=False)), 130),
        (Completion("4", usage=Usage(30, 0)), 130),
        (Completion("", reasoning="4", usage=Usage(30, 0)), 130),
        (Completion("", usage=Usage(30, 0)), 30),
        (Completion("4", usage=Usage(30, 7)), 37),
        (Completion("4", usage=Usage(30, 700)), 730),
    ],
)
async def test_what_is_not_counted_is_charged_in_full(completion: Completion, charged: int) -> None:
    budget = Budget(max_tokens=1_000)
    await paying(Scripted(lambda _call: completion), budget, None).complete(CALL)
    assert budget.tokens == charged


async def test_a_run_without_counts_ends_within_its_budget() -> None:
    budget, charging = Budget(max_tokens=1_000), Charging(Usage(reported=False))
    assert await spend(paying(charging, budget, None), 100) == 5
    assert charging.asked == 5
    assert budget.tokens == 1_000


async def test_a_lower_budget_of_tokens_sets_less_aside() -> None:
    budget = Budget(max_tokens=110)
    lowered = paying(Charging(Usage(10, 5)), budget, None, most_output=10)
    assert (await lowered.complete(CALL)).usage == Usage(10, 5)
    with pytest.raises(BudgetSpent):
        await paying(Charging(Usage(10, 5)), budget, None).complete(CALL)


async def test_watchers_hear_of_retries_all_the_same() -> None:
    heard: list[str] = []

    class Hearing(Watcher):
        streams = False

        def retrying(self, call: Call, fault: Transient, seconds: float) -> None:
            heard.append(str(fault))

    failing = Failing(RateLimited("slow"), tries=2)
    await paying(failing, Budget(max_tokens=500), None).complete(CALL, Hearing())
    assert heard == ["slow"]


async def test_the_message_says_what_to_do() -> None:
    with pytest.raises(BudgetSpent, match="raise it, or lower --max-tokens"):
        await paying(Charging(Usage()), Budget(max_tokens=10), None).complete(CALL)


class Sampling(Charging):
    """An engine that takes groups of samples."""

    def most_samples(self, group: SampledCall) -> int:
        return group.samples


GROUP = SampledCall(CALL.messages, CALL.stage, CALL.max_tokens, samples=3)


async def test_a_group_of_samples_sets_aside_its_prompt_once_and_every_reply() -> None:
    budget = Budget(max_tokens=400)  # 100 in, three times 100 out
    engine = paying(Sampling(Usage(90, 120)), budget, Price(1_000, 2_000))
    assert engine.most_samples(GROUP) == 3
    await engine.complete(GROUP)
    assert (budget.tokens, budget.cost) == (210, pytest.approx(0.33))


def test_where_a_budget_is_short_of_a_group_samples_are_asked_for_one_by_one() -> None:
    assert paying(Sampling(Usage()), Budget(max_tokens=399), None).most_samples(GROUP) == 1
    dear = Price(1_000, 2_000)  # a group costs 0.7 at the most
    assert paying(Sampling(Usage()), Budget(max_cost=0.69), dear).most_samples(GROUP) == 1
    assert paying(Charging(Usage()), Budget(), None).most_samples(GROUP) == 1


async def test_a_spent_budget_names_the_currency_and_the_way_out() -> None:
    engine = paying(Charging(Usage(100, 100)), Budget(max_cost=0.5), Price(1_000, 2_000))
    await engine.complete(CALL)
    with pytest.raises(BudgetSpent) as raised:
        await engine.complete(CALL)
    assert str(raised.value) == (
        "the budget is spent: $0.30 of $0.50; the next call could cost up to $0.30; raise "
        "--max-cost and run the same command again"
    )


async def test_a_budget_below_one_call_says_so() -> None:
    charging = Charging(Usage(1, 1))
    with pytest.raises(BudgetSpent) as raised:
        await paying(charging, Budget(max_cost=0.25), Price(1_000, 2_000)).complete(CALL)
    assert str(raised.value) == (
        "one call could cost up to $0.30, and --max-cost is $0.25; raise it, or lower "
        "--max-tokens, the longest reply (now 100 tokens)"
    )
    with pytest.raises(BudgetSpent, match="take up to 200 tokens, and --max-tokens-total is 150"):
        await paying(charging, Budget(max_tokens=150), None).complete(CALL)
    assert not charging.asked


async def test_what_fits_alone_goes_alone() -> None:
    budget, charging = Budget(max_cost=0.3), Charging(Usage(0, 0))
    done = await spend(paying(charging, budget, Price(1_000, 2_000)), 1)
    charging.usage = Usage(1, 0)
    cheap = paying(charging, Budget(max_cost=0.4), Price(1_000, 2_000))
    # Each could cost 0.3 and does cost 0.001.
    assert (done, await spend(cheap, 50)) == (1, 50)


async def test_a_model_that_writes_less_is_asked_for_less() -> None:
    asked: list[int] = []

    class Noting(Charging):
        async def complete(
            self, call: Call, watcher: Watcher = SILENT, decoding: Decoding | None = None
        ) -> Completion:
            asked.append(call.max_tokens)
            return await super().complete(call, watcher)

    engine = paying(Noting(Usage(1, 1)), Budget(max_cost=0.15), Price(1_000, 2_000), 20)
    await engine.complete(CALL)
    assert asked == [20]
