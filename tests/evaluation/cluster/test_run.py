import asyncio
import math
import os
import signal
import socket
import sys
import tempfile
import threading
from asyncio.subprocess import PIPE
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from loopback import Endpoint as Server
from loopback import Reply, failure
from postgres import empty_database
from ray_cluster import RayCluster
from sums import reply_right, right, sums
from sums_run import execute

from constraint_first import Evaluated, Experiment, ModelRef, RunOptions, Scripted, aevaluate
from constraint_first.benchmark.registry import Benchmark
from constraint_first.error import InputError
from constraint_first.run import cluster as ray_run
from constraint_first.run.cluster import (
    DriverEvent,
    DriverOrder,
    RayFailed,
    RayProcess,
    RayWorker,
    check_ray,
    make_order,
    require_ray,
    start_driver,
)
from constraint_first.run.grid import BatchOptions, RayOptions
from constraint_first.run.job import EvaluationWatcher
from constraint_first.run.shared import pending_series
from constraint_first.store.database import StoreError
from constraint_first.store.query import attempt_rows
from constraint_first.store.store import Store
from constraint_first.store.writer import Leases, SeriesShare, name_owner

SUMS = Benchmark("sums", "Sums", sums(4))
ON_RAY = RunOptions(store="postgresql://me@db/runs", ray=RayOptions("auto"))
HERE = ModelRef()


@pytest.mark.parametrize(
    ("options", "ref", "said"),
    [
        (replace(ON_RAY, store="runs.db"), HERE, r"runs\.db is a file, .*--store postgresql://"),
        (replace(ON_RAY, batch=BatchOptions(batch=True)), HERE, "--ray and --batch: one or the"),
        (replace(ON_RAY, ray=RayOptions("head")), HERE, "--ray head: not an address"),
        (ON_RAY, ModelRef("m", key="sk-1"), r"is not sent to a cluster; .* \(key_name\)"),
    ],
)
def test_what_a_cluster_cannot_do_is_refused(options: RunOptions, ref: ModelRef, said: str) -> None:
    with pytest.raises(InputError, match=said):
        check_ray(options, ref, has_engine=False)


async def test_an_engine_stays_in_its_process() -> None:
    with pytest.raises(InputError, match=r"an engine .* name a model"):
        await aevaluate(SUMS, "direct", engine=Scripted(right), options=ON_RAY)


