import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from loopback import Endpoint as Server
from loopback import Reply, choices, completion, cut_stream, failure, stream

from constraint_first.model.error import (
    EngineError,
    ModelNotFound,
    PromptTooLong,
    RateLimited,
    Rejected,
    Transient,
    Unauthorized,
    Unreachable,
)
from constraint_first.model.limit import Limiter, Retry
from constraint_first.model.openai import OpenAI
from constraint_first.model.replicas import Balanced
from constraint_first.model.transport import Bounds, Endpoint
from constraint_first.model.wire import SILENT, Decoding, SampledCall, SampledCompletion, Watcher
from constraint_first.protocol import Call

CALL = Call.user("What is $2+2$?", stage="direct", max_tokens=99)
Pair = tuple[Server, Server]


@pytest.fixture
def pair() -> Iterator[Pair]:
    with ExitStack() as stack:
        yield stack.enter_context(Server()), stack.enter_context(Server())


class Told(Watcher):
    """Keeps what is written, and why calls were asked again after how long."""

    def __init__(self, *, streams: bool = False) -> None:
        self.text, self.streams = "", streams
        self.retries: list[tuple[str, float]] = []
        self.changes: list[str] = []

    def wrote(self, call: Call, piece: str, *, reasoning: bool) -> None:
        self.text += piece

    def retrying(self, call: Call, fault: Transient, seconds: float) -> None:
        self.retries.append((str(fault), seconds))
        self.text = ""

    def adapted(self, call: Call, change: str) -> None:
        self.changes.append(change)


def quick() -> Retry:
    return Retry(attempts=2, first_pause=0.001, longest_pause=0.01)


def engine(*servers: Server, model: str = "test-model", **options: Any) -> Balanced:
    endpoints = [Endpoint(server.url, model, **options) for server in servers]
    made = Balanced(endpoints, retry=quick(), bounds=Bounds(silence=5))
    made.balancer.pauses = Retry(first_pause=0.01, longest_pause=0.05)
    return made


def counts(servers: Pair) -> tuple[int, int]:
    return len(servers[0].requests), len(servers[1].requests)


async def ask(engine: Balanced, times: int, watcher: Watcher = SILENT) -> None:
    await asyncio.gather(*(engine.complete(CALL, watcher) for _ in range(times)))


async def until(holds: Callable[[], object]) -> None:
    async with asyncio.timeout(20):
        while not holds():
            await asyncio.sleep(0.005)


# --- Who is asked.


async def test_calls_are_shared_out(pair: Pair) -> None:
    for server in pair:
        server.script(completion("4"))
    async with engine(*pair) as both:
        await ask(both, 20)
    assert counts(pair) == (10, 10)


async def test_a_fast_one_gets_what_a_slow_one_cannot_take(pair: Pair) -> None:
    enough = threading.Event()

    def wait(_body: object) -> Reply:
        enough.wait(20)
        return completion("4")

    def hurry(_body: object) -> Reply:
        if len(pair[1].requests) == 50:
            enough.set()
        return completion("4")

    pair[0].respond, pair[1].respond = wait, hurry
    async with engine(*pair) as both:
        both.balancer.limit(lambda: Limiter(4))
        await ask(both, 60)
    assert counts(pair)[0] <= 10
    assert sum(counts(pair)) == 60


async def test_each_has_limits_of_its_own(pair: Pair) -> None:
    """What one pushes back narrows its own window."""
    pair[0].respond = lambda _body: failure(503, "busy")
    async with engine(*pair) as both:
        both.balancer.pauses = Retry(first_pause=0.0)
        both.balancer.limit(lambda: Limiter(64))
        for _ in range(20):
            await ask(both, 64)
        narrow, wide = (one.limiter.size for one in both.balancer.replicas)
    assert narrow < wide == 64


# --- Faults.


async def test_a_call_that_failed_is_asked_at_once_at_another(pair: Pair) -> None:
    told = Told()
    async with engine(*pair) as both:
        pair[0].die()
        assert (await both.complete(CALL, told)).text.endswith("\\boxed{4}")
        assert both.balancer.status == f"1 of 2 endpoints in use, {pair[0].url} rests"
    ((why, seconds),) = told.retries
    assert pair[0].url in why
    assert seconds == 0


async def test_one_that_dies_rests_and_comes_back(pair: Pair) -> None:
    lines: list[str] = []
    async with engine(*pair) as both:
        both.balancer.tell = lines.append
        await ask(both, 8)
        pair[0].die()
        await ask(both, 40)
        await until(lambda: lines)
        assert f"{pair[0].url}: cannot be reached" in lines[0]
        assert lines[0].endswith(f"1 of 2 endpoints in use, {pair[0].url} rests")
        before = counts(pair)
        await ask(both, 10)
        assert counts(pair) == (before[0], before[1] + 10)
        pair[0].revive()
        await until(lambda: not both.balancer.replicas[0].resting)
        assert lines[-1] == f"{pair[0].url}: asked again; 2 of 2 endpoints in use"
        await ask(both, 10)
    assert len(pair[0].requests) > before[0]


