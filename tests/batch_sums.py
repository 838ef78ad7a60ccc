"""Sums that are asked in batches: a provider that is right, and the command that asks it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from batch_server import Fate, Provider
from loopback import Endpoint, Reply, completion
from sums import number_in, reply_right

from constraint_first.store.query import outcome_rows
from constraint_first.store.store import Store

SEED = 5
METHODS = ("direct", "cfr-brief", "self-consistency(samples=3)")
SPEC = json.dumps({"raw_constraints": [{"id": "C1", "type": "domain", "desc": "an integer"}]})
# A shell that runs the tests in the background has its children ignore interrupts.
LAUNCH = (
    "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
    "from constraint_first.cli import main; main()"
)
# Everything is imported once; each run is a process of its own that was forked from there.
_FORKS = """
import json, os, sys
import constraint_first.cli.eval, constraint_first.cli.eval, constraint_first.answer
import constraint_first.run.run, constraint_first.benchmark
from constraint_first.cli import main
for line in sys.stdin:
    child = os.fork()
    if child == 0:
        sys.argv = ["cfr", *json.loads(line)]
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        try:
            main()
        except SystemExit as end:
            os._exit(end.code or 0)
    print(child, flush=True)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""
Outcome = tuple[Any, ...]


def play_model(body: dict[str, Any]) -> Reply:
    """Reply to a request: constraints where JSON is wanted, else a sum that is mostly right."""
    if "response_format" in body:
        return completion(SPEC)
    if number_in(body) == 3:
        return completion("It is \\boxed{0", finish="length")
    return completion("It is \\boxed{17}.") if number_in(body) == 4 else reply_right(body)


def respond(body: dict[str, Any]) -> tuple[int, Any]:
    return 200, json.loads(play_model(body).body)


def finds_sums(fate: Fate | None = None) -> Provider:
    """Make a provider whose model is mostly right."""
    return Provider(respond, fate) if fate else Provider(respond)


class Launcher:
    """Starts the command again and again, each time as a process that can be killed."""

    def __init__(self, folder: Path) -> None:
        self._parent = subprocess.Popen(
            [sys.executable, "-c", _FORKS],
            cwd=folder,
            text=True,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self.pid = 0
        """That of the process that runs."""

    def __enter__(self) -> Launcher:
        return self

    def __exit__(self, *_: object) -> None:
        self._parent.communicate(timeout=10)

    def run(self, url: str, *more: str) -> int:
        """Run the command and return how it ended."""
        assert self._parent.stdin
        assert self._parent.stdout
        self._parent.stdin.write(json.dumps([*_arguments(url), *more]) + "\n")
        self._parent.stdin.flush()
        self.pid = int(self._parent.stdout.readline())
        return int(self._parent.stdout.readline())


def _arguments(url: str) -> list[str]:
    methods = [part for method in METHODS for part in ("--method", method)]
    options = f"--runs 2 --seed {SEED} --model m --base-url {url}".split()
    return ["eval", "sums.jsonl", *methods, *options]


def start(url: str, folder: Path, *more: str, listened: bool = False) -> subprocess.Popen[bytes]:
    """Start an evaluation of ``sums.jsonl`` in a folder, in a process of its own."""
    return subprocess.Popen(
        [sys.executable, "-c", LAUNCH, *_arguments(url), *more],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE if listened else subprocess.DEVNULL,
    )


def sums_at(endpoint: Endpoint, folder: Path) -> set[Outcome]:
    """Run the same evaluation call by call, and return how each attempt ended."""
    endpoint.respond = play_model
    assert start(endpoint.url, folder, "--store", "ordinary.db").wait(60) == 0
    return outcomes(str(folder / "ordinary.db"))


def outcomes(url: str) -> set[Outcome]:
    """Say of each attempt how it ended, and with how many tokens."""
    names = ("method", "problem", "run", "status", "verdict", "answer")
    tokens = ("input_tokens", "output_tokens")
    with Store(url, existing=True) as store:
        rows = [tuple(row[name] for name in (*names, *tokens)) for row in outcome_rows(store)]
    assert len(rows) == len(set(rows))
    return set(rows)