def test_a_worker_is_told_its_limits_and_the_password(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PGPASSWORD", "of the environment")
    options = replace(ON_RAY, concurrency=3, limit=7, max_cost=1.0)
    ref = ModelRef("m", base_url="http://me:secret@host/v1")
    settings = make_order(options, ref, [])["settings"]
    assert settings["store"] == "postgresql://me:of the environment@db/runs"
    assert settings["base_url"] == ["http://me:secret@host/v1"]
    assert settings["limits"]["concurrency"] == 3
    assert not {"limit", "max_cost", "batch", "ray"} & set(settings["limits"])
    given = replace(ON_RAY, store="postgresql://me:own@db/runs")
    assert make_order(given, ref, [])["settings"]["store"] == "postgresql://me:own@db/runs"


class DriverHere:
    """A driver without a cluster: workers run in threads here, and some are said to die."""

    def __init__(self, order: DriverOrder, *deaths: str) -> None:
        self._order = order
        self._deaths = list(deaths)
        self._events: asyncio.Queue[DriverEvent] = asyncio.Queue()
        self._tasks: set[asyncio.Task[None]] = set()

    async def connected(self) -> DriverEvent:
        return DriverEvent("connected", nodes=[{"CPU": 1.0}])

    def start(self, number: int) -> None:
        self._tasks.add(asyncio.create_task(self._run(number)))

    async def next(self) -> DriverEvent:
        return await self._events.get()

    async def _run(self, number: int) -> None:
        self._events.put_nowait(DriverEvent("placed", number, "here"))
        if self._deaths:
            self._events.put_nowait(DriverEvent("died", number, why=self._deaths.pop(0)))
            return
        report = await asyncio.to_thread(RayWorker().work, self._order["settings"])
        self._events.put_nowait(DriverEvent("ended", number, "here", report=report))


@pytest.fixture
def options(postgres: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[RunOptions]:
    monkeypatch.setattr(ray_run, "_FIRST_PAUSE", 0.0)
    ray = RayOptions("auto", workers=1)
    yield RunOptions(store=postgres, concurrency=2, lease=1.0, ray=ray)
    empty_database(postgres)


@pytest.fixture
def dying(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Run workers here; what is put into the list is why the next of them die."""
    deaths: list[str] = []

    @asynccontextmanager
    async def start(order: DriverOrder) -> AsyncGenerator[DriverHere]:
        yield DriverHere(order, *deaths)

    monkeypatch.setattr(ray_run, "start_driver", start)
    return deaths


class Hearing(EvaluationWatcher):
    def __init__(self) -> None:
        self.notes: list[str] = []

    def noted(self, line: str) -> None:
        self.notes.append(line)

    def adapted(self, model: str, change: str) -> None:
        self.notes.append(f"{model}: {change}")


async def evaluate(
    options: RunOptions, server: Server, watcher: EvaluationWatcher | None = None
) -> Evaluated:
    grid = Experiment(benchmarks=(SUMS,), methods=("direct",), runs=2, max_tokens=100)
    ref = ModelRef("m", base_url=server.url)
    return await aevaluate(grid, model=ref, options=options, watcher=watcher or Hearing())


@pytest.mark.usefixtures("dying")
async def test_a_refused_setting_is_left_out(options: RunOptions, endpoint: Server) -> None:
    def refuse(body: dict[str, Any]) -> Reply:
        if "temperature" in body:
            return failure(400, "temperature is not supported with this model")
        return reply_right(body)

    endpoint.respond, hearing = refuse, Hearing()
    done = await evaluate(options, endpoint, hearing)
    assert done.complete, done.stopped
    assert [one.series.decoding.temperature for one in done.series] == [None]
    (note,) = hearing.notes
    assert "temperature is refused" in note


@pytest.mark.usefixtures("dying")
async def test_a_budget_that_is_spent_ends_the_run(options: RunOptions, endpoint: Server) -> None:
    endpoint.respond = reply_right
    done = await evaluate(replace(options, concurrency=1, max_tokens_total=350), endpoint)
    assert 0 < done.series[0].tally.ok < 8
    assert "raise --max-tokens-total" in done.stopped


@pytest.mark.long
@pytest.mark.usefixtures("dying")
async def test_a_missing_model_ends_the_run(options: RunOptions, tmp_path: Path) -> None:
    missing = str(tmp_path / "missing.gguf")
    with pytest.raises(RayFailed, match=r"no worker .* could make anything: .*missing\.gguf"):
        await aevaluate(SUMS, "direct", runs=1, model=missing, options=options)


async def test_dead_workers(options: RunOptions, endpoint: Server, dying: list[str]) -> None:
    endpoint.respond, hearing = reply_right, Hearing()
    dying += ["out of memory", "lost"]
    done = await evaluate(options, endpoint, hearing)
    assert done.complete, done.stopped
    assert hearing.notes == [
        "Ray: a worker died and is replaced: out of memory",
        "Ray: a worker died and is replaced: lost",
    ]
    dying += ["a", "b", "c"]
    assert (await evaluate(options, endpoint)).complete, "nothing is missing, and nobody is needed"


@pytest.mark.long
async def test_repeated_deaths(options: RunOptions, endpoint: Server, dying: list[str]) -> None:
    dying += ["a", "b", "out of memory"]
    with pytest.raises(RayFailed, match=r"died 3 times in a row .*the last time: out of memory"):
        await evaluate(options, endpoint)


class DriverOfTheSlow(DriverHere):
    """Its worker claims all there is, and is killed because it does not stop."""

    async def _run(self, number: int) -> None:
        settings = self._order["settings"]
        with Store(settings["store"]) as store:
            owner = name_owner(settings.get("crew", ""))
            leases = Leases(store.url, store.database, owner, 3600.0)
            assert len(leases.claim(SeriesShare(settings["series"][0], 2), 99)) == 8
        self._events.put_nowait(DriverEvent("placed", number, "here"))


@pytest.mark.long
async def test_what_a_worker_that_was_killed_had_claimed_is_left_to_the_next_run(
    options: RunOptions, endpoint: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    @asynccontextmanager
    async def start(order: DriverOrder) -> AsyncGenerator[DriverHere]:
        yield DriverOfTheSlow(order)

    monkeypatch.setattr(ray_run, "start_driver", start)
    task = asyncio.create_task(evaluate(options, endpoint))
    while not owners(options.store):
        assert not task.done()
        await asyncio.sleep(0.01)
    task.cancel()
    await asyncio.wait([task])
    assert owners(options.store) == set()


@pytest.fixture(scope="module")
def cluster() -> Iterator[RayCluster]:
    with RayCluster(1) as running:
        yield running


def on_cluster(options: RunOptions, cluster: RayCluster) -> RunOptions:
    return replace(options, lease=3600.0, ray=replace(options.ray, address=cluster.address))


def owners(store: str) -> set[int]:
    """Find the processes of workers that have claimed something."""
    try:
        with Store(store, existing=True) as opened:
            found = opened.read(sa.text("SELECT DISTINCT owner FROM leases WHERE owner <> ''"))
    except StoreError:  # it is being made
        return set()
    return {int(owner.split("-")[-2]) for (owner,) in found}


@pytest.mark.long
async def test_resources_that_no_node_has_are_told_and_waited_for_only_so_long(
    options: RunOptions, cluster: RayCluster, endpoint: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ray_run, "_LOOK_EVERY", 0.5)
    there, hearing = on_cluster(options, cluster), Hearing()
    asked = replace(there.ray, resources={"cpus": 64, "fast_disk": 1}, patience=1.0)
    with pytest.raises(RayFailed, match=r"CPU 64, fast_disk 1\); nodes there are: 1 with CPU 1;"):
        await evaluate(replace(there, ray=asked), endpoint, hearing)
    assert "no node has what a worker asks for" in hearing.notes[0]


@pytest.mark.long
async def test_a_stopped_run(options: RunOptions, cluster: RayCluster, endpoint: Server) -> None:
    endpoint.script(Reply(delay=60))
    there = on_cluster(options, cluster)
    task = asyncio.create_task(evaluate(there, endpoint))
    while not (found := owners(there.store)):
        assert not task.done()
        await asyncio.sleep(0.05)
    task.cancel()
    await asyncio.wait([task])
    assert owners(there.store) == set()
    with pytest.raises(ProcessLookupError):
        os.kill(found.pop(), 0)
    endpoint.respond, asked = reply_right, len(endpoint.requests)
    assert (await evaluate(there, endpoint)).complete
    assert len(endpoint.requests) - asked == 8
    with Store(there.store, existing=True) as store:
        assert [row["status"] for row in attempt_rows(store)] == ["ok"] * 8


def order_at(address: str) -> DriverOrder:
    return {
        "address": address,
        "resources": {"CPU": 1.0},
        "seconds": 10.0,
        "settings": {"store": "postgresql://db/x", "limits": {}, "series": [], "base_url": []},
    }


@pytest.fixture
def closed() -> str:
    """An address where nobody listens."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        return f"127.0.0.1:{server.getsockname()[1]}"


async def test_a_cluster_that_does_not_answer_is_told_in_a_line(closed: str) -> None:
    async with start_driver(order_at(closed)) as driver:
        with pytest.raises(RayFailed, match=f"--ray {closed}: .* does not answer .*'ray status'"):
            await driver.connected()


@pytest.mark.parametrize(
    ("address", "said"),
    [("auto", "CLOSED does not answer"), ("nonsense", r"\(Invalid address format: nonsense\)")],
)
async def test_addresses_that_lead_nowhere(
    closed: str, monkeypatch: pytest.MonkeyPatch, address: str, said: str
) -> None:
    monkeypatch.setenv("RAY_ADDRESS", closed)
    async with start_driver(order_at(address)) as driver:
        with pytest.raises(RayFailed, match=f"--ray {address}: .*{said}".replace("CLOSED", closed)):
            await driver.connected()


async def test_a_driver_that_is_gone_is_told_with_its_last_words() -> None:
    with tempfile.TemporaryFile() as said:
        code = "import sys; print('lost the head', file=sys.stderr)"
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-c", code), stdin=PIPE, stdout=PIPE, stderr=said
        )
        driver = RayProcess(process, "head:1", said)
        with pytest.raises(RayFailed, match=r"broke off \(lost the head\).*same command again"):
            await driver.next()
        await driver.close()
        driver.start(1)  # nobody listens any more, and nothing happens


async def test_a_driver_that_does_not_end_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ray_run, "_CONNECT", 0.1)
    monkeypatch.setattr(ray_run, "_END", 0.1)
    with socket.create_server(("127.0.0.1", 0)) as mute:
        address = f"127.0.0.1:{mute.getsockname()[1]}"
        async with start_driver(order_at(address)) as driver:
            pid = driver.pid
            with pytest.raises(RayFailed, match=r"no answer in 0 seconds"):
                await driver.connected()
            os.kill(pid, 0)
        with pytest.raises(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def test_ray_that_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ray_run, "find_spec", dict[str, None]().get)
    with pytest.raises(InputError, match=r"pip install 'constraint-first\[ray\]'"):
        require_ray()


def test_resources_have_the_names_that_ray_has_for_them() -> None:
    asked = RayOptions("auto", resources={"cpus": 4, "gpus": 0.5, "fast_disk": 1})
    asked.check()
    assert asked.requested == {"CPU": 4, "GPU": 0.5, "fast_disk": 1}
    assert RayOptions("auto").requested == {"CPU": 1}


ADDRESS = "not an address of a cluster; give HOST:PORT .* or auto"
NAME = "name cpus, gpus, or a resource that the cluster names"
AMOUNT = r"cpus=.*give a whole number, or a part of one below 1"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        *(({"address": one}, "") for one in ("auto", "head:6379", "10.0.0.1:6379", "[::1]:6379")),
        *(({"address": one}, ADDRESS) for one in ("", "local", "head", "ray://head:10001")),
        ({"address": "http://head:8265"}, ADDRESS),
        *(({"resources": {one: 1}}, NAME) for one in ("", "CPU", "gpu", "memory", "node:10.0.0.1")),
        *(({"resources": {"cpus": one}}, AMOUNT) for one in (-1, 1.5, math.inf, math.nan)),
        ({"workers": 0}, "--ray-workers 0: at least one"),
    ],
)
def test_options_that_ray_does_not_take_are_refused(given: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said) if said else nullcontext():
        replace(RayOptions("auto"), **given).check()


