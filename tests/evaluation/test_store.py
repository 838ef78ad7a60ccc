import asyncio
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import threading
from collections.abc import AsyncGenerator, Callable, Generator, Iterator
from contextlib import asynccontextmanager, closing, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest
import sqlalchemy as sa
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from postgres import Postgres
from sqlalchemy.event import listen
from sqlalchemy.exc import (
    DBAPIError,
    IntegrityError,
    OperationalError,
    ProgrammingError,
)
from stored import attempt
from sums import right, sums
from sums_run import PROBLEMS, SERIES, evaluate, execute, run_sums

from constraint_first.file.safe import storable_json, storable_text
from constraint_first.model.wire import SILENT, Watcher
from constraint_first.protocol import Call, Completion, Usage
from constraint_first.run.job import prepare, run
from constraint_first.store import database, writer
from constraint_first.store import database as schema
from constraint_first.store.database import (
    StoreError,
    Unstorable,
    cannot_be,
    is_of_the_row,
    is_outage,
    open_database,
    patiently,
    reason,
)
from constraint_first.store.query import (
    attempt_rows,
    begun_calls,
    failures,
    finished_keys,
    outcome_rows,
    problem_rows,
    regrade,
    stage_rows,
    summaries,
    transcript_rows,
)
from constraint_first.store.store import Store
from constraint_first.store.writer import RowValues, Writer, WriteStatements, usage_columns


async def test_attempts_are_there_once_and_not_made_again(url: str) -> None:
    with Store(url) as store:
        assert len((await evaluate(store)).asked) == 10
        assert len((await evaluate(store)).asked) == 0
        assert len((await evaluate(store, runs=3)).asked) == 5
    with Store(url) as store:
        rows = list(attempt_rows(store))
    assert len(rows) == 15
    assert {(row["problem"], row["run"]) for row in rows} == {
        (p.id, r) for p in PROBLEMS for r in range(3)
    }
    assert {row["verdict"] for row in rows} == {"correct"}


async def test_a_series_of_which_nothing_was_made_can_be_taken_out(url: str) -> None:
    with Store(url) as store:
        made = await run_sums(store, SERIES, 5)
        empty = store.register(replace(SERIES, model="model-b"), PROBLEMS)
        other = store.register(replace(SERIES, model="model-c"), PROBLEMS)
        store.withdraw([made.number, empty.series])
        assert [one.series.model for one in summaries(store)] == ["model-a", "model-c"]
        assert other.series != made.number


def test_a_store_of_another_version_is_refused(url: str) -> None:
    with Store(url) as store:
        execute(store, schema.store.update().values(version=99))
    with pytest.raises(StoreError, match=r"written by another version of cfr \(99\)"):
        Store(url)


ODD = st.text() | st.text(st.sampled_from('a\0\ud83d\ude00\U0001f600\x1b\u2028\\"é'))

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | ODD,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(ODD, inner, max_size=4),
    max_leaves=10,
)

UNWORRIED = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow]


@given(st.data())
@settings(max_examples=20, deadline=None, suppress_health_check=UNWORRIED)
def test_what_has_passed_the_gate_is_read_back_as_it_was_written(url: str, data: Any) -> None:
    """Each example is many rows: to open a store takes longer than to fill it."""
    values = data.draw(st.lists(st.tuples(ODD, JSON, st.integers() | st.floats()), min_size=20))
    kept = [
        {
            "text": storable_text(text),
            "details": storable_json(value),
            **usage_columns(Usage(cast("int", count), 1)),
        }
        for text, value, count in values
    ]
    with Store(url) as store:
        registered = store.register(SERIES, PROBLEMS[:1])
        key = registered.series, registered.problems["p0"]
        rows = [attempt(*key, n, **one) for n, one in enumerate(kept)]
        execute(store, schema.attempts.delete())
        execute(store, schema.attempts.insert(), rows)
        columns = [schema.attempts.c[name] for name in kept[0]]
        found = store.read(sa.select(*columns).order_by(schema.attempts.c.run))
    assert [row._asdict() for row in found] == kept


HOLD = """
import sqlite3, sys, time
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("PRAGMA locking_mode=EXCLUSIVE")
connection.execute("BEGIN EXCLUSIVE")
connection.execute("DELETE FROM calls")
print("held", flush=True)
time.sleep(600)
"""

