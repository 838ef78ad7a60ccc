"""The sandbox beside a floor that is none: a bare CPython process for every program.

python perf/programs.py

First real programs (tests/engine/sandbox/programs.txt), then hostile ones
(tests/hostile_programs.py): how long the slowest took, and by how much the parent grew.
"""

from __future__ import annotations

import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

TESTS = Path(__file__).parents[1] / "tests"
sys.path.insert(0, str(TESTS))

from hostile_programs import HOSTILE, LIMITS  # noqa: E402

from constraint_first.attempt.drive import storable_program  # noqa: E402
from constraint_first.protocol import Program  # noqa: E402
from constraint_first.sandbox.sandbox import Sandbox  # noqa: E402


def real_programs() -> list[str]:
    text = (TESTS / "engine" / "sandbox" / "programs.txt").read_text("utf-8")
    return [block.partition("#### prints")[0] for block in text.split("#### program\n")[1:]]


def milliseconds(run: Callable[[str], object], sources: list[str], rounds: int = 3) -> list[float]:
    """The best of several rounds for each program: other work only ever adds time."""
    best = [float("inf")] * len(sources)
    for _ in range(rounds):
        for n, source in enumerate(sources):
            start = time.perf_counter()
            run(source)
            best[n] = min(best[n], 1_000 * (time.perf_counter() - start))
    return best


def in_cpython(source: str) -> object:
    return subprocess.run([sys.executable, "-c", source], capture_output=True, check=False)


def main() -> None:
    sources = real_programs()
    with Sandbox(count=1) as sandbox:
        sandbox.run_now(Program("1"))
        ours = milliseconds(lambda source: sandbox.run_now(Program(source)), sources)
        floor = milliseconds(in_cpython, sources)
        print(f"{len(sources)} real programs{'median':>24}{'slowest':>10}  ms")
        for name, times in (("sandbox", ours), ("bare python -c (floor)", floor)):
            print(f"{name:34}{statistics.median(times):10.1f}{max(times):10.1f}")
        print(f"{'ratio of medians':34}{statistics.median(ours) / statistics.median(floor):10.2f}")
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        worst, stopped = ("", 0.0), 0
        for name, (source, _) in HOSTILE.items():
            start = time.perf_counter()
            output = sandbox.run_now(storable_program(Program(source)))
            worst = max(worst, (name, time.perf_counter() - start), key=lambda one: one[1])
            stopped += output.error.startswith(LIMITS)
        grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    print(f"{len(HOSTILE)} hostile programs, {stopped} of them stopped by a limit")
    print(
        f"slowest: {worst[1]:.2f} s ({worst[0]}; 2.5 s asked for); the parent grew {grown:.0f} MB"
    )


if __name__ == "__main__":
    main()
