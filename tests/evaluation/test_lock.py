import asyncio
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from functools import partial
from pathlib import Path

import pytest
import sqlalchemy as sa
from postgres import empty_database
from sums import number_in, right, sums
from sums_run import make_sums

from constraint_first import Evaluated, RunOptions, evaluate
from constraint_first.attempt.drive import Scripted
from constraint_first.benchmark.registry import Benchmark
from constraint_first.model.wire import SILENT, Watcher
from constraint_first.protocol import Call, Completion
from constraint_first.run.job import prepare, run
from constraint_first.store import database as lock
from constraint_first.store import database as schema
from constraint_first.store import store as store_module
from constraint_first.store import writer
from constraint_first.store.database import StoreError
from constraint_first.store.series import Series
from constraint_first.store.store import Store

HELD = """
import os, sys, time
from constraint_first.store.store import Store
with Store(sys.argv[1]) as store, store.exclusively():
    print("held", flush=True)
    if "fork" in sys.argv and os.fork():
        os.kill(os.getpid(), 9)
    time.sleep(600)
"""

OTHER_SESSIONS = (
    "SELECT DISTINCT pid FROM pg_stat_activity LEFT JOIN pg_locks USING (pid) "
    "WHERE datname = current_database() AND pid <> pg_backend_pid()"
)


@pytest.fixture
def on_postgres(postgres: str) -> Iterator[Store]:
    with Store(postgres) as store:
        yield store
        schema.METADATA.drop_all(store.database)


def is_free(url: str) -> bool:
    """Find out, as another run would, whether a store can be had."""
    with Store(url) as store:
        try:
            with store.exclusively():
                return True
        except StoreError as refused:
            if "another run is using this store" not in str(refused):
                raise
            return False


def sessions(store: Store, condition: str) -> list[int]:
    """List the server's own processes for the sessions that a condition is true of."""
    with store.database.connect() as connection:
        return list(connection.scalars(sa.text(f"{OTHER_SESSIONS} AND ({condition})")))


def end_holder(store: Store) -> None:
    """End the session that holds the lock, as an administrator or a restart would."""
    (holder,) = sessions(store, "locktype = 'advisory'")
    with store.database.connect() as connection:
        connection.execute(sa.text("SELECT pg_terminate_backend(:pid, 5000)"), {"pid": holder})
    assert not sessions(store, "locktype = 'advisory'")


def test_a_file_has_one_run_and_the_error_names_the_way_out(tmp_path: Path) -> None:
    url = str(tmp_path / "runs.db")
    with (
        Store(url) as one,
        Store(url) as two,
        one.running(),
        pytest.raises(StoreError, match=r"one at a time; .*--store postgresql://…\), which"),
        two.running(),
    ):
        pass


def test_workers_share_the_lock(on_postgres: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lock, "_LOOK_EVERY", 0.0)  # it looks after its lock each second
    url = on_postgres.database.url.render_as_string(hide_password=False)
    with Store(url) as one, Store(url) as two:
        with one.running(), two.running():
            assert on_postgres.is_taken
            assert len(sessions(on_postgres, "locktype = 'advisory'")) == 2
            assert not is_free(url)
        assert not on_postgres.is_taken
        with one.running():
            end_holder(on_postgres)
            one._lock.check()  # pyright: ignore[reportPrivateUsage]
            assert not is_free(url)
        assert is_free(url)


def test_no_worker_joins_a_run_alone(on_postgres: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lock, "_SHARING", 0.1)
    with (
        Store(on_postgres.database.url.render_as_string(hide_password=False)) as other,
        on_postgres.exclusively(),
        pytest.raises(
            StoreError, match=r"needs it alone \(cfr merge, cfr serve, cfr eval --batch\); wait"
        ),
        other.running(),
    ):
        pass


def test_first_worker_voids_leases(on_postgres: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store_module, "_THERE_AGAIN", 0.0)  # the server may have started just now
    job = prepare(on_postgres, Series("sums", "direct", "m"), sums(3), 1, Scripted(right))
    with on_postgres.running(), on_postgres.leasing(60) as leases:
        assert len(leases.claim(job.share, 9)) == 3
        leases._named["owner"] = "nobody"  # pyright: ignore[reportPrivateUsage]
    with on_postgres.running(), on_postgres.leasing(60) as leases:
        assert len(leases.claim(job.share, 9)) == 3  # as if it had been killed


