import asyncio
import os
import signal
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from loopback import Endpoint as Server
from loopback import Reply, failure
from ray_cluster import RayCluster
from sums import reply_right, right, sums

import cfr
from cfr.benchmark import Benchmark
from cfr.error import InputError
from cfr.evaluation import ray_run
from cfr.evaluation.batch_option import BatchOptions
from cfr.evaluation.ray_option import RayOptions
from cfr.evaluation.ray_process import RayFailed
from cfr.evaluation.ray_run import check_ray, make_order
from cfr.evaluation.record import attempt_rows
from cfr.evaluation.store import Store
from cfr.evaluation.watcher import EvaluationWatcher

from .conftest import empty

SUMS = Benchmark("sums", "Sums", sums(4))
ON_RAY = cfr.RunOptions(store="postgresql://me@db/runs", ray=RayOptions("auto"))
HERE = cfr.ModelRef()


@pytest.mark.parametrize(
    ("options", "ref", "said"),
    [
        (replace(ON_RAY, store="runs.db"), HERE, r"runs\.db is a file, .*--store postgresql://"),
        (replace(ON_RAY, batch=BatchOptions(batch=True)), HERE, "--ray and --batch: one or the"),
        (replace(ON_RAY, ray=RayOptions("head")), HERE, "--ray head: not an address"),
        (ON_RAY, cfr.ModelRef("m", key="sk-1"), r"is not sent to a cluster; .* \(key_name\)"),
    ],
)
def test_what_a_cluster_cannot_do_is_refused(
    options: cfr.RunOptions, ref: cfr.ModelRef, said: str
) -> None:
    with pytest.raises(InputError, match=said):
        check_ray(options, ref, has_engine=False)


async def test_an_engine_stays_in_its_process() -> None:
    with pytest.raises(InputError, match=r"an engine .* name a model"):
        await cfr.aevaluate(SUMS, "direct", engine=cfr.Scripted(right), options=ON_RAY)


