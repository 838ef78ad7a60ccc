"""The client: models, retries, limits, budgets, samples."""

import asyncio
import json
import random
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from email.utils import formatdate
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import AsyncMock, Mock

import pytest
from loopback import Endpoint as Server
from loopback import Reply, answer, choices, completion, failure
from memory_journal import MemoryJournal
from model_file import write_model

import constraint_first
from constraint_first.attempt.drive import Scripted, drive
from constraint_first.method.registry import make
from constraint_first.model.client import Asked, Client, OpenAI, Sampler, ServedModel
from constraint_first.model.error import (
    BadReply,
    EngineError,
    JournalMismatch,
    ModelNotFound,
    RateLimited,
    Rejected,
    ServerFault,
    StreamCut,
    TimedOut,
    Transient,
    Unauthorized,
    Unreachable,
)
from constraint_first.model.limit import (
    Budget,
    BudgetSpent,
    Limiter,
    Pace,
    Price,
    Retry,
    parse_retry_after,
)
from constraint_first.model.local import DEFAULT_MODEL, Local
from constraint_first.model.replicas import Balanced
from constraint_first.model.resolve import ModelRef, accompanied, engine_beside, refs_beside, serve
from constraint_first.model.transport import Bounds, Endpoint
from constraint_first.model.wire import SILENT, Decode, Decoding, Engine, SampledCall, Watcher
from constraint_first.problem import Problem, Solution
from constraint_first.protocol import Answer, Call, Completion, Run, Step, Usage

CALL = Call.user("x", stage="direct", max_tokens=8)


async def test_a_decoded_engine_samples_every_call_alike() -> None:
    served, cold = Counting(), Decoding(temperature=0)
    client = Client(served, decoding=cold)
    for _ in range(2):
        await client.complete(CALL)
    assert served.decodings == [cold, cold]


async def test_an_endpoint_that_could_not_be_opened_is_closed(endpoint: Server) -> None:
    endpoint.served = []
    engine = OpenAI(Endpoint(endpoint.url, ""))
    with pytest.raises(ModelNotFound):
        await Client(engine).__aenter__()
    assert not engine.is_open


async def test_a_local_model_is_opened_and_closed_where_it_was_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def start(_engine: Local, _context: int) -> object:  # nobody starts a server
        return SimpleNamespace(listening_address="http://127.0.0.1:1")

    monkeypatch.setattr(Local, "_start", start)
    engine = Local(write_model(tmp_path / "m.gguf"))
    assert not engine.is_open
    async with Client(engine):
        async with Client(engine):
            pass
        assert engine.is_open
    assert not engine.is_open
    with pytest.raises(RuntimeError, match="inside `async with`"):
        await engine.complete(CALL)


PROBLEM = Problem("Find the remainder when $3^5$ is divided by 7.")
CONSTRAINTS = '{"raw_constraints": [{"id": "C1", "type": "modular", "description": "in 0..6"}]}'
SOLUTION = r"So \boxed{5}."
FOR_SMALL = Call.user("x", stage="stage1", max_tokens=9, model="small")
METHOD = "cfr(extractor=small)"


def scripts() -> tuple[Scripted, Scripted]:
    return Scripted([SOLUTION], name="large"), Scripted([CONSTRAINTS], name="small")


async def test_each_call_goes_to_the_model_that_it_names() -> None:
    large, small = scripts()
    outcome = await drive(make(METHOD).solve(PROBLEM), Client(large, {"small": small}))
    assert outcome.result.answer == "5"
    assert [call.stage for call in small.asked] == ["stage1"]
    assert [call.stage for call in large.asked] == ["stage2"]
    assert [one.call.model for one in outcome.exchanges] == ["small", None]


async def test_a_call_is_never_answered_by_a_model_that_it_does_not_name(endpoint: Server) -> None:
    large, small = scripts()
    with pytest.raises(ModelNotFound, match=r"'small': a stage1 call is for it.*other_models"):
        await Client(large, {"tiny": small}).complete(FOR_SMALL)
    async with OpenAI(Endpoint(endpoint.url, "large")) as engine:
        with pytest.raises(ModelNotFound, match=r"'small': .* asks 'large' alone; .* Client"):
            await engine.complete(FOR_SMALL)
    assert large.asked == small.asked == endpoint.requests == []


async def test_a_watcher_hears_of_a_call_as_it_was_asked() -> None:
    class Tells:
        async def complete(self, call: Call, watcher: Watcher = SILENT) -> Completion:
            watcher.wrote(call, "a", reasoning=False)
            watcher.retrying(call, ServerFault("away"), 1.0)
            watcher.adapted(call, "seed is not sent")
            return Completion("a")

    watcher = Mock(Watcher())
    await Client(Tells(), {"small": Tells()}).complete(FOR_SMALL, watcher)
    heard = [one.args[0] for one in watcher.method_calls]
    assert [call is FOR_SMALL for call in heard] == [True] * 3