def test_a_store_is_free_again_when_its_holder_is_done_with_it(url: str) -> None:
    with Store(url) as store, Store(url) as other:
        for _ in range(2):
            assert is_free(url)
            assert not other.is_taken
            with store.exclusively():
                assert not is_free(url)
                assert store.is_taken
                assert other.is_taken


def test_a_store_is_free_again_when_its_holder_is_killed(url: str) -> None:
    holder = subprocess.Popen([sys.executable, "-c", HELD, url], stdout=subprocess.PIPE)
    assert holder.stdout
    assert holder.stdout.readline() == b"held\n"
    assert not is_free(url)
    holder.send_signal(signal.SIGKILL)
    holder.communicate(timeout=30)
    deadline = time.monotonic() + 30  # the server has to see that the connection is gone
    while not is_free(url):
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_no_transaction_is_open_while_the_lock_is_held(on_postgres: Store) -> None:
    store = on_postgres
    with store.exclusively():
        assert len(sessions(store, "locktype = 'advisory'")) == 1
        assert not sessions(store, "state LIKE 'idle in transaction%'")
        assert make_sums(store, "cfr", 5, 2).tally.complete
        assert not sessions(store, "state LIKE 'idle in transaction%' OR xact_start IS NOT NULL")


def test_what_went_wrong_first_is_what_is_told(on_postgres: Store) -> None:
    def fail() -> None:
        end_holder(on_postgres)
        raise OSError("the disk is full")

    with pytest.raises(OSError, match="the disk is full"), on_postgres.exclusively():
        fail()
    assert is_free(on_postgres.url)


SERIES = Series("sums", "direct", "m")


def test_a_lock_that_was_lost_is_taken_again_where_nobody_else_has_it(on_postgres: Store) -> None:
    with on_postgres.exclusively():
        job = prepare(on_postgres, SERIES, sums(5), 1, Scripted(right))
        end_holder(on_postgres)
        asyncio.run(run(on_postgres, [job], width=2))
        assert job.tally.complete
        assert not is_free(on_postgres.url)
    assert is_free(on_postgres.url)


@contextmanager
def robbed(store: Store) -> Generator[None]:
    """Let somebody else wait for the lock, end the session that holds it, and so hand it over."""
    with (
        store.database.connect().execution_options(isolation_level="AUTOCOMMIT") as robber,
        ThreadPoolExecutor() as threads,
    ):
        waiting = threads.submit(robber.execute, sa.text(f"SELECT pg_advisory_lock({0x636672})"))
        while not sessions(store, "NOT granted"):
            time.sleep(0.01)
        (holder,) = sessions(store, "locktype = 'advisory' AND granted")
        with store.database.connect() as connection:
            connection.execute(sa.text("SELECT pg_terminate_backend(:pid)"), {"pid": holder})
        waiting.result(10)
        try:
            yield
        finally:
            robber.execute(sa.text("SELECT pg_advisory_unlock_all()"))


def test_nothing_is_written_once_another_run_has_the_lock(on_postgres: Store) -> None:
    job = prepare(on_postgres, SERIES, sums(5), 1, Scripted(right))
    with (
        pytest.raises(StoreError, match=r"lock .* was lost .*\(another run took it\)"),
        on_postgres.exclusively(),
        robbed(on_postgres),
    ):
        asyncio.run(run(on_postgres, [job], width=2))
    assert not on_postgres.read(sa.select(schema.calls))
    assert not on_postgres.read(sa.select(schema.attempts))
    assert is_free(on_postgres.url)


def test_a_waiting_run_loses_lock(on_postgres: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer, "_HEARTBEAT", 0.05)

    class Silent:
        async def complete(self, call: Call, watcher: Watcher = SILENT) -> Completion:
            await asyncio.to_thread(taken.enter_context, robbed(on_postgres))
            return await asyncio.get_running_loop().create_future()

    job = prepare(on_postgres, SERIES, sums(1), 1, Silent())
    with (
        ExitStack() as taken,
        pytest.raises(StoreError, match="another run took it"),
        on_postgres.exclusively(),
    ):
        asyncio.run(run(on_postgres, [job], width=1))


def test_a_folder_that_takes_no_lock_is_named(tmp_path: Path) -> None:
    (tmp_path / "runs.db.lock").mkdir()
    with Store(str(tmp_path / "runs.db")) as store:
        why = pytest.raises(StoreError, match=r"runs\.db: cannot be locked \(.*runs\.db\.lock")
        with why, store.exclusively():
            pass


