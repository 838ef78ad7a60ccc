import asyncio
import re
import sqlite3
import subprocess
import threading
from collections.abc import AsyncGenerator, Generator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from postgres import Postgres
from sqlalchemy.event import listen
from stored import attempt
from sums import right, sums

from constraint_first.attempt.drive import Scripted
from constraint_first.model.wire import SILENT, Watcher
from constraint_first.protocol import Call, Completion
from constraint_first.run.job import prepare, run
from constraint_first.store import database, schema, writer
from constraint_first.store.database import StoreError, Unstorable
from constraint_first.store.query import finished_keys
from constraint_first.store.series import Series
from constraint_first.store.store import Store
from constraint_first.store.writer import RowValues, Writer

PROBLEMS = 30
TABLE = sa.Table(
    "notes",
    sa.MetaData(),
    sa.Column("id", sa.Integer),
    sa.Column("text", sa.Text, nullable=False),
)


INSERT = TABLE.insert()


class Notes:
    """A SQLite file with one table, and a writer for it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.database = sa.create_engine(f"sqlite:///{path}", connect_args={"timeout": 30})
        TABLE.metadata.create_all(self.database)
        self.checked = 0
        self.writer = Writer("notes.db", self.database, self.check)

    def check(self) -> None:
        self.checked += 1

    def stored(self) -> list[tuple[Any, ...]]:
        """Read what is committed, over a connection that the writer knows nothing of."""
        with sqlite3.connect(self.path) as other:
            rows = other.execute("SELECT id, text FROM notes ORDER BY rowid").fetchall()
        other.close()
        return rows

    @contextmanager
    def locked(self) -> Generator[None]:
        """Keep everybody else from writing."""
        other = sqlite3.connect(self.path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        try:
            yield
        finally:
            other.execute("ROLLBACK")
            other.close()


@pytest.fixture
def notes(tmp_path: Path) -> Iterator[Notes]:
    made = Notes(tmp_path / "notes.db")
    yield made
    made.writer.close()
    made.database.dispose()


def note(number: int, text: str | None = "") -> RowValues:
    return {"id": number, "text": text}


async def test_a_row_is_acknowledged_when_it_is_committed_and_not_before(notes: Notes) -> None:
    with notes.locked():
        waiting = notes.writer.write(INSERT, note(1))
        done, _ = await asyncio.wait([waiting], timeout=0.2)
        assert not done
        assert notes.stored() == []
    await waiting
    assert notes.stored() == [(1, "")]


async def test_rows_are_written_in_the_order_in_which_they_came(notes: Notes) -> None:
    await asyncio.gather(*(notes.writer.write(INSERT, note(n)) for n in (5, 3, 4, 1, 2)))
    assert [number for number, _ in notes.stored()] == [5, 3, 4, 1, 2]


async def test_rows_that_come_together_share_a_commit(notes: Notes) -> None:
    commits: list[object] = []
    listen(notes.database, "commit", commits.append)
    await asyncio.gather(*(notes.writer.write(INSERT, note(n)) for n in range(500)))
    assert len(notes.stored()) == 500
    assert 1 <= len(commits) < 50


async def test_a_failure_of_the_store_reaches_whoever_waits_and_the_flush(notes: Notes) -> None:
    watching = asyncio.create_task(notes.writer.watch())
    await asyncio.sleep(0)
    TABLE.metadata.drop_all(notes.database)
    with pytest.raises(StoreError, match=r"notes\.db: cannot be written \(no such table: notes\)"):
        await notes.writer.write(INSERT, note(1))
    for _ in range(2):
        with pytest.raises(StoreError, match=r"cannot be written .*run the same command again"):
            notes.writer.flush()
        with pytest.raises(StoreError, match="no such table"):
            await watching
        watching = asyncio.create_task(notes.writer.watch())


@asynccontextmanager
async def held_up(notes: Notes) -> AsyncGenerator[None]:
    """Let rows gather: what comes while a commit is under way goes into the next together."""
    begun, go_on = threading.Event(), threading.Event()

    def hold_up(_connection: object) -> None:
        begun.set()
        go_on.wait()

    listen(notes.database, "begin", hold_up)
    first = notes.writer.write(INSERT, note(1))
    await asyncio.to_thread(begun.wait)
    yield
    go_on.set()
    await first


BAD: list[Any] = [None, "\ud800", object(), 2**70]


@pytest.mark.parametrize("bad", BAD)
async def test_a_row_that_is_refused_takes_no_other_with_it(notes: Notes, bad: Any) -> None:
    async with held_up(notes):
        rows = [note(n, bad if n in (3, 9) else "good") for n in range(2, 40)]
        writing = [notes.writer.write(INSERT, row) for row in rows]
    results = await asyncio.gather(*writing, return_exceptions=True)
    refused = [row["id"] for row, result in zip(rows, results, strict=True) if result]
    assert refused == [3, 9]
    assert all(isinstance(results[n - 2], Unstorable) for n in refused)
    assert re.match(r"notes\.db: refused to store it \(.+\)$", str(results[1]))
    assert [number for number, _ in notes.stored()] == [n for n in range(1, 40) if n not in refused]
    notes.writer.flush()  # the store is well


async def test_the_lock_is_looked_at_before_a_commit_and_now_and_then(
    notes: Notes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer, "_HEARTBEAT", 0.01)
    await notes.writer.write(INSERT, note(1))
    assert notes.checked >= 1
    while notes.checked < 5:
        await asyncio.sleep(0.01)

    def lost() -> None:
        raise StoreError("the lock was lost")

    notes.check = lost  # what follows is refused although the database would take it
    monkeypatch.setattr(notes.writer, "_check", lost)
    with pytest.raises(StoreError, match="the lock was lost"):
        await notes.writer.watch()
    with pytest.raises(StoreError, match="the lock was lost"):
        await notes.writer.write(INSERT, note(2))
    assert notes.stored() == [(1, "")]


async def test_a_row_is_safe_even_if_nobody_waits_for_it_any_more(notes: Notes) -> None:
    with notes.locked():
        notes.writer.write(INSERT, note(1)).cancel()
    await notes.writer.write(INSERT, note(2))
    assert notes.stored() == [(1, ""), (2, "")]


def test_a_loop_that_was_closed_meanwhile_does_not_stop_the_writer(notes: Notes) -> None:
    with notes.locked():
        asyncio.run(put(notes, 1))
    notes.writer.flush()
    asyncio.run(put(notes, 2))
    notes.writer.flush()
    assert notes.stored() == [(0, ""), (0, ""), (1, "")]


async def put(notes: Notes, count: int) -> None:
    """Hand over rows, and do not wait for them."""
    for number in range(count):
        notes.writer.write(INSERT, note(number))


def test_a_flush_waits_until_everything_is_committed(notes: Notes) -> None:
    notes.writer.flush()
    asyncio.run(put(notes, 20))
    notes.writer.flush()
    assert len(notes.stored()) == 20


def test_closing_commits_what_is_left(notes: Notes) -> None:
    asyncio.run(put(notes, 20))
    notes.writer.close()
    assert len(notes.stored()) == 20


async def test_of_rows_with_one_key_in_one_batch_the_last_stands(url: str) -> None:
    with Store(url) as store:
        registered = store.register(Series("sums", "direct", "m"), sums(PROBLEMS))
        await asyncio.gather(
            *(
                store.write_attempt(attempt(registered.series, number, answer=answer))
                for answer in ("first", "second", "third")
                for number in registered.problems.values()
            )
        )
        with store.database.connect() as connection:
            answers = list(connection.scalars(sa.select(schema.attempts.c.answer)))
    assert answers == ["third"] * PROBLEMS


@pytest.fixture
def restarted(frail_postgres: Postgres) -> Iterator[Postgres]:
    yield frail_postgres
    with suppress(subprocess.CalledProcessError):  # it runs already
        frail_postgres.start()


async def test_a_server_that_is_restarted_is_waited_for(restarted: Postgres) -> None:
    with Store(restarted.url) as store:
        registered = store.register(Series("sums", "direct", "m"), sums(PROBLEMS))
        rows = [attempt(registered.series, number) for number in registered.problems.values()]
        await asyncio.gather(*map(store.write_attempt, rows[:10]))
        restarted.stop()
        writing = [store.write_attempt(row) for row in rows[10:]]
        done, _ = await asyncio.wait(writing, timeout=0.5)
        assert not done
        await asyncio.to_thread(restarted.start)
        await asyncio.gather(*writing)
        assert finished_keys(store, registered.series) == {(row["problem"], 0) for row in rows}
        schema.METADATA.drop_all(store.database)


async def test_a_server_that_stays_away_ends_the_run_in_words(
    restarted: Postgres, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "_OUTAGE", 0.3)
    with Store(restarted.url) as store:
        registered = store.register(Series("sums", "direct", "m"), sums(1))
        restarted.stop()
        with pytest.raises(StoreError, match=r"cannot be written .*see that its server runs"):
            await store.write_attempt(attempt(registered.series, registered.problems["p0"]))
        with pytest.raises(StoreError, match=r"cannot be read .*see that its server runs"):
            finished_keys(store, registered.series)


async def test_who_wants_to_leave_does_not_wait_for_a_server(restarted: Postgres) -> None:
    class Stopping:
        async def complete(self, call: Call, watcher: Watcher = SILENT) -> Completion:
            if not stopped.is_set():
                stopped.set()
                await asyncio.to_thread(restarted.stop)
            return Completion(right(call))

    stopped = asyncio.Event()
    with Store(restarted.url) as store:
        job = prepare(store, Series("sums", "direct", "m"), sums(3), 1, Stopping())
        running = asyncio.create_task(run(store, [job], width=3))
        await stopped.wait()
        done, _ = await asyncio.wait([running], timeout=0.5)
        assert not done
        running.cancel()
        with pytest.raises(StoreError, match=r"cannot be written .*see that its server runs"):
            await asyncio.wait_for(running, 30)  # it would wait for a minute


async def test_who_has_claimed_nothing_leaves_with_nothing_lost(restarted: Postgres) -> None:
    with Store(restarted.url) as store:
        job = prepare(store, Series("sums", "direct", "m"), sums(3), 1, Scripted(right))
        restarted.stop()
        running = asyncio.create_task(run(store, [job], width=3))
        done, _ = await asyncio.wait([running], timeout=0.5)
        assert not done
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asyncio.wait_for(running, 30)
