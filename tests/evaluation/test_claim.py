import asyncio
from collections import Counter
from collections.abc import Iterator

import pytest
from postgres import empty_database
from sums import number_in, right, sums

from constraint_first.attempt.drive import Scripted
from constraint_first.model.error import Unauthorized
from constraint_first.model.wire import SILENT, Watcher
from constraint_first.protocol import Call, Completion
from constraint_first.run.job import ClaimedAttempts, Job, ListedAttempts, prepare, run
from constraint_first.store.query import attempt_rows
from constraint_first.store.series import Series
from constraint_first.store.store import Store

SERIES = Series("sums", "direct", "m")
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
            job = prepare(store, SERIES, sums(COUNT), 1, Slow(asked))
            await run(store, [job], width=8)
            return job

    jobs = await asyncio.gather(*(work() for _ in range(3)))
    assert asked == Counter(range(COUNT))
    for job in jobs:  # each counts what all have made
        assert (job.tally.total, job.tally.ok, job.tally.correct) == (COUNT, COUNT, COUNT)
    assert sum(job.tally.made for job in jobs) == COUNT
    assert all(job.tally.made > 0 for job in jobs)


async def test_who_has_nothing_to_do_waits_for_others_and_takes_over_what_expires(
    shared: str,
) -> None:
    with Store(shared) as dead:
        job = prepare(dead, SERIES, sums(5), 1, Scripted(right))
        with dead.leasing(0.3) as leases:
            assert len(leases.claim(job.share, 32)) == 5
            leases._named["owner"] = "nobody"  # pyright: ignore[reportPrivateUsage]
    with Store(shared) as store:
        job = prepare(store, SERIES, sums(5), 1, Scripted(right))
        await run(store, [job], width=2, lease=0.3)
        assert job.tally.complete
        assert len(list(attempt_rows(store))) == 5


class Refused:
    async def complete(self, call: Call, watcher: Watcher = SILENT) -> Completion:
        raise Unauthorized("HTTP 401: bad key")


async def test_a_worker_without_a_key_leaves_the_series_to_those_who_have_one(shared: str) -> None:
    asked: Counter[int] = Counter()
    with Store(shared) as good, Store(shared) as bad:
        jobs = [
            prepare(store, SERIES, sums(COUNT), 1, engine)
            for store, engine in ((good, Slow(asked)), (bad, Refused()))
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


async def test_a_file_is_gone_through_by_one_run(tmp_path: object) -> None:
    with Store(f"{tmp_path}/runs.db") as store:
        job = prepare(store, SERIES, sums(2), 2, Scripted(right))
        attempts = ListedAttempts([job])
        found = [await attempts.next() for _ in range(5)]
        assert [(one.problem.id, one.run) if one else None for one in found] == [
            ("p0", 0), ("p1", 0), ("p0", 1), ("p1", 1), None,
        ]  # fmt: skip
        assert found[0]
        assert not await attempts.give_up(found[0])


async def test_no_more_is_claimed_than_can_be_begun(shared: str) -> None:
    with Store(shared) as store:
        job = prepare(store, SERIES, sums(12), 1, Scripted(right))
        with store.leasing(60) as leases:
            attempts = ClaimedAttempts(leases, [job], width=3)
            assert await attempts.next()
            assert leases.waiting([job.share])[job.number].free == 12 - 3
            await attempts.close()
