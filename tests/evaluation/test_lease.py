import asyncio
from collections.abc import Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest
import sqlalchemy as sa
from postgres import Postgres, empty_database
from stored import attempt
from sums import right, sums

from constraint_first.store import schema
from constraint_first.store import writer as sql
from constraint_first.store.database import LeaseLost
from constraint_first.store.series import Series
from constraint_first.store.store import Store
from constraint_first.store.writer import LeaseKey, Leases, SeriesShare, Waiting, drop_finished

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
    past = sa.text("UPDATE leases SET expires = expires - interval '1 hour'")
    store.change(lambda connection: connection.execute(past))


def prolong(store: Store) -> None:
    """Give whoever has leases another hour."""
    more = sa.text("UPDATE leases SET expires = expires + interval '1 hour'")
    store.change(lambda connection: connection.execute(more))


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


def test_attempts_come_run_by_run_and_only_those_that_are_wanted(store: Store) -> None:
    share = enter(store, problems=3, runs=3)
    with worker(store) as (_, leases):
        numbers = sorted({problem for problem, _ in leases.claim(share, 3)})
        some = SeriesShare(share.series, 2, (numbers[0], numbers[2]))
        assert list(leases.claim(some, 9)) == [(numbers[0], 1), (numbers[2], 1)]
        assert leases.waiting([share, some]) == {share.series: Waiting(0, 4)}
        assert leases.waiting([share]) == {share.series: Waiting(4, 9)}


async def test_how_an_attempt_ended_is_written_with_the_end_of_its_lease(store: Store) -> None:
    share = enter(store, problems=1, runs=2)
    with worker(store) as (own, leases):
        (first, second) = ((share.series, *key) for key in leases.claim(share, 2))
        await own.write_attempt(ended(first))
        await own.write_attempt(ended(second, status="failed"))
        assert leases.waiting([share]) == {share.series: Waiting(0, 0)}
        (times,) = zip(*own.read(sa.select(schema.attempts.c.finished_at)), strict=True)
        ((now,),) = own.read(sa.select(sa.extract("epoch", sa.func.clock_timestamp())))
        assert all(0 <= float(now) - time < 60 for time in times)
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
        with pytest.raises(LeaseLost, match="another worker has taken this attempt over"):
            await slow.write_attempt(ended(key, answer="slow"))
        first._due = 0.0  # pyright: ignore[reportPrivateUsage]
        first.renew()
        await quick.write_attempt(ended(key, answer="quick"))
        with pytest.raises(LeaseLost):
            await slow.write_attempt(ended(key, answer="slow"))
        assert [row.answer for row in store.read(sa.select(schema.attempts))] == ["quick"]


async def test_who_hears_of_its_loss_goes_no_further(store: Store) -> None:
    share = enter(store, problems=1, runs=1)
    with worker(store) as (slow, first), worker(store, SHORT) as (_, second):
        ((problem, run),) = first.claim(share, 9)
        key = {"series": share.series, "problem": problem, "run": run}
        expire(store)
        second.waiting([share])
        second.claim(share, 9)
        prolong(store)
        slow.require_lease(key)  # it does not know yet
        first._due = 0.0  # pyright: ignore[reportPrivateUsage]
        first.renew()
        with pytest.raises(LeaseLost):
            slow.require_lease(key)


def test_a_worker_that_lives_renews_what_it_has(store: Store) -> None:
    share, expiry = enter(store, problems=1, runs=1), sa.select(schema.leases.c.expires)
    with worker(store) as (_, leases):
        leases.claim(share, 9)
        times = [store.read(expiry)[0][0]]
        for _ in range(2):
            leases.renew()  # the first time at once, then when a third of the lease is over
            times.append(store.read(expiry)[0][0])
        assert times[0] < times[1] == times[2]


def test_what_expired_is_still_its_owners_until_somebody_takes_it(store: Store) -> None:
    share = enter(store, problems=1, runs=1)
    with worker(store) as (_, first), worker(store, SHORT) as (_, second):
        first.claim(share, 9)
        expire(store)
        first._due = 0.0  # pyright: ignore[reportPrivateUsage]
        first.renew()
        assert second.waiting([share]) == {share.series: Waiting(0, 1)}


def test_nothing_expires_before_a_server_has_been_back_for_as_long_as_a_lease(
    frail_postgres: Postgres,
) -> None:
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


def test_a_claim_of_which_the_server_did_not_say_whether_it_was_made_is_made_anew(
    store: Store,
) -> None:
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
    from sums_run import PROBLEMS

    from constraint_first.attempt.drive import Scripted
    from constraint_first.run.job import prepare, run

    class PowerCut(BaseException):
        pass

    asked: list[object] = []

    def die(call: Any) -> str:
        asked.append(call)
        if len(asked) == 4:  # the second of the second attempt
            raise PowerCut
        return right(call)

    job = prepare(store, Series("sums", "cfr", "m"), PROBLEMS, 1, Scripted(die))
    with pytest.raises(PowerCut):
        asyncio.run(run(store, [job], width=1))
    with worker(store) as (_, leases):
        known = leases.claim(job.share, 9)
    assert [len(claimed.known) for claimed in known.values()] == [1, 0, 0, 0]
    assert next(iter(known.values())).problem == replace(PROBLEMS[1], benchmark="sums")
