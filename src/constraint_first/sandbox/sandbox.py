"""The sandbox's interface: run a program and return its output, however hostile it is."""

from __future__ import annotations

import asyncio
import os
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Final, cast

from constraint_first.file.safe import one_line
from constraint_first.process import NotStarted, OnePerProcess, Pool, Undecided
from constraint_first.protocol import Output, Program
from constraint_first.sandbox import snapshot
from constraint_first.sandbox.interpreter import Interpreter, SandboxMissing, installed
from constraint_first.sandbox.outcome import TOO_LONG

PATIENCE: Final = 0.6
"""Seconds that a worker has to return a program's output after the program's time is up."""

# The variables that Python needs to find its libraries; no others, which may hold API keys.
_HANDED_ON: Final = ("HOME", "PATH", "LANG", "LC_ALL", "TMPDIR", "MONTY_BIN")


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of one program."""

    seconds: float = 3.0
    memory: int = 256
    """In megabytes."""


class Sandbox:
    """A few worker processes that run programs; a worker that exceeds its limits is replaced."""

    def __init__(
        self,
        limits: Limits | None = None,
        count: int | None = None,
        interpreter: Interpreter | None = None,
    ) -> None:
        self.limits = limits or Limits()
        self._interpreter: Interpreter = interpreter or installed()
        self._count = count or os.cpu_count() or 1
        self._threads = ThreadPoolExecutor(self._count, "cfr-sandbox")
        self._lock = threading.Lock()
        self._started: Pool | SandboxMissing | None = None

    async def run(self, program: Program) -> Output:
        """Run a program, concurrently with others if there are enough workers."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._threads, self.run_now, program)

    def run_now(self, program: Program) -> Output:
        """Run a program and wait for it."""
        seconds, memory = self.limits.seconds, self.limits.memory << 20
        patience = seconds + PATIENCE
        try:
            reply = self._workers().ask("run", program.source, seconds, memory, patience=patience)
        except (NotStarted, OSError):
            raise SandboxMissing(_BROKEN.format("its worker does not start")) from None
        except Undecided:  # the program crashed its worker, or did not stop
            return Output("", TOO_LONG.format(seconds), seconds)
        said = cast("dict[str, Any]", reply)
        if "fault" in said:
            raise SandboxMissing(_BROKEN.format(said["fault"]))
        return Output(said["text"], said["error"], said["seconds"])

    def _workers(self) -> Pool:
        """Start the workers; the snapshot that they need may first have to be made."""
        with self._lock:
            if self._started is None:
                self._started = _start(self._interpreter, self._count)
            if isinstance(self._started, SandboxMissing):  # not made anew for each program
                raise self._started
            return self._started

    def close(self) -> None:
        """End all workers."""
        self._threads.shutdown(wait=False, cancel_futures=True)
        with self._lock:
            if isinstance(self._started, Pool):
                self._started.close()

    def __enter__(self) -> Sandbox:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


_BROKEN: Final = (
    "programs cannot be run ({}); install it anew: pip install 'constraint-first[programs]'"
)


def _start(interpreter: Interpreter, count: int) -> Pool | SandboxMissing:
    environment = {name: os.environ[name] for name in _HANDED_ON if name in os.environ}
    program = ("-m", f"constraint_first.sandbox.{interpreter}")
    if interpreter == "cpython":
        try:
            path = snapshot.prepare()
        except (OSError, snapshot.SnapshotFailed) as failed:
            return SandboxMissing(_BROKEN.format(one_line(str(failed))))
        program += (str(path),)
        environment |= {
            "TMPDIR": str(path.parent),  # where the interpreter is unpacked
            "ERYX_ALLOCATOR": "on-demand",  # memory is returned after each program
        }
    return Pool(program, count, environment)


_own: Final = OnePerProcess(Sandbox)


async def run_program(program: Program) -> Output:
    """Run a program in this process's sandbox, which is created at first use."""
    return await _own().run(program)
