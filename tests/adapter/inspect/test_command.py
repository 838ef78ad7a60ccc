"""The command line of Inspect gives the verdicts of ``cfr eval`` on the same replies."""

import json
import re
import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from inspecting import Installed, chat, NEEDS_INSPECT
from loopback import Endpoint, Reply

from cfr.benchmark import load

pytestmark = NEEDS_INSPECT
BENCHMARK = "constraintbench-mini"
PROBLEMS = load(BENCHMARK).problems
METHODS = ("direct", "routed-cfr")


def respond(body: dict[str, Any]) -> Reply:
    """Reply by what is asked alone: right, wrong, cut off, without an answer, in other notation."""
    prompt = str(body["messages"][-1]["content"])
    number = next(n for n, one in enumerate(PROBLEMS) if one.text in prompt)
    gold = PROBLEMS[number].answer
    if "response_format" in body:
        constraint = {"id": "C1", "type": "domain", "description": "the answer is an integer"}
        spec = {"problem_summary": "a problem", "raw_constraints": [constraint]}
        return chat(json.dumps(spec) if number % 3 else '{"problem_summary": "cut', "stop")
    kinds = (
        chat(f"So it is \\boxed{{{gold}}}."),
        chat("So it is \\boxed{-123456}."),
        chat("First we consider all the cases, of which", "length"),
        chat("I do not see how to do this."),
        chat(f"The final answer is $\\frac{{2 \\cdot ({gold})}}{{2}}$."),
        chat("", "length"),
        chat(None, "content_filter"),
    )
    return kinds[number % len(kinds)]


def evaluate(method: str, endpoint: Endpoint, folder: Path) -> dict[str, Any]:
    """Run ``cfr eval`` and read the verdicts and answers out of its store."""
    store = folder / f"{method}.db"
    words = ["eval", BENCHMARK, "--method", method, "--runs", "1", "--store", str(store)]
    model = ["--model", "test-model", "--base-url", endpoint.url]
    subprocess.run([sys.executable, "-m", "cfr", *words, *model], check=True, capture_output=True)
    with sqlite3.connect(store) as database:
        rows = database.execute(
            "SELECT p.name, a.verdict, a.answer FROM attempts a JOIN problems p ON a.problem = p.id"
        )
        return {name: (verdict, answer) for name, verdict, answer in rows}


def inspect(method: str, installed: Installed, endpoint: Endpoint, folder: Path) -> dict[str, Any]:
    """Run ``inspect eval`` and read the same out of its log."""
    from inspect_ai.log import read_eval_log

    own = folder / method
    own.mkdir()
    words = ["eval", f"cfr/{BENCHMARK}", "--solver", f"cfr/{method}"]
    ran = installed.run(words, endpoint, own)
    assert ran.returncode == 0, ran.stderr
    (log,) = (own / "logs").glob("*.eval")
    samples = read_eval_log(str(log)).samples or []
    scored = {one.id: (one.scores or {})["grade"] for one in samples}
    return {
        str(name): ((one.metadata or {})["verdict"], one.answer) for name, one in scored.items()
    }


def test_verdicts_are_those_of_cfr_eval(
    installed: Installed, endpoint: Endpoint, tmp_path: Path
) -> None:
    endpoint.respond = respond
    with ThreadPoolExecutor(2) as threads:
        theirs = dict(
            zip(
                METHODS,
                threads.map(lambda one: inspect(one, installed, endpoint, tmp_path), METHODS),
                strict=True,
            )
        )
    for method in METHODS:
        ours = evaluate(method, endpoint, tmp_path)
        assert len(ours) == len(PROBLEMS)
        assert {verdict for verdict, _ in ours.values()} == {"correct", "incorrect"}
        assert theirs[method] == ours