async def test_a_stored_reply_of_another_model_is_no_reply() -> None:
    journal = MemoryJournal()
    large, small = scripts()
    both = Client(large, {"small": small})
    first = await drive(make(METHOD).solve(PROBLEM), both, journal=journal)
    nothing = Client(Scripted([]), {"small": Scripted([])})
    again = await drive(make(METHOD).solve(PROBLEM), nothing, journal=journal)
    assert (again.result, again.transcript) == (first.result, first.transcript)
    for other in ("cfr", "cfr(extractor=tiny)"):
        with pytest.raises(JournalMismatch, match="model"):
            await drive(make(other).solve(PROBLEM), nothing, journal=journal)


async def test_all_engines_are_opened_once_and_closed_unless_they_were_open(
    endpoint: Server,
) -> None:
    main, other, opened = (OpenAI(Endpoint(endpoint.url, n)) for n in ("large", "small", "open"))
    async with opened:
        engines = Client(main, {"small": other, "little": other, "large": main, "open": opened})
        async with engines:
            assert main.is_open
            assert other.is_open
            await engines.complete(FOR_SMALL)
        assert [one.is_open for one in (main, other, opened)] == [False, False, True]
    assert [body["model"] for body in endpoint.requests] == ["small"]


def test_each_model_is_made_once_and_none_before_every_name_is_known(pulled: list[str]) -> None:
    made: list[ModelRef] = []

    def make_engine(ref: ModelRef) -> Scripted:
        made.append(ref)
        return Scripted([], name=ref.model or "")

    with pytest.raises(EngineError, match=r"'gpt-7': no \.gguf file .*--base-url"):
        serve(ModelRef(), ["gpt-7"], make_engine)
    with pytest.raises(Unauthorized, match="DEEPSEEK_API_KEY is not set"):
        serve(ModelRef(), ["deepseek-chat"], make_engine)
    assert made == pulled == []
    ref = ModelRef("large", "http://h/v1")
    served = serve(ref, ["small", "large"], make_engine)
    assert made == [ref, ModelRef("small", "http://h/v1")]
    assert served.others["large"] is served.main
    assert serve(ModelRef(), [DEFAULT_MODEL], make_engine).others[DEFAULT_MODEL].model == ""


def test_names_beside_a_model_mean_what_they_would_alone() -> None:
    ref = ModelRef("large", "http://h/v1", "KEY", 9_000)
    alone = {name: ModelRef(name) for name in ("justrl-1.5b", "smollm2-135m-instruct")}
    beside = {"org/small:7b": ModelRef("org/small:7b", "http://h/v1", "KEY", 9_000)}
    assert refs_beside(ref, [*alone, *beside]) == alone | beside
    large, small = scripts()
    given = accompanied(Client(large, {"small": small}), ["small", "large"])
    assert (given.main, given.others) == (large, {"small": small, "large": large})


def test_models_beside_an_engine_that_somebody_made(pulled: list[str]) -> None:
    main = OpenAI(Endpoint("http://h/v1", "large", "key", context=9), Decoding(0.1))
    assert engine_beside(main, "large") is None
    other = engine_beside(main, "small")
    assert isinstance(other, OpenAI)
    assert (other.endpoint, other.decoding) == (
        Endpoint("http://h/v1", "small", "key"),
        main.decoding,
    )
    local = engine_beside(main, "smollm2-135m-instruct")
    assert isinstance(local, Local)
    assert (local.decoding, pulled) == (main.decoding, ["smollm2-135m-instruct"])
    with pytest.raises(EngineError, match=r"'small': no \.gguf file"):
        engine_beside(Scripted([]), "small")
    both = Balanced([Endpoint(f"http://{host}/v1", "large", context=9) for host in "ab"])
    beside = engine_beside(both, "small")
    assert isinstance(beside, Balanced)
    assert beside.endpoints == (Endpoint("http://a/v1", "small"), Endpoint("http://b/v1", "small"))
    assert engine_beside(both, "large") is None


async def test_a_router_on_a_server_of_its_own_with_its_own_key(
    endpoint: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "large-key")
    monkeypatch.setenv("ROUTER_KEY", "router-key")
    with Server() as other:
        own = f'["openai/gpt-4o-mini"]\nbase_url = "{other.url}"\nkey_env = "ROUTER_KEY"\n'
        (tmp_path / "models.toml").write_text(own + 'model = "gpt-4o-mini"\n')
        monkeypatch.setenv("CFR_MODELS", str(tmp_path / "models.toml"))
        other.script(completion('{"restrictive": "no"}'))
        endpoint.script(completion(SOLUTION))
        method = "llm-router(model=openai/gpt-4o-mini)"
        solved = await constraint_first.asolve(
            PROBLEM, method, model="large", base_url=endpoint.url
        )
        assert [body["model"] for body in other.requests] == ["gpt-4o-mini"]
        assert other.headers[0]["Authorization"] == "Bearer router-key"
    assert solved.answer == "5"
    assert [body["model"] for body in endpoint.requests] == ["large"]
    assert endpoint.headers[0]["Authorization"] == "Bearer large-key"


