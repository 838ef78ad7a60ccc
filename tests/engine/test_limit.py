import asyncio
import random

import pytest

from constraint_first.model.client import Client, ServedModel
from constraint_first.model.error import RateLimited, StreamCut, Transient
from constraint_first.model.limit import Limiter, Pace
from constraint_first.model.wire import SILENT, Engine, SampledCall, Watcher
from constraint_first.protocol import Call, Completion

CALL = Call.user("x", stage="direct", max_tokens=8)


class Counting:
    """An engine that sees how many calls are under way, and pushes back when told to."""

    def __init__(self) -> None:
        self.now = self.most = self.asked = 0
        self.faults: list[Transient] = []

    async def complete(self, call: Call, watcher: Watcher = SILENT) -> Completion:
        self.asked += 1
        self.now += 1
        self.most = max(self.most, self.now)
        await asyncio.sleep(0.001)
        self.now -= 1
        while self.faults:
            watcher.retrying(call, self.faults.pop(), 0)
        return Completion("done")


def limited_to(engine: Engine, limiter: Limiter) -> Client:
    return Client(ServedModel(engine, limiter))  # pyright: ignore[reportArgumentType]


async def ask(limited: Client, times: int) -> None:
    await asyncio.gather(*(limited.complete(CALL) for _ in range(times)))


async def test_never_more_at_once_than_allowed() -> None:
    engine = Counting()
    await ask(limited_to(engine, Limiter(7)), 100)
    assert engine.most == 7
    assert engine.asked == 100


async def test_places_can_be_taken_without_waiting() -> None:
    limiter = Limiter(3)
    assert limiter.take(2)
    assert not limiter.take(2)
    assert limiter.has_room()
    await limiter.enter()
    assert not limiter.has_room()
    limiter.release(3)
    assert limiter.in_flight == 0
    assert limiter.take(5)  # a group that is larger goes by itself


async def test_the_window_opens_while_replies_come() -> None:
    engine, limiter = Counting(), Limiter(64, start=2)
    await ask(limited_to(engine, limiter), 300)
    assert limiter.size == 64
    assert engine.most == 64


class Refusing(Counting):
    """An engine that refuses calls: a share of them at random, or those above a number."""

    def __init__(self, share: float = 0, above: int = 1_000) -> None:
        super().__init__()
        self.share, self.above = share, above
        self.dice = random.Random(1)

    async def complete(self, call: Call, watcher: Watcher = SILENT) -> Completion:
        if self.now >= self.above or self.dice.random() < self.share:
            await asyncio.sleep(0.001)
            raise RateLimited("slow")
        return await super().complete(call, watcher)


async def refused(limited: Client, times: int) -> int:
    calls = (limited.complete(CALL) for _ in range(times))
    replies = await asyncio.gather(*calls, return_exceptions=True)
    return sum(isinstance(reply, RateLimited) for reply in replies)


async def test_an_endpoint_that_takes_fewer_calls_gets_fewer() -> None:
    engine, limiter = Refusing(above=10), Limiter(64)
    await refused(limited_to(engine, limiter), 500)
    assert limiter.size < 20
    assert await refused(limited_to(engine, limiter), 1_000) < 250


@pytest.mark.parametrize("share", [0.1, 0.3, 0.6])
async def test_fewer_calls_are_no_remedy_for_an_endpoint_that_fails_now_and_then(
    share: float,
) -> None:
    limiter = Limiter(64)
    limited, sizes = limited_to(Refusing(share), limiter), list[float]()
    for _ in range(100):
        await refused(limited, 64)
        sizes.append(limiter.size)
    assert sum(sizes) / len(sizes) > 48


async def test_after_a_cut_the_window_opens_by_one_a_round() -> None:
    engine, limiter = Counting(), Limiter(64)
    engine.faults = [RateLimited("slow") for _ in range(64)]
    await ask(limited_to(engine, limiter), 1)
    assert 32 <= limiter.size <= 33
    before = limiter.size
    await ask(limited_to(engine, limiter), 30)
    assert before < limiter.size < before + 1.5


async def test_a_cut_stream_is_no_push_back() -> None:
    engine, limiter = Counting(), Limiter(64)
    engine.faults = [StreamCut("cut") for _ in range(64)]
    await ask(limited_to(engine, limiter), 1)
    assert limiter.size == 64


async def test_whoever_gives_up_waiting_takes_no_turn_along() -> None:
    limiter = Limiter(1)
    await limiter.enter()
    waiting = asyncio.create_task(limiter.enter())
    await asyncio.sleep(0)
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    limiter.release(1)
    async with asyncio.timeout(1):
        await limiter.enter()
    assert limiter.in_flight == 1


async def test_a_pace_spaces_calls_out(monkeypatch: pytest.MonkeyPatch) -> None:
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    monkeypatch.setattr(asyncio, "sleep", sleep)
    pace = Pace(per_minute=60)
    for _ in range(3):
        await pace.wait()
    await pace.wait(10)
    await pace.wait()
    assert [round(s) for s in slept] == [0, 1, 2, 3, 13]
    slept.clear()
    await Pace(None).wait(10**9)
    assert slept == []


async def test_watchers_see_through() -> None:
    seen: list[str] = []

    class Seeing(Watcher):
        streams = False

        def retrying(self, call: Call, fault: Transient, seconds: float) -> None:
            seen.append(str(fault))

    engine = Counting()
    engine.faults = [RateLimited("slow")]
    await limited_to(engine, Limiter(1)).complete(CALL, Seeing())
    assert seen == ["slow"]


def group(samples: int) -> SampledCall:
    return SampledCall(CALL.messages, CALL.stage, CALL.max_tokens, samples=samples)


async def test_a_group_of_samples_takes_a_place_for_each_of_its_replies() -> None:
    engine, limiter = Counting(), Limiter(7)
    limited = limited_to(engine, limiter)
    await asyncio.gather(*(limited.complete(group(3)) for _ in range(20)))
    assert engine.most == 2
    assert limiter.in_flight == 0


async def test_a_group_that_is_larger_than_the_window_goes_by_itself() -> None:
    engine = Counting()
    limited = limited_to(engine, Limiter(2))
    async with asyncio.timeout(5):
        await asyncio.gather(limited.complete(CALL), limited.complete(group(9)))
    assert (engine.most, engine.asked) == (1, 2)


async def test_the_fault_of_a_group_counts_for_each_of_its_replies() -> None:
    engine, limiter = Counting(), Limiter(64)
    engine.faults = [RateLimited("slow") for _ in range(16)]
    await limited_to(engine, limiter).complete(group(4))
    assert 32 <= limiter.size <= 36


async def test_no_more_samples_are_asked_for_at_once_than_the_window_has_places() -> None:
    class Takes(Counting):
        def most_samples(self, group: SampledCall) -> int:
            return group.samples

    assert limited_to(Takes(), Limiter(64, start=5)).most_samples(group(9)) == 5
    assert limited_to(Takes(), Limiter(64)).most_samples(group(9)) == 9
    assert limited_to(Counting(), Limiter(64)).most_samples(group(9)) == 1


async def test_a_pace_counts_the_prompt_of_a_group_once(monkeypatch: pytest.MonkeyPatch) -> None:
    units: list[float] = []

    async def wait(_pace: Pace, amount: float = 1.0) -> None:
        units.append(amount)

    monkeypatch.setattr(Pace, "wait", wait)
    await limited_to(Counting(), Limiter(9, tokens_per_minute=1e9)).complete(group(3))
    assert units == [1.0, pytest.approx(1 / 3 + 3 * 2)]
