"""The sandbox as engines see it: a program in, its output out, whatever the program is."""

from __future__ import annotations

import asyncio
import datetime
import os
import resource
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, cast

import pydantic_monty

from constraint_first.file.safe import one_line
from constraint_first.model.error import EngineError
from constraint_first.problem import Json
from constraint_first.process import NotStarted, OnePerProcess, Pool, Undecided, serve
from constraint_first.protocol import Output, Program
from constraint_first.sandbox.rewrite import Unreadable, rewrite

PROGRAM: Final = ("-m", "constraint_first.sandbox.sandbox")
PATIENCE: Final = 0.6
"""Seconds that a worker has to hand over a program's output when its time is up."""

# What Python needs to find its libraries; keys and tokens stay with us.
_HANDED_ON: Final = ("HOME", "PATH", "LANG", "LC_ALL", "TMPDIR", "MONTY_BIN")


class SandboxMissing(EngineError):
    """The interpreter that programs run in is not installed, or does not start."""

    exit_code = 2


@dataclass(frozen=True, slots=True)
class Limits:
    """What one program may take."""

    seconds: float = 1.5
    memory: int = 256
    """In megabytes."""


class Sandbox:
    """A few worker processes that run programs, each killed and replaced where one goes too far."""

    def __init__(self, limits: Limits | None = None, count: int | None = None) -> None:
        _require_interpreter()
        self.limits = limits or Limits()
        self._workers = Pool(PROGRAM, count, _environment())
        self._threads = ThreadPoolExecutor(self._workers.count, "cfr-sandbox")

    async def run(self, program: Program) -> Output:
        """Run a program, at the same time as others where there are workers enough."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._threads, self.run_now, program)

    def run_now(self, program: Program) -> Output:
        """Run a program and wait for it."""
        seconds, memory = self.limits.seconds, self.limits.memory << 20
        patience = seconds + PATIENCE
        try:
            reply = self._workers.ask("run", program.source, seconds, memory, patience=patience)
        except (NotStarted, OSError):
            raise SandboxMissing(_BROKEN.format("its worker does not start")) from None
        except Undecided:  # it took the worker with it, or did not let go of it
            return Output("", f"TimeoutError: stopped after {seconds:g} s", seconds)
        said = cast("dict[str, Any]", reply)
        if "fault" in said:
            raise SandboxMissing(_BROKEN.format(said["fault"]))
        return Output(said["text"], said["error"], said["seconds"])

    def close(self) -> None:
        """End all workers."""
        self._threads.shutdown(wait=False, cancel_futures=True)
        self._workers.close()

    def __enter__(self) -> Sandbox:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


_BROKEN: Final = (
    "programs cannot be run ({}); install it anew: pip install 'constraint-first[programs]'"
)


def _environment() -> dict[str, str]:
    return {name: os.environ[name] for name in _HANDED_ON if name in os.environ}


def _require_interpreter() -> None:
    if find_spec("pydantic_monty") is None:
        raise SandboxMissing(
            "programs need pydantic-monty: pip install 'constraint-first[programs]'"
        )


_own: Final = OnePerProcess(Sandbox)


async def run_program(program: Program) -> Output:
    """Run a program in this process's own sandbox, which is made when first needed."""
    return await _own().run(program)


# The process that stands between us and the interpreter of programs.
#
# It parses, rewrites and runs one program after another and hands back a short reply. Whatever a
# program does to a parser, to the library that speaks with the interpreter or to the interpreter
# itself happens here or below, in processes that are killed and replaced; the parent sees one
# bounded line of JSON. The interpreter is Monty: Python in Rust, with nothing of the host inside.
# Each program has a process of its own, without environment variables.

OUTPUT: Final = 1 << 16
"""The most bytes that a program may print."""
GRACE: Final = 0.15
"""Seconds after its time in which a program may still be stopped in good order."""

_DEPTH: Final = 5_000
_ADDRESSES: Final = 1 << 30
_LONGEST_ERROR: Final = 400
# A program sees the same clock and the same dice whenever it is run.
_SAME_ALWAYS: Final = pydantic_monty.OSPolicy(
    datetime=datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC),
    sleep="zero",
    random_start={"seed": 0},
)


