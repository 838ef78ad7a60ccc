"""A report of 100,000 attempts: seconds and peak memory, beside reading every verdict once.

python perf/report.py [STORE]      (keeps the store it makes, if one is named, for the next time)
"""

from __future__ import annotations

import json
import multiprocessing
import random
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

PROBLEMS, RUNS = 5_000, 4
METHODS = ("direct", "list-first", "plan-and-solve", "cfr", "routed-cfr")
TEXT = "We proceed step by step: $x^2 + 1 = \\frac{a}{b}$, so the remainder is taken. " * 25
PROCESSES = multiprocessing.get_context("spawn")


def fill(path: str) -> None:
    """Put 100,000 attempts into a store, with texts, constraints and calls as real ones have."""
    from constraint_first.problem import Problem
    from constraint_first.store import database as schema
    from constraint_first.store.series import Series
    from constraint_first.store.store import Store

    problems = tuple(
        Problem(f"Find the remainder when {n} + 1 is divided by 97.", f"p{n}", str((n + 1) % 97))
        for n in range(PROBLEMS)
    )
    draw = random.Random(1)  # noqa: S311
    with Store(path) as store:
        for skill, method in enumerate(METHODS):
            known = store.register(Series("sums", method, "m"), problems)
            attempts, calls = [], []
            for number in known.problems.values():
                for run in range(RUNS):
                    key = {"series": known.series, "problem": number, "run": run}
                    attempts.append(key | attempt(draw, method, 0.4 + 0.05 * skill))
                    calls += [key | call(n, method) for n in range(2 if "cfr" in method else 1)]
            with store.database.begin() as connection:
                connection.execute(schema.attempts.insert(), attempts)
                connection.execute(schema.calls.insert(), calls)


def attempt(draw: random.Random, method: str, skill: float) -> dict[str, Any]:
    right = draw.random() < skill
    details: dict[str, Any] = {}
    if "cfr" in method:
        kinds = draw.sample(["domain", "modular", "bound", "format"], 2)
        raw = [{"id": f"C{n}", "type": k, "description": TEXT[:80]} for n, k in enumerate(kinds)]
        details = {"rung": "parsed", "routed": True, "constraints": {"raw_constraints": raw}}
    return {
        "status": "ok",
        "verdict": "correct" if right else "incorrect",
        "tier": "exact",
        "answer": "4" if right else str(draw.randrange(200)),
        "error": None,
        "details": json.dumps(details),
        "text": TEXT,
        "seconds": 1.0,
        "finished_at": 1.7e9,
    } | tokens()


def call(ordinal: int, method: str) -> dict[str, Any]:
    return {
        "ordinal": ordinal,
        "stage": f"stage{ordinal + 1}" if "cfr" in method else "solve",
        "digest": "0" * 64,
        "messages": json.dumps([{"role": "user", "content": TEXT[:600]}]),
        "max_tokens": 32_768,
        "text": TEXT,
        "reasoning": "",
        "finish": "stop",
        "reported": True,
        "seconds": 1.0,
    } | tokens()


def tokens() -> dict[str, int]:
    names = ("input_tokens", "output_tokens", "reasoning_tokens", "cached_tokens")
    return dict(zip(names, (300, 900, 0, 0), strict=True))


def verdicts(path: str) -> None:
    """The floor: what any report has to read."""
    from constraint_first.store import query as record
    from constraint_first.store.store import Store

    with Store(path) as store:
        assert sum(1 for _ in record.outcome_rows(store)) == PROBLEMS * RUNS * len(METHODS)


def report(path: str) -> None:
    from constraint_first.report.exhibit.exhibit import ReportOptions
    from constraint_first.report.reader import open_study
    from constraint_first.report.report import assemble, write

    with tempfile.TemporaryDirectory() as folder:
        write(assemble(open_study(path), ReportOptions()), Path(folder))


def measured(function: Callable[[str], None], path: str, results: Any) -> None:
    start = time.perf_counter()
    function(path)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    results.put((time.perf_counter() - start, memory))


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = sys.argv[1] if len(sys.argv) > 1 else f"{folder}/runs.db"
        if not Path(path).exists():
            fill(path)
        megabytes = Path(path).stat().st_size / 1e6
        print(f"{PROBLEMS * RUNS * len(METHODS):,} attempts, {megabytes:.0f} MB")
        print(f"{'':30}{'seconds':>10}{'peak MB':>10}")
        for name, function in (("every outcome read (floor)", verdicts), ("cfr report", report)):
            results: Any = PROCESSES.Queue()
            process = PROCESSES.Process(target=measured, args=(function, path, results))
            process.start()
            seconds, memory = results.get()
            process.join()
            print(f"{name:30}{seconds:10.1f}{memory:10.0f}")


if __name__ == "__main__":
    main()
