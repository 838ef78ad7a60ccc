"""A process that does one task after another and may be killed at any moment.

It reads one JSON array a line, the name of a task and its arguments, and answers with what the task
returns. Its time is counted in processor seconds by the system itself, so a busy machine changes no
verdict.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable, Mapping
from typing import TypeAlias

from cfr.problem import Json

__all__ = ["Task", "main", "serve"]

Task: TypeAlias = Callable[..., Json]
"""What a worker can be asked to do, with arguments and a result that JSON can carry."""

CPU_SECONDS = 2.0
MEMORY_BYTES = 1 << 30


def main() -> None:
    """Serve the symbolic tier."""
    from cfr.answer.judgement.symbolic import TASKS

    serve(TASKS)


def serve(tasks: Mapping[str, Task], cpu_seconds: float = CPU_SECONDS) -> None:
    """Do tasks until standard input ends, or until one takes too much time or memory."""
    replies = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # whatever a library prints must not be taken for a verdict
    _limit_memory()
    print("ready", file=replies, flush=True)
    for line in sys.stdin:
        name, *arguments = json.loads(line)
        _start_clock(cpu_seconds)
        result = tasks[name](*arguments)
        _start_clock(0)
        print(json.dumps(result), file=replies, flush=True)


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
