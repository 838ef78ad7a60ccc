"""Kill an evaluation at any moment, again and again: nothing is lost and nothing asked twice."""

import json
import random
import re
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import pytest
import sqlalchemy as sa
from loopback import Endpoint, Reply, completion, failure
from postgres import empty_database
from sqlalchemy.exc import OperationalError, ProgrammingError
from sums import reply_right, write_sums
from worker_crew import WorkerCrew, lives

from constraint_first.store import database as schema
from constraint_first.store.database import AdvisoryLock, open_database
from constraint_first.store.query import outcome_rows
from constraint_first.store.store import Store

PROBLEMS, RUNS, KILLS, CONCURRENCY = 100, 2, 20, 8
ATTEMPTS = PROBLEMS * RUNS * 2
CALLS = PROBLEMS * RUNS * (1 + 2)  # Direct CoT asks once, CFR-brief twice
# An attempt that waits for the disk gives its place at the endpoint to another.
IN_FLIGHT = 2 * CONCURRENCY
SEED = 5
SPEC = json.dumps({"raw_constraints": [{"id": "C1", "type": "domain", "desc": "an integer"}]})
# A shell that runs the tests in the background has its children ignore interrupts.
LAUNCH = (
    "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
    "from constraint_first.cli import main; main()"
)
Asked: TypeAlias = tuple[int, str]
"""A call by its run and by what it says."""


class Model:
    """What stands behind the endpoint: it answers after a while, or does something else instead."""

    def __init__(self, faults: float = 0.0) -> None:
        self.faults = faults
        self.answered: list[Asked] = []
        self._chance = random.Random(11)

    def __call__(self, body: dict[str, Any]) -> Reply:
        reply = self._fault() if self._chance.random() < self.faults else None
        if reply is None:
            self.answered.append(asked(body))
            # Without constraints CFR-brief would go on as Direct CoT, and the two could not be told
            # apart.
            reply = completion(SPEC) if "response_format" in body else reply_right(body)
            if self._chance.random() < self.faults:
                reply = self._odd(reply)
        reply.delay = 0.03
        return reply

    def _fault(self) -> Reply:
        faults = [
            failure(500, "out of order", Retry_After="0"),
            failure(429, "slow down", Retry_After="0"),
            failure(503, "\x1b[31m \0", Retry_After="0"),
            Reply(body='{"choices": [{"mess'),
            Reply(body='{"oops": "\\ud83d", "n": 123456789012345678901234567890}'),
            Reply(chunks=['{"choices": [{"message": '], cut=True),
        ]
        return self._chance.choice(faults)

    def _odd(self, reply: Reply) -> Reply:
        """Say the same with what no database takes."""
        whole = json.loads(reply.body)
        message, odd = whole["choices"][0]["message"], self._chance.choice([2**63, -5, 3 * 10**9])
        text = message["content"]
        content = text if text == SPEC else f"{text} \0 \ud83d"
        return completion(content, usage={"prompt_tokens": odd}, reasoning_content="\ud83d \0")


def arguments(endpoint: Endpoint, store: str) -> list[str]:
    options = f"--runs {RUNS} --seed {SEED} --concurrency {CONCURRENCY} --model m --quiet"
    methods = ("--method", "direct", "--method", "cfr-brief")
    there = ("--base-url", endpoint.url, "--store", store)
    return ["eval", "sums.jsonl", *methods, *there, *options.split()]


def start(
    endpoint: Endpoint, folder: Path, store: str = "runs.db", *, listened: bool = False
) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-c", LAUNCH, *arguments(endpoint, store)],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE if listened else subprocess.DEVNULL,
    )


def asked(body: dict[str, Any]) -> Asked:
    """Name a call by its run, which its seed tells, and by what it says."""
    return (body["seed"] - SEED) // 1_000, body["messages"][-1]["content"]


def stored(url: str) -> set[Asked]:
    database = open_database(url, existing=False)
    try:
        with database.connect() as connection:
            rows = connection.execute(sa.select(schema.calls.c.run, schema.calls.c.messages)).all()
    except (OperationalError, ProgrammingError):  # killed before there were tables
        return set()
    finally:
        database.dispose()
    return {(run, json.loads(messages)[-1]["content"]) for run, messages in rows}


def wait_for_requests(endpoint: Endpoint, count: int, is_running: Callable[[], bool]) -> None:
    while len(endpoint.requests) < count and is_running():
        time.sleep(0.001)


