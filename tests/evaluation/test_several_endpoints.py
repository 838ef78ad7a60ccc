"""An evaluation over several endpoints of one model, with real servers that die and come back."""

import threading
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import AsyncExitStack, ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from loopback import Endpoint as Server
from loopback import failure
from sums import reply_right, sums

from constraint_first import Endpoint, EvaluationProgress, ModelRef, RunOptions, aevaluate
from constraint_first.benchmark.registry import Benchmark
from constraint_first.model.replicas import Balanced
from constraint_first.model.wire import Served
from constraint_first.run.grid import Experiment, ModelPool
from constraint_first.run.job import Evaluated, EvaluationWatcher
from constraint_first.store.query import summaries
from constraint_first.store.store import Store

SUMS = Benchmark("sums", "Sums", sums(60))


@pytest.fixture
def servers() -> Iterator[list[Server]]:
    with ExitStack() as stack:
        found = [stack.enter_context(Server()) for _ in range(3)]
        for server in found:
            server.respond = reply_right
        yield found


@pytest.fixture
def options(tmp_path: Path) -> RunOptions:
    return RunOptions(store=str(tmp_path / "runs.db"), concurrency=4)


@pytest.fixture
async def stack() -> AsyncIterator[AsyncExitStack]:
    async with AsyncExitStack() as opened:
        yield opened


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


async def evaluate(
    servers: Sequence[Server], options: RunOptions, runs: int = 1, **more: Any
) -> Evaluated:
    return await aevaluate(SUMS, "direct", runs=runs, model=ref(servers), options=options, **more)


async def test_one_that_dies_in_the_middle_costs_no_attempt_and_comes_back(
    servers: list[Server], options: RunOptions
) -> None:
    watcher, first = Followed(), servers[0]
    dead = threading.Event()

    def die(_progress: object) -> None:
        if sum(len(server.requests) for server in servers) >= 20 and not dead.is_set():
            dead.set()
            first.die()

    done = await evaluate(servers, options, 2, watcher=watcher, progress=die)
    assert dead.is_set()
    assert (done.complete, done.series[0].tally.failed) == (True, 0)
    asked = len(first.requests)
    assert asked < 60
    first.revive()
    again = await evaluate(servers, options, 4, watcher=watcher)
    assert (again.complete, again.series[0].tally.failed) == (True, 0)
    assert len(first.requests) > asked
    assert sum(len(server.requests) for server in servers) <= 4 * 60 + 3 * 4


async def test_when_all_die_attempts_fail_as_with_one_and_are_made_by_the_next_run(
    servers: list[Server], options: RunOptions
) -> None:
    for server in servers[1:]:
        server.die()

    def die(progress: EvaluationProgress) -> None:
        if progress.done == 20:
            servers[0].die()

    class Impatient(Followed):
        def opened(self, models: Sequence[Served]) -> None:
            super().opened(models)
            self.engine.retry.attempts, self.engine.retry.first_pause = 2, 0.001

    done = await evaluate(servers, options, watcher=Impatient(), progress=die)
    assert not done.complete
    assert done.series[0].tally.failed > 0
    assert "run the same command again" in done.stopped
    for server in servers:
        server.revive()
    assert (await evaluate(servers, options)).complete


async def test_too_many_requests_at_one_fail_nothing(
    servers: list[Server], options: RunOptions
) -> None:
    servers[0].respond = lambda _body: failure(429, "slow down", Retry_After="60")
    done = await evaluate(servers, options)
    assert done.complete
    assert len(servers[0].requests) <= 4  # as many as were on their way
    assert len(servers[1].requests) + len(servers[2].requests) == 60


async def test_a_run_goes_on_with_more_endpoints_and_with_fewer(
    servers: list[Server], options: RunOptions
) -> None:
    for count, runs in ((1, 1), (3, 2), (2, 3)):
        for server in servers:
            server.requests.clear()
        done = await evaluate(servers[:count], options, runs)
        assert done.complete
        assert [len(server.requests) > 0 for server in servers] == [n < count for n in range(3)]
        assert sum(len(server.requests) for server in servers) == 60
    with Store(options.store) as store:
        (one,) = summaries(store)
    assert (one.series.model, one.tally.total) == ("test-model", 180)


async def test_what_one_endpoint_refuses_all_are_asked_without(
    servers: list[Server], options: RunOptions
) -> None:
    servers[2].respond = lambda body: (
        failure(400, "temperature is not supported") if "temperature" in body else reply_right(body)
    )
    done = await evaluate(servers, options)
    assert done.complete
    assert [one.series.decoding.temperature for one in done.series] == [None]


async def test_limits_are_those_of_each_endpoint(
    servers: list[Server], options: RunOptions, stack: AsyncExitStack
) -> None:
    limited = replace(options, requests_per_minute=600.0)
    pool = ModelPool(limited, stack, EvaluationWatcher().fetching)
    (served,) = await pool.open(Experiment(), ref(servers))
    assert (served.limiter, [one.most for one in pool.limiters]) == (None, [4, 4, 4])
    given = Balanced([Endpoint(server.url, "test-model") for server in servers])
    pool = ModelPool(RunOptions(), stack, EvaluationWatcher().fetching)
    served = await pool.open_engine(given, ())
    assert [(one.most, one.size) for one in pool.limiters] == [(256, 16.0)] * 3
    assert [one.limiter for one in given.balancer.replicas] == pool.limiters
