"""How often each rule of the stated reader fires, and is broken by the gold answer.

CFR_DATA=FOLDER python perf/readings.py      (../shared/data where it is not set)
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from constraint_first.benchmark.registry import load
from constraint_first.constraint.stated.read import RULES, read_by_rule
from constraint_first.constraint.stated.reading import LONGEST
from constraint_first.constraint.stated.statement import check_stated


def rows(paths: Iterable[Path]) -> Iterator[tuple[str, str]]:
    """Texts with their gold answers; requests without an answer are left out."""
    for path in sorted(paths):
        for row in map(json.loads, path.read_text("utf-8").splitlines()):
            if row.get("answer") is not None:
                yield row["problem"], str(row["answer"])


def shipped(name: str) -> Iterator[tuple[str, str]]:
    return ((one.text, one.answer or "") for one in load(name).problems)


def count(problems: Iterable[tuple[str, str]]) -> tuple[int, Counter[str], Counter[str]]:
    """Count the problems, those on which a rule fires, and those on which it is broken."""
    total, fired, broken = 0, Counter[str](), Counter[str]()
    for text, gold in problems:
        total += 1
        found = [*read_by_rule(text)] if len(text) <= LONGEST else []
        fired.update({rule for rule, _ in found})
        truths = check_stated((one for _, one in found), gold)
        pairs = zip(found, truths, strict=True)
        broken.update({rule for (rule, _), (_, truth) in pairs if truth == "violated"})
    return total, fired, broken


def main() -> None:
    folder = Path(os.environ.get("CFR_DATA") or Path(__file__).parents[2] / "shared" / "data")
    counted = {
        "public": count(rows(folder.glob("*.jsonl"))),
        "panel": count(rows((folder / "panel").glob("*.jsonl"))),
        "ConstraintBench 1": count(shipped("constraintbench@1")),
        "ConstraintBench 2": count(shipped("constraintbench")),
    }
    print("Problems on which a rule fires / is broken by the gold answer.\n")
    print("| rule |", " | ".join(f"{name} ({one[0]:,})" for name, one in counted.items()), "|")
    print("| --- |", " ".join("--: |" for _ in counted))
    for rule in (rule.__name__ for rule, _ in RULES):
        cells = (f"{fired[rule]} / {broken[rule]}" for _, fired, broken in counted.values())
        print(f"| `{rule}` |", " | ".join(cells), "|")


if __name__ == "__main__":
    main()
