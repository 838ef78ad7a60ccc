"""An evaluation whose attempts are made by ``cfr work`` processes on a Ray cluster.

Ray places workers and reports which of them died; everything else is in the store. This process
inserts the grid, counts its attempts in the store, and decides when to replace a worker and when
to give up. It makes no attempt itself, and needs neither the model nor its key.
"""

from __future__ import annotations

import asyncio
import importlib
import json
import logging
import os
import socket
import sys
import tempfile
import threading
from asyncio.subprocess import PIPE, Process
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import AbstractContextManager, asynccontextmanager, suppress
from dataclasses import asdict, dataclass, field
from importlib.util import find_spec
from typing import IO, Any, Final, Literal, TypeAlias, TypedDict
from urllib.parse import quote

import sqlalchemy as sa

from constraint_first.error import CfrError, InputError
from constraint_first.file.safe import one_line
from constraint_first.model.client import Client, ServedModel
from constraint_first.model.limit import Budget
from constraint_first.model.resolve import ModelRef, endpoint_addresses
from constraint_first.model.transport import DecodingRefused
from constraint_first.model.wire import Served
from constraint_first.run.grid import Experiment, ModelPool, RayOptions, RunOptions
from constraint_first.run.job import (
    EvaluationWatcher,
    Job,
    follow,
    measure_progress,
    recount,
    until_first,
)
from constraint_first.run.shared import NothingRunnable, awork
from constraint_first.store.database import StoreError, sqlite_path
from constraint_first.store.store import Store
from constraint_first.store.writer import release_crew

# The JSON lines between this process, the driver of a cluster and its workers.


class DriverOrder(TypedDict):
    """The first line of input; each further line is the number of a worker to start."""

    address: str
    resources: dict[str, float]
    settings: dict[str, Any]
    """For each worker: its store with the password, its limits (fields of ``RunOptions``), its
    series, the crew that it belongs to, and the endpoints' full addresses: in the store they have
    no secrets."""
    seconds: float
    """Seconds between two checks of workers that have no place yet."""


class WorkerReport(TypedDict):
    """How a worker ended: the series that it skipped, the error that ended it."""

    skipped: list[str]
    refused: dict[str, Any] | None
    error: str


@dataclass(frozen=True, slots=True)
class DriverEvent:
    """A line of output: an event, and the worker that it is about."""

    event: Literal["connected", "placed", "ended", "died", "waiting", "failed"]
    worker: int = -1
    node: str = ""
    why: str = ""
    report: WorkerReport = field(
        default_factory=lambda: WorkerReport(skipped=[], refused=None, error="")
    )
    nodes: list[dict[str, float]] = field(default_factory=list[dict[str, float]])
    """The resources of each node, by Ray's names."""
    unplaced: int = 0


# The process that drives a Ray cluster, as the evaluation that started it sees it.

_CONNECT: Final = 90.0
_END: Final = 30.0
_LINE: Final = 2**20
"""The size limit of an event in bytes."""


class RayFailed(CfrError):
    """A cluster that cannot be reached, or whose workers all die."""

    exit_code = 3


def require_ray() -> None:
    if find_spec("ray") is None:
        raise InputError("--ray needs Ray: pip install 'constraint-first[ray]', on every node too")


class RayProcess:
    """A running driver: orders are written to it, events are read from it."""

    def __init__(self, process: Process, address: str, said: IO[bytes]) -> None:
        if process.stdin is None or process.stdout is None:
            raise ValueError("a driver needs pipes")
        self._process = process
        self._orders = process.stdin
        self._events = process.stdout
        self._address = address
        self._said = said

    @property
    def pid(self) -> int:
        return self._process.pid

    async def connected(self) -> DriverEvent:
        try:
            event = await asyncio.wait_for(self.next(), _CONNECT)
        except TimeoutError:
            event = DriverEvent("failed", why=f"no answer in {_CONNECT:.0f} seconds")
        if event.event == "failed":
            raise RayFailed(
                f"--ray {self._address}: the cluster cannot be used ({event.why}); see that it "
                "runs ('ray status'), that this machine belongs to it and that the address is right"
            )
        return event

    def start(self, number: int) -> None:
        if self._orders.is_closing():
            return
        self._orders.write(f"{number}\n".encode())

    async def next(self) -> DriverEvent:
        line = await self._events.readline()
        if not line:
            raise RayFailed(
                f"--ray {self._address}: the connection to the cluster broke off ({self._last()}); "
                "what was made is stored; run the same command again"
            )
        return DriverEvent(**json.loads(line))

    async def close(self) -> None:
        """Close the driver's input: its workers release their leases, and it ends."""
        self._orders.close()
        try:
            await asyncio.wait_for(self._process.wait(), _END)
        except TimeoutError:
            self._process.kill()
            await self._process.wait()

    def send(self, order: DriverOrder) -> None:
        self._orders.write(json.dumps(order).encode() + b"\n")

    def _last(self) -> str:
        self._said.seek(0)
        lines = self._said.read().decode(errors="replace").split("\n")
        return one_line(next((line for line in reversed(lines) if line.strip()), "no reason given"))


