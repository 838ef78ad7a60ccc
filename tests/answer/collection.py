"""The project's own collection of answers to grade and replies to read."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path

from constraint_first.answer.grade import grade
from constraint_first.answer.value import plain_words
from constraint_first.benchmark.registry import entries

HERE = Path(__file__).parent
RESULTS = HERE.parents[1] / "docs" / "results" / "constraintbench-mini.jsonl"
DATA = Path(os.environ.get("CFR_DATA", HERE.parents[2] / "shared" / "data"))


@dataclass(frozen=True)
class GradeCase:
    pred: str
    gold: str
    verdict: str
    tag: str
    split: str


@dataclass(frozen=True)
class ReadCase:
    text: str
    answer: str | None
    tag: str
    split: str


def grade_cases(name: str = "cases.jsonl") -> list[GradeCase]:
    lines = (HERE / name).read_text(encoding="utf-8").splitlines()
    return [GradeCase(**json.loads(line)) for line in lines]


def read_cases(name: str = "replies.jsonl") -> list[ReadCase]:
    lines = (HERE / name).read_text(encoding="utf-8").splitlines()
    return [ReadCase(**json.loads(line)) for line in lines]


def same_reading(answer: str | None, expected: str | None) -> bool:
    """Whether an extracted answer says what a reader takes the reply to say."""
    if answer is None or expected is None:
        return answer is expected
    return plain_words(answer) == plain_words(expected) or grade(answer, expected).correct


def measured_replies() -> list[dict[str, str]]:
    """The replies of a small model to ConstraintBench-mini, with gold answers and verdicts."""
    rows = map(json.loads, RESULTS.read_text(encoding="utf-8").splitlines())
    return [row for row in rows if row["status"] == "ok"]


def benchmark_answers() -> list[str]:
    """The gold answers of the benchmark files, where they are there; they stay outside."""
    paths = (DATA / entry.file for entry in entries().values())
    lines = (
        line
        for path in paths
        if path.is_file()
        for line in path.read_text(encoding="utf-8").splitlines()
    )
    return sorted({row["answer"] for row in map(json.loads, lines) if "answer" in row})