def flaky(*faults: Exception) -> AsyncMock:
    """Make an operation that fails in given ways, one after the other, and is done then."""
    return AsyncMock(side_effect=[*faults, "done"])


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    slept: list[float] = []
    monkeypatch.setattr(asyncio, "sleep", AsyncMock(side_effect=slept.append))
    return slept


async def test_a_passing_fault_is_asked_again(pauses: list[float]) -> None:
    told: list[tuple[str, float]] = []
    operation = flaky(ServerFault("a"), ServerFault("b"))
    result = await Retry().run(operation, lambda fault, pause: told.append((str(fault), pause)))
    assert (result, operation.await_count) == ("done", 3)
    assert told == [("a", pauses[0]), ("b", pauses[1])]
    assert 0.025 <= pauses[0] <= 0.05 < 0.075 <= pauses[1] <= 0.15
    grows = Retry(first_pause=1, longest_pause=8)
    for faults, longest in ((2, 3), (30, 8)):
        found = [grows.pause(faults, ServerFault("x")) for _ in range(50)]
        assert all(longest / 2 <= one <= longest for one in found)


@pytest.mark.parametrize(
    ("faults", "tries", "paused"),
    [
        ([Rejected("no")], 1, []),
        ([RateLimited("slow", 3600)], 1, []),
        ([ServerFault("x", 12.0)], 1, []),  # no try begins after the time of a call
        ([RateLimited("slow", 7.5), Rejected("no")], 2, [7.5]),
        ([RateLimited("a", 1), RateLimited("b", 2), RateLimited("last", 3)], 3, [1, 2]),
    ],
)
async def test_an_endpoint_that_wants_an_hour_has_said_no(
    faults: list[EngineError], tries: int, paused: list[float], pauses: list[float]
) -> None:
    operation = flaky(*faults)
    with pytest.raises(type(faults[-1]), match=str(faults[-1])):
        await Retry(attempts=3, seconds=10).run(operation)
    assert (operation.await_count, pauses) == (tries, paused)


@pytest.mark.parametrize(
    ("kind", "growing"), [(ServerFault, False), (StreamCut, False), (RateLimited, True)]
)
async def test_a_fault_of_one_call_among_others_is_asked_again_soon(
    kind: type[Transient], *, growing: bool, pauses: list[float]
) -> None:
    retry, faults = Retry(), [kind("x") for _ in range(4)]

    async def operation() -> str:
        await retry.run(flaky())  # meanwhile another call gets through
        if faults:
            raise faults.pop()
        return "done"

    assert await retry.run(operation) == "done"
    assert (max(pauses) > 0.05) == growing
    assert len(pauses) == 4


@pytest.mark.parametrize("kind", [Unreachable, ServerFault, BadReply])
async def test_where_nobody_ever_answered_we_give_up_sooner(
    kind: type[Transient], pauses: list[float]
) -> None:
    retry = Retry()
    for tries, least, most in ((5, 0, 6.1), (7, 25, 56)):
        with pytest.raises(kind):
            await retry.run(flaky(*[kind("x")] * 20))
        assert len(pauses) == tries
        assert least < sum(pauses) < most
        await retry.run(flaky())
        pauses.clear()


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("3", 3),
        ("0.5", 0.5),
        ("-1", 0),
        (None, None),
        ("", None),
        ("x", None),
        ("nan", None),
        ("inf", float("inf")),
        ("Mon, 01 Jan 2030 00:00:00 +99999999999999999", None),
        ("Mon, 01 Jan 2030 00:00:00 +9999", None),
        ("Mon, 01 Jan 99999 00:00:00 GMT", None),
        ("Mon, 32 Foo 2030 99:99:99", None),
        ("Mon, 01 Jan 2001 00:00:00 GMT", 0),
        (" ", None),
    ],
)
def test_retry_after_in_seconds(value: str | None, seconds: float | None) -> None:
    assert parse_retry_after(value) == seconds
    later = parse_retry_after(formatdate(time.time() + 90, usegmt=True))
    assert later is not None
    assert 80 <= later <= 90


NOTHING = Usage()