def test_a_worker_is_told_its_limits_and_the_password(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PGPASSWORD", "of the environment")
    options = replace(ON_RAY, concurrency=3, limit=7, max_cost=1.0)
    ref = cfr.ModelRef("m", base_url="http://me:secret@host/v1")
    settings = make_order(options, ref, [])["settings"]
    assert settings["store"] == "postgresql://me:of the environment@db/runs"
    assert settings["base_url"] == ["http://me:secret@host/v1"]
    assert settings["limits"]["concurrency"] == 3
    assert not {"limit", "max_cost", "batch", "ray"} & set(settings["limits"])
    given = replace(ON_RAY, store="postgresql://me:own@db/runs")
    assert make_order(given, ref, [])["settings"]["store"] == "postgresql://me:own@db/runs"


@pytest.fixture(scope="module")
def cluster() -> Iterator[RayCluster]:
    with RayCluster(1) as running:
        yield running


@pytest.fixture
def options(
    cluster: RayCluster, postgres: str, monkeypatch: pytest.MonkeyPatch
) -> Iterator[cfr.RunOptions]:
    monkeypatch.setattr(ray_run, "_LOOK_EVERY", 0.5)
    monkeypatch.setattr(ray_run, "_FIRST_PAUSE", 0.0)
    ray = RayOptions(cluster.address, workers=1)
    yield cfr.RunOptions(store=postgres, concurrency=2, lease=1.0, ray=ray)
    empty(postgres)


class Hearing(EvaluationWatcher):
    def __init__(self) -> None:
        self.notes: list[str] = []

    def noted(self, line: str) -> None:
        self.notes.append(line)

    def adapted(self, model: str, change: str) -> None:
        self.notes.append(f"{model}: {change}")


def slowly(_: dict[str, Any]) -> Reply:
    return Reply(delay=60)


def owners(store: str) -> set[int]:
    """Find the processes of workers that have claimed something."""
    with Store(store, existing=True) as opened:
        found = opened.read(sa.text("SELECT DISTINCT owner FROM leases WHERE owner IS NOT NULL"))
    return {int(owner.split("-")[-2]) for (owner,) in found}


async def until_claimed(store: str, not_by: set[int]) -> int:
    while not (found := owners(store) - not_by):
        await asyncio.sleep(0.05)
    return found.pop()


@asynccontextmanager
async def evaluation(
    options: cfr.RunOptions, server: Server, watcher: EvaluationWatcher
) -> AsyncIterator[asyncio.Task[cfr.Evaluated]]:
    ref = cfr.ModelRef("m", base_url=server.url)
    work = cfr.aevaluate(SUMS, "direct", runs=1, model=ref, options=options, watcher=watcher)
    task = asyncio.create_task(work)
    try:
        yield task
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


@pytest.mark.slow
async def test_a_model_that_refuses_a_setting_is_asked_without_it(
    options: cfr.RunOptions, endpoint: Server
) -> None:
    def refuse(body: dict[str, Any]) -> Reply:
        if "temperature" in body:
            return failure(400, "temperature is not supported with this model")
        return reply_right(body)

    endpoint.respond, hearing = refuse, Hearing()
    async with evaluation(options, endpoint, hearing) as task:
        done = await task
    assert done.complete, done.stopped
    assert [one.series.decoding.temperature for one in done.series] == [None]
    assert "temperature is refused" in hearing.notes[0]


@pytest.mark.slow
async def test_a_budget_that_is_spent_ends_the_run(
    options: cfr.RunOptions, endpoint: Server
) -> None:
    endpoint.respond = reply_right
    grid = cfr.Experiment(benchmarks=(SUMS,), methods=("direct",), runs=1, max_tokens=100)
    ref = cfr.ModelRef("m", base_url=endpoint.url)
    limited = replace(options, concurrency=1, max_tokens_total=350)
    done = await cfr.aevaluate(grid, model=ref, options=limited)
    assert 0 < done.series[0].tally.ok < 4
    assert "raise --max-tokens-total" in done.stopped


@pytest.mark.slow
async def test_a_model_that_no_node_has_ends_the_run_with_the_reason(
    options: cfr.RunOptions, tmp_path: Path
) -> None:
    missing = str(tmp_path / "missing.gguf")
    with pytest.raises(RayFailed, match=r"no worker .* could make anything: .*missing\.gguf"):
        await cfr.aevaluate(SUMS, "direct", runs=1, model=missing, options=options)


@pytest.mark.slow
async def test_resources_that_no_node_has_are_told_and_waited_for_only_so_long(
    options: cfr.RunOptions, endpoint: Server
) -> None:
    asked = replace(options.ray, resources={"cpus": 64, "fast_disk": 1}, patience=1.0)
    hearing = Hearing()
    async with evaluation(replace(options, ray=asked), endpoint, hearing) as task:
        with pytest.raises(RayFailed, match=r"CPU 64, fast_disk 1\); nodes there are: 1 with CPU"):
            await task
    assert "no node has what a worker asks for" in hearing.notes[0]


@pytest.mark.slow
async def test_a_worker_that_dies_is_replaced_but_not_for_ever(
    options: cfr.RunOptions, endpoint: Server
) -> None:
    endpoint.respond, hearing, dead = slowly, Hearing(), set[int]()
    async with evaluation(options, endpoint, hearing) as task:
        for _ in range(3):
            pid = await until_claimed(options.store, dead)
            os.kill(pid, signal.SIGKILL)
            dead.add(pid)
        with pytest.raises(RayFailed, match="died 3 times in a row and nothing was made meanwhile"):
            await task
    assert "a worker died and is replaced" in hearing.notes[0]


@pytest.mark.slow
async def test_a_run_that_is_stopped_leaves_all_to_the_next(
    options: cfr.RunOptions, endpoint: Server
) -> None:
    endpoint.respond = slowly
    patient = replace(options, lease=3600.0)
    async with evaluation(patient, endpoint, Hearing()) as task:
        pid = await until_claimed(options.store, set())
        task.cancel()
        await asyncio.wait([task])
    assert owners(options.store) == set()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    endpoint.respond, asked = reply_right, len(endpoint.requests)
    async with evaluation(patient, endpoint, Hearing()) as task:
        assert (await task).complete
    assert len(endpoint.requests) - asked == 4
    with Store(options.store, existing=True) as store:
        assert [row["status"] for row in attempt_rows(store)] == ["ok"] * 4