def test_a_look_keeps_no_run_away(tmp_path: Path) -> None:
    url, done = str(tmp_path / "runs.db"), False
    with Store(url) as store, Store(url) as other, ThreadPoolExecutor(1) as pool:
        with store.exclusively():
            pass  # there is a file to look at

        def look() -> int:
            looks = 0
            while not done:
                looks += 1
                assert other.is_taken in (True, False)
            return looks

        looking = pool.submit(look)
        for _ in range(50):
            with store.exclusively():
                pass
        done = True
        assert looking.result() > 0


SUMS = Benchmark("sums", "Sums", sums(40))


def run_and_meanwhile(
    url: str, harm: Callable[[], object], at: int = 20, runs: int = 1
) -> Evaluated:
    """Run 40 sums, and do something to the store when one in the middle is asked."""

    def reply(call: Call) -> str:
        if number_in(call) == at:
            harm()
        return right(call)

    options = RunOptions(store=url, concurrency=1)
    return evaluate(SUMS, "direct", runs=runs, engine=Scripted(reply), options=options)


def finished(path: Path) -> int:
    with Store(str(path), existing=True) as store:
        return len(store.read(sa.select(schema.attempts.c.run)))


# What a shell does to the file, and what the run says.
HARMS = {
    "rm runs.db": "deleted or moved",
    "rm runs.db*": "deleted or moved",
    "mv runs.db kept.db": "deleted or moved",
    "mv runs.db* ..": "deleted or moved",
    "echo not a store > other; mv other runs.db": "replaced by another",
    "rm runs.db-wal": "runs.db-wal, a part of it, was deleted",
    "rm runs.db-shm": "runs.db-shm, a part of it, was deleted",
    "rm -r $PWD": "deleted or moved",
}


@pytest.mark.parametrize("harm", HARMS)
@pytest.mark.parametrize("at", [20, 39])
def test_a_store_that_goes_away_stops_the_run_and_its_attempts_are_saved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, harm: str, at: int
) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "here" / "runs.db"
    act = partial(subprocess.run, ["sh", "-c", harm], cwd=path.parent, check=True)
    with pytest.raises(StoreError, match=re.escape(HARMS[harm])) as error:
        run_and_meanwhile(str(path), act, at)
    message = str(error.value)
    assert error.value.exit_code == 5
    assert "\n" not in message
    told = re.search(r"its (\d+) attempts were saved to (\S+); rename that to runs\.db", message)
    assert told, message
    saved = Path(told[2])
    assert finished(saved) == int(told[1]) >= at - 3
    path.parent.mkdir(exist_ok=True)
    path.unlink(missing_ok=True)
    saved.rename(path)
    done = run_and_meanwhile(str(path), lambda: None)
    assert done.complete
    assert done.series[0].tally.correct == finished(path) == 40