@asynccontextmanager
async def start_driver(order: DriverOrder) -> AsyncGenerator[RayProcess]:
    """Start a driver; it ends with this process, and its workers end with it."""
    require_ray()
    with tempfile.TemporaryFile() as said:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-P", "-m", "constraint_first.run.cluster"),
            stdin=PIPE,
            stdout=PIPE,
            stderr=said,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            start_new_session=True,  # keep Ctrl-C from the driver: we close it
            limit=_LINE,
        )
        driver = RayProcess(process, order["address"], said)
        driver.send(order)
        try:
            yield driver
        finally:
            await asyncio.shield(driver.close())


_MOST_DEATHS: Final = 3
"""Times that a worker may die in a row while no attempt is made."""
_LOOK_EVERY: Final = 10.0
"""Seconds between two checks of workers that have no place on the cluster."""
_LIMITS: Final = (
    *("concurrency", "requests_per_minute", "tokens_per_minute"),
    *("call_timeout", "lease", "max_reply_bytes", "max_calls", "max_attempt_tokens"),
)
"""Limits that apply to each worker separately."""
_FIRST_PAUSE: Final = 1.0
"""Seconds before a worker that died is replaced; doubled each time."""


class Cluster:
    places = ()

    def __init__(
        self,
        options: RunOptions,
        pool: ModelPool,
        ref: ModelRef,
        watcher: EvaluationWatcher,
        *,
        has_engine: bool,
    ) -> None:
        check_ray(options, ref, has_engine=has_engine)
        self.limiters = pool.limiters
        self._options = options
        self._pool = pool
        self._ref = ref
        self._watcher = watcher

    def hold(self, store: Store) -> AbstractContextManager[None]:
        return store.running()

    async def open(
        self,
        experiment: Experiment,
        ref: ModelRef,
        engine: Served | Client | None,  # noqa: ARG002
    ) -> list[ServedModel]:
        return self._pool.name(experiment, ref)

    async def make(
        self,
        store: Store,
        jobs: Sequence[Job],
        budget: Budget | None,  # noqa: ARG002
        counted: Callable[[], object],
    ) -> str:
        run = _RayRun(store, jobs, self._options.ray, self._watcher, counted)
        if run.is_complete:
            return ""
        order = make_order(self._options, self._ref, jobs)
        order["settings"]["crew"] = store.owner
        try:
            async with start_driver(order) as driver:
                return await run.drive(driver)
        finally:
            # A worker that was killed because it stopped too slowly still holds its leases.
            with suppress(StoreError):
                await asyncio.to_thread(store.change, lambda one: release_crew(one, store.owner))