def main() -> None:
    """Run programs until standard input ends."""
    serve({"run": run})


def run(source: str, seconds: float, memory: int) -> dict[str, Json]:
    """Run a program: what it printed, why it did not end well, how long it took.

    A ``fault`` in its place is one of the installation, and says nothing of the program.
    """
    try:
        _pool()
    except (OSError, RuntimeError, pydantic_monty.MontyError) as broken:
        return {"fault": one_line(str(broken))[:_LONGEST_ERROR]}
    sink = pydantic_monty.CollectStreams(max_bytes=OUTPUT)
    began = time.monotonic()
    error = ""
    try:
        _run(source, seconds, memory, sink)
    except Unreadable as unreadable:
        error = str(unreadable)
    except pydantic_monty.MontyError as broken:
        error = _described(broken, seconds, memory)
    text = "".join(piece for stream, piece in sink.output if stream == "stdout")
    return {"text": text, "error": error, "seconds": time.monotonic() - began}


def _run(source: str, seconds: float, memory: int, sink: pydantic_monty.CollectStreams) -> None:
    rewritten = rewrite(source)
    limits = pydantic_monty.ResourceLimits(
        max_feed_duration_secs=seconds,
        max_memory=memory,
        max_recursion_depth=_DEPTH,
        max_total_sleep_secs=0.0,
    )
    session = _pool().checkout(
        limits=limits, assert_message_annotations=False, os_policy=_SAME_ALWAYS
    )
    with session:
        _limit(session.worker_pid, seconds)
        for prelude in rewritten.preludes:
            session.feed_run(prelude)
        session.feed_run(rewritten.source, print_callback=sink)


@cache
def _pool() -> pydantic_monty.Monty:
    # Where a package was put into a folder of its own its programs lie there too.
    beside = Path(pydantic_monty.__file__).parents[1] / "bin" / "monty"
    pool = pydantic_monty.Monty(
        binary_path=beside if beside.is_file() else None,
        max_processes=1,
        max_checkouts_per_worker=1,
        feed_duration_limit_grace=GRACE,
    ).__enter__()
    with pool.checkout() as session:  # one that fails at this would fail at every program
        session.feed_run("None")
    return pool


def _limit(pid: int | None, seconds: float) -> None:
    """Have the system end the interpreter too, should nobody be left who does."""
    if pid is None or not hasattr(resource, "prlimit"):
        return
    most = int(seconds) + 2
    with suppress(OSError):
        resource.prlimit(pid, resource.RLIMIT_AS, (_ADDRESSES, _ADDRESSES))
        resource.prlimit(pid, resource.RLIMIT_CPU, (most, most))


def _described(error: pydantic_monty.MontyError, seconds: float, memory: int) -> str:
    """Say in one line why a program ended, the same words on every machine."""
    if isinstance(error, pydantic_monty.MontyCrashedError):
        return _TOO_LONG.format(seconds) if error.timed_out else _CRASHED
    said = str(error)[: 4 * _LONGEST_ERROR]
    if said == "SystemExit":
        return ""
    if said.startswith("TimeoutError: feed time limit"):
        return _TOO_LONG.format(seconds)
    if said.startswith(("MemoryError: memory limit", "MemoryError: the worker exceeded")):
        flooded = said.endswith(f"> {OUTPUT} bytes")
        return _FLOOD if flooded else _TOO_LARGE.format(memory >> 20)
    if isinstance(error, pydantic_monty.MontySyntaxError):
        said = f"SyntaxError: {said}"
    return one_line(said)[:_LONGEST_ERROR]


_TOO_LONG: Final = "TimeoutError: stopped after {:g} s"
_TOO_LARGE: Final = "MemoryError: needs more than {} MB"
_FLOOD: Final = f"OutputError: printed more than {OUTPUT:,} bytes"
_CRASHED: Final = "MemoryError: the interpreter broke down"


if __name__ == "__main__":
    main()