class Counting:
    """An engine that fails in given ways, and keeps how many calls it got and how they were."""

    model = "counting"

    def __init__(self, *faults: EngineError, tries: int = 1_000, usage: Usage = NOTHING) -> None:
        self.faults, self.tries, self.usage = list(faults), tries, usage
        self.now = self.most = self.asked = 0
        self.decodings: list[Decoding | None] = []
        self.longest: list[int] = []

    async def complete(
        self, call: Call, watcher: Watcher = SILENT, decoding: Decoding | None = None
    ) -> Completion:
        self.decodings.append(decoding)
        self.longest.append(call.max_tokens)
        self.now += 1
        self.most = max(self.most, self.now)
        await asyncio.sleep(0.001)
        self.now -= 1
        for left in reversed(range(self.tries)):
            self.asked += 1
            if not self.faults:
                break
            fault = self.faults.pop(0)
            if not left or not isinstance(fault, Transient):
                raise fault
            watcher.retrying(call, fault, 0)
        return Completion("", usage=self.usage)


def limited_to(engine: Engine, limiter: Limiter) -> Client:
    return Client(ServedModel(engine, limiter))  # pyright: ignore[reportArgumentType]


async def ask(limited: Client, times: int) -> None:
    await asyncio.gather(*(limited.complete(CALL) for _ in range(times)))


@pytest.mark.parametrize(("start", "most"), [(None, 7), (2, 64)])
async def test_the_window_opens_while_replies_come_and_no_further(
    start: int | None, most: int
) -> None:
    engine, limiter = Counting(), Limiter(most, start)
    await ask(limited_to(engine, limiter), 300)
    assert (engine.most, engine.asked, limiter.size) == (most, 300, most)


class Refusing(Counting):
    """An engine that refuses calls: a share of them at random, or those above a number."""

    def __init__(self, share: float = 0, above: int = 1_000) -> None:
        super().__init__()
        self.share, self.above = share, above
        self.dice = random.Random(1)

    async def complete(
        self, call: Call, watcher: Watcher = SILENT, decoding: Decoding | None = None
    ) -> Completion:
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
    engine.faults += [StreamCut("cut") for _ in range(64)]  # no push-back
    await ask(limited_to(engine, limiter), 1)
    assert limiter.size == 64
    engine.faults += [RateLimited("slow") for _ in range(16)]
    await limited_to(engine, limiter).complete(group(4))  # each counts for four replies
    assert 32 <= limiter.size <= 36
    before = limiter.size
    await ask(limited_to(engine, limiter), 30)
    assert before < limiter.size < before + 1.5


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


async def test_a_pace_spaces_calls_out(pauses: list[float]) -> None:
    pace = Pace(per_minute=60)
    for units in (1, 1, 1, 10, 1):
        await pace.wait(units)
    assert [round(s) for s in pauses] == [0, 1, 2, 3, 13]
    pauses.clear()
    await Pace(None).wait(10**9)
    assert pauses == []


def group(samples: int) -> SampledCall:
    return SampledCall(CALL.messages, CALL.stage, CALL.max_tokens, samples=samples)


async def test_a_group_of_samples_takes_a_place_for_each_of_its_replies() -> None:
    engine, limiter = Counting(), Limiter(7)
    limited = limited_to(engine, limiter)
    await asyncio.gather(*(limited.complete(group(3)) for _ in range(20)))
    assert (engine.most, limiter.in_flight) == (2, 0)
    engine = Counting()
    limited = limited_to(engine, Limiter(2))  # a larger group goes by itself
    async with asyncio.timeout(5):
        await asyncio.gather(limited.complete(CALL), limited.complete(group(9)))
    assert (engine.most, engine.asked) == (1, 2)


def test_no_more_samples_are_asked_for_at_once_than_the_window_has_places() -> None:
    assert limited_to(Sampling(), Limiter(64, start=5)).most_samples(group(9)) == 5
    assert limited_to(Sampling(), Limiter(64)).most_samples(group(9)) == 9
    assert limited_to(Counting(), Limiter(64)).most_samples(group(9)) == 1


async def test_a_pace_counts_the_prompt_of_a_group_once(monkeypatch: pytest.MonkeyPatch) -> None:
    wait = AsyncMock()
    monkeypatch.setattr(Pace, "wait", wait)
    await limited_to(Counting(), Limiter(9, tokens_per_minute=1e9)).complete(group(3))
    assert [one.args for one in wait.await_args_list] == [(), (pytest.approx(1 / 3 + 3 * 2),)]


PAID = Call.user("x" * 36, stage="direct", max_tokens=100)  # at most 100 in, 100 out
DEAR = Price(input=1_000, output=2_000)


def paying(
    engine: Engine, budget: Budget, price: Price | None, most_output: int | None = None
) -> Client:
    decoding = Decoding(max_tokens=most_output) if most_output else None
    model = ServedModel(engine, price=price)  # pyright: ignore[reportArgumentType]
    return Client(model, decoding=decoding, budget=budget)


async def spend(engine: Client, times: int) -> int:
    results = await asyncio.gather(
        *(engine.complete(PAID) for _ in range(times)), return_exceptions=True
    )
    assert all(isinstance(r, Completion | BudgetSpent) for r in results)
    return sum(isinstance(r, Completion) for r in results)