@dataclass
class _RayRun:
    store: Store
    jobs: Sequence[Job]
    options: RayOptions
    watcher: EvaluationWatcher
    counted: Callable[[], object]
    started: int = 0
    """The number of workers, whether they are placed or not."""
    placed: set[int] = field(default_factory=set[int])
    """The workers that run on a node."""
    reasons: Counter[str] = field(default_factory=Counter[str])
    """Why workers skipped series."""
    _before: int = 0
    _deaths: dict[int, tuple[int, int]] = field(default_factory=dict[int, tuple[int, int]])
    """How often each died in a row, and the number of attempts at its last death."""
    _ended: set[int] = field(default_factory=set[int])
    _impossible: float = 0.0
    _noted: set[str] = field(default_factory=set[str])
    _complete: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def is_complete(self) -> bool:
        found = measure_progress(self.jobs, 0.0)
        return found.done == found.total

    async def drive(self, driver: RayProcess) -> str:
        """Start workers and follow them; return why attempts are missing, if some are."""
        self._before = self._made()
        first = await driver.connected()
        self.started = self.options.workers or max(1, self._count_fitting(first.nodes))
        for number in range(self.started):
            driver.start(number)
        tasks: list[asyncio.Future[Any]] = [
            asyncio.create_task(self._listen(driver)),
            asyncio.create_task(follow(self.store, self.jobs, self._look)),
            asyncio.create_task(self._complete.wait()),
        ]
        await until_first(self.store, tasks)
        return "" if self._complete.is_set() else self._explain()

    def _look(self) -> None:
        self.counted()
        if self.is_complete:
            self._complete.set()

    async def _listen(self, driver: RayProcess) -> None:
        while len(self._ended) < self.started:
            event = await driver.next()
            why = event.why or event.report["error"]
            if event.event == "placed":
                self.placed.add(event.worker)
            elif event.event == "waiting":
                self._wait(event)
            elif why:
                await self._replace(driver, event.worker, why)
            else:
                await self._end(event.worker, event.node, event.report)

    async def _end(self, number: int, node: str, report: WorkerReport) -> None:
        self._ended.add(number)
        self.placed.discard(number)
        if refused := report["refused"]:
            raise DecodingRefused(**refused)
        for why in report["skipped"]:
            self.reasons[why] += 1
            self._note(f"Ray: the worker on {node} cannot run everything: {why}")
        await self._recount()

    async def _replace(self, driver: RayProcess, number: int, why: str) -> None:
        """Start another worker, unless several in a row have died without an attempt."""
        self.placed.discard(number)
        await self._recount()
        deaths, made = self._deaths.get(number, (0, -1))
        deaths = deaths + 1 if made == self._made() else 1
        self._deaths[number] = deaths, self._made()
        if deaths >= _MOST_DEATHS:
            raise RayFailed(
                f"Ray: a worker died {deaths} times in a row and nothing was made meanwhile; the "
                f"last time: {why}; put that right and run the same command again"
            )
        self._note(f"Ray: a worker died and is replaced: {why}")
        pause = _FIRST_PAUSE * 2 ** (deaths - 1)
        asyncio.get_running_loop().call_later(pause, driver.start, number)

    def _wait(self, event: DriverEvent) -> None:
        """Report why workers wait; give up if no node could ever place one."""
        nodes, asked = event.nodes, _write_resources(self.options.requested)
        alike = Counter(map(_write_resources, nodes))
        there = "; ".join(f"{count} with {what}" for what, count in alike.items()) or "none"
        if self._count_fitting(nodes) or self.placed:
            self._impossible = 0.0
            idle = "a worker has" if event.unplaced == 1 else f"{event.unplaced} workers have"
            self._note(f"Ray: {idle} not started yet; each waits for a node with {asked} free")
            return
        now = asyncio.get_running_loop().time()
        self._impossible = self._impossible or now
        said = f"no node has what a worker asks for ({asked}); nodes there are: {there}"
        if now - self._impossible >= self.options.patience:
            raise RayFailed(f"--ray-resources: {said}; ask for less, or add a node")
        self._note(f"Ray: {said}; waiting for one")

    def _count_fitting(self, nodes: Sequence[dict[str, float]]) -> int:
        asked = self.options.requested.items()
        return sum(all(node.get(name, 0) >= amount for name, amount in asked) for node in nodes)

    def _explain(self) -> str:
        why = self.reasons.most_common(1)[0][0] if self.reasons else "its workers ended too early"
        if self._made() == self._before:
            raise RayFailed(f"no worker on the cluster could make anything: {why}")
        return why

    async def _recount(self) -> None:
        await recount(self.store, self.jobs)
        self._look()

    def _made(self) -> int:
        return measure_progress(self.jobs, 0.0).done

    def _note(self, line: str) -> None:
        if line not in self._noted:
            self._noted.add(line)
            self.watcher.noted(line)


def make_order(options: RunOptions, ref: ModelRef, jobs: Sequence[Job]) -> DriverOrder:
    return {
        "address": options.ray.address or "",
        "resources": options.ray.requested,
        "seconds": _LOOK_EVERY,
        "settings": {
            "store": _with_password(options.store),
            "limits": {name: getattr(options, name) for name in _LIMITS},
            "series": [job.number for job in jobs],
            "base_url": list(endpoint_addresses(ref)),
        },
    }


