"""Worker processes that run one task after another and may be killed at any time, by any thread.

A worker reads one JSON array a line, the name of a task and its arguments, and writes the result.
The operating system counts its time in processor seconds, so load on the machine changes no
verdict. The parent sets no signal handler and never forks, so a pool can be used with any event
loop, thread pool or server.
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
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager, suppress
from typing import IO, Generic, Protocol, Self, TypeAlias, TypeVar, cast

from constraint_first.problem import Json

Task: TypeAlias = Callable[..., Json]
"""A function that a worker can run; its arguments and result are JSON."""

CPU_SECONDS = 2.0
MEMORY_BYTES = 1 << 30
PATIENCE = 30.0
"""Wall-clock seconds after which a worker is killed even if it uses no processor time."""
START_PATIENCE = 60.0


class Undecided(Exception):
    """The worker ran out of time or memory; there is no verdict."""


class NotStarted(Undecided):
    """The worker did not start, or had died before the task: no evidence about the task."""


class Worker:
    def __init__(self, program: tuple[str, ...], environment: Mapping[str, str]) -> None:
        self._process = subprocess.Popen(  # noqa: S603 — our own interpreter
            [sys.executable, "-P", *program],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**environment, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
            start_new_session=True,  # Ctrl-C reaches only the parent, which then ends its workers
        )
        self._requests = cast("IO[bytes]", self._process.stdin)
        self._replies = cast("IO[bytes]", self._process.stdout)
        self._ready = False
        self._buffer = b""

    @property
    def pid(self) -> int:
        return self._process.pid

    def ask(self, task: str, *arguments: Json, patience: float = PATIENCE) -> Json:
        """Run one task; raise Undecided where the worker dies or is killed."""
        if not self._ready:
            try:
                self._line(START_PATIENCE)
            except Undecided:
                raise NotStarted("the worker did not start") from None
            self._ready = True
        request = json.dumps([task, *arguments]) + "\n"
        try:
            self._requests.write(request.encode())
            self._requests.flush()
        except OSError:
            raise NotStarted("the worker had died") from None
        return json.loads(self._line(patience))

    def close(self) -> None:
        """Kill the process and its children."""
        if self._process.returncode is None:  # not reaped yet, so no other process has its id
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
        for pipe in (self._requests, self._replies):
            with suppress(OSError):  # closing flushes into a broken pipe
                pipe.close()
        self._process.wait()

    def _line(self, patience: float) -> bytes:
        output = self._replies.fileno()
        waiting = select.poll()  # select.select refuses descriptors from 1,024 on
        waiting.register(output, select.POLLIN)
        deadline = time.monotonic() + patience
        pieces, last = [self._buffer], self._buffer
        while b"\n" not in last:
            left = deadline - time.monotonic()
            if left <= 0 or not waiting.poll(left * 1_000):
                raise Undecided(f"no reply within {patience:g} s")
            last = os.read(output, 65536)
            if not last:
                raise Undecided("ran out of time or memory")
            pieces.append(last)
        line, _, self._buffer = b"".join(pieces).partition(b"\n")
        return line


class Pool:
    """A fixed number of workers, started when first needed and replaced when they die."""

    def __init__(
        self,
        program: tuple[str, ...],
        count: int | None = None,
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
        with suppress(NotStarted), self._borrowed() as worker:
            return worker.ask(task, *arguments, patience=patience)
        with self._borrowed() as worker:
            return worker.ask(task, *arguments, patience=patience)

    def close(self) -> None:
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
                # Its pipe may hold half a reply. Its successor starts while the caller continues.
                worker.close()
                with suppress(OSError):  # no process can be started now; the next call retries
                    self._give_back(Worker(self._program, self._environment))
                raise
            self._give_back(worker)

    def _give_back(self, worker: Worker) -> None:
        with self._lock:
            if not self._closed:
                self._idle.append(worker)
                return
        worker.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class _Closes(Protocol):
    def close(self) -> None: ...


P = TypeVar("P", bound=_Closes)


class OnePerProcess(Generic[P]):
    """Workers created at first use, closed at exit, and recreated in a forked child."""

    def __init__(self, make: Callable[[], P]) -> None:
        self._make = make
        self._lock = threading.Lock()
        self._made: tuple[int, P] | None = None

    def __call__(self) -> P:
        with self._lock:
            if self._made is None or self._made[0] != os.getpid():
                made = self._make()
                atexit.register(made.close)
                self._made = os.getpid(), made
            return self._made[1]


def serve(
    tasks: Mapping[str, Task],
    cpu_seconds: float = CPU_SECONDS,
    memory: int | None = MEMORY_BYTES,
) -> None:
    """Run tasks until standard input ends, or until one exceeds its time or memory.

    No processor seconds (0) or no bytes (None) mean that the tasks set their own limits.
    """
    replies = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # output of a library must not be read as a reply
    with suppress(ImportError):  # no such limits on this system; the parent's timeout remains
        import resource

        if memory is not None:
            resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    print("ready", file=replies, flush=True)
    for line in sys.stdin:
        name, *arguments = json.loads(line)
        _start_clock(cpu_seconds)
        result = tasks[name](*arguments)
        _start_clock(0)
        print(json.dumps(result), file=replies, flush=True)


def _start_clock(seconds: float) -> None:
    """Let the system kill this process after so much processor time; zero means never."""
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_PROF, seconds)