async def test_a_connection_that_is_cut_while_it_writes(pair: Pair) -> None:
    """The words of the first try are void; the call goes on elsewhere."""
    told = Told(streams=True)
    for server in pair:
        server.script(cut_stream("nonsense"), stream("it is ", "4"))
    pair[1].script(stream("it is ", "4"))
    async with engine(*pair) as both:
        found = await both.complete(CALL, told)
    assert found.text == told.text == "it is 4"
    assert [seconds for _, seconds in told.retries] == [0.0]


async def failure_of(engine: Balanced | OpenAI, call: Call = CALL) -> tuple[EngineError, Told]:
    told = Told()
    with pytest.raises(EngineError) as caught:
        await engine.complete(call, told)
    return caught.value, told


async def test_when_all_die_it_fails_as_with_one(pair: Pair) -> None:
    one = OpenAI(Endpoint(pair[0].url, "test-model"), retry=quick())
    async with engine(*pair) as both, one:
        await ask(both, 4)
        await one.complete(CALL)
        for server in pair:
            server.die()
        await ask_and_fail(both)
        alone, told_alone = await failure_of(one)
        found, told = await failure_of(both)
        assert both.balancer.status.startswith("0 of 2 endpoints in use")
    assert type(found) is type(alone) is Unreachable
    paused = [seconds for _, seconds in told.retries if seconds]
    assert len(paused) == len(told_alone.retries) == 1


async def ask_and_fail(engine: Balanced) -> None:
    calls = (engine.complete(CALL) for _ in range(8))
    results = await asyncio.gather(*calls, return_exceptions=True)
    assert all(isinstance(one, Transient) for one in results)


async def test_all_may_be_away_at_first(pair: Pair) -> None:
    for server in pair:
        server.die()
    async with engine(*pair) as both:
        assert isinstance((await failure_of(both))[0], Unreachable)
        for server in pair:
            server.revive()
        await both.complete(CALL)
    for server in pair:
        server.die()
    with pytest.raises(Unreachable, match="cannot be reached"):
        await engine(*pair, model="").__aenter__()


async def test_too_many_requests_at_one_shift_load_to_the_other(pair: Pair) -> None:
    pair[0].respond = lambda _body: failure(429, "slow down", Retry_After="30")
    told = Told()
    async with engine(*pair) as both:
        await ask(both, 8, told)
        assert counts(pair) == (4, 8)
        await ask(both, 20, told)
        assert counts(pair) == (4, 28)  # until it may be asked again
        assert "rests" in both.balancer.status
    assert {seconds for _, seconds in told.retries} == {0.0}


async def test_the_shortest_wait_counts_when_all_say_too_many(pair: Pair) -> None:
    pair[0].respond = lambda _body: failure(429, "slow down", Retry_After="200")
    limited = failure(429, "slow down", Retry_After="0.01")
    pair[1].script(limited, limited, completion("4"))
    told = Told()
    async with engine(*pair) as both:
        both.retry.attempts = 8
        assert (await both.complete(CALL, told)).text == "4"
    assert all(seconds < 1 for _, seconds in told.retries)


async def test_all_ask_for_more_patience_than_there_is(pair: Pair) -> None:
    for server in pair:
        server.respond = lambda _body: failure(429, "slow down", Retry_After="4000")
    async with engine(*pair) as both:
        found, told = await failure_of(both)
    assert isinstance(found, RateLimited)
    assert [seconds for _, seconds in told.retries] == [0.0]


@pytest.mark.parametrize(
    ("refusal", "kind"),
    [
        (failure(401, "who are you"), Unauthorized),
        (failure(404, "no such model"), ModelNotFound),
        (failure(429, "you exceeded your quota"), Rejected),
    ],
)
async def test_a_refusal_that_others_do_not_share_is_that_endpoints_own(
    pair: Pair, refusal: Reply, kind: type[EngineError]
) -> None:
    pair[0].script(refusal)
    told = Told()
    async with engine(*pair) as both:
        await ask(both, 4, told)
        assert both.balancer.replicas[0].resting
        assert len(told.retries) == 2
        pair[1].script(refusal)
        assert isinstance((await failure_of(both))[0], kind)
        assert not both.balancer.replicas[1].resting


async def test_what_is_wrong_with_a_call_is_asked_nowhere_else(pair: Pair) -> None:
    for server in pair:
        server.script(failure(400, "this is too long for our context window"))
    async with engine(*pair) as both:
        assert isinstance((await failure_of(both))[0], PromptTooLong)
        assert both.balancer.status == "2 of 2 endpoints in use"
        named = Call.user("x", stage="direct", max_tokens=9, model="other")
        assert isinstance((await failure_of(both, named))[0], ModelNotFound)
    assert sum(counts(pair)) == 1