def check_ray(options: RunOptions, ref: ModelRef, *, has_engine: bool) -> None:
    """Refuse options that are impossible with a cluster, before any model is opened."""
    options.ray.check()
    if options.batch.wanted:
        raise InputError("--ray and --batch: one or the other; leave one out")
    if sqlite_path(options.store):
        raise InputError(
            f"--ray: {options.store} is a file, and workers on several machines share a "
            "PostgreSQL database; name one (--store postgresql://…)"
        )
    if has_engine:
        raise InputError(
            "--ray: an engine that is given as an object stays in this process; name a model"
        )
    if ref.key:
        raise InputError(
            "--ray: a key that is given as an argument is not sent to a cluster; put it into a "
            "variable on every node and name that (key_name)"
        )
    require_ray()


def _with_password(url: str) -> str:
    """Add the password from PGPASSWORD, which is not set on other machines."""
    parsed, password = sa.make_url(url), os.environ.get("PGPASSWORD")
    if parsed.password is None and password:
        parsed = parsed.set(password=password)
    return parsed.render_as_string(hide_password=False)


def _write_resources(found: dict[str, float]) -> str:
    return ", ".join(f"{name} {amount:g}" for name, amount in sorted(found.items())) or "nothing"


# A worker on a node of a Ray cluster: ``cfr work`` as an actor, which reports how it ended.
#
# Its reports are plain data without secrets: Ray shows the exceptions of actors to every user of
# the cluster.


class RayWorker(EvaluationWatcher):
    """A worker in a separate process, with a thread that works and one that can stop it.

    None of its methods is a coroutine: Ray would run them all in one event loop of its own. As a
    watcher it records why series are skipped.
    """

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._stopped = False
        self._running: tuple[asyncio.AbstractEventLoop, asyncio.Task[Any]] | None = None
        self._report = WorkerReport(skipped=[], refused=None, error="")

    def locate(self) -> str:
        return socket.gethostname()

    def work(self, settings: dict[str, Any]) -> WorkerReport:
        """Make the missing attempts of some series, as far as possible on this machine."""

        async def run() -> None:
            work = awork(
                RunOptions(store=settings["store"], **settings["limits"]),
                instead=ModelRef(base_url=settings["base_url"] or None),
                series=settings["series"],
                crew=settings.get("crew", ""),
                watcher=self,
            )
            task = asyncio.ensure_future(work)
            with self._guard:
                self._running = asyncio.get_running_loop(), task
                if self._stopped:  # before the task existed
                    task.cancel()
            try:
                await task
            finally:
                with self._guard:
                    self._running = None

        try:
            asyncio.run(run())
        except (NothingRunnable, asyncio.CancelledError):
            pass  # the report has the reason
        except Exception as raised:  # of any kind: the report must have no password in it
            why = str(raised) or type(raised).__name__
            self._report["error"] = _without_password(why, settings["store"])
        return self._report

    def stop(self) -> None:
        with self._guard:
            self._stopped = True
            if self._running:
                loop, task = self._running
                loop.call_soon_threadsafe(task.cancel)

    def skipped(self, what: str, why: str) -> None:  # noqa: ARG002
        if why not in self._report["skipped"]:
            self._report["skipped"].append(why)

    def refused(self, error: DecodingRefused) -> None:
        fields = ("model", "setting", "most")
        self._report["refused"] = {name: getattr(error, name) for name in fields}
        self._report["refused"]["message"] = str(error)


def _without_password(text: str, store: str) -> str:
    password = str(sa.make_url(store).password or "")
    for written in filter(None, (password, quote(password))):
        text = text.replace(written, "***")
    return one_line(text)


# The driver of a Ray cluster, in a process of its own: it places workers and reports their ends.
#
# Ray prints to the terminal, exits its process when the connection to the cluster's head is lost,
# and shows the command line of a driver to every user of the cluster. So the evaluation starts
# this process, whose command line has no secret, and exchanges JSON lines with it: orders on
# standard input, events on standard output. At the end of its input, for any reason, it stops its
# workers and exits. All decisions are made by the evaluation.

_REACH: Final = 10.0
"""Seconds that a cluster's head may take to accept a connection."""
_STOP: Final = 15.0
"""Seconds that workers have to release their leases."""
_NOT_ONES_OWN: Final = ("node:", "memory", "object_store_memory", "accelerator_type:")


Tell: TypeAlias = Callable[[DriverEvent], None]


