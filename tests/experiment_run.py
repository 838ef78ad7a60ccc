"""Experiment files run against a scripted endpoint, on benchmarks that are made here."""

import json
import re
from pathlib import Path
from typing import Any

from loopback import Endpoint, Reply, completion

from constraint_first.benchmark.registry import entries
from constraint_first.model.resolve import ModelRef
from constraint_first.run.grid import Changes, RunOptions, read_experiment
from constraint_first.run.run import aevaluate

EXPERIMENTS = sorted((Path(__file__).parents[1] / "experiments").glob("*.toml"))
PROBLEMS, RUNS = 6, 2


def write_benchmarks(folder: Path) -> Path:
    """Write every public benchmark, whole, with problems of our own: every third has no cue."""
    folder.mkdir(exist_ok=True)
    for entry in entries().values():
        rows = [
            {"id": str(n), "problem": _text(n), "answer": str(n)} for n in range(entry.counts[0])
        ]
        lines = (json.dumps(row) + "\n" for row in rows)
        (folder / entry.file).write_text("".join(lines), encoding="utf-8")
    return folder


def _text(n: int) -> str:
    return f"Compute number {n}." if n % 3 == 2 else f"How many integers does number {n} count?"


async def run_experiment(path: Path, store: Path, endpoint: Endpoint) -> None:
    """Run an experiment file on the first few problems of its benchmarks."""
    endpoint.respond = answer_any_stage
    experiment = read_experiment(path, Changes(runs=RUNS))
    options = RunOptions(store=str(store), limit=PROBLEMS, concurrency=16)
    done = await aevaluate(experiment, model=ModelRef(base_url=endpoint.url), options=options)
    assert done.complete, done.stopped


def answer_any_stage(body: dict[str, Any]) -> Reply:
    """Answer any stage: a router's yes, a list of constraints and a solution are one reply.

    Every third problem takes constraints to be solved. A reply under constraints is longer.
    """
    asked = str(body["messages"])
    found = re.search(r"number (\d+)", asked)
    assert found, asked
    number = int(found[1])
    constrained = "an integer from Stage 1" in asked
    answer = number if constrained or number % 3 else number + 1
    text = json.dumps(
        {
            "restrictive": "yes",
            "raw_constraints": [
                {"id": "C1", "type": "domain", "description": "an integer from Stage 1"}
            ],
            "propagated_constraints": [],
            "answer_format": "integer",
            "final_answer": str(answer),
        }
    )
    used = {"prompt_tokens": len(asked) // 4, "completion_tokens": 900 if constrained else 400}
    return completion(f"{text}\n\\boxed{{{answer}}}", usage=used)