async def test_a_call_has_its_time_at_all_endpoints_together(pair: Pair) -> None:
    late = failure(503, "busy")
    late.delay = 0.05
    for server in pair:
        server.script(late)
    endpoints = [Endpoint(server.url, "test-model") for server in pair]
    async with Balanced(endpoints, bounds=Bounds(seconds=0.04)) as both:
        assert isinstance((await failure_of(both))[0], EngineError)
    assert sum(counts(pair)) == 1


# --- What endpoints take.


def refusing(word: str) -> Callable[[dict[str, Any]], Reply]:
    def respond(body: dict[str, Any]) -> Reply:
        return failure(400, f"{word} is not supported") if word in body else completion("4")

    return respond


async def test_what_one_refuses_is_left_out_there_alone(pair: Pair) -> None:
    pair[0].respond = refusing("temperature")
    told = Told()
    async with engine(*pair) as both:
        for _ in range(6):
            await both.complete(CALL, told)
        assert both.decoding == Decoding()
    assert ["temperature" in body for body in pair[0].requests[:4]] == [True, *[False] * 3]
    assert [body["temperature"] for body in pair[1].requests] == [0.7] * 3
    assert len(told.changes) == 1


async def test_a_decoding_that_was_handed_over_is_never_changed(pair: Pair) -> None:
    for server in pair:
        server.respond = refusing("temperature")
    async with engine(*pair) as both:
        with pytest.raises(Rejected, match="choose another --temperature, or none"):
            await both.complete(CALL, SILENT, Decoding())


async def test_samples_go_together_to_one_that_takes_them_together(pair: Pair) -> None:
    pair[0].respond = lambda body: failure(400, "n > 1") if "n" in body else completion("one")
    pair[1].respond = lambda body: choices(*"abc"[: body.get("n", 1)])
    group = SampledCall(CALL.messages, CALL.stage, CALL.max_tokens, samples=3)
    async with engine(*pair) as both:
        assert both.most_samples(group) == 128
        found = [await both.complete(group) for _ in range(4)]
        assert both.most_samples(group) == 128
        both.balancer.limit(lambda: Limiter(2))
        assert both.most_samples(group) == 2
    assert [isinstance(one, SampledCompletion) for one in found] == [False, True, True, True]
    assert counts(pair) == (2, 3)


async def test_the_context_is_what_all_tell(pair: Pair) -> None:
    limit = failure(400, "maximum context length is 2048 tokens")
    for server in pair:
        server.script(limit, completion("4"))
    async with engine(*pair) as both:
        await both.complete(CALL)
        assert both.context is None
        await both.complete(CALL)
        assert both.context == 2_048
    assert engine(*pair).context is None


# --- One model, one name.


async def test_the_name_of_the_model_is_found_where_all_serve_one(pair: Pair) -> None:
    async with engine(*pair, model="") as both:
        assert both.model == "test-model"
        assert [one.model for one in both.endpoints] == ["test-model"] * 2
        assert await both.models() == [{"id": "test-model"}]
        pair[0].die()
        assert await both.models() == [{"id": "test-model"}]
        await both.complete(CALL)
    assert pair[1].requests[0]["model"] == "test-model"


@pytest.mark.parametrize("model", ["", "test-model"])
async def test_another_model_is_refused_before_anything_is_asked(pair: Pair, model: str) -> None:
    pair[1].served = [{"id": "another"}]
    both = engine(*pair, model=model)
    with pytest.raises(ModelNotFound, match=r"serves another, and .* test-model; .* leave one out"):
        await both.__aenter__()
    assert not both.is_open
    assert sum(counts(pair)) == 0


async def test_another_context_is_noted(pair: Pair) -> None:
    pair[0].served = [{"id": "test-model", "max_model_len": 32_768}]
    pair[1].served = [{"id": "test-model", "max_model_len": 4_096}]
    async with engine(*pair) as both:
        (note,) = both.notes
    assert note.startswith(f"{pair[1].url}: 4096 tokens of context, and {pair[0].url} has 32768")
    async with engine(*pair, context=4_096) as both:
        assert both.notes == ()


async def test_another_model_at_the_same_endpoints(pair: Pair) -> None:
    async with engine(*pair, context=9_000).beside("small") as small:
        await small.complete(CALL)
        assert small.context is None
    assert [body["model"] for server in pair for body in server.requests] == ["small"]


async def test_each_endpoint_gets_its_own_key_and_shows_none(pair: Pair) -> None:
    keys = ("sk-first-12345678", "sk-second-12345678")
    endpoints = [Endpoint(one.url, "", key) for one, key in zip(pair, keys, strict=True)]
    pair[0].respond = lambda _body: failure(401, f"bad key {keys[0]}")
    told = Told()
    async with Balanced(endpoints) as both:
        await ask(both, 4, told)
        fault = both.balancer.replicas[0].fault
        assert keys[0] not in f"{fault} {both.balancer.status} {told.retries} {both!r}"
    for server, key in zip(pair, keys, strict=True):
        assert {one["Authorization"] for one in server.headers} == {f"Bearer {key}"}