@pytest.mark.parametrize("used", [Usage(100, 100), Usage(10, 10)])
async def test_no_more_tokens_than_allowed_however_many_calls_at_once(used: Usage) -> None:
    budget = Budget(max_tokens=1_000)
    charging = Counting(usage=used)
    done = await spend(paying(charging, budget, None), 100)
    assert budget.tokens <= 1_000
    assert done == charging.asked
    # It stops only when the next call could go over.
    assert budget.tokens + 200 > 1_000


async def test_no_more_money_than_allowed() -> None:
    budget = Budget(max_cost=1.0)  # a call costs 0.3 at the most
    assert await spend(paying(Counting(usage=Usage(100, 100)), budget, DEAR), 10) == 3
    assert budget.cost == pytest.approx(0.9)  # pyright: ignore
    retried = Budget(max_cost=1.0)
    await paying(Counting(StreamCut("cut"), tries=2, usage=Usage(10, 5)), retried, DEAR).complete(
        PAID
    )
    assert retried.cost == pytest.approx(0.3 + 0.01 + 0.01)  # pyright: ignore


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
        await paying(Counting(fault, tries=1), budget, None).complete(PAID)
    assert budget.tokens == charged
    retried = Budget(max_tokens=1_000)
    if isinstance(fault, Transient):
        await paying(Counting(fault, fault, tries=3, usage=Usage(10, 5)), retried, None).complete(
            PAID
        )
        assert retried.tokens == 2 * charged + 15


class Trying(Asked):
    """A model whose tries fail in given ways, one after the other; then it takes its time."""

    @property
    def model(self) -> str:
        return "m"

    def __init__(self, *faults: EngineError) -> None:
        self.retry = Retry(first_pause=0.0)
        self.faults = list(faults)
        self.under_way = asyncio.Event()
        self.release = asyncio.Event()

    def most_samples(self, group: SampledCall) -> int:
        return 1

    async def ask(
        self, call: Call, watcher: Watcher = SILENT, decoding: Decoding | Decode | None = None
    ) -> Completion:
        if self.faults:
            raise self.faults.pop(0)
        self.under_way.set()
        await self.release.wait()
        return Completion("done", usage=Usage(10, 5))


async def test_a_pause_holds_no_place_and_keeps_its_reservation() -> None:
    limiter, budget, in_flight = Limiter(1), Budget(max_tokens=1_000), list[int]()

    class Looking(Watcher):
        streams = False

        def retrying(self, call: Call, fault: Transient, seconds: float) -> None:
            in_flight.append(limiter.in_flight)

    model = Trying(ServerFault("down"), RateLimited("slow"))
    model.release.set()
    client = Client(ServedModel(model, limiter), budget=budget)
    assert (await client.complete(PAID, Looking())).text == "done"
    assert in_flight == [0, 0]
    assert budget.tokens == 100 + 15  # the prompt of the try that broke down, and the reply


@pytest.mark.parametrize("waits", [True, False])
async def test_a_cancelled_call_gives_its_place_and_its_reservation_back(*, waits: bool) -> None:
    limiter, budget, model = Limiter(1), Budget(max_tokens=1_000), Trying()
    client = Client(ServedModel(model, limiter), budget=budget)
    if waits:
        await limiter.enter()
    running = asyncio.create_task(client.complete(PAID))
    await (asyncio.sleep(0) if waits else model.under_way.wait())
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    assert limiter.in_flight == waits
    assert budget.has_room(Usage(800), 0.0)  # it may have used what was set aside, and no more
    assert not budget.has_room(Usage(801), 0.0)


async def test_it_is_not_asked_again_where_the_budget_does_not_reach() -> None:
    budget = Budget(max_tokens=500)
    failing = Counting(*(StreamCut("cut") for _ in range(9)), tries=5)
    with pytest.raises(StreamCut):
        await paying(failing, budget, None).complete(PAID)
    assert failing.asked == 2
    assert budget.tokens == 400
    with pytest.raises(BudgetSpent):
        await paying(failing, budget, None).complete(PAID)


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
    await paying(Scripted(lambda _call: completion), budget, None).complete(PAID)
    assert budget.tokens == charged


async def test_a_run_without_counts_ends_within_its_budget() -> None:
    budget, engine = Budget(max_tokens=1_000), Counting(usage=Usage(reported=False))
    assert await spend(paying(engine, budget, None), 100) == engine.asked == 5
    assert budget.tokens == 1_000


class Sampling(Counting):
    """An engine that takes groups of samples."""

    def most_samples(self, group: SampledCall) -> int:
        return group.samples


GROUP = SampledCall(PAID.messages, PAID.stage, PAID.max_tokens, samples=3)


