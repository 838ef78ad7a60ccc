import asyncio
import random
import re
import time
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from itertools import cycle
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
import sqlalchemy as sa
from loopback import Endpoint as Server
from loopback import Reply, completion, failure
from postgres import Postgres, empty_database
from stored import attempt
from sums import number_in, reply_right, right, sums, write_sums
from sums_run import execute, make_sums, run_sums
from worker_crew import WorkerCrew

from constraint_first import aevaluate
from constraint_first.attempt.drive import Scripted
from constraint_first.benchmark.registry import Benchmark
from constraint_first.method.baselines import Direct
from constraint_first.method.registry import Wording
from constraint_first.model.client import Client, ServedModel
from constraint_first.model.error import Rejected, StreamCut, Unauthorized
from constraint_first.model.limit import Budget, BudgetSpent, Limiter, Price, PriceList
from constraint_first.model.resolve import ModelRef
from constraint_first.model.wire import SILENT, Decoding, Engine, Watcher
from constraint_first.problem import Prompt
from constraint_first.protocol import Call, Completion, Usage
from constraint_first.run.grid import Experiment, RunOptions
from constraint_first.run.job import (
    ClaimedAttempts,
    EvaluationWatcher,
    Job,
    prepare,
    recount,
    run,
)
from constraint_first.run.shared import (
    Amount,
    Ledger,
    NothingRunnable,
    PendingSeries,
    SharedBudget,
    Unrunnable,
    awork,
    name_budget,
    open_budget,
    pending_series,
    work,
    write_settings,
)
from constraint_first.sandbox.interpreter import SandboxMissing
from constraint_first.store import database as schema
from constraint_first.store import writer as lease_statement
from constraint_first.store import writer as sql
from constraint_first.store.database import LeaseLost, StoreError
from constraint_first.store.query import attempt_rows, outcome_rows
from constraint_first.store.series import Series, fingerprint
from constraint_first.store.store import Store
from constraint_first.store.writer import LeaseKey, Leases, SeriesShare, Waiting, drop_finished

from .test_kill import Model

SERIES = Series("sums", "direct", "m")

# After a server has started nothing expires for as long as a lease: tests do not wait for that.
LONG, SHORT = 60.0, 0.05


@pytest.fixture
def store(postgres: str) -> Iterator[Store]:
    with Store(postgres) as store:
        yield store
    empty_database(postgres)


@contextmanager
def worker(store: Store, seconds: float = LONG) -> Generator[tuple[Store, Leases]]:
    """Be another worker on the same store, in the same process."""
    with (
        Store(store.database.url.render_as_string(hide_password=False)) as own,
        own.leasing(seconds) as leases,
    ):
        yield own, leases


def enter(store: Store, problems: int = 40, runs: int = 2) -> SeriesShare:
    registered = store.register(SERIES, sums(problems), runs)
    return SeriesShare(registered.series, runs)


def ended(key: LeaseKey, **values: Any) -> dict[str, Any]:
    row = attempt(*key, **values)
    del row["finished_at"]  # the server's clock tells it
    return row


def expire(store: Store) -> None:
    """Let an hour go by."""
    execute(store, "UPDATE leases SET expires = expires - interval '1 hour'")


def prolong(store: Store) -> None:
    """Give whoever has leases another hour."""
    execute(store, "UPDATE leases SET expires = expires + interval '1 hour'")


def test_nobody_claims_what_another_has_however_many_claim_at_once(store: Store) -> None:
    share = enter(store)

    def claim_all(_: int) -> list[LeaseKey]:
        with worker(store) as (_own, leases):
            found: list[LeaseKey] = []
            while some := leases.claim(share, 7):
                found += [(share.series, *key) for key in some]
            leases.forget(found)
            leases._named["owner"] = "nobody"  # pyright: ignore[reportPrivateUsage]
            return found

    with ThreadPoolExecutor(4) as pool:
        claimed = [key for found in pool.map(claim_all, range(4)) for key in found]
    assert len(claimed) == len(set(claimed)) == 80


