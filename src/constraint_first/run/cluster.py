"""The lines of JSON between an evaluation, the driver of a Ray cluster and its workers."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import tempfile
from asyncio.subprocess import PIPE, Process
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import IO, Any, Final, Literal, NotRequired, TypeAlias, TypedDict

import sqlalchemy as sa

from constraint_first.error import CfrError, InputError
from constraint_first.file.safe import one_line
from constraint_first.model.resolve import ModelRef, endpoint_addresses
from constraint_first.model.transport import DecodingRefused
from constraint_first.run.grid import RayOptions, RunOptions
from constraint_first.run.job import EvaluationWatcher, Job, follow, measure_progress, recount
from constraint_first.store.database import StoreError, sqlite_path
from constraint_first.store.store import Store
from constraint_first.store.writer import release_crew


class WorkerSettings(TypedDict):
    """What a worker is told: its store with the password, its limits, its series."""

    store: str
    limits: dict[str, Any]
    """Fields of ``RunOptions`` that are a worker's own."""
    series: list[int]
    crew: NotRequired[str]
    """The name of the run that starts the workers."""
    base_url: list[str]
    """The endpoints that were given, as they were: the store has them without their secrets."""


class Refusal(TypedDict):
    """A setting of the decoding that a model refuses."""

    message: str
    model: str
    setting: Any
    most: int | None


class WorkerReport(TypedDict):
    """How a worker ended: what it left alone and why, what went wrong."""

    skipped: list[str]
    refused: Refusal | None
    error: str


class DriverOrder(TypedDict):
    """The first line that comes in; each further one is the number of a worker to start."""

    address: str
    resources: dict[str, float]
    settings: WorkerSettings
    seconds: float
    """Seconds between two looks at workers that have no place yet."""


Happening: TypeAlias = Literal["connected", "placed", "ended", "died", "waiting", "failed"]


@dataclass(frozen=True, slots=True)
class DriverEvent:
    """A line that goes out: something has happened, and to which worker."""

    event: Happening
    worker: int = -1
    node: str = ""
    why: str = ""
    report: WorkerReport = field(default_factory=lambda: _NOTHING)
    nodes: list[dict[str, float]] = field(default_factory=list[dict[str, float]])
    """What each node has altogether, by Ray's names."""
    unplaced: int = 0


_NOTHING: Final[WorkerReport] = {"skipped": [], "refused": None, "error": ""}


# The process that drives a Ray cluster, as the evaluation that started it sees it.

_CONNECT: Final = 90.0
_END: Final = 30.0
_LINE: Final = 2**20
"""Bytes that an event may have."""


class RayFailed(CfrError):
    """A cluster that cannot be reached, or whose workers come to nothing."""

    exit_code = 3


def require_ray() -> None:
    """Refuse to go on where Ray is not installed."""
    if find_spec("ray") is None:
        raise InputError("--ray needs Ray: pip install 'constraint-first[ray]', on every node too")


class RayProcess:
    """A driver that was started: orders go to it, events come from it."""

    def __init__(self, process: Process, address: str, said: IO[bytes]) -> None:
        if process.stdin is None or process.stdout is None:
            raise ValueError("a driver is talked to through pipes")
        self._process = process
        self._orders = process.stdin
        self._events = process.stdout
        self._address = address
        self._said = said

    @property
    def pid(self) -> int:
        """The number of its process."""
        return self._process.pid

    async def connected(self) -> DriverEvent:
        """Wait until the cluster is reached; say in a line where it is not."""
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
        """Have a worker started, in the place of one that died if need be."""
        if self._orders.is_closing():
            return
        self._orders.write(f"{number}\n".encode())

    async def next(self) -> DriverEvent:
        """Wait for something to happen on the cluster."""
        line = await self._events.readline()
        if not line:
            raise RayFailed(
                f"--ray {self._address}: the connection to the cluster broke off ({self._last()}); "
                "what was made is stored; run the same command again"
            )
        return DriverEvent(**json.loads(line))

    async def close(self) -> None:
        """End the orders: its workers leave what they began to others, and it ends."""
        self._orders.close()
        try:
            await asyncio.wait_for(self._process.wait(), _END)
        except TimeoutError:
            self._process.kill()
            await self._process.wait()

    def send(self, order: DriverOrder) -> None:
        """Send the first order."""
        self._orders.write(json.dumps(order).encode() + b"\n")

    def _last(self) -> str:
        self._said.seek(0)
        lines = self._said.read().decode(errors="replace").split("\n")
        return one_line(next((line for line in reversed(lines) if line.strip()), "no reason given"))


@asynccontextmanager
async def start_driver(order: DriverOrder) -> AsyncGenerator[RayProcess]:
    """Start a driver; its workers end with it, and it with this process."""
    require_ray()
    with tempfile.TemporaryFile() as said:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-P", "-m", "constraint_first.run.cluster_driver"),
            stdin=PIPE,
            stdout=PIPE,
            stderr=said,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            start_new_session=True,  # Ctrl-C is for us; the driver then ends in good order
            limit=_LINE,
        )
        driver = RayProcess(process, order["address"], said)
        driver.send(order)
        try:
            yield driver
        finally:
            await asyncio.shield(driver.close())


