"""A process that judges one case after another and may be killed at any moment.

It reads one JSON array a line, ``[prediction, gold, percent]``, and answers ``[same, why]``. Its
time is counted in processor seconds by the system itself, so a busy machine changes no verdict.
"""

from __future__ import annotations

import json
import os
import sys

__all__ = ["main"]

CPU_SECONDS = 2.0
MEMORY_BYTES = 1 << 30


def main() -> None:
    """Serve cases until standard input ends."""
    replies = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # whatever a library prints must not be taken for a verdict
    _limit_memory()
    from cfr.answer.symbolic import judge

    print("ready", file=replies, flush=True)
    for line in sys.stdin:
        pred, gold, percent = json.loads(line)
        _start_clock(CPU_SECONDS)
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
    import signal

    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_PROF, seconds)


if __name__ == "__main__":
    main()