READERS: dict[str, Callable[[Store], object]] = {
    "summaries": summaries,
    "failures": failures,
    "attempts": lambda store: list(attempt_rows(store)),
    "outcomes": lambda store: list(outcome_rows(store)),
    "problems": lambda store: list(problem_rows(store)),
    "stages": lambda store: list(stage_rows(store)),
    "transcripts": lambda store: list(transcript_rows(store, [("sums", "d", "m", "", "p0", 0)])),
    "regrading": regrade,
    "register": lambda store: store.register(SERIES, sums(3)),
    "finished": lambda store: finished_keys(store, 1),
    "begun": lambda store: begun_calls(store, 1),
}


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("none/such/runs.db", "there is no folder"),
        ("mysql://h/db", "SQLite or PostgreSQL"),
        ("nonsense://", "SQLite or PostgreSQL|not a store"),
        ("postgresql://me:hush@127.0.0.1:1/x", "cannot be opened .*see that its server runs"),
        ("sqlite://", "kept in a file"),
        (":memory:", "kept in a file"),
        (".", "not a file"),
        ("x" * 300, r"cannot be opened \(File name too long\)"),
    ],
)
def test_an_address_that_is_no_store(
    url: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(StoreError, match=message) as caught:
        Store(url)
    assert "hush" not in str(caught.value)


def test_a_file_that_is_no_database(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    path.write_text("this is not a database, but it is long enough to be looked at " * 20)
    for existing in (False, True):
        with pytest.raises(StoreError, match=r"cannot be opened as a store \(.*restore it"):
            Store(str(path), existing=existing)


@pytest.fixture
def filled(tmp_path: Path) -> Path:
    """A store in a folder of its own, with some attempts."""
    path = tmp_path / "folder" / "runs.db"
    path.parent.mkdir()
    fill(str(path))
    return path


def fill(url: str) -> None:
    with Store(url) as store:
        registered = store.register(SERIES, sums(3))
        rows = [attempt(registered.series, n, answer="9") for n in registered.problems.values()]
        execute(store, schema.attempts.insert(), rows)


@pytest.mark.parametrize("mode", ["WAL", "DELETE"])
@pytest.mark.parametrize("existing", [True, False])
def test_another_programs_file_is_untouched(tmp_path: Path, mode: str, *, existing: bool) -> None:
    path = tmp_path / "albums.db"
    with closing(sqlite3.connect(path)) as albums:
        albums.execute(f"PRAGMA journal_mode={mode}")
        albums.execute("CREATE TABLE albums (id)")
    before = path.read_bytes()
    with pytest.raises(StoreError, match=r"albums\.db: not a store of runs; name one"):
        Store(str(path), existing=existing)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_reading_makes_no_store(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    with pytest.raises(StoreError, match="unable to open"):
        Store(str(path), existing=True)
    assert not path.exists()
    path.touch()
    with pytest.raises(StoreError, match="not a store of runs"):
        Store(str(path), existing=True)
    assert path.stat().st_size == 0


def test_reading_leaves_no_trace(filled: Path) -> None:
    before = filled.read_bytes()
    with Store(str(filled), existing=True) as store:
        assert summaries(store)[0].tally.total == 3
    assert filled.read_bytes() == before
    assert [path.name for path in filled.parent.iterdir()] == ["runs.db"]


def test_reading_makes_no_tables_on_a_server(postgres: str) -> None:
    with pytest.raises(StoreError, match=r"cannot be opened as a store .*does not exist"):
        Store(postgres, existing=True)
    server = open_database(postgres, existing=True)
    assert not sa.inspect(server).get_table_names()
    server.dispose()


@pytest.fixture
def sealed(filled: Path) -> Iterator[Path]:
    """A store in a folder where nothing can be written."""
    folder = filled.parent
    folder.chmod(0o555)
    if os.access(folder, os.W_OK):  # root may do everything, except this
        tool = shutil.which("chattr")
        if not tool or subprocess.run([tool, "+i", folder], capture_output=True).returncode:
            folder.chmod(0o755)
            pytest.skip("no folder can be sealed here: root, and a file system without +i")
        yield filled
        subprocess.run([tool, "-i", folder], check=True)
    else:
        yield filled
    folder.chmod(0o755)


@pytest.mark.parametrize("named", ["path", "url"])
def test_a_store_on_a_medium_that_takes_no_writes_can_be_read(sealed: Path, named: str) -> None:
    url = str(sealed) if named == "path" else f"sqlite:///{sealed}"
    with Store(url, existing=True) as store:
        assert summaries(store)[0].tally.total == 3
        assert len(list(attempt_rows(store))) == 3
        with pytest.raises(StoreError, match=r"cannot be regraded .*see that it may be read and"):
            regrade(store)
    with pytest.raises(StoreError, match=r"runs\.db: cannot be opened as a store"):
        Store(url)


@pytest.mark.parametrize("existing", [True, False])
@pytest.mark.parametrize(
    "damage", ["DROP TABLE calls", "ALTER TABLE attempts DROP COLUMN reasoning_tokens"]
)
def test_a_missing_table_or_column_is_named(url: str, damage: str, *, existing: bool) -> None:
    with Store(url) as store:
        execute(store, damage)
    missing = damage.split()[-1]
    with pytest.raises(StoreError, match=rf"{missing}.*; name a store that 'cfr eval' made"):
        Store(url, existing=existing)


def test_what_was_killed_while_it_was_made_is_made_whole(url: str) -> None:
    with Store(url) as store:
        execute(store, schema.store.delete())
        execute(store, "DROP TABLE calls")
    fill(url)
    with Store(url, existing=True) as store:
        assert summaries(store)[0].tally.total == 3


@pytest.mark.parametrize("reader", READERS)
def test_a_damaged_file_is_told_in_words(filled: Path, reader: str) -> None:
    with Store(str(filled)) as store:
        data = bytearray(filled.read_bytes())
        half = len(data) // 2 // 4096 * 4096
        data[half:] = b"\xff" * (len(data) - half)
        data[4096:half] = b"\xff" * (half - 4096)
        filled.write_bytes(data)
        with pytest.raises(StoreError, match=r"runs\.db: cannot be \w+ \(.*malformed\); restore"):
            READERS[reader](store)


@pytest.mark.parametrize("reader", READERS)
def test_a_locked_file(filled: Path, reader: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(database._WAITING, "timeout", 0.1)  # pyright: ignore[reportPrivateUsage]
    with Store(str(filled), existing=True) as store:
        store.database.dispose()
        holder = subprocess.Popen([sys.executable, "-c", HOLD, str(filled)], stdout=subprocess.PIPE)
        try:
            assert holder.stdout
            assert holder.stdout.readline() == b"held\n"
            with pytest.raises(StoreError, match=r"cannot be \w+ \(database is locked\); close"):
                READERS[reader](store)
        finally:
            holder.kill()
            holder.communicate()


@pytest.fixture
def away(frail_postgres: Postgres) -> Iterator[Store]:
    """A store whose server was killed."""
    fill(frail_postgres.url)
    with Store(frail_postgres.url, existing=True) as store:
        assert len(list(attempt_rows(store))) == 3
        frail_postgres.stop()
        yield store
        frail_postgres.start()
        schema.METADATA.drop_all(store.database)


def test_a_killed_server_is_named(away: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "_OUTAGE", 0.0)
    for reader in READERS.values():
        with pytest.raises(StoreError, match=r"cannot be \w+ \(.*see that its server runs"):
            reader(away)
    with pytest.raises(StoreError, match=r"cannot be locked \("), away.exclusively():
        pass


def test_readers_wait_for_a_server_that_is_restarted(frail_postgres: Postgres) -> None:
    fill(frail_postgres.url)
    with Store(frail_postgres.url, existing=True) as store:
        for reader in READERS.values():
            reader(store)
            frail_postgres.stop()
            frail_postgres.start()
            reader(store)
        schema.METADATA.drop_all(store.database)


def test_an_outage_is_waited_out_and_an_error_is_not() -> None:
    class Gone(Exception):
        sqlstate = "57P01"

    outage = OperationalError("SELECT 1", {}, Gone("terminating connection"))
    wrong = ProgrammingError("SELECT 1", {}, Exception("no such table: x"))
    tries: list[int] = []

    def work(errors: list[Exception]) -> str:
        tries.append(1)
        if errors:
            raise errors.pop(0)
        return "done"

    passing: list[Exception] = [outage, outage]
    assert patiently("url", "read", lambda: work(passing)) == "done"
    assert len(tries) == 3
    with pytest.raises(StoreError, match=r"^url: cannot be read \(no such table: x\); name a"):
        patiently("url", "read", lambda: work([wrong]))
    assert len(tries) == 4


# Stores that were written before have these tables; another set of columns is another version.
KEY = "series problem run "
TOKENS = " input_tokens output_tokens reasoning_tokens cached_tokens "

COLUMNS = {
    "store": "version",
    "problems": "id benchmark name text answer",
    "series": "id benchmark method label model decoding fingerprint",
    "prompts": "series name text",  # those of before lack it, and are read all the same
    "attempts": KEY
    + "status verdict tier"
    + TOKENS
    + "seconds finished_at answer error details text",
    "calls": KEY
    + "ordinal stage digest messages max_tokens text reasoning finish"
    + TOKENS
    + "reported seconds",
}

# For many workers, on PostgreSQL alone.
SHARED = {
    "leases": KEY + "owner expires begun",
    "run_settings": "series models budget",
    "budgets": "id max_tokens max_cost tokens cost lost_tokens lost_cost",
    "reservations": "budget owner tokens cost change expires",
}


def test_a_store_has_these_tables(url: str) -> None:
    assert schema.VERSION == 1
    with Store(url) as store:
        seen = sa.inspect(store.database)
        expected = COLUMNS | (SHARED if store.is_shared else {})
        assert set(seen.get_table_names()) == set(expected)
        for name, columns in expected.items():
            assert [column["name"] for column in seen.get_columns(name)] == columns.split()
        assert seen.get_pk_constraint("attempts")["constrained_columns"] == KEY.split()
        assert seen.get_pk_constraint("calls")["constrained_columns"] == [*KEY.split(), "ordinal"]


async def test_an_old_store_gets_the_tables_of_workers_when_run(url: str) -> None:
    with Store(url) as store:
        await evaluate(store, runs=1)
        schema.METADATA.drop_all(store.database, schema.SHARED)
    with Store(url, existing=True) as store:  # whoever reads changes nothing
        assert set(sa.inspect(store.database).get_table_names()) == set(COLUMNS)
        assert len(list(outcome_rows(store))) == 5
    with Store(url) as store:
        assert len((await evaluate(store, runs=2)).asked) == 5
        assert len(list(outcome_rows(store))) == 10


@pytest.mark.parametrize("table", [schema.series, schema.problems, schema.attempts])
async def test_nothing_is_there_twice(url: str, table: sa.Table) -> None:
    with Store(url) as store:
        registered = store.register(SERIES, sums(1))
        await store.write_attempt(attempt(registered.series, registered.problems["p0"]))
        with store.database.connect() as connection:
            (row,) = connection.execute(sa.select(table)).mappings()
            again = {name: value for name, value in row.items() if name != "id"}
            with pytest.raises(IntegrityError, match=r"(?i)unique"):
                connection.execute(table.insert(), again)


COUNT = 30

TABLE = sa.Table(
    "notes",
    sa.MetaData(),
    sa.Column("id", sa.Integer),
    sa.Column("text", sa.Text, nullable=False),
)

INSERT = "INSERT INTO notes VALUES (:id, :text)"


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


async def test_the_lock_is_checked(notes: Notes, monkeypatch: pytest.MonkeyPatch) -> None:
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


@pytest.mark.parametrize("end", [Writer.flush, Writer.close])
def test_it_ends_when_everything_is_committed(notes: Notes, end: Callable[[Writer], None]) -> None:
    asyncio.run(put(notes, 20))
    end(notes.writer)
    assert len(notes.stored()) == 20


async def test_of_rows_with_one_key_in_one_batch_the_last_stands(url: str) -> None:
    with Store(url) as store:
        registered = store.register(SERIES, sums(COUNT))
        await asyncio.gather(
            *(
                store.write_attempt(attempt(registered.series, number, answer=answer))
                for answer in ("first", "second", "third")
                for number in registered.problems.values()
            )
        )
        assert store.read(sa.select(schema.attempts.c.answer)) == [("third",)] * COUNT


@pytest.fixture
def restarted(frail_postgres: Postgres) -> Iterator[Postgres]:
    yield frail_postgres
    with suppress(subprocess.CalledProcessError):  # it runs already
        frail_postgres.start()


async def test_a_server_that_is_restarted_is_waited_for(restarted: Postgres) -> None:
    with Store(restarted.url) as store:
        registered = store.register(SERIES, sums(COUNT))
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


async def test_a_server_stays_away(restarted: Postgres, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "_OUTAGE", 0.3)
    with Store(restarted.url) as store:
        registered = store.register(SERIES, sums(1))
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
        job = prepare(store, SERIES, sums(3), 1, Stopping())
        running = asyncio.create_task(run(store, [job], width=3))
        await stopped.wait()
        done, _ = await asyncio.wait([running], timeout=0.5)
        assert not done
        running.cancel()
        with pytest.raises(StoreError, match=r"cannot be written .*see that its server runs"):
            await asyncio.wait_for(running, 30)  # it would wait for a minute


@pytest.mark.parametrize("is_shared", [True, False])
def test_a_failed_attempt_is_replaced_and_a_call_that_workers_share_never(is_shared: bool) -> None:
    statements = WriteStatements(is_shared=is_shared)
    assert "DO UPDATE" in statements.put_attempt
    assert ("DO NOTHING" in statements.put_call) == is_shared


def test_neither_the_statement_nor_its_values_are_shown() -> None:
    engine = sa.create_engine("sqlite://")
    statement = sa.text("SELECT secret FROM nowhere WHERE text = :text")
    with engine.connect() as connection, pytest.raises(DBAPIError) as caught:
        connection.execute(statement, {"text": "a model's reply"})
    engine.dispose()
    assert "a model's reply" in str(caught.value), "sqlalchemy would show it"
    assert reason(caught.value) == "no such table: nowhere"


TABLE_ERROR = sa.Table(
    "notes",
    sa.MetaData(),
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("text", sa.Text, nullable=False),
    sa.Column("true", sa.Boolean),
    sa.CheckConstraint("id < 9"),
)

GOOD = {"id": 1, "text": "good", "true": True}


@pytest.fixture
def opened(url: str) -> Any:
    engine = open_database(url, existing=False)
    TABLE_ERROR.metadata.create_all(engine)
    yield engine
    TABLE_ERROR.metadata.drop_all(engine)
    engine.dispose()


def refused(opened: sa.Engine, statement: Any, *rows: dict[str, Any]) -> Exception:
    try:
        with opened.begin() as connection:
            connection.execute(statement, *rows)
    except Exception as error:
        return error
    raise AssertionError("it was not refused")


@pytest.mark.parametrize(
    "bad",
    [
        {"text": None},
        {"text": "\ud83d"},
        {"text": object()},
        {"id": 2**63},
        {"id": 9},
        {"true": "perhaps"},
        {"id": 2**31},  # PostgreSQL has no room for it; on SQLite the table's check refuses it
    ],
)
def test_refused_values_blame_their_row(opened: sa.Engine, bad: dict[str, Any]) -> None:
    error = refused(opened, TABLE_ERROR.insert(), GOOD | bad)
    assert is_of_the_row(error)
    assert not is_outage(error)
    if opened.dialect.name == "postgresql":
        assert is_of_the_row(refused(opened, TABLE_ERROR.insert(), GOOD | {"text": "\0"}))


@pytest.mark.parametrize(
    "statement", ["SELECT * FROM nowhere", "SELECT nothing FROM notes", "no SQL at all"]
)
def test_a_broken_store_blames_no_row(opened: sa.Engine, statement: str) -> None:
    error = refused(opened, sa.text(statement))
    assert not is_of_the_row(error)
    assert not is_outage(error)


def test_a_full_disk_is_not_the_fault_of_a_row(tmp_path: Path) -> None:
    opened = open_database(str(tmp_path / "full.db"), existing=False)
    TABLE_ERROR.metadata.create_all(opened)

    def limit(connection: Any, _record: object) -> None:
        connection.execute("PRAGMA max_page_count=3")

    listen(opened, "connect", limit)
    opened.dispose()
    error = refused(opened, TABLE_ERROR.insert(), GOOD | {"text": "x" * 10_000})
    assert not is_of_the_row(error)
    assert "full); make room there" in str(cannot_be("written", "full.db", error))
    opened.dispose()


def test_a_server_that_breaks_off_is_an_outage(postgres: str) -> None:
    opened = open_database(postgres, existing=False)
    error = refused(opened, sa.text("SELECT pg_terminate_backend(pg_backend_pid())"))
    assert (is_outage(error), is_of_the_row(error)) == (True, False)
    opened.dispose()