FREE = sa.text("SELECT count(*) FROM leases WHERE owner IS NULL")


@pytest.fixture
def store(postgres: str) -> Iterator[str]:
    yield postgres
    empty_database(postgres)


def enter(store: str, server: Server, model: str = "m") -> dict[str, Any]:
    """Enter a grid of which nothing is made, for a budget that allows nothing."""
    ref = ModelRef(model, base_url=server.url)
    options = RunOptions(store=store, max_tokens_total=1)
    asyncio.run(aevaluate(SUMS, "direct", runs=1, model=ref, options=options))
    with Store(store, existing=True) as opened:
        series = [one.series.number for one in pending_series(opened) if one.series.model == model]
        execute(opened, "UPDATE run_settings SET budget = NULL")
    return {"store": store, "limits": {"concurrency": 1}, "series": series, "base_url": []}


def test_it_makes_its_series_and_no_others(store: str, endpoint: Server) -> None:
    endpoint.respond = reply_right
    settings = enter(store, endpoint)
    enter(store, endpoint, "other")
    worker = RayWorker()
    assert worker.locate() == socket.gethostname()
    assert worker.work(settings) == {"skipped": [], "refused": None, "error": ""}
    with Store(store, existing=True) as opened:
        assert [row["model"] for row in attempt_rows(opened)] == ["m"] * 4
        assert [one.series.model for one in pending_series(opened)] == ["other"]