async def test_a_group_of_samples_sets_aside_its_prompt_once_and_every_reply() -> None:
    budget = Budget(max_tokens=400)  # 100 in, three times 100 out
    engine = paying(Sampling(usage=Usage(90, 120)), budget, DEAR)
    assert engine.most_samples(GROUP) == 3
    await engine.complete(GROUP)
    assert (budget.tokens, budget.cost) == (210, pytest.approx(0.33))
    # Where the budget is short of a group, whose cost is 0.7 at the most, they go one by one.
    assert paying(Sampling(), Budget(max_tokens=399), None).most_samples(GROUP) == 1
    assert paying(Sampling(), Budget(max_cost=0.69), DEAR).most_samples(GROUP) == 1
    assert paying(Counting(), Budget(), None).most_samples(GROUP) == 1


async def test_a_spent_budget_names_the_currency_and_the_way_out() -> None:
    engine = paying(Counting(usage=Usage(100, 100)), Budget(max_cost=0.5), DEAR)
    await engine.complete(PAID)
    with pytest.raises(BudgetSpent) as raised:
        await engine.complete(PAID)
    assert str(raised.value) == (
        "the budget is spent: $0.30 of $0.50; the next call could cost up to $0.30; raise "
        "--max-cost and run the same command again"
    )
    charging = Counting(usage=Usage(1, 1))
    with pytest.raises(BudgetSpent) as raised:
        await paying(charging, Budget(max_cost=0.25), DEAR).complete(PAID)
    assert str(raised.value) == (
        "one call could cost up to $0.30, and --max-cost is $0.25; raise it, or lower "
        "--max-tokens, the longest reply (now 100 tokens)"
    )
    with pytest.raises(BudgetSpent, match="take up to 200 tokens, and --max-tokens-total is 150"):
        await paying(charging, Budget(max_tokens=150), None).complete(PAID)
    assert not charging.asked


async def test_what_fits_alone_goes_alone() -> None:
    assert await spend(paying(Counting(usage=Usage(0, 0)), Budget(max_cost=0.3), DEAR), 1) == 1
    # Each could cost 0.3 and does cost 0.001.
    assert await spend(paying(Counting(usage=Usage(1, 0)), Budget(max_cost=0.4), DEAR), 50) == 50


async def test_a_model_that_writes_less_is_asked_for_less() -> None:
    charging = Counting(usage=Usage(1, 1))
    await paying(charging, Budget(max_cost=0.15), DEAR, 20).complete(PAID)
    assert charging.longest == [20]


# --- Samples of one prompt in one request: where the endpoint can do it, and where it cannot.


SUM = Problem("Compute $1 + 1$.")
VOTE = "self-consistency(base=direct,samples=3)"


def engine(server: Server, **changes: Any) -> OpenAI:
    retry = Retry(first_pause=0.001)
    return OpenAI(Endpoint(server.url, "m"), Decoding(seed=7), retry, **changes)


async def vote(performing: Any, **rest: Any) -> Run[Solution]:
    return await drive(make(VOTE).solve(SUM), performing, **rest)


def replies(outcome: Run[Solution]) -> list[str]:
    return [exchange.completion.text for exchange in outcome.exchanges]


def asked(server: Server) -> list[tuple[int | None, int]]:
    """List what each request asked for: how many samples, from which seed on."""
    return [(body.get("n"), body["seed"]) for body in server.requests]


def sampling(body: dict[str, Any]) -> Reply:
    """Play an endpoint that has ``n``: the seed of each reply follows that of the one before."""
    return choices(*(f"seed {body['seed'] + n}" for n in range(body.get("n") or 1)))


async def test_samples_of_one_prompt_are_one_request(endpoint: Server) -> None:
    endpoint.respond = sampling
    async with engine(endpoint) as asking:
        outcome = await vote(asking)
        streamed = await vote(asking, tell=list[object]().append)
    assert asked(endpoint) == [(3, 7), *SINGLY]
    assert replies(outcome) == ["seed 7", "seed 8", "seed 9"]
    usages = [exchange.completion.usage for exchange in outcome.exchanges]
    assert usages == [Usage(11, 7), Usage(11, 7, shared=11), Usage(11, 7, shared=11)]
    assert outcome.transcript == streamed.transcript


async def test_only_what_differs_in_nothing_but_its_sample_is_asked_for_together(
    endpoint: Server,
) -> None:
    endpoint.respond = sampling
    longer = replace(CALL, max_tokens=9)
    calls = [CALL, longer, *(replace(CALL, sample=n) for n in (5, 1, 4, 1))]
    async with engine(endpoint) as asking:
        together = Sampler(asking)
        found = await asyncio.gather(*map(together.complete, calls))
    assert [one.text for one in found] == [f"seed {7 + call.sample}" for call in calls]
    assert Counter(asked(endpoint)) == Counter([(2, 7), (2, 11), (None, 7), (None, 8)])


