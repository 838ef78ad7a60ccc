"""Workers on one PostgreSQL that are killed at any moment, with clocks of their own."""

import random
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from loopback import Endpoint, Reply, completion
from postgres import Postgres, empty_database
from sums import number_in, write_sums
from worker_crew import WorkerCrew

from constraint_first.store import schema
from constraint_first.store.query import outcome_rows
from constraint_first.store.store import Store

from .test_kill import Model

PROBLEMS, RUNS, CONCURRENCY, KILLS = 30, 2, 4, 6
METHODS = (
    "cfr-brief",
    "until-agreed(base=program,most=3)",
    "self-consistency(base=cfr-brief,samples=2)",
)
ATTEMPTS = PROBLEMS * RUNS * len(METHODS)
# An attempt that waits for the disk gives its place at the endpoint to another.
IN_FLIGHT = 2 * CONCURRENCY
LEASE = 2.0
SMALL, LARGE = 60_000, 20_000_000


class Programmer(Model):
    """A model that also writes programs; it counts what it answered."""

    def __call__(self, body: dict[str, Any]) -> Reply:
        reply = super().__call__(body)
        if reply.status == 200 and reply.chunks is None and "\\boxed" in str(reply.body):
            n = number_in(body)
            whole = completion(f"```python\nprint({n + 1})\n```\nIt is \\boxed{{{n + 1}}}.")
            reply.body = whole.body if "oops" not in str(reply.body) else reply.body
        return reply


def command(endpoint: Endpoint, url: str, budget: int) -> list[str]:
    options = f"--runs {RUNS} --seed 5 --concurrency {CONCURRENCY} --model m --quiet"
    methods = [part for method in METHODS for part in ("--method", method)]
    limits = ["--lease", str(LEASE), "--max-tokens", "200", "--max-tokens-total", str(budget)]
    given = ["--base-url", endpoint.url, "--store", url, *options.split(), *limits]
    return ["eval", "sums.jsonl", *methods, *given]


def spent(url: str) -> tuple[int, int]:
    with Store(url, existing=True) as store:
        ((tokens,),) = store.read(sa.select(schema.budgets.c.tokens))
        aside = sa.func.coalesce(sa.func.sum(schema.reservations.c.tokens), 0)
        return tokens, int(store.read(sa.select(aside))[0][0])


def left(url: str) -> int:
    with Store(url, existing=True) as store:
        return len(store.read(sa.select(schema.leases)))


def wait_until(condition: Callable[[], bool]) -> None:
    while not condition():
        time.sleep(0.01)


def stored_calls(url: str) -> int:
    with Store(url, existing=True) as store:
        made = sa.select(sa.func.count()).where(schema.calls.c.finish != "executed")
        return store.read(made.select_from(schema.calls))[0][0]


@pytest.fixture
def server(frail_postgres: Postgres) -> Iterator[Postgres]:
    yield frail_postgres
    empty_database(frail_postgres.url)


@pytest.mark.long
@pytest.mark.parametrize(
    ("offsets", "helper"), [((0, 0, 0, 0), "eval"), ((-3600, 0, 3600, 7200), "work")]
)
def test_workers_that_are_killed_make_every_attempt_once(
    endpoint: Endpoint,
    tmp_path: Path,
    server: Postgres,
    offsets: Sequence[int],
    helper: str,
) -> None:
    url, model, chance = server.url, Programmer(0.25), random.Random(7)
    endpoint.respond = model
    write_sums(tmp_path / "sums.jsonl", PROBLEMS)
    began, clocks = time.time(), cycle(offsets)
    with WorkerCrew(tmp_path) as crew:
        for _ in range(4):
            crew.start(command(endpoint, url, SMALL), next(clocks))
        ended = crew.wait()
        assert [code for code, _ in ended] == [7] * 4, ended
        assert all("raise --max-tokens-total" in said for _, said in ended), ended
        tokens, aside = spent(url)
        assert tokens <= SMALL, "more was spent than allowed"
        assert (aside, 18 * len(model.answered) <= tokens) == (0, True)

        enter = command(endpoint, url, LARGE)
        work = ["work", "--store", url, "--concurrency", str(CONCURRENCY), "--lease", str(LEASE)]
        others = enter if helper == "eval" else [*work, "--quiet"]
        crew.start(enter, next(clocks))
        wait_until(lambda: spent(url)[1] > 0)  # what is to be made is entered
        for _ in range(3):
            crew.start(others, next(clocks))
        for n in range(KILLS):
            time.sleep(chance.uniform(0.1, 0.8))
            if n == KILLS // 2:
                server.stop()
                time.sleep(0.3)
                server.start()
            crew.kill(chance.choice([*crew.running]))
            crew.start(enter if n % 3 == 0 else others, next(clocks))
        assert left(url) > 0, "the kills were all too late"
        model.faults = 0.0
        ended = crew.wait()
        # A call that failed too often is 7; one that began while there was no server says so.
        assert all(code in (0, 7) or "cannot be opened" in said for code, said in ended), ended
        crew.start(enter)
        assert [code for code, _ in crew.wait()] == [0]
    tokens, aside = spent(url)
    assert aside == 0
    assert 18 * len(model.answered) <= tokens <= LARGE
    calls = stored_calls(url)
    stops = KILLS + 4  # those that a spent budget ended broke off as well
    assert calls <= len(model.answered) <= calls + stops * IN_FLIGHT
    _every_attempt_once(url, began)


def _every_attempt_once(url: str, began: float) -> None:
    with Store(url, existing=True) as store:
        rows = list(outcome_rows(store))
        assert not store.read(sa.select(schema.leases))
        orders = store.read(sa.select(*schema.calls.primary_key))
    keys = Counter((row["method"], row["problem"], row["run"]) for row in rows)
    assert len(keys) == keys.total() == ATTEMPTS
    assert {(row["status"], row["verdict"]) for row in rows} == {("ok", "correct")}
    assert all(began - 1 <= row["finished_at"] <= time.time() + 1 for row in rows)
    places: dict[tuple[int, ...], list[int]] = {}
    for *attempt, ordinal in orders:
        places.setdefault(tuple(attempt), []).append(ordinal)
    assert all(sorted(found) == list(range(len(found))) for found in places.values())
    assert len(places) == ATTEMPTS
