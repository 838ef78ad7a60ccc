import asyncio
from collections import Counter
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from loopback import Endpoint as Server
from loopback import Reply, completion, failure
from postgres import Postgres
from sums import number_in, reply_right, right, sums

from constraint_first.attempt.drive import Scripted
from constraint_first.method.registry import METHODS
from constraint_first.model.budget import Budget, BudgetSpent
from constraint_first.model.client import Client, ServedModel
from constraint_first.model.error import JournalMismatch
from constraint_first.model.limit import Limiter, Retry
from constraint_first.model.openai import OpenAI
from constraint_first.model.transport import Bounds, Endpoint
from constraint_first.model.wire import SILENT, Decoding, Engine, Watcher
from constraint_first.protocol import Call, Completion, Usage
from constraint_first.run.job import Job, prepare, run
from constraint_first.store import schema
from constraint_first.store.database import StoreError
from constraint_first.store.query import attempt_rows, summaries
from constraint_first.store.series import Series
from constraint_first.store.store import Store

SERIES = Series("sums", "direct", "model-a")
HASTY = Retry(attempts=2, first_pause=0.0)

# What the endpoint does to the nth problem, how the attempt must end, and what its reason must say.
FAULTS: dict[int, tuple[Reply, str, str]] = {
    0: (failure(429, "slow down", Retry_After="0"), "failed", "HTTP 429"),
    1: (failure(500, "out of order"), "failed", "HTTP 500"),
    2: (Reply(body="{}", delay=30), "failed", "nothing came for too long"),
    3: (completion(""), "unparsed", ""),
    4: (completion("First, we note that", "length"), "truncated", ""),
    5: (Reply(body='{"choices": [{"mess'), "failed", "not JSON"),
    6: (Reply(chunks=['{"choices": [{"message": '], cut=True), "failed", "cut in the middle"),
    7: (failure(400, "a \0 in what it says"), "failed", "HTTP 400"),
    8: (completion(None), "unparsed", ""),
}


def faulty(body: dict[str, Any]) -> Reply:
    n = number_in(body)
    return FAULTS[n][0] if n in FAULTS else reply_right(body)


async def over_http(
    store: Store, server: Server, count: int, respond: Callable[[dict[str, Any]], Reply]
) -> Job:
    """Run the series of sums against the server, at most eight calls at a time."""
    server.respond = respond
    server.requests.clear()
    async with OpenAI(
        Endpoint(server.url, "model-a"), retry=HASTY, bounds=Bounds(silence=0.5)
    ) as served:
        engine = Client(ServedModel(served, Limiter(8)), decoding=Decoding())
        job = prepare(store, SERIES, sums(count), 1, engine)
        await run(store, [job], width=16)
    return job


async def test_every_fault_ends_under_its_own_status_and_touches_no_other(
    url: str, endpoint: Server
) -> None:
    with Store(url) as store:
        job = await over_http(store, endpoint, 40, faulty)
        rows = {int(row["problem"][1:]): row for row in attempt_rows(store)}
        (summary,) = summaries(store)
    assert len(rows) == 40
    for n, (_, status, reason) in FAULTS.items():
        assert rows[n]["status"] == status, n
        assert reason in (rows[n]["error"] or ""), n
        failed = status == "failed"
        assert (rows[n]["verdict"] is None) == failed, n
        assert bool(rows[n]["error"]) == failed, n
    healthy = [rows[n] for n in rows if n not in FAULTS]
    assert {(row["status"], row["verdict"]) for row in healthy} == {("ok", "correct")}
    assert (summary.tally.failed, summary.scores.total()) == (6, 34)
    assert not job.tally.complete
    assert (job.tally.failed, job.tally.scored) == (6, 34)


async def test_failed_attempts_are_made_again_and_no_others(url: str, endpoint: Server) -> None:
    with Store(url) as store:
        await over_http(store, endpoint, 12, faulty)
        job = await over_http(store, endpoint, 12, reply_right)
        again = sorted(map(number_in, endpoint.requests))
        (summary,) = summaries(store)
    assert again == [n for n, (_, status, _) in FAULTS.items() if status == "failed"]
    assert job.tally.complete
    assert (summary.tally.total, summary.tally.failed) == (12, 0)


