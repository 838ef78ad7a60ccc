"""Workers on one PostgreSQL that are killed at any moment, with clocks of their own."""

import os
import random
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from loopback import Endpoint, Reply, completion
from postgres import Postgres
from sums import number_in, write_sums

from cfr.evaluation import schema
from cfr.evaluation.record import outcome_rows
from cfr.evaluation.store import Store

from .test_kill import Model, kill

PROBLEMS, RUNS, CONCURRENCY, KILLS = 30, 2, 4, 6
METHODS = ("cfr", "until-agreed(base=program,most=3)", "self-consistency(base=cfr,samples=2)")
ATTEMPTS = PROBLEMS * RUNS * len(METHODS)
# An attempt that waits for the disk gives its place at the endpoint to another.
IN_FLIGHT = 2 * CONCURRENCY
LEASE = 2.0
SMALL, LARGE = 60_000, 20_000_000
# Whatever reads the machine's clock reads one that is wrong by so many seconds.
LAUNCH = """
import datetime, os, time
offset, real = float(os.environ["WRONG_BY"]), time.time
time.time = lambda: real() + offset
class Wrong(datetime.datetime):
    @classmethod
    def now(cls, tz=None):
        return super().now(tz) + datetime.timedelta(seconds=offset)
datetime.datetime = Wrong
from cfr.cli import main
main()
"""


class Programmer(Model):
    """A model that also writes programs; it counts what it answered."""

    def __call__(self, body: dict[str, Any]) -> Reply:
        reply = super().__call__(body)
        if reply.status == 200 and reply.chunks is None and "\\boxed" in str(reply.body):
            n = number_in(body)
            whole = completion(f"```python\nprint({n + 1})\n```\nIt is \\boxed{{{n + 1}}}.")
            reply.body = whole.body if "oops" not in str(reply.body) else reply.body
        return reply


class Crew:
    """Worker processes, each on the same store."""

    def __init__(self, folder: Path, command: Sequence[str], offsets: Sequence[int]) -> None:
        self._folder = folder
        self._command = command
        self._offsets = list(offsets)
        self.running: list[subprocess.Popen[bytes]] = []

    def start(self, command: Sequence[str] = ()) -> None:
        self._offsets.append(self._offsets.pop(0))
        process = subprocess.Popen(
            [sys.executable, "-c", LAUNCH, *(command or self._command)],
            cwd=self._folder,
            env=os.environ | {"WRONG_BY": str(self._offsets[-1])},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        self.running.append(process)

    def wait(self) -> list[tuple[int, str]]:
        ended = [(one.communicate(timeout=60)[1].decode(), one.returncode) for one in self.running]
        self.running = []
        return [(code, said) for said, code in ended]

    def __enter__(self) -> "Crew":
        return self

    def __exit__(self, *_: object) -> None:
        for process in self.running:
            kill(process)
            process.communicate()


def command(endpoint: Endpoint, url: str, budget: int) -> list[str]:
    options = (
        f"--runs {RUNS} --seed 5 --concurrency {CONCURRENCY} --model m --quiet"
    )
    methods = [part for method in METHODS for part in ("--method", method)]
    limits = ["--lease", str(LEASE), "--max-tokens", "200", "--max-tokens-total", str(budget)]
    given = ["--base-url", endpoint.url, "--store", url, *options.split(), *limits]
    return ["eval", "sums.jsonl", *methods, *given]


def spent(url: str) -> tuple[int, int]:
    with Store(url, existing=True) as store:
        ((tokens,),) = store.read(sa.select(schema.budgets.c.tokens))
        aside = sa.func.coalesce(sa.func.sum(schema.reservations.c.tokens), 0)
        return tokens, int(store.read(sa.select(aside))[0][0])


def stored_calls(url: str) -> int:
    with Store(url, existing=True) as store:
        made = sa.select(sa.func.count()).where(schema.calls.c.finish != "executed")
        return store.read(made.select_from(schema.calls))[0][0]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("offsets", "helper"), [((0, 0, 0, 0), "eval"), ((-3600, 0, 3600, 7200), "work")]
)
def test_workers_that_are_killed_make_every_attempt_once(
    endpoint: Endpoint,
    tmp_path: Path,
    frail_postgres: Postgres,
    offsets: Sequence[int],
    helper: str,
) -> None:
    url, model, chance = frail_postgres.url, Programmer(0.25), random.Random(7)
    endpoint.respond = model
    write_sums(tmp_path / "sums.jsonl", PROBLEMS)
    began = time.time()
    with Crew(tmp_path, command(endpoint, url, SMALL), offsets) as crew:
        for _ in range(3):
            crew.start()
        ended = crew.wait()
        assert [code for code, _ in ended] == [7, 7, 7], ended
        assert all("raise --max-tokens-total" in said for _, said in ended), ended
        tokens, aside = spent(url)
        assert tokens <= SMALL, "more was spent than allowed"
        assert (aside, 18 * len(model.answered) <= tokens) == (0, True)

        enter = command(endpoint, url, LARGE)
        work = ["work", "--store", url, "--concurrency", str(CONCURRENCY), "--lease", str(LEASE)]
        crew.start(enter)
        others = enter if helper == "eval" else [*work, "--quiet"]
        before = len(endpoint.requests)
        while len(endpoint.requests) == before:  # it has entered what is to be made
            time.sleep(0.01)
        for _ in range(3):
            crew.start(others)
        for n in range(KILLS):
            time.sleep(chance.uniform(0.4, 1.2))
            if n == KILLS // 2:
                frail_postgres.stop()
                time.sleep(0.5)
                frail_postgres.start()
            victim = crew.running.pop(chance.randrange(len(crew.running)))
            kill(victim)
            victim.communicate()
            crew.start(enter if n % 3 == 0 else others)
        model.faults = 0.0
        ended = crew.wait()
        assert {code for code, _ in ended} <= {0, 7}, ended  # 7: a call failed too often
        crew.start(enter)
        assert [code for code, _ in crew.wait()] == [0]
    tokens, aside = spent(url)
    assert aside == 0
    assert 18 * len(model.answered) <= tokens <= LARGE
    calls = stored_calls(url)
    stops = KILLS + 3  # those that a spent budget ended broke off as well
    assert calls <= len(model.answered) <= calls + stops * IN_FLIGHT
    _every_attempt_once(url, began)
    with Store(url) as store:
        schema.METADATA.drop_all(store.database)


def _every_attempt_once(url: str, began: float) -> None:
    with Store(url, existing=True) as store:
        rows = list(outcome_rows(store))
        assert not store.read(sa.select(schema.leases))
        orders = store.read(sa.select(schema.calls.c["series", "problem", "run", "ordinal"]))
    keys = Counter((row["method"], row["problem"], row["run"]) for row in rows)
    assert len(keys) == keys.total() == ATTEMPTS
    assert {(row["status"], row["verdict"]) for row in rows} == {("ok", "correct")}
    assert all(began - 1 <= row["finished_at"] <= time.time() + 1 for row in rows)
    places: dict[tuple[int, ...], list[int]] = {}
    for *attempt, ordinal in orders:
        places.setdefault(tuple(attempt), []).append(ordinal)
    assert all(sorted(found) == list(range(len(found))) for found in places.values())
    assert len(places) == ATTEMPTS
