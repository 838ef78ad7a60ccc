"""One model behind several endpoints."""

import asyncio
import re
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import ExitStack
from typing import Any, TypeVar

import pytest
from loopback import Endpoint as Server
from loopback import Reply, choices, completion, cut_stream, failure, stream

from constraint_first.model.client import Listing, OpenAI
from constraint_first.model.error import (
    EngineError,
    ModelNotFound,
    PromptTooLong,
    RateLimited,
    Rejected,
    ServerFault,
    StreamCut,
    TimedOut,
    Transient,
    Unauthorized,
    Unreachable,
)
from constraint_first.model.limit import Limiter, Retry
from constraint_first.model.replicas import (
    Balanced,
    Balancer,
    Replica,
    Visit,
    common_name,
    differences,
    is_its_own,
    list_models,
    misfit,
    other_names,
)
from constraint_first.model.transport import Bounds, Endpoint, refusal
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
async def test_calls_are_shared_out_and_a_fast_one_gets_what_a_slow_one_cannot_take(
    pair: Pair,
) -> None:
    for server in pair:
        server.script(completion("4"))
    async with engine(*pair) as both:
        await ask(both, 20)
    assert counts(pair) == (10, 10)
    enough = threading.Event()

    def wait(_body: object) -> Reply:
        enough.wait(20)
        return completion("4")

    def hurry(_body: object) -> Reply:
        if len(pair[1].requests) == 60:
            enough.set()
        return completion("4")

    pair[0].respond, pair[1].respond = wait, hurry
    async with engine(*pair) as both:
        both.balancer.limit(lambda: Limiter(4))
        await ask(both, 60)
    assert counts(pair)[0] <= 20
    assert sum(counts(pair)) == 80


async def test_each_has_limits_of_its_own(pair: Pair) -> None:
    pair[0].respond = lambda _body: failure(503, "busy")
    async with engine(*pair) as both:
        both.balancer.pauses = Retry(first_pause=0.0)
        both.balancer.limit(lambda: Limiter(64))
        for _ in range(20):
            await ask(both, 64)
        narrow, wide = (one.limiter.size for one in both.balancer.replicas)
    assert narrow < wide == 64


# --- Faults.
async def test_one_that_dies_rests_and_comes_back(pair: Pair) -> None:
    lines, told, url = list[str](), Told(), pair[0].url
    async with engine(*pair) as both:
        both.balancer.tell = lines.append
        await ask(both, 8)
        pair[0].die()
        await ask(both, 40, told)
        assert {seconds for _, seconds in told.retries} == {0}  # it is asked at once elsewhere
        assert all(url in why for why, _ in told.retries)
        await until(lambda: lines)
        assert lines[0].startswith(f"{url}: cannot be reached")
        assert lines[0].endswith(f"; {both.balancer.status}")
        assert both.balancer.status == f"1 of 2 endpoints in use, {url} rests"
        before = counts(pair)
        await ask(both, 10)
        assert counts(pair) == (before[0], before[1] + 10)
        pair[0].revive()
        await until(lambda: not both.balancer.replicas[0].resting)
        assert lines[-1] == f"{url}: asked again; 2 of 2 endpoints in use"
        await ask(both, 10)
    assert len(pair[0].requests) > before[0]


async def test_a_connection_that_is_cut_while_it_writes(pair: Pair) -> None:
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
        calls = (both.complete(CALL) for _ in range(8))
        results = await asyncio.gather(*calls, return_exceptions=True)
        assert all(isinstance(one, Transient) for one in results)
        alone, told_alone = await failure_of(one)
        found, told = await failure_of(both)
        assert both.balancer.status.startswith("0 of 2 endpoints in use")
    assert type(found) is type(alone) is Unreachable
    paused = [seconds for _, seconds in told.retries if seconds]
    assert len(paused) == len(told_alone.retries) == 1


async def test_all_may_be_away_at_first(pair: Pair) -> None:
    for server in pair:
        server.die()
    with pytest.raises(Unreachable, match="cannot be reached"):
        await engine(*pair, model="").__aenter__()
    async with engine(*pair) as both:
        assert isinstance((await failure_of(both))[0], Unreachable)
        for server in pair:
            server.revive()
        await both.complete(CALL)


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
    slow, soon, never = (
        failure(429, "slow down", Retry_After=seconds) for seconds in ("200", "0.01", "4000")
    )
    pair[0].respond = lambda _body: slow
    pair[1].script(soon, soon, completion("4"))
    told = Told()
    async with engine(*pair) as both:
        both.retry.attempts = 8
        assert (await both.complete(CALL, told)).text == "4"
    assert all(seconds < 1 for _, seconds in told.retries)
    for server in pair:
        server.respond = lambda _body: never  # all ask for more patience than there is
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
        await failure_of(both)
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
        pair[1].respond = refusing("temperature")
        with pytest.raises(Rejected, match="choose another --temperature, or none"):
            await both.complete(CALL, SILENT, Decoding())  # one that is given is never changed


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
        assert {both.model, *(one.model for one in both.endpoints)} == {"test-model"}
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


