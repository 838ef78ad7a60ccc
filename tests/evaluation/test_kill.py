"""Kill an evaluation at any moment, again and again: nothing is lost and nothing asked twice."""

import json
import random
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from loopback import Endpoint, Reply, completion
from sums import reply_right, write_sums

PROBLEMS, RUNS, KILLS, CONCURRENCY = 100, 2, 20, 8
ATTEMPTS = PROBLEMS * RUNS * 2
CALLS = PROBLEMS * RUNS * (1 + 2)  # Direct CoT asks once, CFR twice
# An attempt that waits for the disk gives its place at the endpoint to another.
IN_FLIGHT = 2 * CONCURRENCY
SEED = 5
SPEC = json.dumps({"raw_constraints": [{"id": "C1", "type": "domain", "desc": "an integer"}]})
# A shell that runs the tests in the background has its children ignore interrupts.
LAUNCH = (
    "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
    "from cfr.cli import main; main()"
)


def after_a_while(body: dict[str, Any]) -> Reply:
    # Without constraints CFR would go on as Direct CoT, and their calls could not be told apart.
    reply = completion(SPEC) if "response_format" in body else reply_right(body)
    reply.delay = 0.03
    return reply


def start(endpoint: Endpoint, folder: Path, *, listened: bool = False) -> subprocess.Popen[bytes]:
    options = f"--runs {RUNS} --seed {SEED} --concurrency {CONCURRENCY} --model m --quiet"
    return subprocess.Popen(
        [
            *(sys.executable, "-c", LAUNCH, "eval", "sums.jsonl", "--method", "direct"),
            *("--method", "cfr", "--base-url", endpoint.url, *options.split()),
        ],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE if listened else subprocess.DEVNULL,
    )


def kill(process: subprocess.Popen[bytes]) -> None:
    process.send_signal(signal.SIGKILL)
    process.wait(30)


def asked(body: dict[str, Any]) -> tuple[int, str]:
    """Name a call by its run, which its seed tells, and by what it says."""
    return (body["seed"] - SEED) // 1_000, body["messages"][-1]["content"]


def stored(folder: Path) -> set[tuple[int, str]]:
    if not (folder / "runs.db").exists():
        return set()
    with sqlite3.connect(folder / "runs.db") as database:
        try:
            rows = database.execute("SELECT run, messages FROM calls").fetchall()
        except sqlite3.OperationalError:  # killed before there were tables
            rows = []
    database.close()
    return {(run, json.loads(messages)[-1]["content"]) for run, messages in rows}


def wait_for_requests(endpoint: Endpoint, count: int, process: subprocess.Popen[bytes]) -> None:
    while len(endpoint.requests) < count and process.poll() is None:
        time.sleep(0.001)


@pytest.mark.slow
def test_killed_at_twenty_moments_every_attempt_is_there_once(
    endpoint: Endpoint, tmp_path: Path
) -> None:
    endpoint.respond = after_a_while
    write_sums(tmp_path / "sums.jsonl", PROBLEMS)
    chance = random.Random(20)
    kept: set[tuple[int, str]] = set()
    for n in range(KILLS):
        before = len(endpoint.requests)
        process = start(endpoint, tmp_path)
        if n % 5 == 4:  # also while it is starting
            time.sleep(chance.uniform(0, 0.5))
        else:
            wait_for_requests(endpoint, before + chance.randint(1, 40), process)
            time.sleep(chance.uniform(0, 0.05))
        kill(process)
        session = [asked(body) for body in endpoint.requests[before:]]
        assert not kept & set(session), "what was stored is asked again"
        now = stored(tmp_path)
        assert kept <= now
        assert len(session) - len(now - kept) <= IN_FLIGHT
        kept = now
    assert 0 < len(kept) < CALLS, "the kills were all too early or too late"
    before = len(endpoint.requests)
    assert start(endpoint, tmp_path).wait(60) == 0
    assert not kept & {asked(body) for body in endpoint.requests[before:]}
    assert stored(tmp_path) == {asked(body) for body in endpoint.requests}
    assert CALLS <= len(endpoint.requests) <= CALLS + KILLS * IN_FLIGHT
    _every_attempt_once(tmp_path / "runs.db")


def _every_attempt_once(path: Path) -> None:
    with sqlite3.connect(path) as database:
        attempts = database.execute("SELECT series, problem, run, status FROM attempts").fetchall()
        calls = database.execute("SELECT count(*) FROM calls").fetchone()
    database.close()
    assert len(attempts) == len({row[:3] for row in attempts}) == ATTEMPTS
    assert {status for *_, status in attempts} == {"ok"}
    assert calls == (CALLS,)


def test_an_interrupt_stops_cleanly_and_the_same_command_goes_on(
    endpoint: Endpoint, tmp_path: Path
) -> None:
    endpoint.respond = after_a_while
    write_sums(tmp_path / "sums.jsonl", 20)
    process = start(endpoint, tmp_path, listened=True)
    wait_for_requests(endpoint, 30, process)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=30)
    assert process.returncode == 130
    assert said.decode().strip() == "cfr: stopped"
    kept, before = stored(tmp_path), len(endpoint.requests)
    assert kept
    assert start(endpoint, tmp_path).wait(60) == 0
    assert not kept & {asked(body) for body in endpoint.requests[before:]}
    assert len(stored(tmp_path)) == 20 * RUNS * 3