def test_what_it_cannot_run_is_reported(
    store: str, endpoint: Server, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    presets = tmp_path / "models.toml"
    presets.write_text(f'["keyed"]\nbase_url = "{endpoint.url}"\nkey_env = "ODD_KEY"\n')
    monkeypatch.setenv("CFR_MODELS", str(presets))
    monkeypatch.setenv("ODD_KEY", "sk-secret")
    options = RunOptions(store=store, max_tokens_total=1)
    asyncio.run(aevaluate(SUMS, "direct", runs=1, model="keyed", options=options))
    monkeypatch.delenv("ODD_KEY")
    settings: dict[str, Any] = {"store": store, "limits": {}, "series": [1], "base_url": []}
    report = RayWorker().work(settings)
    (why,) = report["skipped"]
    assert "ODD_KEY is not set" in why
    assert report["error"] == ""


def test_a_refused_setting_is_reported_as_such(store: str, endpoint: Server) -> None:
    endpoint.respond = lambda _: failure(400, "temperature is not supported with this model")
    report = RayWorker().work(enter(store, endpoint))
    assert report["refused"]
    assert (report["refused"]["model"], report["refused"]["setting"]) == ("m", "temperature")
    assert "temperature" in report["refused"]["message"]


def test_an_error_carries_no_password() -> None:
    store = "postgresql://me:pass%20word@127.0.0.1:1/runs?connect_timeout=1"
    settings: dict[str, Any] = {"store": store, "limits": {}, "series": [1], "base_url": []}
    error = RayWorker().work(settings)["error"]
    assert "cannot be opened" in error
    assert "pass" not in error
    assert "word" not in error


def test_it_can_be_stopped_and_leaves_everything_to_others(store: str, endpoint: Server) -> None:
    asked = threading.Event()

    def hang(_: dict[str, Any]) -> Reply:
        asked.set()
        return Reply(delay=60)

    settings = enter(store, endpoint)
    endpoint.respond = hang
    worker = RayWorker()
    stopper = threading.Thread(target=lambda: (asked.wait(), worker.stop()))
    stopper.start()
    assert worker.work(settings)["error"] == ""
    stopper.join()
    with Store(store, existing=True) as opened:
        ((free,),) = opened.read(FREE)
    assert free == 4
    assert worker.work(settings)["error"] == "", "a worker that was told to stop stays stopped"
