"""The process that drives a Ray cluster, as the evaluation that started it sees it."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import tempfile
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from importlib.util import find_spec
from typing import IO, Final

from constraint_first.error import CfrError, InputError
from constraint_first.evaluation.cluster.message import DriverEvent, DriverOrder
from constraint_first.file.printable import one_line

__all__ = ["RayFailed", "RayProcess", "require_ray", "start_driver"]

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
            *(sys.executable, "-P", "-m", "constraint_first.evaluation.cluster.driver"),
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
