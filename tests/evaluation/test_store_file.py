"""A SQLite store whose file is deleted, moved or overwritten during a run, or has several names."""

import os
import re
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import sqlalchemy as sa
from postgres import empty_database
from sums import number_in, right, sums

import constraint_first
from constraint_first.benchmark.registry import Benchmark
from constraint_first.protocol import Call
from constraint_first.store import schema
from constraint_first.store.database import StoreError, StoreFile, opening
from constraint_first.store.store import Store

SUMS = Benchmark("sums", "Sums", sums(40))
HOLD = """
import os, sys, time
from constraint_first.store.store import Store
with Store(sys.argv[1]) as store, store.exclusively():
    print("held", flush=True)
    if "fork" in sys.argv and os.fork():
        os.kill(os.getpid(), 9)
    time.sleep(600)
"""


def run_and_meanwhile(
    url: str, harm: Callable[[], object], at: int = 20, runs: int = 1
) -> constraint_first.Evaluated:
    """Run 40 sums, and do something to the store when one in the middle is asked."""

    def reply(call: Call) -> str:
        if number_in(call) == at:
            harm()
        return right(call)

    options = constraint_first.RunOptions(store=url, concurrency=1)
    return constraint_first.evaluate(
        SUMS, "direct", runs=runs, engine=constraint_first.Scripted(reply), options=options
    )


def finished(path: Path) -> int:
    with Store(str(path), existing=True) as store:
        return store.read(sa.select(sa.func.count()).select_from(schema.attempts))[0][0]


def replaced_by_text(path: Path) -> None:
    path.with_name("other").write_text("not a store")
    path.with_name("other").replace(path)


HARMS: dict[str, tuple[Callable[[Path], object], str]] = {
    "deleted": (Path.unlink, "deleted or moved"),
    "deleted with its log": (
        lambda path: [one.unlink() for one in path.parent.glob("runs.db*")],
        "deleted or moved",
    ),
    "moved": (lambda path: path.rename(path.with_name("kept.db")), "deleted or moved"),
    "moved to another folder with its log": (
        lambda path: [
            shutil.move(one, path.parent.parent / one.name) for one in path.parent.glob("runs.db*")
        ],
        "deleted or moved",
    ),
    "replaced": (replaced_by_text, "replaced by another"),
    "its log deleted": (
        lambda path: path.with_name("runs.db-wal").unlink(),
        "runs.db-wal, a part of it, was deleted",
    ),
    "the index of its log deleted": (
        lambda path: path.with_name("runs.db-shm").unlink(),
        "runs.db-shm, a part of it, was deleted",
    ),
    "the folder deleted": (lambda path: shutil.rmtree(path.parent), "deleted or moved"),
}


@pytest.mark.parametrize("harm", HARMS)
@pytest.mark.parametrize("at", [20, 39])
def test_a_store_that_goes_away_stops_the_run_and_its_attempts_are_saved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, harm: str, at: int
) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "here" / "runs.db"
    act, said = HARMS[harm]
    with pytest.raises(StoreError, match=re.escape(said)) as error:
        run_and_meanwhile(str(path), lambda: act(path), at)
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


def emptied(path: Path) -> None:
    os.truncate(path, 0)


def overwritten(path: Path) -> None:
    path.write_bytes(b"x" * 100_000)


@pytest.mark.parametrize("harm", [emptied, overwritten])
def test_what_cannot_be_saved_is_said_to_be_lost(
    tmp_path: Path, harm: Callable[[Path], object]
) -> None:
    path = tmp_path / "runs.db"
    # What is in the file, and no longer in its log, is gone.
    assert run_and_meanwhile(str(path), lambda: None).complete
    with pytest.raises(
        StoreError, match=r"the file was \w+ during the run; what was stored is lost"
    ):
        run_and_meanwhile(str(path), lambda: harm(path), runs=2)
    assert not list(tmp_path.glob("*rescued*"))


def test_rows_that_another_program_deleted_are_missed_at_the_end(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"

    def harm() -> None:
        with sqlite3.connect(path) as connection:
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
        holder = subprocess.Popen([sys.executable, "-c", HOLD, first], stdout=subprocess.PIPE)
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
    holder = subprocess.Popen([sys.executable, "-c", HOLD, path, "fork"], stdout=subprocess.PIPE)
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


def test_a_reader_sees_what_a_run_writes_under_a_link(tmp_path: Path) -> None:
    path, link = tmp_path / "runs.db", tmp_path / "link.db"
    link.symlink_to(path)
    seen: list[int] = []
    run_and_meanwhile(str(path), lambda: seen.append(finished(link)))
    assert seen[0] > 10


def test_descriptors_are_closed_with_the_last_store_of_a_file_and_not_before(
    tmp_path: Path,
) -> None:
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


def test_where_the_system_has_no_such_lock_the_one_beside_it_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from constraint_first.store import database as store_file

    monkeypatch.setattr(store_file, "_fcntl", None)
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


def test_two_locks_of_one_process_exclude_each_other(tmp_path: Path) -> None:
    path = tmp_path / "any"
    path.touch()
    with opening():
        one, two = StoreFile(path), StoreFile(path)
    assert one.lock()
    assert not two.lock()
    assert two.is_locked()
    one.unlock()
    assert two.lock()
    two.close()
    one.close()