def test_the_planner_knows_of_attempts_that_are_entered_in_great_number(store: Store) -> None:
    share = enter(store, 500, 4)
    known = sa.text("SELECT count(*) FROM pg_stats WHERE tablename = 'leases'")
    assert store.read(known) != [(0,)]
    named = {"owner": "anybody", "seconds": LONG, "most": 32}
    explained = sa.text(f"EXPLAIN {sql.CLAIM.text}").bindparams(**named, **share.parameters)
    plan = "\n".join(line for (line,) in store.read(explained))
    assert "leases_free" in plan
    assert "Sort" not in plan


async def test_how_an_attempt_ended_is_written_with_the_end_of_its_lease(store: Store) -> None:
    share = enter(store, problems=1, runs=2)
    with worker(store) as (own, leases):
        (first, second) = ((share.series, *key) for key in leases.claim(share, 2))
        await own.write_attempt(ended(first))
        await own.write_attempt(ended(second, status="failed"))
        assert leases.waiting([share]) == {share.series: Waiting(0, 0)}
        ago = sa.extract("epoch", sa.func.clock_timestamp()) - schema.attempts.c.finished_at
        assert all(0 <= seconds < 60 for (seconds,) in own.read(sa.select(ago)))
    enter(store, problems=1, runs=2)  # the same command again: what failed is to be made
    with worker(store) as (_, leases):
        assert list(leases.claim(share, 9)) == [second[1:]]


async def test_nothing_is_written_of_an_attempt_that_another_took_over(store: Store) -> None:
    share = enter(store, problems=1, runs=1)
    with worker(store) as (slow, first), worker(store, SHORT) as (quick, second):
        (key,) = ((share.series, *key) for key in first.claim(share, 9))
        assert not second.claim(share, 9)
        expire(store)
        assert second.waiting([share]) == {share.series: Waiting(1, 1)}
        assert second.claim(share, 9)
        prolong(store)
        named: dict[str, Any] = {"series": key[0], "problem": key[1], "run": key[2]}
        slow.require_lease(named)  # it does not know yet
        with pytest.raises(LeaseLost, match="another worker has taken this attempt over"):
            await slow.write_attempt(ended(key, answer="slow"))
        first._due = 0.0  # pyright: ignore[reportPrivateUsage]
        first.renew()
        with pytest.raises(LeaseLost):
            slow.require_lease(named)
        await quick.write_attempt(ended(key, answer="quick"))
        with pytest.raises(LeaseLost):
            await slow.write_attempt(ended(key, answer="slow"))
        assert [row.answer for row in store.read(sa.select(schema.attempts))] == ["quick"]


def test_a_worker_that_lives_renews_what_it_has(store: Store) -> None:
    share, expiry = enter(store, problems=1, runs=1), sa.select(schema.leases.c.expires)
    with worker(store) as (_, leases):
        leases.claim(share, 9)
        times = [store.read(expiry)[0][0]]
        for _ in range(2):
            leases.renew()  # the first time at once, then when a third of the lease is over
            times.append(store.read(expiry)[0][0])
        assert times[0] < times[1] == times[2]


def test_nothing_expires_right_after_a_restart(frail_postgres: Postgres) -> None:
    with Store(frail_postgres.url) as store:
        share = enter(store, problems=1, runs=1)
        with worker(store) as (_, first), worker(store) as (_, second):
            first.claim(share, 9)
            frail_postgres.stop()
            frail_postgres.start()
            expire(store)
            assert second.waiting([share]) == {share.series: Waiting(0, 1)}
        schema.METADATA.drop_all(store.database)


def test_who_ends_in_good_order_leaves_all_to_others_at_once(store: Store) -> None:
    share = enter(store)
    with worker(store) as (_, leases):
        leases.claim(share, 32)
    with worker(store) as (_, leases):
        assert leases.waiting([share]) == {share.series: Waiting(80, 80)}
        some = leases.claim(share, 2)
        leases.give_back([(share.series, *next(iter(some)))])
        assert leases.waiting([share]) == {share.series: Waiting(79, 80)}


