"""A worker on a node of a Ray cluster: ``cfr work`` as an actor, which reports how it ended.

Its reports are plain data without a secret: Ray shows errors of actors to every user of a cluster.
"""

from __future__ import annotations

import asyncio
import importlib
import json
import logging
import os
import socket
import sys
import threading
from collections.abc import Callable, Coroutine
from dataclasses import asdict
from typing import Any, Final, TextIO, TypeAlias
from urllib.parse import quote

import sqlalchemy as sa

from constraint_first.file.safe import one_line
from constraint_first.model.resolve import ModelRef
from constraint_first.model.transport import DecodingRefused
from constraint_first.run.cluster import (
    DriverEvent,
    DriverOrder,
    Refusal,
    WorkerReport,
    WorkerSettings,
)
from constraint_first.run.grid import RunOptions
from constraint_first.run.job import EvaluationWatcher
from constraint_first.run.shared import NothingRunnable, awork


class RayWorker:
    """A worker in a process of its own, with a thread that works and one that can stop it.

    No method of it is a coroutine: Ray would run all of them in a loop of its own.
    """

    def __init__(self) -> None:
        self._stoppable = _Stoppable()

    def locate(self) -> str:
        return socket.gethostname()

    def work(self, settings: WorkerSettings) -> WorkerReport:
        """Make the missing attempts of some series, as far as they can be made here."""
        reported, error = _Reported(), ""
        work = awork(
            RunOptions(store=settings["store"], **settings["limits"]),
            instead=ModelRef(base_url=settings["base_url"] or None),
            series=settings["series"],
            crew=settings.get("crew", ""),
            watcher=reported,
        )
        try:
            asyncio.run(self._stoppable.run(work))
        except (NothingRunnable, asyncio.CancelledError):
            pass  # the watcher has the reason
        except Exception as raised:  # of any kind: the report must have no password in it
            error = _without_password(str(raised) or type(raised).__name__, settings["store"])
        return {"skipped": reported.skips, "refused": reported.refusal, "error": error}

    def stop(self) -> None:
        self._stoppable.stop()


class _Stoppable:
    """Work that another thread may stop, also before it begins."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._stopped = False
        self._running: tuple[asyncio.AbstractEventLoop, asyncio.Task[Any]] | None = None

    async def run(self, work: Coroutine[Any, Any, object]) -> None:
        task = asyncio.ensure_future(work)
        with self._guard:
            self._running = asyncio.get_running_loop(), task
            if self._stopped:
                task.cancel()
        try:
            await task
        finally:
            with self._guard:
                self._running = None

    def stop(self) -> None:
        with self._guard:
            self._stopped = True
            if self._running:
                loop, task = self._running
                loop.call_soon_threadsafe(task.cancel)


class _Reported(EvaluationWatcher):
    """Keeps why a worker leaves series alone."""

    def __init__(self) -> None:
        self.skips: list[str] = []
        self.refusal: Refusal | None = None

    def skipped(self, what: str, why: str) -> None:  # noqa: ARG002
        if why not in self.skips:
            self.skips.append(why)

    def refused(self, error: DecodingRefused) -> None:
        self.refusal = {
            "message": str(error),
            "model": error.model,
            "setting": error.setting,
            "most": error.most,
        }


def _without_password(text: str, store: str) -> str:
    password = str(sa.make_url(store).password or "")
    for written in filter(None, (password, quote(password))):
        text = text.replace(written, "***")
    return one_line(text)


# The driver of a Ray cluster, in a process of its own: it places workers and reports their ends.
#
# Ray prints to the terminal, ends its process when the cluster's head is gone, and shows the
# command line of a driver to every user of the cluster. So the evaluation starts this process,
# whose command line has no secret, and exchanges lines of JSON with it: orders come in, events go
# out. When the orders end, for any reason, its workers are stopped and it ends. All decisions are
# the evaluation's.

_REACH: Final = 10.0
"""Seconds that a cluster's head may take to accept a connection."""
_STOP: Final = 15.0
"""Seconds that workers have to give their leases back."""
_NOT_ONES_OWN: Final = ("node:", "memory", "object_store_memory", "accelerator_type:")


Tell: TypeAlias = Callable[[DriverEvent], None]


class _Failed(Exception):
    """The cluster cannot be used; the words say why."""


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
            "max_restarts": 0,  # the evaluation orders another
            "max_concurrency": 2,
            "scheduling_strategy": "SPREAD",
        }
        self._actor_class = ray.remote(**options)(RayWorker)
        self._actors: dict[int, Any] = {}
        self._unplaced: set[int] = set()
        self._tasks: set[asyncio.Task[None]] = set()

    async def run(self, orders: asyncio.StreamReader) -> None:
        """Start workers as they are ordered, until the orders end."""
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
        """Report now and then that workers are not placed, and the nodes there are."""
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
    """Connect to a cluster. Ray would wait two minutes for one that does not answer."""
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
    """Write an error in one line: the first and last line of Ray's, without the trace between."""
    lines = [line for line in str(error).splitlines() if line.strip() and not line[0].isspace()]
    return one_line(" ".join(dict.fromkeys((*lines[:1], *lines[-1:]))) or type(error).__name__)


async def _listen(pipe: TextIO) -> asyncio.StreamReader:
    reader = asyncio.StreamReader()
    protocol = asyncio.StreamReaderProtocol(reader)
    await asyncio.get_running_loop().connect_read_pipe(lambda: protocol, pipe)
    return reader


async def _drive(tell: Tell) -> None:
    orders = await _listen(sys.stdin)
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
    """Take orders on standard input; only events go to standard output."""
    events = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # what Ray prints

    def tell(event: DriverEvent) -> None:
        events.write(json.dumps(asdict(event)) + "\n")

    asyncio.run(_drive(tell))


if __name__ == "__main__":
    main()