async def test_each_endpoint_gets_its_own_key_and_shows_none(pair: Pair) -> None:
    keys = {"sk-first-12345678": pair[0], "sk-second-12345678": pair[1]}
    pair[0].respond = lambda _body: failure(401, f"bad key {next(iter(keys))}")
    told = Told()
    async with Balanced([Endpoint(one.url, "", key) for key, one in keys.items()]) as both:
        await ask(both, 4, told)
        fault = both.balancer.replicas[0].fault
        assert "sk-first" not in f"{fault} {both.balancer.status} {told.retries} {both!r}"
    for key, server in keys.items():
        assert {one["Authorization"] for one in server.headers} == {f"Bearer {key}"}


V = TypeVar("V")
GONE = Unreachable("http://b/v1: cannot be reached")


@pytest.fixture
async def balancer() -> AsyncIterator[Balancer]:
    """Three endpoints of two places each; nothing is sent to them."""
    endpoints = [Endpoint(f"http://127.0.0.1:9/{name}", "m") for name in "abc"]
    made = Balancer.over(endpoints, Bounds(), 2)
    made.pauses = Retry(first_pause=60)
    await made.open()
    yield made
    await made.close()


async def take(balancer: Balancer, places: int = 1, *tried: Replica) -> Visit:
    visit = await balancer.turn(places, frozenset(tried))
    assert visit
    return visit


async def waiting(*turns: Coroutine[Any, Any, V]) -> list[asyncio.Task[V]]:
    """Have calls wait, one behind the other."""
    tasks: list[asyncio.Task[V]] = []
    for turn in turns:
        tasks.append(asyncio.create_task(turn))
        await asyncio.sleep(0)
    return tasks


async def test_the_least_busy_comes_first_and_of_equals_the_least_asked(balancer: Balancer) -> None:
    a, b, c = balancer.replicas
    visits = [await take(balancer) for _ in range(6)]
    assert [one.replica for one in visits] == [a, b, c, a, b, c]
    balancer.leave(visits[1])
    assert (await take(balancer)).replica is b
    for one in (visits[2], visits[5], visits[0]):
        balancer.leave(one)
    # Then a is as busy as c, and was asked less.
    assert [(await take(balancer)).replica for _ in "12"] == [c, a]


async def test_a_group_is_not_overtaken_for_ever(balancer: Balancer) -> None:
    visits = [await take(balancer) for _ in range(6)]
    group, single = await waiting(take(balancer, 2), take(balancer))
    balancer.leave(visits[0])
    await asyncio.sleep(0)
    assert not single.done()
    balancer.leave(visits[3])
    assert (await group).replica is visits[0].replica
    balancer.leave(visits[1])
    assert (await single).replica is visits[1].replica
    # Whoever waits gets the place that is free first.
    first, second = await waiting(take(balancer), take(balancer))
    balancer.leave(visits[2])
    balancer.leave(visits[4])
    assert [one.replica for one in (await first, await second)] == [
        visits[2].replica,
        visits[4].replica,
    ]


async def test_a_call_that_failed_goes_elsewhere_and_holds_nobody_up(balancer: Balancer) -> None:
    a, b, c = balancer.replicas
    visits = [await take(balancer) for _ in range(6)]
    elsewhere, anywhere = await waiting(take(balancer, 1, a, b), take(balancer))
    balancer.leave(visits[0])
    assert (await anywhere).replica is a
    assert not elsewhere.done()
    balancer.leave(visits[2])
    assert (await elsewhere).replica is c
    assert await balancer.turn(1, frozenset(balancer.replicas)) is None


async def test_whoever_gives_up_waiting_passes_its_turn_on(balancer: Balancer) -> None:
    visits = [await take(balancer) for _ in range(6)]
    first, second = await waiting(take(balancer), take(balancer))
    balancer.leave(visits[0])  # the turn of the first one
    first.cancel()
    assert (await second).replica is visits[0].replica
    (third,) = await waiting(take(balancer))
    third.cancel()
    await asyncio.gather(first, third, return_exceptions=True)
    balancer.leave(visits[1])
    assert sum(one.limiter.in_flight for one in balancer.replicas) == 5