def test_a_claim_whose_commit_is_unknown_is_repeated(store: Store) -> None:
    share = enter(store, problems=3, runs=1)
    with worker(store) as (own, leases):
        kept = set(leases.claim(share, 1))
        leases._claim(share, 2)  # pyright: ignore[reportPrivateUsage]
        leases._doubtful = True  # pyright: ignore[reportPrivateUsage]
        assert set(leases.claim(share, 9)) | kept == {
            (problem, 0) for (problem,) in own.read(sa.select(schema.problems.c.id))
        }


async def test_what_was_made_meanwhile_is_not_to_be_made(store: Store) -> None:
    share = enter(store, problems=2, runs=1)
    (number, *_) = store.read(sa.select(schema.problems.c.id).order_by(schema.problems.c.id))[0]
    await store.write_attempt(attempt(share.series, number))  # as a merge would
    store.change(lambda connection: drop_finished(connection, share.series))
    with worker(store) as (_, leases):
        assert [problem for problem, _ in leases.claim(share, 9)] == [number + 1]
        assert not leases.has_others(share.series)


def test_whoever_has_the_store_alone_takes_all_leases_away(store: Store) -> None:
    share = enter(store, problems=2, runs=1)
    with worker(store) as (_, first), worker(store) as (_, second):
        first.claim(share, 9)
        assert second.has_others(share.series)
        with store.exclusively():  # the first lost its connection, say, and does not know
            assert not second.has_others(share.series)
        assert len(second.claim(share, 9)) == 2


def test_calls_that_are_stored_come_with_the_claim(store: Store) -> None:
    class PowerCut(BaseException):
        pass

    asked: list[object] = []

    def die(call: Any) -> str:
        asked.append(call)
        if len(asked) == 4:  # the second of the second attempt
            raise PowerCut
        return right(call)

    with pytest.raises(PowerCut):
        make_sums(store, "cfr", 5, 1, Scripted(die), width=1)
    (number,) = store.read(sa.select(schema.series.c.id))[0]
    with worker(store) as (_, leases):
        known = leases.claim(SeriesShare(number, 1), 9)
    assert [len(claimed.known) for claimed in known.values()] == [1, 0, 0, 0]
    assert next(iter(known.values())).problem == replace(sums(5)[1], benchmark="sums")


STATEMENTS = {
    name: str(value)
    for name, value in vars(lease_statement).items()
    if isinstance(value, sa.ClauseElement) and name.isupper()
}


def test_time_is_told_by_the_servers_clock_alone() -> None:
    for name, text in STATEMENTS.items():
        for part in re.split(r"\bexpires\b", text)[1:]:
            # An expiry is set to nothing, or to the clock and so many seconds, or compared with it.
            assert re.match(r" = NULL| = clock_|, | [<>] clock_| = '-infinity'", part), (name, text)


def test_nobody_waits_for_what_another_worker_is_writing() -> None:
    for name in ("CLAIM", "FREE_EXPIRED"):
        assert "FOR UPDATE SKIP LOCKED" in STATEMENTS[name]


COUNT = 100


@pytest.fixture
def shared(postgres: str) -> Iterator[str]:
    yield postgres
    empty_database(postgres)


class Slow:
    """An engine that counts what it is asked, over all workers."""

    def __init__(self, asked: Counter[int]) -> None:
        self.asked = asked

    async def complete(self, call: Call, watcher: Watcher = SILENT) -> Completion:
        self.asked[number_in(call)] += 1
        await asyncio.sleep(0.01)
        return Completion(right(call))


async def test_workers_share_a_grid_and_each_ends_when_it_is_whole(shared: str) -> None:
    asked: Counter[int] = Counter()

    async def work() -> Job:
        with Store(shared) as store, store.running():
            return await run_sums(store, SERIES, COUNT, 1, Slow(asked), width=8)

    jobs = await asyncio.gather(*(work() for _ in range(3)))
    assert asked == Counter(range(COUNT))
    for job in jobs:  # each counts what all have made
        assert (job.tally.total, job.tally.ok, job.tally.correct) == (COUNT, COUNT, COUNT)
    assert sum(job.tally.made for job in jobs) == COUNT
    assert all(job.tally.made > 0 for job in jobs)