@pytest.mark.parametrize("content", [b"", b"x" * 100_000])
def test_what_cannot_be_saved_is_said_to_be_lost(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "runs.db"
    # What is in the file, and no longer in its log, is gone.
    assert run_and_meanwhile(str(path), lambda: None).complete
    with pytest.raises(
        StoreError, match=r"the file was \w+ during the run; what was stored is lost"
    ):
        run_and_meanwhile(str(path), lambda: path.write_bytes(content), runs=2)
    assert not list(tmp_path.glob("*rescued*"))


def test_rows_that_another_program_deleted_are_missed_at_the_end(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"

    def harm() -> None:
        with closing(sqlite3.connect(path)) as connection, connection:
            connection.execute("DELETE FROM attempts")

    with pytest.raises(StoreError, match=r"holds \d+ of the 40 attempts that were written"):
        run_and_meanwhile(str(path), harm)
    assert run_and_meanwhile(str(path), lambda: None).complete


def test_another_store_copied_over_it_is_noticed(tmp_path: Path) -> None:
    path, other = tmp_path / "runs.db", tmp_path / "other.db"
    with Store(str(other)):
        pass
    assert run_and_meanwhile(str(path), lambda: None).complete
    with pytest.raises(StoreError, match=r"runs\.db: "):
        run_and_meanwhile(str(path), lambda: shutil.copyfile(other, path), runs=2)


@pytest.mark.parametrize("what", ["tables", "attempts"])
def test_tables_of_a_server_that_go_away_stop_the_run(postgres: str, what: str) -> None:
    def harm() -> None:
        with Store(postgres) as store, store.database.begin() as connection:
            for table in schema.METADATA.tables.values() if what == "tables" else [schema.attempts]:
                connection.execute(sa.text(f"DROP TABLE {table.name} CASCADE"))

    with pytest.raises(StoreError, match=r"(?s)^postgresql://.* cannot be .*does not exist"):
        run_and_meanwhile(postgres, harm)
    empty_database(postgres)


def names_of(path: Path) -> dict[str, Path]:
    """Make every kind of name that leads to the same file."""
    folder = path.parent
    (folder / "link.db").symlink_to(path)
    (folder / "link of link.db").symlink_to("link.db")
    (folder / "elsewhere").mkdir()
    (folder.parent / "folder").symlink_to(folder)
    os.link(path, folder / "elsewhere" / "hard.db")
    return {
        "link": folder / "link.db",
        "link of link": folder / "link of link.db",
        "folder that is a link": folder.parent / "folder" / path.name,
        "up and down": folder / "elsewhere" / ".." / path.name,
        "relative": Path(os.path.relpath(path)),
        "hard link": folder / "elsewhere" / "hard.db",
        "itself": path,
    }


@pytest.mark.parametrize("kept", [True, False])
def test_no_other_name_leads_to_a_store_in_use(tmp_path: Path, kept: bool) -> None:
    path = tmp_path / "here" / "runs.db"
    path.parent.mkdir()
    with Store(str(path)):
        pass
    names = names_of(path)
    for one, first in names.items():
        holder = subprocess.Popen([sys.executable, "-c", HELD, first], stdout=subprocess.PIPE)
        assert holder.stdout
        try:
            assert holder.stdout.readline() == b"held\n"
            if not kept:
                for lock in tmp_path.rglob("*.lock"):
                    lock.unlink()
            for other, second in names.items():
                with (
                    pytest.raises(StoreError, match="another run is using this store"),
                    Store(str(second)) as store,
                    store.exclusively(),
                ):
                    pytest.fail(f"{one} and {other} were used at the same time")
        finally:
            holder.kill()
            holder.wait()
            holder.stdout.close()
    for second in names.values():
        with Store(str(second)) as store, store.exclusively():
            pass


def test_a_forked_child_does_not_keep_the_lock_of_a_parent_that_is_killed(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    holder = subprocess.Popen([sys.executable, "-c", HELD, path, "fork"], stdout=subprocess.PIPE)
    assert holder.wait() == -9
    try:
        (tmp_path / "runs.db.lock").unlink()  # the child has a descriptor of this one
        with Store(str(path)) as store, store.exclusively():
            pass
    finally:
        for one in Path("/proc").glob("[0-9]*/cmdline"):
            if str(path) in one.read_text():
                os.kill(int(one.parent.name), 9)
        assert holder.stdout
        holder.stdout.close()


def test_a_program_started_during_a_run_does_not_keep_the_lock(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    with Store(str(path)) as store, store.exclusively():
        wait = [sys.executable, "-c", "import time; time.sleep(600)"]
        sleeper = subprocess.Popen(wait, close_fds=False)
    try:
        with Store(str(path)) as store, store.exclusively():
            pass
    finally:
        sleeper.kill()
        sleeper.wait()


def test_descriptors_are_closed_with_the_last_store_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    with Store(str(path)):
        pass

    def opened() -> int:
        found = Path("/proc/self/fd").iterdir()
        return sum(os.path.realpath(one) == str(path) for one in found)

    assert opened() == 0
    first = Store(str(path))
    for _ in range(5):
        with Store(str(path), existing=True) as store:
            assert not store.is_taken
    # SQLite's own lock on the file, which a close by us would have dropped.
    other = (
        "import sys, sqlite3; sqlite3.connect(sys.argv[1]).execute('PRAGMA journal_mode=DELETE')"
    )
    refused = subprocess.run([sys.executable, "-c", other, path], capture_output=True, check=False)
    assert b"locked" in refused.stderr
    first.__exit__(None, None, None)
    assert opened() == 0


def test_without_system_locks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lock, "_fcntl", None)
    path, link = tmp_path / "runs.db", tmp_path / "link.db"
    link.symlink_to(path)
    with (
        Store(str(path)) as one,
        Store(str(link)) as two,
        one.exclusively(),
        pytest.raises(StoreError, match="another run is using this store"),
        two.exclusively(),
    ):
        pass
    with pytest.raises(StoreError, match="deleted or moved"):
        run_and_meanwhile(str(path), path.unlink)
