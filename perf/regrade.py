"""Verdicts of docs/results that the present grader gives otherwise: each with answer and gold.

    .venv/bin/python perf/regrade.py [FILE ...] [--data DIR]

Most files hold answers and no replies; where a reply is there, the answer is read out of it anew.
Benchmarks whose problems are not in the data folder are named and left out.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import sys
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from constraint_first.answer.grade import GradingCase, grade_each
from constraint_first.benchmark.registry import load
from constraint_first.error import CfrError

RESULTS = Path(__file__).parent.parent / "docs" / "results"
DATA = Path(__file__).parents[2] / "shared" / "data"


@cache
def problems(benchmark: str) -> dict[str, tuple[str, str]]:
    """The text and the gold of every problem of a benchmark; none where it is not at hand."""
    own = RESULTS / "problems" / f"{benchmark}.jsonl"
    try:
        found = load(str(own) if own.is_file() else benchmark).problems
    except CfrError as error:
        print(f"{benchmark} is left out: {error}", file=sys.stderr)
        return {}
    return {problem.id: (problem.text, problem.answer) for problem in found if problem.answer}


def attempts(path: Path) -> Iterator[dict[str, Any]]:
    """The graded attempts of a file."""
    with gzip.open(path, "rt") if path.suffix == ".gz" else path.open(encoding="utf-8") as lines:
        yield from (row for row in map(json.loads, lines) if "answer" in row)


def case(row: dict[str, Any]) -> GradingCase | None:
    """What is judged anew: the answer of the reply where it is there, else the stored answer."""
    known = problems(row["benchmark"]).get(row["problem"])
    text, gold = known or (row.get("problem_text", ""), row.get("gold"))
    if gold is None:
        return None
    if row.get("text"):
        return GradingCase.from_reply(
            row["text"], gold, text, truncated=row["status"] == "truncated"
        )
    return GradingCase.from_reply(row["answer"], gold, text)


def was_correct(row: dict[str, Any]) -> bool:
    return bool(row["correct"] if "correct" in row else row["verdict"] == "correct")


def regrade(path: Path) -> None:
    """Print what changes in one file, equal changes once with their count."""
    judged = [(row, one) for row in attempts(path) if (one := case(row)) is not None]
    changes: Counter[tuple[str, ...]] = Counter()
    for (row, one), verdict in zip(judged, grade_each(one for _, one in judged), strict=True):
        before, now = was_correct(row), verdict.correct
        answers = (str(row["answer"]), str(one.answer))
        if before != now or (row.get("text") and answers[0] != answers[1]):
            words = ["correct" if right else "incorrect" for right in (before, now)]
            changes[row["benchmark"], row["problem"], *words, *answers, one.gold] += 1
    print(f"{path.name}: {len(judged)} attempts judged anew, {changes.total()} otherwise")
    for (benchmark, problem, before, now, stored, answer, gold), count in sorted(changes.items()):
        read = "" if stored == answer else f" now read {answer!r},"
        print(f"  {benchmark} {problem} x{count}: {before} -> {now}:", end=" ")
        print(f"{stored!r},{read} gold {gold!r}")


def main() -> None:
    """Regrade the files that were named, or all."""
    parser = argparse.ArgumentParser()
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--data", type=Path, default=DATA)
    options = parser.parse_args()
    os.environ.setdefault("CFR_DATA", str(options.data))
    every = sorted(path for path in RESULTS.glob("*.jsonl*") if "labels" not in path.name)
    for path in options.files or every:
        regrade(path)


if __name__ == "__main__":
    main()