async def test_an_idle_worker_takes_over_what_expires(shared: str) -> None:
    with Store(shared) as dead:
        job = prepare(dead, SERIES, sums(5), 1, Scripted(right))
        with dead.leasing(0.3) as leases:
            assert len(leases.claim(job.share, 32)) == 5
            leases._named["owner"] = "nobody"  # pyright: ignore[reportPrivateUsage]
    with Store(shared) as store:
        assert (await run_sums(store, SERIES, 5, lease=0.3)).tally.complete
        assert len(list(attempt_rows(store))) == 5


def refused(_call: Call) -> str:
    raise Unauthorized("HTTP 401: bad key")


async def test_a_worker_without_a_key_leaves_the_series_to_those_who_have_one(shared: str) -> None:
    asked: Counter[int] = Counter()
    with Store(shared) as good, Store(shared) as bad:
        jobs = [
            prepare(store, SERIES, sums(COUNT), 1, engine)
            for store, engine in ((good, Slow(asked)), (bad, Scripted(refused)))
        ]
        running = asyncio.create_task(run(good, jobs[:1], width=4))
        while not asked:
            await asyncio.sleep(0.001)
        await run(bad, jobs[1:], width=4)
        assert "HTTP 401" in jobs[1].tally.left
        await running
        assert {row["status"] for row in attempt_rows(good)} == {"ok"}
    assert jobs[0].tally.complete
    assert asked == Counter(range(COUNT))


async def test_no_more_is_claimed_than_can_be_begun(shared: str) -> None:
    with Store(shared) as store:
        job = prepare(store, SERIES, sums(12), 1, Scripted(right))
        with store.leasing(60) as leases:
            attempts = ClaimedAttempts(leases, [job], width=3)
            assert await attempts.next()
            assert leases.waiting([job.share])[job.number].free == 12 - 3
            await attempts.close()


PRICES = PriceList(Price(1_000, 2_000))


def choosy(call: Call) -> Completion:
    """Refuse odd problems."""
    if number_in(call) % 2:
        raise Rejected("HTTP 400: no odd numbers")
    return Completion(right(call), usage=Usage(3, 4))


async def test_a_worker_counts_what_another_has_made_and_why_it_failed(postgres: str) -> None:
    with Store(postgres) as one, Store(postgres) as two:
        first = prepare(one, SERIES, sums(4), 1, Scripted(choosy), PRICES)
        second = prepare(two, SERIES, sums(4), 1, Scripted(choosy), PRICES)
        await run(one, [first], width=2)
        await recount(two, [second])
        tally = second.tally
        assert (tally.ok, tally.failed, tally.correct, tally.total) == (2, 2, 2, 4)
        assert tally.usage == Usage(6, 8)
        assert list(tally.reasons.items()) == [("HTTP 400: no odd numbers", 2)]
        assert str(tally.cost) == str(first.tally.cost)
        again = prepare(two, SERIES, sums(4), 1, Scripted(choosy), PRICES)
        assert (again.tally.failed, again.tally.resumed) == (0, 2)
        await recount(two, [again])
        assert again.tally.failed == 0
        schema.METADATA.drop_all(one.database)


SUMS = Benchmark("sums", "Sums", sums(6))


@pytest.fixture
def options(postgres: str) -> Iterator[RunOptions]:
    yield RunOptions(store=postgres, concurrency=4, lease=1.0)
    empty_database(postgres)


class Hearing(EvaluationWatcher):
    def __init__(self) -> None:
        self.heard: list[str] = []

    def skipped(self, what: str, why: str) -> None:
        self.heard.append(f"{what}: {why}")


async def enter_grid(options: RunOptions, server: Server, *methods: str, model: str = "m") -> None:
    """Enter a grid whose every call is refused: nothing of it is made, and all is to be made."""
    server.script(failure(400, "not now"))
    server.respond = None
    ref = ModelRef(model, base_url=server.url)
    await aevaluate(SUMS, methods or "direct", runs=2, model=ref, options=options)
    server.respond = reply_right