class _Failed(Exception):
    """The cluster cannot be used; the message is the reason."""


class _Driver:
    def __init__(self, ray: Any, order: DriverOrder, tell: Tell) -> None:
        self._ray = ray
        self._order = order
        self._tell = tell
        asked = dict(order["resources"])
        options = {
            "num_cpus": asked.pop("CPU", 0),
            "num_gpus": asked.pop("GPU", 0),
            "resources": asked,
            "max_restarts": 0,  # the evaluation starts another one
            "max_concurrency": 2,
            "scheduling_strategy": "SPREAD",
        }
        self._actor_class = ray.remote(**options)(RayWorker)
        self._actors: dict[int, Any] = {}
        self._unplaced: set[int] = set()
        self._tasks: set[asyncio.Task[None]] = set()

    async def run(self, orders: asyncio.StreamReader) -> None:
        self._tell(DriverEvent("connected", nodes=_nodes(self._ray)))
        looking = asyncio.create_task(self._look())
        try:
            while line := await orders.readline():
                task = asyncio.create_task(self._run_worker(json.loads(line)))
                self._tasks.add(task)
                task.add_done_callback(self._tasks.discard)
        finally:
            looking.cancel()
            await self._stop()

    async def _run_worker(self, number: int) -> None:
        self._unplaced.add(number)
        actor = self._actors[number] = self._actor_class.remote()
        try:
            node = await actor.locate.remote()
            self._unplaced.discard(number)
            self._tell(DriverEvent("placed", number, node))
            report = await actor.work.remote(self._order["settings"])
            self._tell(DriverEvent("ended", number, node, report=report))
        except self._ray.exceptions.RayError as error:
            self._tell(DriverEvent("died", number, why=_reason(error)))
        finally:
            self._unplaced.discard(number)
            self._actors.pop(number, None)
            self._ray.kill(actor)

    async def _look(self) -> None:
        while True:
            await asyncio.sleep(self._order["seconds"])
            if self._unplaced:
                unplaced = len(self._unplaced)
                self._tell(DriverEvent("waiting", nodes=_nodes(self._ray), unplaced=unplaced))

    async def _stop(self) -> None:
        for number, actor in self._actors.items():
            if number in self._unplaced:
                self._ray.kill(actor)
            else:
                actor.stop.remote()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=_STOP)


def _connect(address: str) -> Any:
    """Connect to a cluster; probe it first, since Ray waits two minutes if it does not respond."""
    found = os.environ.get("RAY_ADDRESS", "") if address == "auto" else address
    host, _, port = found.rpartition(":")
    if host and port.isdigit():
        try:
            socket.create_connection((host.strip("[]"), int(port)), _REACH).close()
        except OSError as error:
            raise _Failed(f"{found} does not answer ({error.strerror or error})") from None
    ray: Any = importlib.import_module("ray")
    try:
        ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR)
    except (Exception, SystemExit) as error:
        raise _Failed(_reason(error)) from None
    return ray


def _nodes(ray: Any) -> list[dict[str, float]]:
    return [
        {
            name: amount
            for name, amount in node["Resources"].items()
            if not name.startswith(_NOT_ONES_OWN)
        }
        for node in ray.nodes()
        if node["Alive"]
    ]


def _reason(error: BaseException) -> str:
    """Write an error in one line: the first and last line of Ray's, without the traceback."""
    lines = [line for line in str(error).splitlines() if line.strip() and not line[0].isspace()]
    return one_line(" ".join(dict.fromkeys((*lines[:1], *lines[-1:]))) or type(error).__name__)


async def _drive(tell: Tell) -> None:
    orders = asyncio.StreamReader()
    protocol = asyncio.StreamReaderProtocol(orders)
    await asyncio.get_running_loop().connect_read_pipe(lambda: protocol, sys.stdin)
    order: DriverOrder = json.loads(await orders.readline())
    try:
        ray = _connect(order["address"])
    except _Failed as error:
        tell(DriverEvent("failed", why=str(error)))
        return
    try:
        await _Driver(ray, order, tell).run(orders)
    finally:
        ray.shutdown()


def main() -> None:
    """Read orders from standard input; write only events to standard output."""
    events = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # Ray's own output goes to standard error

    def tell(event: DriverEvent) -> None:
        events.write(json.dumps(asdict(event)) + "\n")

    asyncio.run(_drive(tell))


if __name__ == "__main__":
    main()
