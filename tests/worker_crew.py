"""Worker processes that start at once, can be killed with -9, and have clocks of their own."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType

# One process imports everything and forks a worker for each line that it reads. Whatever reads the
# machine's clock there reads one that is wrong by so many seconds.
NURSERY = r"""
import datetime, io, json, os, signal, sys, time
import psycopg
import constraint_first.cli.eval, constraint_first.cli.eval, constraint_first.cli.eval
import constraint_first.run.shared, constraint_first.model.client
import constraint_first.benchmark.registry, constraint_first.method.registry
from constraint_first.cli import main

signal.signal(signal.SIGCHLD, signal.SIG_IGN)
real = time.time
print("ready", flush=True)
for line in sys.stdin:
    order = json.loads(line)
    pid = os.fork()
    if pid:
        print(pid, flush=True)
        continue
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    time.time = lambda: real() + order["wrong_by"]
    class Wrong(datetime.datetime):
        @classmethod
        def now(cls, tz=None):
            return super().now(tz) + datetime.timedelta(seconds=order["wrong_by"])
    datetime.datetime = Wrong
    said = open(order["said"], "w")
    os.dup2(os.open(os.devnull, os.O_RDWR), 0)
    os.dup2(said.fileno(), 1)
    os.dup2(said.fileno(), 2)
    sys.argv = ["cfr", *order["command"]]
    code = 1
    try:
        main()
    except SystemExit as ended:
        code = ended.code or 0
    finally:
        sys.stdout.flush()
        with open(order["said"] + ".code", "w") as file:
            file.write(str(code))
        os._exit(code)
"""


class WorkerCrew:
    """A nursery of workers: ``with WorkerCrew(folder) as crew``."""

    def __init__(self, folder: Path) -> None:
        self.running: dict[int, Path] = {}
        """The processes that were started and neither killed nor waited for, and what they say."""
        self._said = Path(tempfile.mkdtemp(dir=folder))
        self._started = 0
        self._nursery = subprocess.Popen(
            [sys.executable, "-c", NURSERY],
            cwd=folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            bufsize=1,
        )

    def __enter__(self) -> "WorkerCrew":
        assert self._line() == "ready"
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        for pid in list(self.running):
            self.kill(pid)
        self._nursery.communicate(timeout=30)

    def start(self, command: Sequence[str], wrong_by: float = 0.0) -> int:
        """Start a worker whose clock is wrong by so many seconds."""
        self._started += 1
        said = self._said / str(self._started)
        order = {"command": list(command), "wrong_by": wrong_by, "said": str(said)}
        assert self._nursery.stdin
        self._nursery.stdin.write(json.dumps(order) + "\n")
        pid = int(self._line())
        self.running[pid] = said
        return pid

    def kill(self, pid: int) -> None:
        """Kill a worker with -9, if it has not ended."""
        del self.running[pid]
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            return
        while lives(pid):
            time.sleep(0.001)

    def wait(self, seconds: float = 60.0) -> list[tuple[int, str]]:
        """Wait for all workers; return how each ended, and what it said."""
        deadline = time.monotonic() + seconds
        while any(map(lives, self.running)):
            assert time.monotonic() < deadline, "a worker does not end"
            time.sleep(0.01)
        ended, self.running = list(self.running.values()), {}
        return [(int(_code(said).read_text()), said.read_text()) for said in ended]

    def _line(self) -> str:
        assert self._nursery.stdout
        return self._nursery.stdout.readline().strip()


def _code(said: Path) -> Path:
    return said.with_name(said.name + ".code")


def lives(pid: int) -> bool:
    """Say whether a process has neither ended nor been killed."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