async def test_a_key_that_is_refused_is_not_tried_on_every_attempt(
    url: str, endpoint: Server
) -> None:
    with Store(url) as store:
        job = await over_http(store, endpoint, 100, lambda _: failure(401, "bad key"))
        asked = len(endpoint.requests)
        again = await over_http(store, endpoint, 100, reply_right)
    assert asked <= 16  # those that were under way at once
    assert (job.tally.failed, job.tally.scored) == (100, 0)
    assert "HTTP 401" in job.tally.refused
    assert again.tally.complete


async def test_a_fault_that_passes_leaves_no_trace(url: str, endpoint: Server) -> None:
    seen: Counter[int] = Counter()

    def at_first(body: dict[str, Any]) -> Reply:
        n = number_in(body)
        seen[n] += 1
        passing = n in (0, 1, 5, 6) and seen[n] == 1
        return FAULTS[n][0] if passing else reply_right(body)

    with Store(url) as store:
        job = await over_http(store, endpoint, 8, at_first)
        rows = list(attempt_rows(store))
    assert job.tally.complete
    assert {(row["status"], row["verdict"], row["error"]) for row in rows} == {
        ("ok", "correct", None)
    }
    assert sum(seen.values()) == 12


class Metered:
    """An engine that charges for each call what a short reply costs."""

    def __init__(self) -> None:
        self.asked: list[Call] = []

    async def complete(self, call: Call, watcher: Watcher = SILENT) -> Completion:
        self.asked.append(call)
        await asyncio.sleep(0)
        return Completion(right(call), usage=Usage(500, 500))


async def test_a_spent_budget_stops_the_run_and_a_larger_one_goes_on(url: str) -> None:
    async def spend(budget: Budget) -> int:
        metered = Metered()
        engine = Client(metered, budget=budget)
        stops = pytest.raises(BudgetSpent) if budget is small else nullcontext()
        with stops:
            await run(store, [prepare(store, SERIES, sums(30), 1, engine)], width=8)
        return len(metered.asked)

    with Store(url) as store:
        small, large = Budget(45_000), Budget(1_000_000)
        paid = await spend(small)
        assert 0 < paid < 30
        assert small.tokens == 1_000 * paid
        assert len(calls_stored(store)) == paid  # nothing that was paid for is lost
        assert await spend(large) == 30 - paid
        assert {row["status"] for row in attempt_rows(store)} == {"ok"}
        assert len(list(attempt_rows(store))) == 30


class PowerCut(BaseException):
    """What no attempt can be blamed for: it ends the run."""


class Dies:
    """An engine that takes the whole run with it after so many calls."""

    def __init__(self, after: int, reply: str = "") -> None:
        self.left = after
        self.reply = reply

    async def complete(self, call: Call, watcher: Watcher = SILENT) -> Completion:
        if self.left == 0:
            raise PowerCut
        self.left -= 1
        return Completion(self.reply or right(call), usage=Usage(3, 4))


def calls_stored(store: Store) -> list[tuple[Any, ...]]:
    """Read the transcript: all that was asked and answered, without timings."""
    columns = [column for column in schema.calls.c if column.name != "seconds"]
    order = [schema.calls.c[name] for name in ("series", "problem", "run", "ordinal")]
    with store.database.connect() as connection:
        return [tuple(row) for row in connection.execute(sa.select(*columns).order_by(*order))]


async def complete(store: Store, method: str, engine: Engine) -> None:
    job = prepare(store, replace(SERIES, method=method), sums(2), 2, engine)
    await run(store, [job], width=1)


@pytest.mark.parametrize("method", ["cfr", "self-refine", "self-consistency(base=cfr,samples=2)"])
async def test_a_crash_between_two_calls_loses_neither(method: str, url: str) -> None:
    with Store(url) as store:
        for after in (1, 2):
            with pytest.raises(PowerCut):
                await complete(store, method, Dies(after))
            stored = calls_stored(store)
        rest = Scripted(lambda call: Completion(right(call), usage=Usage(3, 4)))
        await complete(store, method, rest)
        whole = calls_stored(store)
        rows = list(attempt_rows(store))
    assert 0 < len(stored) < len(whole)
    assert set(stored) < set(whole)
    assert len(rest.asked) == len(whole) - len(stored)
    # What was replayed is paid for all the same, and counts.
    assert sum(row["input_tokens"] for row in rows) == 3 * len(whole)
    assert len(rows) == 4