async def test_a_worker_makes_what_others_entered(options: RunOptions, endpoint: Server) -> None:
    await enter_grid(options, endpoint, "direct", "cfr")
    done = await awork(options)
    assert done.complete, done.stopped
    made = [(one.series.method, one.tally.ok, one.tally.total) for one in done.series]
    assert made == [("direct", 12, 12), ("cfr", 12, 12)]
    assert [one.accuracy for one in done.series] == [1.0, 1.0]
    asked = len(endpoint.requests)
    assert (await awork(options)).series == ()
    assert len(endpoint.requests) == asked


async def test_what_is_missing_on_a_machine_is_said_and_the_rest_is_made(
    options: RunOptions, endpoint: Server, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    presets = tmp_path / "models.toml"
    presets.write_text(f'["keyed"]\nbase_url = "{endpoint.url}"\nkey_env = "ODD_KEY"\n')
    monkeypatch.setenv("CFR_MODELS", str(presets))
    monkeypatch.setenv("ODD_KEY", "sk-secret")
    endpoint.script(failure(400, "not now"))
    await aevaluate(SUMS, "direct", runs=1, model="keyed", options=options)
    await enter_grid(options, endpoint)
    monkeypatch.delenv("ODD_KEY")
    hearing = Hearing()
    done = await awork(options, watcher=hearing)
    (heard,) = hearing.heard
    assert "(direct on sums with keyed): model 'keyed': " in heard
    assert "ODD_KEY is not set" in heard
    assert [one.series.model for one in done.series] == ["m"]
    assert "cannot be run here" in done.stopped
    with pytest.raises(NothingRunnable, match="ODD_KEY is not set"):
        await awork(options)
    monkeypatch.setenv("ODD_KEY", "sk-secret")
    assert (await awork(options)).complete


async def test_a_worker_runs_programs_in_the_interpreter_of_their_series(
    options: RunOptions, endpoint: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    await enter_grid(options, endpoint, "program")
    named = "constraint_first.store.series.interpreter"
    refused = r"its programs ran in .+, and here they run in another 1; name a new store"
    with monkeypatch.context() as elsewhere:
        elsewhere.setattr(named, lambda: "another 1")
        with pytest.raises(NothingRunnable, match=refused):
            await awork(options)
        with pytest.raises(StoreError, match=refused):
            await aevaluate(SUMS, "program", runs=2, engine=Scripted([], name="m"), options=options)
        elsewhere.setattr(named, Mock(side_effect=SandboxMissing("programs need pyeryx")))
        with pytest.raises(NothingRunnable, match="programs need pyeryx"):
            await awork(options)
    assert (await awork(options)).complete


async def test_a_worker_brings_engine_or_address(options: RunOptions, endpoint: Server) -> None:
    await enter_grid(options, endpoint)
    await enter_grid(options, endpoint, model="other")
    endpoint.requests.clear()
    engine = Scripted(right, name="m")
    done = await awork(options, engine=engine)
    assert (len(engine.asked), len(endpoint.requests)) == (12, 0)
    assert "served here as m" in done.stopped
    with Server() as elsewhere:
        elsewhere.respond = reply_right
        assert (await awork(options, instead=ModelRef(base_url=elsewhere.url))).complete
        assert len(elsewhere.requests) == 12


async def test_the_grids_budget_binds_workers(options: RunOptions, endpoint: Server) -> None:
    endpoint.respond = reply_right
    ref = ModelRef("m", base_url=endpoint.url)
    limited = RunOptions(store=options.store, concurrency=1, max_tokens_total=350)
    grid = Experiment(benchmarks=(SUMS,), methods=("direct",), runs=1, max_tokens=100)
    stopped = await aevaluate(grid, model=ref, options=limited)
    made = stopped.series[0].tally.ok
    assert "raise --max-tokens-total" in stopped.stopped
    done = await awork(options)
    assert "the budget is spent" in done.stopped
    assert done.series[0].tally.ok == made
    with Store(options.store) as store:
        execute(store, sa.update(schema.budgets).values(max_tokens=None))
    assert (await awork(options)).complete


def test_ordinary_code_can_be_a_worker(options: RunOptions) -> None:
    engine, told = Scripted(right), list[int]()
    with Store(options.store) as store:
        registered = store.register(Series("sums", "direct", engine.model), sums(2), 1)
        assert registered.problems
    done = work(options, engine=engine, progress=lambda now: told.append(now.done))
    assert done.complete
    assert told[-1] == 2


HERE = ModelRef()
REF = ModelRef("m", "http://127.0.0.1:9/v1", "MY_KEY", 4_096, key="sk-very-secret")


def served(ref: ModelRef | None, **others: ServedModel) -> ServedModel:
    engine = Scripted([], name=(ref and ref.model) or "m")
    return ServedModel(engine, Limiter(4), None, others=others, ref=ref)


def enter_settings(
    store: Store, series: Series, ref: ModelRef | None = REF, **others: ServedModel
) -> PendingSeries:
    registered = store.register(series, sums(2), 1)
    write_settings(store, [registered.series], served(ref, **others), "grid")
    return next(one for one in pending_series(store) if one.series.number == registered.series)


def test_a_series_is_made_anew_from_what_the_store_has(store: Store) -> None:
    series = Series("sums", "cfr(reply=json)", "m", Decoding(0.2, None, 7, 99), "Be brief.")
    found = enter_settings(store, series)
    made = found.build()
    assert replace(made, given=None) == series
    assert made.build() == series.build()
    assert found.budget == "grid"


def test_own_prompts_come_with_it(store: Store) -> None:
    prompts = (Prompt("direct", "Solve: [[problem]]", replaced=True),)
    worded = Series("sums", "direct", "m").reworded(Wording("mine", prompts))
    made = enter_settings(store, worded).build()
    assert made.method == "direct(wording=mine)"
    assert fingerprint(made.build()) == fingerprint(worded.build())


def test_models_are_named_as_they_were_and_no_key_is_stored(store: Store) -> None:
    other = served(ModelRef("big", "http://127.0.0.1:8/v1"))
    found = enter_settings(store, Series("sums", "direct", "m"), REF, router=other)
    expected = replace(REF, key="")
    assert found.find_models(HERE) == (
        expected,
        (("router", ModelRef("big", "http://127.0.0.1:8/v1")),),
    )
    assert "sk-very-secret" not in str(store.read(sa.select(schema.run_settings)))
    elsewhere = ModelRef(base_url="http://node7:8000/v1", key_name="NODE_KEY")
    assert found.find_models(elsewhere)[0] == replace(
        expected, base_url="http://node7:8000/v1", key_name="NODE_KEY"
    )


def test_an_address_with_a_secret_is_not_stored(store: Store) -> None:
    secret = ModelRef("m", "http://me:hunter22@host/v1?token=abcdefgh")
    found = enter_settings(store, Series("sums", "direct", "m"), secret)
    stored = str(store.read(sa.select(schema.run_settings)))
    assert "hunter22" not in stored
    assert "abcdefgh" not in stored
    with pytest.raises(Unrunnable, match=r"\(http://host/v1\) carries a secret, .* --base-url"):
        found.find_models(HERE)
    given = ModelRef(base_url=secret.base_url)
    assert found.find_models(given)[0].base_url == secret.base_url


def test_series_that_cannot_be_run_here(store: Store) -> None:
    method = Direct(budget=99)
    found = enter_settings(store, Series("sums", repr(method), "m", given=method), None)
    with pytest.raises(Unrunnable, match="as an object runs only where it was made"):
        found.build()
    with pytest.raises(Unrunnable, match="its engine was given as an object"):
        found.find_models(HERE)
    found = enter_settings(store, Series("sums", "direct", "m"))
    found = replace(found, series=replace(found.series, fingerprint="another"))
    with pytest.raises(Unrunnable, match="install the same version of cfr"):
        found.build()
    execute(store, schema.leases.delete())
    assert not pending_series(store)


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


def command(endpoint: Server, url: str, budget: int) -> list[str]:
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


@pytest.fixture
def server(frail_postgres: Postgres) -> Iterator[Postgres]:
    yield frail_postgres
    empty_database(frail_postgres.url)


@pytest.mark.long
@pytest.mark.parametrize(
    ("offsets", "helper"), [((0, 0, 0, 0), "eval"), ((-3600, 0, 3600, 7200), "work")]
)
def test_workers_that_are_killed_make_every_attempt_once(
    endpoint: Server, tmp_path: Path, server: Postgres, offsets: Sequence[int], helper: str
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
    with Store(url, existing=True) as store:
        calls = len(store.read(sa.select(schema.calls).where(schema.calls.c.finish != "executed")))
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
    for *place, ordinal in orders:
        places.setdefault(tuple(place), []).append(ordinal)
    assert all(sorted(found) == list(range(len(found))) for found in places.values())
    assert len(places) == ATTEMPTS


CALL = Call.user("x" * 36, stage="direct", max_tokens=100)  # at most 100 in, 100 out
ALL = Usage(100, 100)


class Charging:
    def __init__(self, usage: Usage = ALL) -> None:
        self.usage = usage
        self.asked = 0

    async def complete(self, call: Call, watcher: Watcher = SILENT) -> Completion:
        self.asked += 1
        await asyncio.sleep(0.001)
        return Completion("", usage=self.usage)


def opened(
    store: Store, lease: float = 60.0, tokens: int | None = None, cost: float | None = None
) -> SharedBudget:
    options = RunOptions(max_tokens_total=tokens, max_cost=cost, lease=lease)
    found = open_budget(store, "grid", options)
    assert isinstance(found, SharedBudget)
    return found


def paying(engine: Engine, budget: Budget, price: Price | None) -> Client:
    model = ServedModel(engine, price=price)  # pyright: ignore[reportArgumentType]
    return Client(model, budget=budget)


async def spend(engine: Client, times: int) -> int:
    results = await asyncio.gather(
        *(engine.complete(CALL) for _ in range(times)), return_exceptions=True
    )
    assert all(isinstance(one, Completion | BudgetSpent) for one in results), results
    return sum(isinstance(one, Completion) for one in results)


def row(store: Store) -> tuple[int, float, int]:
    ((tokens, cost),) = store.read(sa.select(schema.budgets.c.tokens, schema.budgets.c.cost))
    reserved = sa.func.coalesce(sa.func.sum(schema.reservations.c.tokens), 0)
    ((aside,),) = store.read(sa.select(reserved))
    return tokens, cost, int(aside)


@pytest.mark.parametrize("used", [Usage(100, 100), Usage(10, 10)])
async def test_workers_together_spend_no_more_than_allowed(shared: str, used: Usage) -> None:
    charging = Charging(used)
    with Store(shared) as one, Store(shared) as two, Store(shared) as three:
        budgets = [opened(store, tokens=2_000) for store in (one, two, three)]
        done = await asyncio.gather(
            *(spend(paying(charging, budget, None), 60) for budget in budgets)
        )
        for budget in budgets:
            await budget.close()
        tokens, _, reserved = row(one)
    assert sum(done) == charging.asked
    assert tokens == charging.asked * used.total <= 2_000
    assert tokens + 200 > 2_000  # it stops only when the next call could go over
    assert reserved == 0


async def test_it_goes_on_where_it_was_when_the_command_is_run_again(shared: str) -> None:
    with Store(shared) as store:
        budget = opened(store, cost=1.0)
        assert await spend(paying(Charging(), budget, Price(1_000, 2_000)), 10) == 3
        await budget.close()
    with Store(shared) as store:
        assert opened(store)._max_cost == 1.0  # pyright: ignore[reportPrivateUsage]
        with pytest.raises(BudgetSpent, match=r"spent: \$0.90 of \$1.00; .*raise --max-cost"):
            await paying(Charging(), opened(store), Price(1_000, 2_000)).complete(CALL)
        more = opened(store, cost=1.3)
        assert await spend(paying(Charging(), more, Price(1_000, 2_000)), 10) == 1
        await more.close()
        assert row(store)[1] == pytest.approx(1.2)  # pyright: ignore


async def test_what_a_worker_had_set_aside_when_it_died_counts_as_spent(shared: str) -> None:
    with Store(shared) as store:
        await opened(store, tokens=500).reserve(Usage(100, 100), 0.0)
        execute(store, "UPDATE reservations SET expires = expires - interval '1 hour'")
    with Store(shared) as store:
        budget, charging = opened(store, lease=0.01), Charging()
        assert await spend(paying(charging, budget, None), 5) == 1
        with pytest.raises(BudgetSpent, match=r"spent: 400 of 500 tokens \(200 of it set aside by"):
            await paying(charging, budget, None).complete(CALL)
        assert row(store) == (400, 0.0, 0)


async def test_a_waiting_call_gets_what_another_gives_back(shared: str) -> None:
    with Store(shared) as one, Store(shared) as two:
        first, second = opened(one, tokens=300), opened(two)
        await first.reserve(Usage(100, 100), 0.0)
        waiting = asyncio.create_task(second.reserve(Usage(100, 100), 0.0))
        done, _ = await asyncio.wait([waiting], timeout=0.1)
        assert not done
        first.settle(Usage(100, 100), 0.0, Usage(10, 10), 0.0)
        await waiting
        second.settle(Usage(100, 100), 0.0, Usage(10, 10), 0.0)
        await second.close()
        await first.close()
        assert row(one) == (40, 0.0, 0)


async def test_whoever_is_cancelled_while_it_waits_holds_nothing(shared: str) -> None:
    with Store(shared) as store:
        budget = opened(store, tokens=300)
        waiting = [asyncio.create_task(budget.reserve(Usage(100, 100), 0.0)) for _ in range(3)]
        await asyncio.sleep(0)  # it is under way
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
        await budget.close()
        assert row(store) == (0, 0.0, 0)


async def test_a_try_that_failed_is_paid_and_the_next_only_made_if_it_can_be(shared: str) -> None:
    class Failing:
        asked = 0

        async def complete(self, call: Call, watcher: Watcher = SILENT) -> Completion:
            while True:
                self.asked += 1
                watcher.retrying(call, StreamCut("cut"), 0.0)

    with Store(shared) as store:
        budget, failing = opened(store, tokens=500), Failing()
        with pytest.raises(StreamCut):
            await paying(failing, budget, None).complete(CALL)
        await budget.close()
        assert failing.asked == 2
        assert row(store) == (400, 0.0, 0)


async def test_a_repeated_change_counts_once(shared: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def twice(_url: str, _done: str, once: Callable[[], object]) -> object:
        once()  # a server that breaks off after a commit has made it, and nobody hears of it
        return once()

    with Store(shared) as store:
        budget = opened(store, tokens=1_000)
        monkeypatch.setattr("constraint_first.run.shared.patiently", twice)
        await budget.reserve(Usage(100, 100), 0.0)
        assert row(store) == (0, 0.0, 200)
        budget.settle(Usage(100, 100), 0.0, Usage(50, 50), 0.0)
        await budget.close()
        assert row(store) == (100, 0.0, 0)


def test_the_same_grid_has_one_budget(shared: str) -> None:
    with Store(shared) as store:
        assert open_budget(store, "grid", RunOptions()) is None
        assert open_budget(store, "grid", RunOptions(max_tokens_total=5))
    one, other = Series("a", "direct", "m"), Series("b", "direct", "m")
    assert name_budget([one, other]) == name_budget([other, one]) != name_budget([one])


def ledger(spent: int = 0, mine: int = 0, others: int = 0) -> Ledger:
    limits = (1_000, None)
    return Ledger(limits, Amount(spent), Amount(), Amount(mine), Amount(others))


def test_what_was_counted_as_spent_when_its_worker_seemed_dead_is_not_counted_again() -> None:
    found = ledger(spent=200)  # all that it had set aside was taken for lost
    found.settle(Amount(200), Amount(40))
    assert (found.mine, found.spent) == (Amount(0), Amount(200))
    found.settle(Amount(200), Amount(260))  # an endpoint that counts more is believed
    assert found.spent == Amount(260)
