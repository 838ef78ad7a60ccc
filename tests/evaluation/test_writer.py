import asyncio
import sqlite3
import threading
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy.event import listen
from stored import attempt
from sums import sums

from cfr.evaluation import schema
from cfr.evaluation.error import StoreError
from cfr.evaluation.series import Series
from cfr.evaluation.store import Store
from cfr.evaluation.writer import RowValues, Writer

PROBLEMS = 30
TABLE = sa.Table(
    "notes",
    sa.MetaData(),
    sa.Column("id", sa.Integer),
    sa.Column("text", sa.Text, nullable=False),
)


class Notes:
    """A SQLite file with one table, and a writer for it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.database = sa.create_engine(f"sqlite:///{path}", connect_args={"timeout": 30})
        TABLE.metadata.create_all(self.database)
        self.writer = Writer("notes.db", self.database, lambda table: table.insert())

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
        waiting = asyncio.create_task(notes.writer.write(TABLE, note(1)))
        done, _ = await asyncio.wait([waiting], timeout=0.2)
        assert not done
        assert notes.stored() == []
    await waiting
    assert notes.stored() == [(1, "")]


async def test_rows_are_written_in_the_order_in_which_they_came(notes: Notes) -> None:
    for number in (5, 3, 4, 1):
        notes.writer.write_later(TABLE, note(number))
    await notes.writer.write(TABLE, note(2))
    assert [number for number, _ in notes.stored()] == [5, 3, 4, 1, 2]


async def test_rows_that_come_together_share_a_commit(notes: Notes) -> None:
    commits: list[object] = []
    listen(notes.database, "commit", commits.append)
    await asyncio.gather(*(notes.writer.write(TABLE, note(n)) for n in range(500)))
    assert len(notes.stored()) == 500
    assert 1 <= len(commits) < 50


async def test_a_failure_reaches_whoever_waits_and_the_flush(notes: Notes) -> None:
    with pytest.raises(StoreError, match=r"notes\.db: cannot be written \(NOT NULL"):
        await notes.writer.write(TABLE, note(1, None))
    for _ in range(2):
        with pytest.raises(StoreError, match=r"cannot be written .*run the same command again"):
            notes.writer.flush()
    assert notes.stored() == []


async def test_a_batch_with_a_bad_row_is_refused_as_a_whole(notes: Notes) -> None:
    begun, go_on = threading.Event(), threading.Event()

    def hold_up(_connection: object) -> None:
        begun.set()
        go_on.wait()

    listen(notes.database, "begin", hold_up)
    notes.writer.write_later(TABLE, note(1))
    await asyncio.to_thread(begun.wait)  # what comes while a commit is under way goes together
    rows = [note(2), note(3, None), note(4)]
    three = [asyncio.create_task(notes.writer.write(TABLE, row)) for row in rows]
    await asyncio.sleep(0)
    go_on.set()
    results = await asyncio.gather(*three, return_exceptions=True)
    assert all(isinstance(result, StoreError) for result in results)
    assert notes.stored() == [(1, "")]
    await notes.writer.write(TABLE, note(5))  # the thread lives on
    assert notes.stored() == [(1, ""), (5, "")]


async def test_a_row_is_safe_even_if_nobody_waits_for_it_any_more(notes: Notes) -> None:
    with notes.locked():
        waiting = asyncio.create_task(notes.writer.write(TABLE, note(1)))
        await asyncio.sleep(0)
        waiting.cancel()
        await asyncio.wait([waiting])
    await notes.writer.write(TABLE, note(2))
    assert notes.stored() == [(1, ""), (2, "")]


def test_a_loop_that_was_closed_meanwhile_does_not_stop_the_writer(notes: Notes) -> None:
    async def give_up() -> None:
        waiting = asyncio.create_task(notes.writer.write(TABLE, note(1)))
        await asyncio.sleep(0)
        waiting.cancel()
        await asyncio.wait([waiting])

    with notes.locked():
        asyncio.run(give_up())
    notes.writer.flush()
    notes.writer.write_later(TABLE, note(2))
    notes.writer.flush()
    assert notes.stored() == [(1, ""), (2, "")]


def test_a_flush_waits_until_everything_is_committed(notes: Notes) -> None:
    notes.writer.flush()
    for number in range(20):
        notes.writer.write_later(TABLE, note(number))
    notes.writer.flush()
    assert len(notes.stored()) == 20


def test_closing_commits_what_is_left(notes: Notes) -> None:
    for number in range(20):
        notes.writer.write_later(TABLE, note(number))
    notes.writer.close()
    assert len(notes.stored()) == 20


def test_of_rows_with_one_key_in_one_batch_the_last_stands(url: str) -> None:
    with Store(url) as store:
        registered = store.register(Series("sums", "direct", "m"), sums(PROBLEMS))
        for answer in ("first", "second", "third"):
            for number in registered.problems.values():
                store.write_attempt(attempt(registered.series, number, answer=answer))
        store.flush()
        with store.database.connect() as connection:
            answers = list(connection.scalars(sa.select(schema.attempts.c.answer)))
    assert answers == ["third"] * PROBLEMS
