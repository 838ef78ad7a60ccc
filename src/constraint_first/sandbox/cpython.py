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
from typing import Final

import eryx

from constraint_first.file.safe import one_line
from constraint_first.problem import Json
from constraint_first.process import serve

OUTPUT: Final = 1 << 16
"""The most bytes that a program may print."""

_LONGEST_ERROR: Final = 400


def main() -> None:
    """Run programs until standard input ends."""
    with suppress(eryx.EryxError):  # reported when a program is to be run
        _factory()
    serve({"run": run}, cpu_seconds=0, memory=None)


def run(source: str, seconds: float, memory: int) -> dict[str, Json]:
    """Run a program; return its output, its error and its time.

    A ``fault`` instead of these is one of the installation, not of the program.
    """
    try:
        factory = _factory()
    except eryx.EryxError as broken:
        return {"fault": one_line(str(broken))[:_LONGEST_ERROR]}
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
        error = _CRASHED if done.result is None else str(done.result)
    except eryx.TimeoutError:
        error = f"TimeoutError: stopped after {seconds:g} s"
    except eryx.InitializationError:  # the interpreter alone needs more
        error = "MemoryError"
    except eryx.EryxError:
        error = _CRASHED
    if error == "OutputError" or printed.full:
        error = _FLOOD
    elif error == "MemoryError":
        error = f"MemoryError: needs more than {memory >> 20} MB"
    return {
        "text": printed.text(),
        "error": one_line(error)[:_LONGEST_ERROR],
        "seconds": time.monotonic() - began,
    }


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


_FLOOD: Final = f"OutputError: printed more than {OUTPUT:,} bytes"
_CRASHED: Final = "MemoryError: the interpreter broke down"


if __name__ == "__main__":
    main()
