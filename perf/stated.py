"""Stated constraints beside two floors: the router, and a bare pass over the text in lower case.

python perf/stated.py [FILE.jsonl]      (OlympiadBench under CFR_DATA or ../shared/data)
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

from constraint_first.constraint.router import route
from constraint_first.constraint.stated.read import read_stated
from constraint_first.constraint.stated.reading import plain_text


def microseconds(function: Callable[[str], object], texts: list[str], rounds: int = 9) -> float:
    """CPU time, the best of several rounds: other work on the machine only ever adds to it."""
    best = float("inf")
    for _ in range(rounds):
        start = time.process_time()
        for text in texts:
            function(text)
        best = min(best, time.process_time() - start)
    return best / len(texts) * 1e6


def measure(path: Path) -> None:
    texts = [json.loads(line)["problem"] for line in path.read_text("utf-8").splitlines()]
    average = sum(map(len, texts)) / len(texts)
    print(f"{path.stem}: {len(texts)} problems of {average:.0f} characters on average")
    print(f"{'':34}{'µs a problem':>14}{'ratio':>8}")
    floor = microseconds(route, texts)
    for name, function in (
        ("read_stated", read_stated),
        ("route, all spans (floor)", route),
        ("lower case, no marks (floor)", plain_text),
    ):
        cost = floor if function is route else microseconds(function, texts)
        print(f"{name:34}{cost:14.1f}{cost / floor:7.1f}x")


def main() -> None:
    folder = Path(os.environ.get("CFR_DATA", Path(__file__).parents[2] / "shared" / "data"))
    named = [Path(name) for name in sys.argv[1:]]
    for path in named or [folder / f"{name}.jsonl" for name in ("olympiadbench", "gsm8k")]:
        if path.is_file():
            measure(path)
        else:
            print(f"stated: {path} is not here; set CFR_DATA or name a file")


if __name__ == "__main__":
    main()