async def test_one_that_rests_is_passed_over(balancer: Balancer) -> None:
    a, _, c = balancer.replicas
    visit = await take(balancer, 1, a, c)
    balancer.failed(visit, GONE)
    balancer.leave(visit)
    assert [(await take(balancer)).replica for _ in range(4)] == [a, c, a, c]
    assert balancer.status == "2 of 3 endpoints in use, http://127.0.0.1:9/b rests"
    assert balancer.has_other(frozenset([a]))
    assert not balancer.has_other(frozenset([a, c]))
    assert balancer.seconds_to_next() == 0


async def test_those_who_wait_for_one_that_begins_to_rest_are_told(balancer: Balancer) -> None:
    a, b, c = balancer.replicas
    visits = [await take(balancer, 1, a, c) for _ in range(2)]
    (told,) = await waiting(balancer.turn(1, frozenset([a, c])))
    balancer.failed(visits[0], GONE)
    assert await told is None
    assert b.resting


async def test_while_all_rest_each_may_be_asked_and_a_reply_ends_a_rest(balancer: Balancer) -> None:
    for one in balancer.replicas:
        balancer.rest(one, GONE)
    await asyncio.sleep(0)
    assert balancer.status.startswith("0 of 3 endpoints in use, http://127.0.0.1:9/a, ")
    assert balancer.status.endswith("/b and 1 more rest")
    assert 10 < balancer.seconds_to_next() <= 60
    visit = await take(balancer)
    assert await balancer.turn(1, frozenset([visit.replica])) is None
    balancer.answered(visit)
    assert balancer.status.startswith("1 of 3 endpoints in use")
    assert (visit.replica.resting, visit.replica.in_a_row) == (None, 0)


Looked = tuple[Balancer, list[str]]


@pytest.fixture
async def looked(endpoint: Server) -> AsyncIterator[Looked]:
    """Two that rest briefly, the second of which can be asked; and what is told of them."""
    told: list[str] = []
    endpoints = [Endpoint("http://127.0.0.1:9/v1", "test-model"), Endpoint(endpoint.url, "")]
    made = Balancer.over(endpoints, Bounds(), 2)
    made.tell, made.pauses = told.append, Retry(first_pause=0.001, longest_pause=0.001)
    await made.open()
    yield made, told
    await made.close()


async def test_after_a_rest_it_is_looked_at(looked: Looked) -> None:
    balancer, told = looked
    away, there = balancer.replicas
    balancer.rest(away, GONE)
    balancer.rest(there, GONE)
    await until(lambda: not there.resting and away.in_a_row > 2)
    assert away.resting
    assert told[0].startswith("http://127.0.0.1:9/v1: cannot be reached")
    assert len(told) == 1  # the other came back before it was worth a word
    assert there in balancer.listings


async def test_one_that_comes_back_with_another_model_goes_on_resting(
    looked: Looked, endpoint: Server
) -> None:
    balancer, told = looked
    _, there = balancer.replicas
    balancer.listings[balancer.replicas[0]] = await list_models(there)
    there.name_model("test-model")
    endpoint.served = [{"id": "another"}]
    balancer.rest(there, GONE)
    await until(lambda: isinstance(there.fault, ModelNotFound) and told)
    assert "serves another, and" in told[-1]
    endpoint.served = [{"id": "test-model"}]
    await until(lambda: not there.resting)
    assert told[-1].endswith(": asked again; 2 of 2 endpoints in use")


async def test_a_rest_may_end_without_a_list(looked: Looked, endpoint: Server) -> None:
    balancer, _ = looked
    _, there = balancer.replicas
    balancer.rest(there, RateLimited("slow down", 0.001))  # it asked for a pause, no more
    await until(lambda: not there.resting)
    assert not endpoint.headers
    there.transport.endpoint = Endpoint(endpoint.url + "/other", "m")  # it answers at all
    balancer.rest(there, GONE)
    await until(lambda: not there.resting)