async def test_no_more_than_the_engine_takes_at_once(endpoint: Server) -> None:
    class Two(OpenAI):
        def most_samples(self, group: SampledCall) -> int:
            return 2

    endpoint.respond = sampling
    async with Two(Endpoint(endpoint.url, "m"), Decoding(seed=7)) as asking:
        assert replies(await vote(asking)) == ["seed 7", "seed 8", "seed 9"]
    assert Counter(asked(endpoint)) == Counter([(2, 7), (None, 9)])


SINGLY = [(None, 7), (None, 8), (None, 9)]


def without_n(fault: Reply) -> Callable[[dict[str, Any]], Reply]:
    """Play an endpoint that has the same fault whenever it is asked for several samples."""
    return lambda body: fault if "n" in body else sampling(body)


def counting_the_first(body: dict[str, Any]) -> Reply:
    """Play llama.cpp as it is in 2026: the tokens of the other replies cannot be known."""
    reply = json.loads(sampling(body).body)
    reply["usage"]["completion_tokens"] = 7
    return answer(reply | {"timings": {"predicted_n": 7}})


def late(body: dict[str, Any]) -> Reply:
    reply = sampling(body)
    reply.delay = 30 if "n" in body else 0
    return reply


@pytest.mark.parametrize(
    ("respond", "first"),
    [
        (without_n(failure(status, message)), [(3, 7), *SINGLY])
        for status, message in (
            (500, "Only one completion choice is allowed"),
            (400, "n_cmpl cannot be greater than the number of slots, please increase -np"),
            (400, "Field 'n': Value must be between 1 <= value <= 2, but got 3"),
            (400, "Invalid n value (currently only n = 1 is supported)"),
            (400, "n must be 1 when using greedy sampling, got 3."),
            (400, "Unsupported value: 'n' does not support 3 with this model."),
            (422, '[{"loc": ["body", "n"], "msg": "Extra inputs are not permitted"}]'),
        )
    ]
    + [
        (lambda body: choices(f"seed {body['seed']}"), [(3, 7), *SINGLY[1:]]),  # gives fewer
        (counting_the_first, [(3, 7), *SINGLY[1:]]),
        (late, [(3, 7), *SINGLY]),
        # Faults and unknown reasons count against that prompt alone.
        (without_n(failure(400, "no")), [(3, 7), *SINGLY]),
        (without_n(failure(503, "busy")), [(3, 7), (3, 7), *SINGLY]),
        (without_n(answer([])), [(3, 7), (3, 7), *SINGLY]),
        (without_n(Reply(body="<html>")), [(3, 7), (3, 7), *SINGLY]),
    ],
)
async def test_an_endpoint_that_cannot_give_several_is_asked_one_by_one(
    endpoint: Server,
    respond: Callable[[dict[str, Any]], Reply],
    first: list[tuple[int | None, int]],
) -> None:
    endpoint.respond = respond
    bounds = Bounds(seconds=0.5 if respond is late else 60)
    async with engine(endpoint, bounds=bounds) as asking:
        outcome = await vote(asking)
        assert asked(endpoint) == first
        await vote(asking)
    assert replies(outcome) == ["seed 7", "seed 8", "seed 9"]
    assert [one.completion.usage.output for one in outcome.exchanges] == [7, 7, 7]
    assert asked(endpoint)[len(first) :] == SINGLY


async def test_a_refusal_without_a_known_reason_is_tried_without(endpoint: Server) -> None:
    endpoint.respond = without_n(failure(400, "no"))
    async with engine(endpoint) as asking:
        await vote(asking)
        endpoint.respond = sampling
        await drive(make(VOTE).solve(Problem("Compute $2 + 2$.")), asking)
    assert asked(endpoint) == [(3, 7), *SINGLY, (3, 7)]


def once_spoilt(spoil: Callable[[dict[str, Any]], None]) -> Callable[[dict[str, Any]], Reply]:
    """Play an endpoint whose second choice, where there is one, is spoilt."""

    def respond(body: dict[str, Any]) -> Reply:
        whole = json.loads(sampling(body).body)
        if len(whole["choices"]) > 1:
            spoil(whole["choices"][1])
        return answer(whole)

    return respond


async def test_a_choice_that_nobody_can_read_is_asked_for_by_itself(endpoint: Server) -> None:
    endpoint.respond = once_spoilt(lambda found: found.pop("message"))
    async with engine(endpoint) as asking:
        assert replies(await vote(asking)) == ["seed 7", "seed 8", "seed 9"]
        assert asked(endpoint) == [(3, 7), (None, 8)]
        await vote(asking)
    assert asked(endpoint)[2] == (3, 7)


async def test_a_choice_that_is_cut_or_empty_is_a_reply_like_any_other(endpoint: Server) -> None:
    endpoint.respond = once_spoilt(lambda found: found.update(finish_reason="length"))
    async with engine(endpoint) as asking:
        outcome = await vote(asking)
        assert [one.completion.truncated for one in outcome.exchanges] == [False, True, False]
        endpoint.respond = once_spoilt(lambda found: found.update(message={"content": ""}))
        assert replies(await vote(asking)) == ["seed 7", "", "seed 9"]
    assert len(endpoint.requests) == 2