@pytest.fixture(params=["sqlite with faults", "postgresql with faults"])
def model_and_store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[Model, str]]:
    model = Model(0.25)
    if "sqlite" in request.param:
        yield model, str(tmp_path / "runs.db")
        return
    address: str = request.getfixturevalue("postgres")
    wait_until_up(address)
    yield model, address
    empty_database(address)


def run_until_killed(crew: WorkerCrew, endpoint: Endpoint, url: str, n: int) -> None:
    before, chance = len(endpoint.requests), random.Random(n)
    pid = crew.start(arguments(endpoint, url))
    if n % 5 == 4:  # also while it is starting
        time.sleep(chance.uniform(0, 0.2))
    else:
        wait_for_requests(endpoint, before + chance.randint(1, 40), partial(lives, pid))
        time.sleep(chance.uniform(0, 0.05))
    crew.kill(pid)
    if url.startswith("postgresql"):
        wait_until_released(url)


def wait_until_released(url: str) -> None:
    """Wait until PostgreSQL knows that whoever held the store is gone."""
    database = open_database(url, existing=False)
    lock = AdvisoryLock(url, database)
    while lock.is_taken():
        time.sleep(0.001)
    database.dispose()


def wait_until_up(url: str) -> None:
    """Wait until a server has been up for a while: at first, leases of the dead are left alone."""
    database = open_database(url, existing=False)
    up = sa.text("SELECT now() - pg_postmaster_start_time() > interval '10 seconds'")
    with database.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        while not connection.scalar(up):
            time.sleep(0.1)
    database.dispose()


@pytest.mark.parametrize("kills", [3, pytest.param(KILLS, marks=pytest.mark.long)])
def test_killed_at_twenty_moments_every_attempt_is_there_once(
    endpoint: Endpoint, tmp_path: Path, model_and_store: tuple[Model, str], kills: int
) -> None:
    endpoint.respond, url = model, _ = model_and_store
    write_sums(tmp_path / "sums.jsonl", PROBLEMS)
    kept: set[Asked] = set()
    with WorkerCrew(tmp_path) as crew:
        for n in range(kills):
            before, answered = len(endpoint.requests), len(model.answered)
            run_until_killed(crew, endpoint, url, n)
            session = {asked(body) for body in endpoint.requests[before:]}
            assert not kept & session, "what was stored is asked again"
            now = stored(url)
            assert kept <= now
            assert len(model.answered) - answered - len(now - kept) <= IN_FLIGHT
            kept = now
    assert 0 < len(kept) < CALLS, "the kills were all too early or too late"
    model.faults, before = 0.0, len(endpoint.requests)
    assert start(endpoint, tmp_path, url).wait(60) == 0
    assert not kept & {asked(body) for body in endpoint.requests[before:]}
    assert stored(url) == {asked(body) for body in endpoint.requests}
    assert CALLS <= len(model.answered) <= CALLS + kills * IN_FLIGHT
    _every_attempt_once(url)


def _every_attempt_once(url: str) -> None:
    with Store(url, existing=True) as store:
        attempts = [
            (row["method"], row["problem"], row["run"], row["status"], row["verdict"])
            for row in outcome_rows(store)
        ]
        calls = store.read(sa.select(sa.func.count()).select_from(schema.calls))
    assert len(attempts) == len({row[:3] for row in attempts}) == ATTEMPTS
    assert {row[3:] for row in attempts} == {("ok", "correct")}
    assert [tuple(row) for row in calls] == [(CALLS,)]


def test_an_interrupt_stops_cleanly(endpoint: Endpoint, tmp_path: Path) -> None:
    endpoint.respond = Model()
    write_sums(tmp_path / "sums.jsonl", 20)
    url = str(tmp_path / "runs.db")
    process = start(endpoint, tmp_path, listened=True)
    wait_for_requests(endpoint, 30, lambda: process.poll() is None)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=30)
    assert process.returncode == 130
    line = said.decode().strip()
    found = re.fullmatch(
        r"cfr: stopped; (\d+) of 80 attempts are stored in \S*runs\.db, with all calls that have "
        r"ended; (\d+) in flight are lost; to go on: (cfr eval sums.jsonl .*)",
        line,
    )
    assert found, line
    with Store(url, existing=True) as store:
        assert int(found[1]) == sum(1 for _ in outcome_rows(store))
    assert 1 <= int(found[2]) <= CONCURRENCY
    assert shlex.split(found[3])[2:] == process.args[4:]  # pyright: ignore[reportIndexIssue]
    kept, before = stored(url), len(endpoint.requests)
    assert kept
    assert start(endpoint, tmp_path).wait(60) == 0
    assert not kept & {asked(body) for body in endpoint.requests[before:]}
    assert len(stored(url)) == 20 * RUNS * 3
