"""The process between the engine and CPython in WebAssembly, which runs one program after another.

Each program has a sandbox of its own, started from the snapshot: memory that no program has
written to, no host file but the interpreter's own library (read-only), no network, no environment.
The interpreter and its compiled code run in this process, which holds nothing worth reading and is
killed and replaced when a program crashes it.
"""

from __future__ import annotations

import sys
import time
from contextlib import suppress
from functools import cache

import eryx

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


def main() -> None:
    """Run programs until standard input ends."""
    with suppress(eryx.EryxError):  # reported when a program is to be run
        _factory()
    serve({"run": run}, cpu_seconds=0, memory=None)


def run(source: str, seconds: float, memory: int) -> dict[str, Json]:
    """Run a program; return its output, its error and its time."""
    try:
        factory = _factory()
    except eryx.EryxError as broken:
        return fault(broken)
    limits = eryx.ResourceLimits(
        execution_timeout_ms=max(1, round(seconds * 1_000)),
        max_memory_bytes=memory,
        max_vfs_bytes=1 << 20,
    )
    printed = _Printed()
    began = time.monotonic()
    try:
        sandbox = factory.create_sandbox(resource_limits=limits, on_stdout=printed.add)
        done = sandbox.execute(f"import cfr_harness\nresult = cfr_harness.run({source!a})")
        error = CRASHED if done.result is None else str(done.result)
    except eryx.TimeoutError:
        error = TOO_LONG.format(seconds)
    except eryx.InitializationError:  # the interpreter alone needs more
        error = "MemoryError"
    except eryx.EryxError:
        error = CRASHED
    if error == "OutputError" or printed.full:
        error = FLOOD
    elif error == "MemoryError":
        error = TOO_LARGE.format(memory >> 20)
    return outcome(printed.text(), error, began)


class _Printed:
    def __init__(self) -> None:
        self._pieces: list[bytes] = []
        self._left = OUTPUT
        self.full = False

    def add(self, piece: bytes) -> None:
        self.full |= len(piece) > self._left
        self._pieces.append(piece[: self._left])
        self._left -= len(self._pieces[-1])

    def text(self) -> str:
        return b"".join(self._pieces).decode("utf-8", "ignore")


@cache
def _factory() -> eryx.SandboxFactory:
    return eryx.SandboxFactory.load(sys.argv[1])


if __name__ == "__main__":
    main()
