"""The process between the engine and the interpreter of programs.

The interpreter is Monty: a part of Python written in Rust, without sympy and without access to the
host. It runs programs where CPython in WebAssembly is not installed (sandbox/cpython.py), that is
on Python 3.11. A program may crash the interpreter or its client library only here or in child
processes, which are killed and replaced; the parent reads one bounded line of JSON. Each program
has a process of its own, without environment variables.
"""

from __future__ import annotations

import datetime
import resource
import time
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Final

import pydantic_monty

from constraint_first.problem import Json
from constraint_first.process import serve
from constraint_first.sandbox.outcome import (
    CRASHED,
    FLOOD,
    OUTPUT,
    TOO_LARGE,
    TOO_LONG,
    fault,
    outcome,
)

GRACE: Final = 0.15
"""Seconds after a program's time limit before its interpreter is killed."""

_DEPTH: Final = 5_000
_ADDRESSES: Final = 1 << 30
# The clock and the random numbers are fixed, so that a program's output is reproducible.
_SAME_ALWAYS: Final = pydantic_monty.OSPolicy(
    datetime=datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC),
    sleep="zero",
    random_start={"seed": 0},
)


def main() -> None:
    """Run programs until standard input ends."""
    serve({"run": run})


def run(source: str, seconds: float, memory: int) -> dict[str, Json]:
    """Run a program; return its output, its error and its time."""
    try:
        _pool()
    except (OSError, RuntimeError, pydantic_monty.MontyError) as broken:
        return fault(broken)
    sink = pydantic_monty.CollectStreams(max_bytes=OUTPUT)
    began = time.monotonic()
    error = ""
    try:
        _run(source, seconds, memory, sink)
    except UnicodeEncodeError as unreadable:  # half of a surrogate pair
        error = f"SyntaxError: {unreadable.reason}"
    except pydantic_monty.MontyError as broken:
        error = _described(broken, seconds, memory)
    text = "".join(piece for stream, piece in sink.output if stream == "stdout")
    return outcome(text, error, began)


def _run(source: str, seconds: float, memory: int, sink: pydantic_monty.CollectStreams) -> None:
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
        # The value of a last expression would be sent back whole, however large it is.
        session.feed_run(f"{source}\nNone", print_callback=sink)


@cache
def _pool() -> pydantic_monty.Monty:
    # A package installed with ``pip --target`` has its executables in ``bin`` beside it.
    beside = Path(pydantic_monty.__file__).parents[1] / "bin" / "monty"
    pool = pydantic_monty.Monty(
        binary_path=beside if beside.is_file() else None,
        max_processes=1,
        max_checkouts_per_worker=1,
        feed_duration_limit_grace=GRACE,
    ).__enter__()
    with pool.checkout() as session:  # fail now if it cannot run anything
        session.feed_run("None")
    return pool


def _limit(pid: int | None, seconds: float) -> None:
    """Set resource limits on the interpreter, which end it even if this process dies."""
    if pid is None or not hasattr(resource, "prlimit"):
        return
    most = int(seconds) + 2
    with suppress(OSError):
        resource.prlimit(pid, resource.RLIMIT_AS, (_ADDRESSES, _ADDRESSES))
        resource.prlimit(pid, resource.RLIMIT_CPU, (most, most))


def _described(error: pydantic_monty.MontyError, seconds: float, memory: int) -> str:
    """Describe why a program ended, in the same words on every machine."""
    if isinstance(error, pydantic_monty.MontyCrashedError):
        return TOO_LONG.format(seconds) if error.timed_out else CRASHED
    said = str(error)
    if said == "SystemExit":
        return ""
    if said.startswith("TimeoutError: feed time limit"):
        return TOO_LONG.format(seconds)
    if said.startswith(("MemoryError: memory limit", "MemoryError: the worker exceeded")):
        flooded = said.endswith(f"> {OUTPUT} bytes")
        return FLOOD if flooded else TOO_LARGE.format(memory >> 20)
    if isinstance(error, pydantic_monty.MontySyntaxError):
        said = f"SyntaxError: {said}"
    return said


if __name__ == "__main__":
    main()
