"""The command line of Inspect gives the verdicts of ``cfr eval`` on the same replies."""

import itertools
import json
import re
import shlex
import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from inspecting import NEEDS_INSPECT, REPOSITORY, Installed, chat, run_task
from loopback import Endpoint, Reply

from constraint_first.benchmark.registry import load

pytestmark = NEEDS_INSPECT
BENCHMARK = "constraintbench-mini"
PROBLEMS = load(BENCHMARK).problems
PAGE = (REPOSITORY / "docs" / "inspect.md").read_text()


def respond(body: dict[str, Any]) -> Reply:
    """Reply by what is asked alone: right, wrong, cut off, without an answer, in other notation."""
    prompt = str(body["messages"][-1]["content"])
    number = next(n for n, one in enumerate(PROBLEMS) if one.text in prompt)
    gold = PROBLEMS[number].answer
    if "response_format" in body and "final_answer" not in prompt:  # Stage 1
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
    subprocess.run(
        [sys.executable, "-m", "constraint_first", *words, *model], check=True, capture_output=True
    )
    with closing(sqlite3.connect(store)) as database:
        rows = database.execute(
            "SELECT p.name, a.verdict, a.answer FROM attempts a JOIN problems p ON a.problem = p.id"
        )
        return {name: (verdict, answer) for name, verdict, answer in rows}


def commands(page: str) -> list[list[str]]:
    """Find the command lines of Inspect on the page; the model is the one on loopback."""
    found = re.findall(r"^inspect (eval .*)$", page, re.M)
    return [shlex.split(re.sub(r" --model \S+", "", one)) for one in found]


def write_homework(folder: Path) -> None:
    (folder / "homework.csv").write_text("problem,answer\nWhat is 1+1?,2\nWhat is 1+2?,3\n")
    (code,) = re.findall(r"```py\n(.*?)```", PAGE, re.S)
    (folder / "homework.py").write_text(code)


def inspect(
    words: list[str], installed: Installed, endpoint: Endpoint, folder: Path
) -> tuple[str, Any]:
    """Run Inspect in a folder of its own, and return what it printed and its log."""
    from inspect_ai.log import read_eval_log

    folder.mkdir()
    write_homework(folder)
    ran = installed.run(words, endpoint, folder)
    assert ran.returncode == 0, ran.stderr
    (log,) = (folder / "logs").glob("*.eval")
    return ran.stdout, read_eval_log(str(log))


def test_verdicts_are_those_of_cfr_eval(
    installed: Installed, endpoint: Endpoint, tmp_path: Path
) -> None:
    endpoint.respond = respond
    shown = [one for one in commands(PAGE) if one[1] == f"cfr/{BENCHMARK}"]
    methods = [one[one.index("--solver") + 1].removeprefix("cfr/") for one in shown]
    assert methods == ["routed-cfr", "direct"]
    with ThreadPoolExecutor(2) as threads:
        folders = [tmp_path / method for method in methods]
        several = itertools.repeat(installed), itertools.repeat(endpoint)
        ran = threads.map(inspect, shown, *several, folders)
        theirs = dict(zip(methods, ran, strict=True))
    for method, (_, log) in theirs.items():
        ours = evaluate(method, endpoint, tmp_path)
        assert len(ours) == len(PROBLEMS)
        assert {verdict for verdict, _ in ours.values()} == {"correct", "incorrect"}
        scores = {one.id: one.scores["grade"] for one in log.samples}
        assert {
            name: (score.metadata["verdict"], score.answer) for name, score in scores.items()
        } == ours
    printed = [line.rstrip() for line in theirs["routed-cfr"][0].splitlines()]
    for line in re.findall(r"```text\n(.*?)```", PAGE, re.S)[0].splitlines():
        assert line in printed


@pytest.mark.long
def test_the_other_commands_of_the_page_run(
    installed: Installed, endpoint: Endpoint, tmp_path: Path
) -> None:
    endpoint.script(chat("\\boxed{2}"))
    (shown,) = [one for one in commands(PAGE) if one[1] != f"cfr/{BENCHMARK}"]
    _, log = inspect(shown, installed, endpoint, tmp_path / "file")
    assert log.status == "success"
    assert log.eval.solver_args == {"samples": 3, "check": False}
    assert [(one.epoch, one.scores["grade"].value) for one in log.samples] == [
        *((1, "C"), (1, "I")),
        *((2, "C"), (2, "I")),
    ]
    assert log.samples[0].store["cfr"]["method"] == "vote(samples=3,check=off)"


def test_the_task_of_the_page_runs(
    endpoint: Endpoint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    endpoint.script(chat("\\boxed{2}"))
    monkeypatch.chdir(tmp_path)
    write_homework(tmp_path)
    log = run_task("homework.py", endpoint)
    assert [one.scores["grade"].value for one in log.samples] == ["C", "I"]
    assert "cfr" not in log.samples[0].store
    log = run_task("homework.py", endpoint, task_args={"method_name": "direct"})
    assert [one.scores["grade"].value for one in log.samples] == ["C", "I"]
    assert log.samples[0].store["cfr"]["method"] == "direct"


@pytest.mark.long
def test_a_method_that_does_not_exist_is_refused_in_a_line(
    installed: Installed, endpoint: Endpoint, tmp_path: Path
) -> None:
    words = ["eval", f"cfr/{BENCHMARK}", "--solver", "cfr/method", "-S", "name=direkt"]
    ran = installed.run(words, endpoint, tmp_path)
    assert ran.returncode == 1
    assert "method 'direkt': not known; did you mean 'direct'?" in ran.stdout
    assert "Traceback" not in ran.stdout + ran.stderr
    assert endpoint.requests == []
