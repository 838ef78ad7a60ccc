"""The router beside what it replaces: seven plain scans, and seven scans that stop at a match.

python perf/router.py [FILE.jsonl]      (OlympiadBench under CFR_DATA or ../shared/data)
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

from constraint_first.constraint.router import PROFILES, route

PATTERNS = PROFILES["reconstructed"]


def all_spans_by_scanning(text: str) -> object:
    return [[match.span() for match in p.regex.finditer(text)] for p in PATTERNS]


def families_by_scanning(text: str) -> object:
    return [p.family for p in PATTERNS if p.regex.search(text)]


def microseconds(function: Callable[[str], object], texts: list[str], rounds: int = 15) -> float:
    """The best of several rounds: other work on the machine only ever adds time."""
    best = float("inf")
    for _ in range(rounds):
        start = time.perf_counter()
        for text in texts:
            function(text)
        best = min(best, time.perf_counter() - start)
    return best / len(texts) * 1e6


def main() -> None:
    folder = Path(os.environ.get("CFR_DATA", Path(__file__).parents[2] / "shared" / "data"))
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else folder / "olympiadbench.jsonl"
    if not path.is_file():
        print(f"router: {path} is not here; set CFR_DATA or name a file")
        return
    texts = [json.loads(line)["problem"] for line in path.read_text("utf-8").splitlines()]
    routes = microseconds(route, texts)
    print(f"{len(texts)} problems of {sum(map(len, texts)) / len(texts):.0f} characters on average")
    print(f"{'':34}{'µs a problem':>14}{'ratio':>8}")
    for name, function in (
        ("route: all families, all spans", route),
        ("seven searches, families only", families_by_scanning),
        ("seven scans, all spans", all_spans_by_scanning),
    ):
        cost = routes if function is route else microseconds(function, texts)
        print(f"{name:34}{cost:14.1f}{cost / routes:7.1f}x")


if __name__ == "__main__":
    main()
