"""The models of a grid, and evaluations over several endpoints that die and come back."""

import threading
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import AbstractContextManager, AsyncExitStack, ExitStack, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from loopback import Endpoint as Server
from loopback import Reply, completion, failure
from sums import reply_right, sums

from constraint_first import Endpoint, EvaluationProgress, ModelRef, RunOptions, aevaluate, evaluate
from constraint_first.attempt.drive import Scripted
from constraint_first.attempt.solve import run_sync
from constraint_first.benchmark.registry import Benchmark
from constraint_first.error import InputError
from constraint_first.method.constraint_first import CFR
from constraint_first.method.method import Method
from constraint_first.model.client import Client, ServedModel
from constraint_first.model.error import EngineError
from constraint_first.model.limit import Limiter
from constraint_first.model.local import Progress
from constraint_first.model.replicas import Balanced
from constraint_first.model.transport import DecodingRefused
from constraint_first.model.wire import Decoding, Served
from constraint_first.protocol import Call
from constraint_first.run.grid import Experiment, ModelPool, series_of
from constraint_first.run.job import Evaluated, EvaluationWatcher
from constraint_first.store.query import attempt_rows, summaries
from constraint_first.store.store import Store

SPEC = '{"raw_constraints": [{"id": "C1", "type": "domain", "description": "an integer"}]}'
SUMS = Benchmark("sums", "Sums", sums(4))
METHOD = "cfr(extractor=org/small:7b)"


def reply_by_model(body: dict[str, Any]) -> Reply:
    return completion(SPEC) if body["model"] == "org/small:7b" else reply_right(body)


@pytest.fixture
def options(tmp_path: Path) -> RunOptions:
    return RunOptions(store=str(tmp_path / "runs.db"))


@pytest.fixture
async def stack() -> AsyncIterator[AsyncExitStack]:
    async with AsyncExitStack() as opened:
        yield opened


def fetching(names: list[str]) -> Callable[[str], AbstractContextManager[Progress]]:
    def fetch(name: str) -> AbstractContextManager[Progress]:
        names.append(name)
        return nullcontext(lambda _done, _total, _doing: None)

    return fetch