async def test_a_list_that_does_not_come(looked: Looked, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("constraint_first.model.replicas._LISTING", 0.0)
    with pytest.raises(TimedOut, match="did not list its models in time"):
        await list_models(looked[0].replicas[1])


ENDPOINT = Endpoint("http://me:password@h/v1", "m")


@pytest.mark.parametrize(
    ("fault", "own"),
    [(refusal(ENDPOINT, status, {}, b""), True) for status in (401, 403, 404, 429, 500, 503)]
    + [
        (refusal(ENDPOINT, 429, {}, b'{"error": "quota exceeded"}'), True),
        (refusal(ENDPOINT, 400, {}, b'{"error": "odd"}'), False),
        (PromptTooLong("too long"), False),
        (ModelNotFound("a call for another engine"), False),
    ],
)
def test_what_an_endpoint_says_to_all_calls_is_its_own(fault: EngineError, *, own: bool) -> None:
    assert is_its_own(fault) is own


@pytest.mark.parametrize(
    ("fault", "accident"),
    [
        (Unreachable("gone"), False),
        (RateLimited("slow"), False),
        (ModelNotFound("m"), False),
        (ServerFault("500"), True),
        (StreamCut("cut"), True),
    ],
)
def test_some_faults_are_the_calls_own_while_others_get_through(
    fault: EngineError, *, accident: bool
) -> None:
    replica = Replica(ENDPOINT, Bounds(), 4)
    visit, other = replica.visit(1), replica.visit(1)
    assert replica.must_rest(visit, fault)
    replica.answer(other)
    assert replica.must_rest(visit, fault) is not accident
    # Calls from before a rest tell nothing new.
    replica.begin_rest(fault)
    assert not replica.must_rest(visit, fault)
    replica.answer(other)
    assert (replica.in_a_row, replica.fault) == (1, fault)
    replica.answer(replica.visit(1))
    assert (replica.in_a_row, replica.fault) == (0, None)


def listing(host: str, *entries: dict[str, Any], key: str = "") -> Listing:
    return Listing(Endpoint(f"http://{host}/v1", "", key), entries)


A = listing("a", {"id": "m"})


def test_the_only_model_of_all_endpoints_need_not_be_named() -> None:
    assert common_name([A, listing("b", {"id": "m"})]) == "m"
    for other, said in (
        (listing("b", {"id": "m"}, {"id": "n"}), r"http://b/v1: name a model .* it serves m, n"),
        (listing("b", {"id": "n"}), r"http://b/v1: serves n, and http://a/v1 m; .*leave"),
    ):
        with pytest.raises(ModelNotFound, match=said):
            common_name([A, other])


def test_an_endpoint_that_does_not_list_the_model_of_another() -> None:
    assert misfit([A, listing("b", {"id": "m"}, {"id": "n"})], "m") is None
    assert "http://b/v1: serves n" in str(misfit([listing("b", {"id": "n"}), A], "m"))
    assert misfit([A, listing("b")], "m") is None  # it has no list
    alias = [listing("a", {"id": "/x/m.gguf"}), listing("b", {"id": "/y/m.gguf"})]
    assert misfit(alias, "m") is None
    # Where none was chosen, a line is enough.
    (line,) = other_names([A, A, listing("b", {"id": "n"}, {"id": "m"})])
    assert line.startswith("http://b/v1: serves n, m, and http://a/v1 m; a request may come")


@pytest.mark.parametrize(
    ("one", "other", "said"),
    [
        ({"max_model_len": 32_768}, {"max_model_len": 4_096}, "4096 tokens of context, and"),
        ({"meta": {"n_ctx": 9}}, {"context_length": 8}, "8 tokens of context, and http://a/v1 has"),
        ({"root": "org/one"}, {"root": "org/two"}, "the model is org/two there, and org/one at"),
        ({"meta": {"n_params": 7}}, {"meta": {"n_params": 8}}, "8 parameters, and that of"),
        ({"meta": {"size": 70}}, {"meta": {"size": 40}}, "40 bytes, .* another quantization"),
    ],
)
def test_where_two_describe_a_model_otherwise(
    one: dict[str, Any], other: dict[str, Any], said: str
) -> None:
    first, second = listing("a", {"id": "m"} | one), listing("b", {"id": "m"} | other)
    (line,) = differences([first, second, first], "m")
    assert line.startswith("http://b/v1: ")
    assert re.search(said, line)
    assert not list(differences([first, A, first], "m"))
    assert not list(differences([first, listing("c")], "m"))
    given = list(differences([first, second], "m", with_context=False))
    assert given == [one for one in [line] if "tokens of context" not in one]


def test_a_list_shows_no_key() -> None:
    key = "sk-secret-12345678"
    echo = listing("b", {"id": f"n-{key}", "root": key}, key=key)
    assert key not in str(misfit([A, echo], "m"))
    first = listing("a", {"id": "m", "root": "x"})
    assert all(key not in line for line in differences([first, echo], "m"))