@pytest.mark.parametrize("method", METHODS)
async def test_every_method_leaves_one_transcript_on_every_store(
    method: str, postgres: str, tmp_path: Path
) -> None:
    transcripts: list[list[tuple[Any, ...]]] = []
    endings: list[list[tuple[Any, ...]]] = []
    for address in (str(tmp_path / "runs.db"), postgres):
        with Store(address) as store:
            await complete(store, method, Scripted(lambda call: right(call)))
            # PostgreSQL numbers go on from one test to the next.
            transcripts.append([row[2:] for row in calls_stored(store)])
            endings.append(
                [
                    (row["problem"], row["run"], row["status"], row["answer"], row["details"])
                    for row in attempt_rows(store)
                ]
            )
            schema.METADATA.drop_all(store.database)
    assert transcripts[0] == transcripts[1]
    assert endings[0] == endings[1]
    assert len(endings[0]) == 4


async def test_a_stored_call_that_no_longer_fits_ends_the_run(url: str) -> None:
    with Store(url) as store:
        with pytest.raises(PowerCut):
            await complete(store, "cfr", Dies(1))
        with store.database.begin() as connection:
            connection.execute(schema.calls.update().values(digest="of another prompt"))
        with pytest.raises(JournalMismatch, match="start a new run"):
            await complete(store, "cfr", Dies(9))


async def test_a_store_that_cannot_be_written_ends_the_run_in_words(tmp_path: Path) -> None:
    with Store(str(tmp_path / "runs.db")) as store:
        job = prepare(store, SERIES, sums(3), 1, Scripted(lambda call: right(call)))
        with store.database.begin() as connection:
            refuse = "BEGIN SELECT RAISE(FAIL, 'the disk is full'); END"
            connection.execute(sa.text(f"CREATE TRIGGER full BEFORE INSERT ON calls {refuse}"))
        with pytest.raises(StoreError, match=r"cannot be written.*the disk is full"):
            await run(store, [job], width=2)


async def test_a_run_goes_on_when_its_server_was_restarted(frail_postgres: Postgres) -> None:
    asked: Counter[int] = Counter()

    class Steady:
        async def complete(self, call: Call, watcher: Watcher = SILENT) -> Completion:
            asked[number_in(call)] += 1
            if asked.total() == 20:
                await asyncio.to_thread(frail_postgres.stop)
                await asyncio.to_thread(frail_postgres.start)
            await asyncio.sleep(0.01)
            return Completion(right(call))

    with Store(frail_postgres.url) as store, store.exclusively():
        job = prepare(store, SERIES, sums(60), 1, Steady())
        await run(store, [job], width=4)
        rows = list(attempt_rows(store))
        schema.METADATA.drop_all(store.database)
    assert job.tally.complete
    assert {(row["status"], row["verdict"]) for row in rows} == {("ok", "correct")}
    assert len(rows) == len(asked) == asked.total() == 60


async def test_what_an_earlier_version_could_not_store_is_completed_from_its_calls(
    url: str,
) -> None:
    # Such attempts failed on every resume: their calls were stored, and they never were.
    odd = r'{"raw_constraints": [{"id": "C1", "type": "x", "desc": "half \ud83d, nul \u0000"}]}'
    with Store(url) as store:
        with pytest.raises(PowerCut):
            await complete(store, "cfr", Dies(1, odd))
        with store.database.begin() as connection:
            spoilt = {"input_tokens": 2**31 - 1, "output_tokens": -500}
            connection.execute(schema.calls.update().values(spoilt))
        rest = Scripted(lambda call: odd if call.stage == "stage1" else right(call))
        await complete(store, "cfr", rest)
        rows = list(attempt_rows(store))
    assert {row["verdict"] for row in rows} == {"correct"}
    assert len(rest.asked) == 7
    assert rows[0]["input_tokens"] == 2**31 - 1
    assert rows[0]["output_tokens"] == 0
    assert "half \ufffd, nul \ufffd" in rows[0]["details"]