# An evaluation whose attempts are made by workers on a Ray cluster.
#
# Ray places workers and says which of them died; the store remembers everything else. This process
# enters the grid, follows it in the store and decides when a worker is replaced and when that is
# hopeless. It makes no attempt itself, and needs neither the model nor its key.

_MOST_DEATHS: Final = 3
"""Times that a worker may die in a row while nobody makes an attempt."""
_LOOK_EVERY: Final = 10.0
"""Seconds between two looks at workers that have no place on the cluster."""
_LIMITS: Final = (
    *("concurrency", "requests_per_minute", "tokens_per_minute"),
    *("call_timeout", "lease", "max_reply_bytes", "max_calls", "max_attempt_tokens"),
)
"""What holds for each worker by itself."""
_FIRST_PAUSE: Final = 1.0
"""Seconds before a worker that died is replaced; twice as many each time."""


@dataclass
class RayRun:
    """A run on a cluster: what its workers have told, and what is to be done about it."""

    store: Store
    jobs: Sequence[Job]
    options: RayOptions
    watcher: EvaluationWatcher
    counted: Callable[[], object]
    started: int = 0
    """How many workers there are, whether they have a place or not."""
    placed: set[int] = field(default_factory=set[int])
    """Those that are at work on a node."""
    reasons: Counter[str] = field(default_factory=Counter[str])
    """Why workers left something alone."""
    _before: int = 0
    _deaths: dict[int, tuple[int, int]] = field(default_factory=dict[int, tuple[int, int]])
    """How often each died in a row, and what was made by then."""
    _ended: set[int] = field(default_factory=set[int])
    _impossible: float = 0.0
    _noted: set[str] = field(default_factory=set[str])
    _complete: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def is_complete(self) -> bool:
        """Whether every attempt has ended, whoever made it."""
        found = measure_progress(self.jobs, 0.0)
        return found.done == found.total

    async def drive(self, driver: RayProcess) -> str:
        """Have the grid made; say why attempts are missing, where workers left some."""
        self._before = self._made()
        first = await driver.connected()
        self.started = self.options.workers or max(1, self._count_fitting(first.nodes))
        for number in range(self.started):
            driver.start(number)
        hearing = asyncio.create_task(self._hear(driver))
        following = asyncio.create_task(follow(self.store, self.jobs, self._look))
        complete = asyncio.create_task(self._complete.wait())
        either = (hearing, following, complete)
        try:
            done, _ = await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()
        finally:
            for task in either:
                task.cancel()
            await asyncio.gather(*either, return_exceptions=True)
        return "" if self._complete.is_set() else self._explain()

    def _look(self) -> None:
        self.counted()
        if self.is_complete:
            self._complete.set()

    async def _hear(self, driver: RayProcess) -> None:
        """Hear what becomes of the workers, until all have ended."""
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
        """Note that a worker has nothing left to do: all is made, or the rest is not for it."""
        self._ended.add(number)
        self.placed.discard(number)
        if refused := report["refused"]:
            raise DecodingRefused(**refused)
        for why in report["skipped"]:
            self.reasons[why] += 1
            self._note(f"Ray: the worker on {node} cannot run everything: {why}")
        await self._recount()

    async def _replace(self, driver: RayProcess, number: int, why: str) -> None:
        """Start another worker, unless that has come to nothing too often."""
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
        """Say what workers wait for; give up where no node could ever take one."""
        nodes, asked = event.nodes, _write_resources(self.options.requested)
        there = "; ".join(_write_nodes(nodes)) or "none"
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
        """Say why attempts are missing although no worker has anything left to do."""
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


async def run_on_ray(run: RayRun, order: DriverOrder) -> str:
    """Have workers on a cluster make what is missing; say why something is, where it is."""
    if run.is_complete:
        return ""
    order["settings"]["crew"] = crew = run.store.owner
    try:
        async with start_driver(order) as driver:
            return await run.drive(driver)
    finally:
        # A worker that was killed, because it took too long to stop, has given nothing back.
        with suppress(StoreError):
            await asyncio.to_thread(run.store.change, lambda one: release_crew(one, crew))


def make_order(options: RunOptions, ref: ModelRef, jobs: Sequence[Job]) -> DriverOrder:
    """Write down what the driver of a cluster and its workers need to know."""
    return {
        "address": options.ray.address or "",
        "resources": options.ray.requested,
        "seconds": _LOOK_EVERY,
        "settings": {
            "store": _with_password(options.store),
            "limits": {name: getattr(options, name) for name in _LIMITS},
            "series": [job.registered.series for job in jobs],
            "base_url": list(endpoint_addresses(ref)),
        },
    }


def check_ray(options: RunOptions, ref: ModelRef, *, has_engine: bool) -> None:
    """Refuse what a cluster cannot do, before anything is opened."""
    if not options.ray.wanted:
        return
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
    """Add the password that psycopg would find here in PGPASSWORD: other machines would not."""
    parsed, password = sa.make_url(url), os.environ.get("PGPASSWORD")
    if parsed.password is None and password:
        parsed = parsed.set(password=password)
    return parsed.render_as_string(hide_password=False)


def _write_resources(found: dict[str, float]) -> str:
    return ", ".join(f"{name} {amount:g}" for name, amount in sorted(found.items())) or "nothing"


def _write_nodes(nodes: Sequence[dict[str, float]]) -> list[str]:
    alike = Counter(map(_write_resources, nodes))
    return [f"{count} with {what}" for what, count in alike.items()]