def priced(folder: Path, url: str, monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    """Write presets of models, the first at a dollar a million tokens and each twice the last."""
    tables = (
        f'["{name}"]\nbase_url = "{url}"\nprice = {{ input = {2**n}.0, output = {2**n}.0 }}\n'
        for n, name in enumerate(names)
    )
    (folder / "models.toml").write_text("".join(tables))
    monkeypatch.setenv("CFR_MODELS", str(folder / "models.toml"))


async def test_models_open_once(
    stack: AsyncExitStack, options: RunOptions, endpoint: Server
) -> None:
    fetched: list[str] = []
    pool = ModelPool(options, stack, fetching(fetched))
    grid = Experiment(methods=(METHOD, "llm-router(model=b)", "direct"), models=("a", "b"))
    first, second = await pool.open(grid, ModelRef(base_url=endpoint.url, context=9_000))
    assert fetched == ["a", "b", "org/small:7b"]
    assert (first.served.model, second.served.model) == ("a", "b")
    assert set(first.others) == set(second.others) == {"org/small:7b", "b"}
    assert first.others["b"].served is second.served
    assert first.others["org/small:7b"] is second.others["org/small:7b"]
    assert len({id(limiter) for limiter in pool.limiters}) == 3


async def test_a_given_engine_keeps_its_company(stack: AsyncExitStack, options: RunOptions) -> None:
    main, small = Scripted([], name="m"), Scripted([], name="s")
    pool = ModelPool(options, stack, fetching([]))
    grid = Experiment(methods=(METHOD, "llm-router(model=m)"))
    served = await pool.open_engine(Client(main, {"org/small:7b": small}), grid.other_models())
    assert served.served is served.others["m"].served is main
    assert served.others["org/small:7b"].served is small
    assert len(pool.limiters) == 2


@pytest.mark.parametrize("given", [True, False])
async def test_unknown_models(stack: AsyncExitStack, options: RunOptions, *, given: bool) -> None:
    fetched: list[str] = []
    pool, grid = ModelPool(options, stack, fetching(fetched)), Experiment(methods=(METHOD,))
    with pytest.raises(EngineError, match=r"'org/small:7b': no \.gguf file .*--base-url"):
        await (
            pool.open_engine(Scripted([]), grid.other_models())
            if given
            else pool.open(grid, ModelRef())
        )
    assert fetched == []


async def test_money_needs_the_price_of_every_model(
    stack: AsyncExitStack,
    options: RunOptions,
    endpoint: Server,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    priced(tmp_path, endpoint.url, monkeypatch, "large")
    pool = ModelPool(replace(options, max_cost=1.0), stack, fetching([]))
    grid = Experiment(methods=(METHOD,), models=("large",))
    with pytest.raises(InputError, match="model org/small:7b: --max-cost needs its price"):
        await pool.open(grid, ModelRef(base_url=endpoint.url))


def test_a_grid_is_run_with_two_models(endpoint: Server, options: RunOptions) -> None:
    endpoint.respond = reply_by_model
    methods = ["direct", METHOD]
    ref = ModelRef("large", base_url=endpoint.url)
    done = evaluate(SUMS, methods, runs=2, model=ref, options=options)
    assert done.complete
    assert [(one.series.method, one.series.model, one.accuracy) for one in done.series] == [
        ("direct", "large", 1.0),
        (METHOD, "large", 1.0),
    ]
    asked = [body["model"] for body in endpoint.requests]
    assert (asked.count("large"), asked.count("org/small:7b")) == (16, 8)
    evaluate(SUMS, methods, runs=2, model=ref, options=options)
    assert len(endpoint.requests) == 24
    with Store(options.store) as store:
        found = [row["stages"] for row in attempt_rows(store) if row["method"] == METHOD]
    assert all('"model":"org/small:7b"' in stages for stages in found)


def test_stored_replies_of_a_second_model(endpoint: Server, options: RunOptions) -> None:
    ref = ModelRef("large", base_url=endpoint.url)
    endpoint.respond = lambda body: (
        completion(SPEC) if body["model"] == "org/small:7b" else failure(400, "not today")
    )
    assert not evaluate(SUMS, METHOD, runs=1, model=ref, options=options).complete
    endpoint.requests.clear()
    endpoint.respond = reply_by_model
    assert evaluate(SUMS, METHOD, runs=1, model=ref, options=options).complete
    assert [body["model"] for body in endpoint.requests] == ["large"] * 4


def test_a_budget_counts_every_model_at_its_price(
    endpoint: Server, options: RunOptions, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    endpoint.respond = reply_by_model
    # What is set aside for Stage 2 fits at one dollar a million tokens and not at two.
    bounded = replace(options, max_cost=0.04, concurrency=1)
    priced(tmp_path, endpoint.url, monkeypatch, "large", "org/small:7b")
    assert evaluate(SUMS, METHOD, runs=1, model="large", options=bounded).complete
    priced(tmp_path, endpoint.url, monkeypatch, "org/small:7b", "large")
    other = replace(bounded, store=str(tmp_path / "other.db"))
    done = evaluate(SUMS, METHOD, runs=1, model="large", options=other)
    assert "one call could cost up to $0.066, and --max-cost is $0.04" in done.stopped


def test_a_second_model_refuses_a_setting(endpoint: Server, options: RunOptions) -> None:
    heard: list[tuple[str, str]] = []

    class Hears(EvaluationWatcher):
        def adapted(self, model: str, change: str) -> None:
            heard.append((model, change))

    def respond(body: dict[str, Any]) -> Reply:
        if body["model"] == "org/small:7b" and "temperature" in body:
            return failure(400, "temperature is not supported")
        return reply_by_model(body)

    endpoint.respond = respond
    ref = ModelRef("large", base_url=endpoint.url)
    watched = aevaluate(
        SUMS, ["direct", METHOD], runs=1, model=ref, options=options, watcher=Hears()
    )
    done = run_sync(watched)
    assert done.complete
    assert {one.series.decoding for one in done.series} == {Decoding()}
    assert [model for model, _ in heard] == ["org/small:7b"]
    assert "series that ask it beside another model keep their names" in heard[0][1]
    assert all("temperature" in body for body in endpoint.requests if body["model"] == "large")


def test_a_method_that_hides_a_model_fails_its_own_series_alone(options: RunOptions) -> None:
    class Hides(CFR):
        @property
        def other_models(self) -> tuple[str, ...]:
            return ()

    engine = Scripted(lambda call: f"\\boxed{{{len(call.messages)}}}")
    methods: list[str | Method] = ["direct", Hides(extractor="small")]
    done = evaluate(SUMS, methods, runs=1, engine=engine, options=options)
    assert [one.tally.failed for one in done.series] == [0, 4]
    assert "the method must list it in its other_models" in done.stopped


async def test_one_key_is_not_sent_to_the_endpoints_of_several_models() -> None:
    grid = Experiment(models=("one", "two"))
    async with AsyncExitStack() as stack:
        pool = ModelPool(RunOptions(), stack, EvaluationWatcher().fetching)
        with pytest.raises(InputError, match="models one, two: one key is given and no address"):
            await pool.open(grid, ModelRef(key="sk-secret"))


async def test_models_that_workers_elsewhere_open_are_only_named(
    options: RunOptions, stack: AsyncExitStack, monkeypatch: pytest.MonkeyPatch
) -> None:
    names: list[str] = []
    pool = ModelPool(options, stack, fetching(names))
    monkeypatch.delenv("DEEPSEEK_API_KEY", raising=False)
    grid = Experiment(models=("/nowhere/m.gguf", "deepseek-chat"), methods=(METHOD,))
    there = ModelRef(base_url=None)
    with pytest.raises(EngineError, match="model 'org/small:7b'"):
        pool.name(grid, there)
    named = pool.name(replace(grid, methods=("direct",)), there)
    assert [one.served.model for one in named] == ["m", "deepseek-chat"]
    assert (names, pool.limiters) == ([], [])
    with pytest.raises(RuntimeError, match="inside `async with`"):
        await named[0].served.complete(Call.user("Hello", stage="direct", max_tokens=1))


async def test_a_named_model_needs_a_name(options: RunOptions, stack: AsyncExitStack) -> None:
    pool = ModelPool(options, stack, fetching([]))
    with pytest.raises(InputError, match="name it with --model"):
        pool.name(Experiment(), ModelRef(base_url="http://host/v1"))


WARM = DecodingRefused("no", "m", "temperature")


def served() -> ServedModel:
    return ServedModel(Scripted([], name="m"), Limiter(1), None)


def test_a_sweep_that_comes_down_to_one_decoding_is_run_once() -> None:
    model, grid = served(), Experiment(methods=("direct",), temperatures=(0.0, 0.5, 1.0))
    assert len(series_of(model, grid, SUMS)) == 3
    model.adapt(WARM)
    assert [one.decoding for one in series_of(model, grid, SUMS)] == [Decoding(None)]


SIXTY = Benchmark("sums", "Sums", sums(60))


@pytest.fixture
def servers() -> Iterator[list[Server]]:
    with ExitStack() as stack:
        found = [stack.enter_context(Server()) for _ in range(3)]
        for server in found:
            server.respond = reply_right
        yield found


@pytest.fixture
def narrow(options: RunOptions) -> RunOptions:
    return replace(options, concurrency=4)


def ref(servers: Sequence[Server]) -> ModelRef:
    return ModelRef(None, [server.url for server in servers])


class Followed(EvaluationWatcher):
    """Keeps the engine that an evaluation asks."""

    engine: Balanced

    def opened(self, models: Sequence[Served]) -> None:
        (engine,) = models
        assert isinstance(engine, Balanced)
        self.engine = engine
        self.engine.balancer.pauses.longest_pause = 0.05


async def evaluate_at(
    servers: Sequence[Server], narrow: RunOptions, runs: int = 1, **more: Any
) -> Evaluated:
    return await aevaluate(SIXTY, "direct", runs=runs, model=ref(servers), options=narrow, **more)


async def test_a_dead_endpoint_costs_nothing(servers: list[Server], narrow: RunOptions) -> None:
    watcher, first = Followed(), servers[0]
    dead = threading.Event()

    def die(_progress: object) -> None:
        if sum(len(server.requests) for server in servers) >= 20 and not dead.is_set():
            dead.set()
            first.die()

    done = await evaluate_at(servers, narrow, 2, watcher=watcher, progress=die)
    assert dead.is_set()
    assert (done.complete, done.series[0].tally.failed) == (True, 0)
    asked = len(first.requests)
    assert asked < 60
    first.revive()
    again = await evaluate_at(servers, narrow, 4, watcher=watcher)
    assert (again.complete, again.series[0].tally.failed) == (True, 0)
    assert len(first.requests) > asked
    assert sum(len(server.requests) for server in servers) <= 4 * 60 + 3 * 4


async def test_all_endpoints_die(servers: list[Server], narrow: RunOptions) -> None:
    for server in servers[1:]:
        server.die()

    def die(progress: EvaluationProgress) -> None:
        if progress.done == 20:
            servers[0].die()

    class Impatient(Followed):
        def opened(self, models: Sequence[Served]) -> None:
            super().opened(models)
            self.engine.retry.attempts, self.engine.retry.first_pause = 2, 0.001

    done = await evaluate_at(servers, narrow, watcher=Impatient(), progress=die)
    assert not done.complete
    assert done.series[0].tally.failed > 0
    assert "run the same command again" in done.stopped
    for server in servers:
        server.revive()
    assert (await evaluate_at(servers, narrow)).complete


async def test_a_busy_endpoint_fails_nothing(servers: list[Server], narrow: RunOptions) -> None:
    servers[0].respond = lambda _body: failure(429, "slow down", Retry_After="60")
    done = await evaluate_at(servers, narrow)
    assert done.complete
    assert len(servers[0].requests) <= 4  # as many as were on their way
    assert len(servers[1].requests) + len(servers[2].requests) == 60


async def test_more_endpoints_and_fewer(servers: list[Server], narrow: RunOptions) -> None:
    for count, runs in ((1, 1), (3, 2), (2, 3)):
        for server in servers:
            server.requests.clear()
        done = await evaluate_at(servers[:count], narrow, runs)
        assert done.complete
        assert [len(server.requests) > 0 for server in servers] == [n < count for n in range(3)]
        assert sum(len(server.requests) for server in servers) == 60
    with Store(narrow.store) as store:
        (one,) = summaries(store)
    assert (one.series.model, one.tally.total) == ("test-model", 180)


async def test_one_endpoint_refuses(servers: list[Server], narrow: RunOptions) -> None:
    servers[2].respond = lambda body: (
        failure(400, "temperature is not supported") if "temperature" in body else reply_right(body)
    )
    done = await evaluate_at(servers, narrow)
    assert done.complete
    assert [one.series.decoding.temperature for one in done.series] == [None]


async def test_limits_are_those_of_each_endpoint(
    servers: list[Server], narrow: RunOptions, stack: AsyncExitStack
) -> None:
    limited = replace(narrow, requests_per_minute=600.0)
    pool = ModelPool(limited, stack, EvaluationWatcher().fetching)
    (served,) = await pool.open(Experiment(), ref(servers))
    assert (served.limiter, [one.most for one in pool.limiters]) == (None, [4, 4, 4])
    given = Balanced([Endpoint(server.url, "test-model") for server in servers])
    pool = ModelPool(RunOptions(), stack, EvaluationWatcher().fetching)
    served = await pool.open_engine(given, ())
    assert [(one.most, one.size) for one in pool.limiters] == [(256, 16.0)] * 3
    assert [one.limiter for one in given.balancer.replicas] == pool.limiters
