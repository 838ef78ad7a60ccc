"""Worker processes, for the symbolic tier and the sandbox: bounded, killable, from any thread.

Everything impure about grading is in this file and in the worker it starts. No signal handler is
set and no process is forked, so it lives beside any event loop, thread pool or server.
"""

from __future__ import annotations

import atexit
import json
import os
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress
from typing import IO, cast

from cfr.answer.judgement.tier import Ruling
from cfr.problem import Json

__all__ = ["Undecided", "Workers", "shared"]

PROGRAM = ("-m", "cfr.answer.judgement.worker")
PATIENCE = 30.0
"""Wall-clock seconds after which a worker that uses no processor time is given up."""
START_PATIENCE = 60.0


class Undecided(Exception):
    """The worker ran out of time or memory; there is no verdict."""


class _Gone(Undecided):
    """The worker had died before it was asked: nothing is known of the task."""


class Worker:
    """One process and the pipe to it."""

    def __init__(self, program: tuple[str, ...], environment: Mapping[str, str]) -> None:
        self._process = subprocess.Popen(  # noqa: S603 — our own interpreter
            [sys.executable, "-P", *program],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**environment, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
            start_new_session=True,  # Ctrl-C is for the parent, which then ends its workers
        )
        self._requests = cast("IO[bytes]", self._process.stdin)
        self._replies = cast("IO[bytes]", self._process.stdout)
        self._ready = False
        self._buffer = b""

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid

    def ask(self, task: str, *arguments: Json, patience: float = PATIENCE) -> Json:
        """Have one task done; raise Undecided where the worker does not survive it."""
        if not self._ready:
            self._line(START_PATIENCE)
            self._ready = True
        request = json.dumps([task, *arguments]) + "\n"
        try:
            self._requests.write(request.encode())
            self._requests.flush()
        except OSError:
            raise _Gone("the worker had died") from None
        return json.loads(self._line(patience))

    def close(self) -> None:
        """End the process now, and those that it has started."""
        if self._process.returncode is None:  # and not waited for: its number is still its own
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
        for pipe in (self._requests, self._replies):
            with suppress(OSError):  # closing flushes, and nobody reads any more
                pipe.close()
        self._process.wait()

    def _line(self, patience: float) -> bytes:
        output = self._replies.fileno()
        waiting = select.poll()  # and not select.select, which knows no file beyond the 1,024th
        waiting.register(output, select.POLLIN)
        deadline = time.monotonic() + patience
        while b"\n" not in self._buffer:
            left = deadline - time.monotonic()
            if left <= 0 or not waiting.poll(left * 1_000):
                raise Undecided(f"no reply within {patience:g} s")
            data = os.read(output, 65536)
            if not data:
                raise Undecided("ran out of time or memory")
            self._buffer += data
        line, _, self._buffer = self._buffer.partition(b"\n")
        return line


class Workers:
    """A fixed number of workers, started when first needed and replaced when they die."""

    def __init__(
        self,
        count: int | None = None,
        program: tuple[str, ...] = PROGRAM,
        environment: Mapping[str, str] = os.environ,
    ) -> None:
        self.count = count or os.cpu_count() or 1
        self._program = program
        self._environment = environment
        self._free = threading.Semaphore(self.count)
        self._lock = threading.Lock()
        self._idle: list[Worker] = []
        self._closed = False

    def ask(self, task: str, *arguments: Json, patience: float = PATIENCE) -> Json:
        """Have a task done, waiting for a free worker; raise Undecided where it kills it."""
        try:
            with self._borrowed() as worker:
                return worker.ask(task, *arguments, patience=patience)
        except _Gone:
            with self._borrowed() as worker:
                return worker.ask(task, *arguments, patience=patience)

    def judge(self, pred: str, gold: str, *, percent: bool = False) -> Ruling:
        """Have one case judged; raise Undecided where that kills the worker."""
        same, why = cast("tuple[bool | None, str]", self.ask("judge", pred, gold, percent))
        return Ruling(same, why)

    def is_whole(self, text: str) -> bool | None:
        """Say whether an answer is a whole number; None where that cannot be told, or in time."""
        try:
            return cast("bool | None", self.ask("is_whole", text))
        except Undecided:
            return None

    def close(self) -> None:
        """End all workers."""
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
        for worker in idle:
            worker.close()

    @contextmanager
    def _borrowed(self) -> Generator[Worker]:
        with self._free:
            with self._lock:
                worker = self._idle.pop() if self._idle else None
            worker = worker or Worker(self._program, self._environment)
            try:
                yield worker
            except BaseException:
                # Its pipe may hold half a reply. The next one starts while the caller goes on.
                worker.close()
                worker = Worker(self._program, self._environment)
                raise
            finally:
                self._give_back(worker)

    def _give_back(self, worker: Worker) -> None:
        with self._lock:
            if not self._closed:
                self._idle.append(worker)
                return
        worker.close()

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


_shared: dict[int, Workers] = {}
_shared_lock = threading.Lock()


def shared() -> Workers:
    """Return this process's own workers, one for each core, ended when it ends."""
    with _shared_lock:
        # Keyed by process: a forked child must not talk through its parent's pipes.
        pid = os.getpid()
        if pid not in _shared:
            _shared.clear()
            _shared[pid] = Workers()
            atexit.register(_shared[pid].close)
        return _shared[pid]
