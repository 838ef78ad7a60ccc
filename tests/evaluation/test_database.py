import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace

import pytest
import sqlalchemy as sa
from postgres import Postgres
from sqlalchemy.exc import OperationalError, ProgrammingError
from stored import attempt
from sums import sums

from constraint_first.store import database, schema
from constraint_first.store.database import (
    StoreError,
    open_database,
    patiently,
    pauses,
    sqlite_tables,
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
from constraint_first.store.series import Series
from constraint_first.store.store import Store

SERIES = Series("sums", "direct", "m")
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
        with store.database.begin() as connection:
            connection.execute(schema.attempts.insert(), rows)


def execute(path: Path, *statements: str) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        for statement in statements:
            connection.execute(statement)


@pytest.mark.parametrize("mode", ["WAL", "DELETE"])
@pytest.mark.parametrize("existing", [True, False])
def test_a_file_of_something_else_is_left_as_it_is(
    tmp_path: Path, mode: str, *, existing: bool
) -> None:
    path = tmp_path / "albums.db"
    execute(path, f"PRAGMA journal_mode={mode}", "CREATE TABLE albums (id)")
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


def test_odd_names_of_files_are_no_addresses(tmp_path: Path) -> None:
    path = tmp_path / "a?mode=ro&b#c %41.db"
    fill(str(path))
    with Store(str(path), existing=True) as store:
        assert summaries(store)[0].tally.total == 3
    shared = {table.name for table in schema.SHARED}
    assert sqlite_tables("url", path) == schema.METADATA.tables.keys() - shared


@pytest.mark.parametrize("existing", [True, False])
@pytest.mark.parametrize(
    "damage", ["DROP TABLE calls", "ALTER TABLE attempts DROP COLUMN reasoning_tokens"]
)
def test_a_missing_table_or_column_is_named(url: str, damage: str, *, existing: bool) -> None:
    with Store(url) as store, store.database.begin() as connection:
        connection.execute(sa.text(damage))
    missing = damage.split()[-1]
    with pytest.raises(StoreError, match=rf"{missing}.*; name a store that 'cfr eval' made"):
        Store(url, existing=existing)


def test_what_was_killed_while_it_was_made_is_made_whole(url: str) -> None:
    with Store(url) as store, store.database.begin() as connection:
        connection.execute(schema.store.delete())
        connection.execute(sa.text("DROP TABLE calls"))
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
def test_a_file_that_another_program_locks_is_told_in_words(
    filled: Path, reader: str, monkeypatch: pytest.MonkeyPatch
) -> None:
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


def test_a_server_that_was_killed_is_told_in_words(
    away: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
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


def test_pauses_grow_and_come_to_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    now = iter(range(0, 600, 10))
    monkeypatch.setattr(database, "time", SimpleNamespace(monotonic=lambda: float(next(now))))
    assert list(pauses()) == [0.05, 0.1, 0.2, 0.4, 0.8]
