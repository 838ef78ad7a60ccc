"""A process that judges one case after another and may be killed at any moment.

It reads one JSON array a line, ``[prediction, gold, percent]``, and answers ``[same, why]``. Its
time is counted in processor seconds by the system itself, so a busy machine changes no verdict.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from cfr.answer.judgement.tier import Ruling

__all__ = ["main", "serve"]

CPU_SECONDS = 2.0
MEMORY_BYTES = 1 << 30


class Judge(Protocol):
    """Compares two answers."""

    def __call__(self, pred: str, gold: str, *, percent: bool) -> Ruling:
        """Return a ruling."""
        ...


def main() -> None:
    """Serve the symbolic tier."""
    from cfr.answer.judgement.symbolic import judge

    serve(judge)


def serve(judge: Judge, cpu_seconds: float = CPU_SECONDS) -> None:
    """Judge cases until standard input ends, or until one takes too much time or memory."""
    replies = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # whatever a library prints must not be taken for a verdict
    _limit_memory()
    print("ready", file=replies, flush=True)
    for line in sys.stdin:
        pred, gold, percent = json.loads(line)
        _start_clock(cpu_seconds)
        ruling = judge(pred, gold, percent=percent)
        _start_clock(0)
        print(json.dumps([ruling.same, ruling.why]), file=replies, flush=True)


def _limit_memory() -> None:
    try:
        import resource
    except ImportError:  # a system without these limits; the parent's clock still holds
        return
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _start_clock(seconds: float) -> None:
    """Have the system end this process after so much processor time; zero stops the clock."""
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_PROF, seconds)


if __name__ == "__main__":
    main()