async def test_too_many_requests_is_no_reason_against_several(endpoint: Server) -> None:
    waits = [failure(429, "slow down", Retry_After="0")] * 3
    endpoint.respond = lambda body: waits.pop() if waits else sampling(body)
    async with engine(endpoint) as asking:
        await vote(asking)
        assert asked(endpoint) == [(3, 7)] * 4
        endpoint.respond = lambda _: failure(401, "no key")
        with pytest.raises(Unauthorized):  # which every sample fails by, once
            await vote(asking)
    assert len(endpoint.requests) == 5


@pytest.mark.parametrize("lost", [{0}, {1}, {2}, {0, 1}, {1, 2}, {0, 2}])
async def test_a_resumed_round_asks_only_for_the_samples_that_it_lacks(
    endpoint: Server, lost: set[int]
) -> None:
    endpoint.respond = sampling
    whole, journal = MemoryJournal(), MemoryJournal()
    async with engine(endpoint) as asking:
        outcome = await vote(asking, journal=whole)
        for n, exchange in enumerate(outcome.exchanges):
            if n not in lost:
                await journal.record(n, exchange.call, exchange.completion)
        endpoint.requests.clear()
        again = await vote(asking, journal=journal)
        assert (again.result, again.transcript) == (outcome.result, outcome.transcript)
    if lost in ({0, 1}, {1, 2}):
        assert asked(endpoint) == [(2, 7 + min(lost))]
    else:
        assert sorted(asked(endpoint)) == [(None, 7 + n) for n in sorted(lost)]


async def test_each_sample_is_stored_by_itself(endpoint: Server) -> None:
    class Full(MemoryJournal):
        async def record(self, ordinal: int, step: Step, answer: Answer) -> None:
            if ordinal == 1:
                raise OSError("the disk is full")
            await super().record(ordinal, step, answer)

    endpoint.respond = sampling
    journal = Full()
    async with engine(endpoint) as asking:
        with pytest.raises(OSError, match="full"):
            await vote(asking, journal=journal)
    first, *_ = next(make(VOTE).solve(SUM))
    assert isinstance(first, Call)
    assert journal.recall(0, first) == Completion("seed 7", usage=Usage(11, 7))
    assert journal.recall(1, first) is None


async def test_a_model_beside_another_is_asked_for_its_own_samples(endpoint: Server) -> None:
    endpoint.respond = sampling
    for_it = [replace(CALL, model="small", sample=n) for n in range(3)]
    async with engine(endpoint) as small:
        together = Sampler(Client(Scripted(["main"]), {"small": small}))
        found = await asyncio.gather(*map(together.complete, [CALL, *for_it]))
    assert [one.text for one in found] == ["main", "seed 7", "seed 8", "seed 9"]
    assert asked(endpoint) == [(3, 7)]


class Takes:
    """An engine that takes groups, and answers them with one reply or an error."""

    def __init__(self, result: Completion | Exception) -> None:
        self.result = result
        self.asked: list[Call] = []

    def most_samples(self, group: SampledCall) -> int:
        return group.samples

    async def complete(self, call: Call, watcher: Watcher = SILENT) -> Completion:
        self.asked.append(call)
        if isinstance(self.result, Exception) and isinstance(call, SampledCall):
            raise self.result
        return Completion("single") if isinstance(self.result, Exception) else self.result


@pytest.mark.parametrize("error", [ServerFault("down"), ValueError("a bug")])
async def test_an_error_of_a_group_is_that_of_each_of_its_calls(error: Exception) -> None:
    together = Sampler(Takes(error))
    calls = [*(replace(CALL, sample=n) for n in range(2)), replace(CALL, stage="other")]
    results = await asyncio.gather(*map(together.complete, calls), return_exceptions=True)
    assert results == [error, error, Completion("single")]


async def test_an_engine_that_knows_no_groups_has_answered_the_first() -> None:
    takes = Takes(Completion("one"))
    together = Sampler(takes)
    calls = [replace(CALL, sample=n) for n in range(3)]
    assert len(await asyncio.gather(*map(together.complete, calls))) == 3
    assert [type(call) for call in takes.asked] == [SampledCall, Call, Call]


async def test_who_stops_waiting_stops_the_request() -> None:
    started, stopped = asyncio.Event(), asyncio.Event()

    class Waits(Takes):
        async def complete(self, call: Call, watcher: Watcher = SILENT) -> Completion:
            started.set()
            try:
                await asyncio.sleep(60)
            finally:
                stopped.set()
            return Completion("late")

    running = asyncio.create_task(vote(Waits(Completion(""))))
    await started.wait()
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    assert stopped.is_set()
