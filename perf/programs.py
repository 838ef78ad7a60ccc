"""The sandbox beside plain Monty and beside a bare CPython process for every program (the floor).

python perf/programs.py

Ordinary programs (tests/engine/sandbox/programs.txt), programs that compute with sympy, then
hostile ones (tests/hostile_programs.py): how long each took, and what memory.
"""

from __future__ import annotations

import os
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

TESTS = Path(__file__).parents[1] / "tests"
sys.path.insert(0, str(TESTS))

from hostile_programs import HOSTILE  # noqa: E402

from constraint_first.attempt.drive import storable_program  # noqa: E402
from constraint_first.protocol import Program  # noqa: E402
from constraint_first.sandbox import snapshot  # noqa: E402
from constraint_first.sandbox.sandbox import Interpreter, Sandbox  # noqa: E402

INTERPRETERS: tuple[Interpreter, ...] = ("cpython", "monty")
ROUNDS = 3


def programs(name: str) -> list[str]:
    text = (TESTS / "engine" / "sandbox" / name).read_text("utf-8")
    return [block.partition("#### prints")[0] for block in text.split("#### program\n")[1:]]


def milliseconds(run: Callable[[str], object], sources: list[str]) -> list[float]:
    """The best of several rounds for each program: other work only ever adds time."""
    best = [float("inf")] * len(sources)
    for _ in range(ROUNDS):
        for n, source in enumerate(sources):
            start = time.perf_counter()
            run(source)
            best[n] = min(best[n], 1_000 * (time.perf_counter() - start))
    return best


def in_cpython(source: str) -> bool:
    ran = subprocess.run([sys.executable, "-c", source], capture_output=True, check=False)
    return ran.returncode == 0


def row(name: str, times: list[float], ended: int) -> None:
    shown = f"{statistics.median(times):10.1f}{max(times):10.1f}{ended:12}"
    print(f"{name:34}{shown}", flush=True)


def ordinary(name: str, sandboxes: dict[Interpreter, Sandbox]) -> None:
    sources = programs(name)
    print(f"\n{len(sources):3} of {name:27}{'median':>10}{'slowest':>10}{'ran to end':>12}  ms")
    for interpreter, sandbox in sandboxes.items():

        def run(source: str, sandbox: Sandbox = sandbox) -> bool:
            return not sandbox.run_now(Program(source)).error

        ended = sum(map(run, sources))
        row(f"sandbox: {interpreter}", milliseconds(run, sources), ended)
    row("bare python -c (floor)", milliseconds(in_cpython, sources), sum(map(in_cpython, sources)))


def hostile(interpreter: Interpreter, sandbox: Sandbox) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    times: dict[str, float] = {}
    for name, (source, _) in HOSTILE.items():
        start = time.perf_counter()
        sandbox.run_now(storable_program(Program(source)))
        times[name] = time.perf_counter() - start
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    slowest = max(times, key=times.__getitem__)
    limit = sandbox.limits.seconds
    print(f"{interpreter}: {len(HOSTILE)} hostile programs, the parent grew {grown:.0f} MB")
    print(f"slowest: {times[slowest]:.2f} s ({slowest}; the limit is {limit:g} s)", flush=True)


def below() -> list[int]:
    """The processes that this one and its children have started."""
    parents = {
        int(path.parent.name): int(path.read_text().rpartition(")")[2].split()[1])
        for path in Path("/proc").glob("[0-9]*/stat")
    }
    found = [os.getpid()]
    for one in found:
        found += [process for process, parent in parents.items() if parent == one]
    return found[1:]


def megabytes(processes: list[int], field: str) -> float:
    texts = [Path(f"/proc/{one}/status").read_text() for one in processes]
    return (
        sum(int(found) for text in texts for found in re.findall(rf"{field}:\s+(\d+)", text)) / 1e3
    )


def memory(interpreter: Interpreter) -> None:
    with Sandbox(count=1, interpreter=interpreter) as sandbox:
        for source in programs("programs.txt"):
            sandbox.run_now(Program(source))
        now, most = (megabytes(below(), field) for field in ("VmRSS", "VmHWM"))
    print(
        f"{interpreter}: a worker after all ordinary programs {now:.0f} MB, at most {most:.0f} MB"
    )


def making() -> None:
    with tempfile.TemporaryDirectory() as folder:
        os.environ["CFR_CACHE"] = folder
        start, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
        size = snapshot.prepare().stat().st_size / 1e6
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        everything = (
            sum(one.stat().st_size for one in Path(folder).rglob("*") if one.is_file()) / 1e6
        )
        seconds = time.perf_counter() - start
        del os.environ["CFR_CACHE"]
    print(f"snapshot: {size:.0f} MB ({everything:.0f} MB with the interpreter)")
    print(f"made in {seconds:.0f} s ({cpu:.0f} s of processor time)", flush=True)


def main() -> None:
    making()
    for interpreter in INTERPRETERS:
        memory(interpreter)
    sandboxes = {one: Sandbox(count=1, interpreter=one) for one in INTERPRETERS}
    for name in ("programs.txt", "sympy_programs.txt"):
        ordinary(name, sandboxes)
    print()
    for interpreter, sandbox in sandboxes.items():
        hostile(interpreter, sandbox)
        sandbox.close()


if __name__ == "__main__":
    main()
