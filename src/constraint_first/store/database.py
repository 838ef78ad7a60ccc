"""The database behind a store: its errors, how it is opened, its file and its lock."""

from __future__ import annotations

import errno
import importlib
import os
import re
import sqlite3
import struct
import sys
import threading
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import Any, Final, TypeAlias, TypeVar
from urllib.parse import quote

import sqlalchemy as sa
from filelock import FileLock, Timeout
from sqlalchemy.event import listen, listens_for
from sqlalchemy.exc import (
    ArgumentError,
    DataError,
    DBAPIError,
    IntegrityError,
    InterfaceError,
    OperationalError,
    ProgrammingError,
    SQLAlchemyError,
    StatementError,
)

from constraint_first.error import CfrError
from constraint_first.file.safe import expand_user, printable
from constraint_first.pattern import lazy_pattern


class StoreError(CfrError):
    """A store that cannot be opened, is in use, or contradicts the current run."""

    exit_code = 5
    ends = "run"


class Unstorable(CfrError):
    """A row that the database rejects although it accepts other rows."""

    exit_code = 5


class LeaseLost(CfrError):
    """An attempt whose lease has passed to another worker; this worker must abandon it."""

    exit_code = 5
    ends = "run"


# SQLSTATE codes (PostgreSQL manual, appendix A). An error without a code was raised by the client
# library, not by the server.
_PASSES: Final = lazy_pattern(r"08...|40...|53300|57P0[123]")
_ROW: Final = lazy_pattern(r"22...|23502|23514|54...")
_ROW_OF_SQLITE: Final = ("SQLITE_CONSTRAINT_NOTNULL", "SQLITE_CONSTRAINT_CHECK", "SQLITE_TOOBIG")

# Patterns of database errors, and the remedy to suggest for each.
_WAYS_OUT: Final = (
    (r"locked|busy", "close the program that holds it"),
    (r"malformed|not a database|disk I/O|decode", "restore it from a copy, or name another store"),
    (r"no such (table|column)|does not exist", "name a store that 'cfr eval' made"),
    (r"read-?only|permission|unable to open", "see that it may be read and written"),
    (r"full|no space", "make room there"),
)
_SERVER: Final = "see that its server runs and that the address is right"


def is_outage(error: Exception) -> bool:
    """Return whether a server's connection failed, which may be temporary; SQLite has none."""
    if not isinstance(error, DBAPIError):
        return False
    state = getattr(error.orig, "sqlstate", "none")
    if state is None:
        return error.connection_invalidated or isinstance(error, OperationalError)
    return error.connection_invalidated or bool(_PASSES.fullmatch(state))


def is_of_the_row(error: Exception) -> bool:
    """Return whether the error is due to a row's values, so that other rows can be written."""
    if not isinstance(error, DBAPIError):  # the driver could not encode a value
        others = StoreError | SQLAlchemyError
        return isinstance(error, StatementError) or not isinstance(error, others)
    orig: Any = error.orig
    state, code = getattr(orig, "sqlstate", None), getattr(orig, "sqlite_errorname", None)
    if state or code:
        return bool(_ROW.fullmatch(state or "")) or code in _ROW_OF_SQLITE
    refused = DataError | IntegrityError | InterfaceError | ProgrammingError
    return isinstance(error, refused) and not error.connection_invalidated


def cannot_be(done: str, url: str, error: Exception) -> StoreError:
    """Make an error that names the failed operation, its cause and a remedy."""
    why = reason(error)
    found = (way for sign, way in _WAYS_OUT if re.search(sign, why, re.IGNORECASE))
    way_out = _SERVER if is_outage(error) else next(found, "put that right")
    return StoreError(f"{url}: cannot be {done} ({why}); {way_out} and run the same command again")


def reason(error: Exception) -> str:
    """Return a database error's message in one line, without the statement and its values."""
    orig: Any = error.orig if isinstance(error, DBAPIError) else error
    said = getattr(getattr(orig, "diag", None), "message_primary", None) or str(orig)
    return printable(" ".join(str(said).split())[:160])


# The database behind a store, opened by its address: a SQLite file or PostgreSQL.
#
# With ``existing`` the file is not written to on opening: it may belong to another program, or be
# on a read-only medium.

T = TypeVar("T")

_OUTAGE: Final = 60.0
_LONGEST_PAUSE: Final = 2.0
# By default TCP takes many minutes to report a server that vanished without closing the
# connection.
_POSTGRES: Final = {"connect_timeout": "10", "keepalives_idle": "30", "tcp_user_timeout": "60000"}


def sqlite_path(url: str) -> Path | None:
    """Return the resolved path of a SQLite store; None for a PostgreSQL store."""
    if "://" not in url:
        path = expand_user(url)
    elif (parsed := _parsed(url)).get_backend_name() == "sqlite":
        path = Path(parsed.database or ":memory:")
    elif parsed.get_backend_name() == "postgresql":
        return None
    else:
        raise StoreError(f"{without_password(url)}: a store is SQLite or PostgreSQL")
    if path.name == ":memory:":
        raise StoreError(f"{url}: a store is kept in a file; name one")
    try:
        if not path.absolute().parent.is_dir():
            raise StoreError(f"{url}: there is no folder {path.parent}; make it first")
        if path.exists() and not path.is_file():
            raise StoreError(f"{url}: not a file; name a file for the store")
    except OSError as error:  # no permission to read the folder, or a name too long
        raise StoreError(f"{url}: cannot be opened ({error.strerror}); name another") from None
    return Path(os.path.realpath(path))  # SQLite's log is beside the file, not beside a link


def open_database(url: str, *, existing: bool) -> sa.Engine:
    """Open the database of a store, without checking that it is a store."""
    path = sqlite_path(url)
    if path:
        return _sqlite_reader(path) if existing else _sqlite_writer(path)
    parsed = _parsed(url)
    parsed = parsed.set(drivername="postgresql+psycopg", query={**_POSTGRES, **parsed.query})
    try:
        # A run retries after a broken connection, so it need not ping the connection first. A
        # reader must: it cannot retry in the middle of a stream of rows.
        return sa.create_engine(parsed, pool_pre_ping=existing)
    except ModuleNotFoundError:
        raise StoreError("PostgreSQL needs: pip install 'constraint-first[postgres]'") from None


def sqlite_tables(url: str, path: Path) -> set[str]:
    """List the tables of a SQLite file without creating files beside it."""
    # Without a write-ahead log there is no writer, and with immutable=1 SQLite creates no log.
    mode = "mode=ro" if Path(f"{path}-wal").exists() else "immutable=1"
    query = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%'"
    try:
        address = f"{path.absolute().as_uri()}?{mode}"
        with closing(sqlite3.connect(address, uri=True, timeout=30)) as connection:
            return {name for (name,) in connection.execute(query)}
    except sqlite3.Error as error:
        raise cannot_be("opened as a store", url, error) from None


def save_copy(database: sa.Engine, path: Path) -> tuple[Path, int]:
    """Copy the open database to a file beside ``path``, or here if that folder is gone."""
    folder = path.parent if path.parent.is_dir() else Path.cwd()
    copy = next(
        one
        for number in count(1)
        for one in [folder / f"{path.name}.rescued{f'-{number}' * (number > 1)}"]
        if not one.exists()
    )
    try:
        with closing(sqlite3.connect(copy)) as target:
            with database.connect() as connection:
                opened: Any = connection.connection.driver_connection
                opened.backup(target)
            target.execute("PRAGMA journal_mode=DELETE")
            # Missing pages are copied as zeros without an error; only reading them fails.
            if (said := target.execute("PRAGMA quick_check").fetchone()[0]) != "ok":
                raise sqlite3.DatabaseError(said)
            return copy, target.execute("SELECT count(*) FROM attempts").fetchone()[0]
    except BaseException:
        copy.unlink(missing_ok=True)
        raise


def without_password(url: str) -> str:
    try:
        return sa.make_url(url).render_as_string() if "://" in url else url
    except ArgumentError:
        return url


def patiently(
    url: str, done: str, work: Callable[[], T], hasty: Callable[[], bool] = lambda: False
) -> T:
    """Call ``work``; retry it for a while if the server is unreachable, unless ``hasty()``."""
    waits = pauses()
    while True:
        try:
            return work()
        except SQLAlchemyError as error:
            pause = next(waits, None) if is_outage(error) else None
            if pause is None or hasty():
                raise cannot_be(done, url, error) from None
        time.sleep(pause)


def pauses() -> Iterator[float]:
    """Yield the seconds to wait after each try; ends when an outage has lasted too long."""
    deadline, pause = time.monotonic() + _OUTAGE, 0.05
    while time.monotonic() < deadline:
        yield pause
        pause = min(2 * pause, _LONGEST_PAUSE)


def _parsed(url: str) -> sa.URL:
    try:
        return sa.make_url(url)
    except ArgumentError:
        raise StoreError(f"{url}: not a store's address; give a file or postgresql://…") from None


def _sqlite_writer(path: Path) -> sa.Engine:
    engine = sa.create_engine(sa.URL.create("sqlite", database=str(path)), connect_args=_WAITING)

    @listens_for(engine, "connect")
    def _pragmas(connection: Any, _record: object) -> None:
        cursor = connection.cursor()
        # Readers do not wait for the writer; a commit is on the disk when it returns.
        cursor.execute("PRAGMA journal_mode=WAL")
        cursor.execute("PRAGMA synchronous=FULL")
        cursor.close()

    return engine


def _sqlite_reader(path: Path) -> sa.Engine:
    # To read a file in WAL mode SQLite creates files beside it and deletes them again. In a folder
    # that cannot be written to, reading works only with immutable=1, which promises that no writer
    # changes the file.
    still = not os.access(path.absolute().parent, os.W_OK) and not Path(f"{path}-wal").exists()
    query = {"immutable": "1"} if still else {"mode": "rw"}
    file = f"file:{quote(str(path.absolute()))}"
    url = sa.URL.create("sqlite", database=file, query=query | {"uri": "true"})
    return sa.create_engine(url, connect_args=_WAITING)


_WAITING: Final = {"timeout": 30}


# The file of a SQLite store, identified by its inode and not by its name: its lock, and checks
# that it still exists.
#
# Closing any descriptor of a file drops all POSIX locks that the process has on that file
# (fcntl(2)), SQLite's own among them. So a descriptor that was opened here is closed only when
# this process has no store open on the file.

_Identity: TypeAlias = tuple[int, int]
"""Device and inode."""

# SQLite locks bytes from 2**30 on, and no file is large enough to reach this byte, so our lock
# never conflicts with SQLite's.
_LOCKED_BYTE: Final = 2**62
_MAGIC: Final = b"SQLite format 3\0"
_BESIDE: Final = ("-wal", "-shm")

_guard = threading.Lock()
_opening = 0
_in_use: Final = set["StoreFile"]()
_unused: Final = list[tuple[_Identity, int]]()
"""Descriptors to close once no store of this process uses their file."""


@contextmanager
def opening() -> Generator[None]:
    """Close no descriptor while SQLite opens a file that is not registered in ``_in_use`` yet."""
    global _opening
    with _guard:
        _opening += 1
    try:
        yield
    finally:
        with _guard:
            _opening -= 1
            _close_unused()


class StoreFile:
    """The file that SQLite has open under a path; create it within ``opening()``, after SQLite."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.descriptor = _open(path)
        found = path.stat() if self.descriptor is None else os.fstat(self.descriptor)
        self.identity = _identity(found)
        self._beside: dict[Path, _Identity] = {}
        """Identities of the write-ahead log and its index, once they exist."""
        self._locked = False
        with _guard:
            _in_use.add(self)

    def close(self) -> None:
        """Release the descriptor; call this after SQLite's connections are closed."""
        with _guard:
            _in_use.discard(self)
            if self.descriptor is not None:
                _unused.append((self.identity, self.descriptor))
                self.descriptor = None
            _close_unused()

    def lock(self) -> bool:
        """Lock the file where the system supports it; return False if it is locked already."""
        if self.descriptor is None:
            return True
        try:
            _fcntl.fcntl(self.descriptor, _fcntl.F_OFD_SETLK, _request("F_WRLCK"))
        except OSError as error:
            # On a file system without such locks, the lock beside the file has to suffice.
            return error.errno not in (errno.EAGAIN, errno.EACCES)
        self._locked = True
        return True

    def unlock(self) -> None:
        if self._locked and self.descriptor is not None:
            self._locked = False
            with suppress(OSError):
                _fcntl.fcntl(self.descriptor, _fcntl.F_OFD_SETLK, _request("F_UNLCK"))

    def is_locked(self) -> bool:
        if self._locked or self.descriptor is None:
            return self._locked
        with suppress(OSError):
            answer = _fcntl.fcntl(self.descriptor, _fcntl.F_OFD_GETLK, _request("F_WRLCK"))
            return _FLOCK.unpack(answer)[0] != _fcntl.F_UNLCK
        return False

    def find_damage(self) -> str:
        """Describe the damage if the path no longer refers to the opened file; empty if none."""
        try:
            found = self.path.stat()
        except FileNotFoundError:
            return "the file was deleted or moved"
        except OSError as error:
            return f"the file can no longer be reached ({error.strerror})"
        if _identity(found) != self.identity:
            return "the file was replaced by another"
        if self.descriptor is not None:
            begins = os.pread(self.descriptor, len(_MAGIC), 0)
            if begins != _MAGIC:
                return "the file was overwritten" if begins else "the file was emptied"
        for path in (Path(f"{self.path}{end}") for end in _BESIDE):
            try:
                now = _identity(path.stat())
            except OSError:
                now = None
            known = self._beside.get(path)
            if known is None and now is not None:
                self._beside[path] = now
            elif known != now:
                return f"{path.name}, a part of it, was deleted or replaced"
        return ""

    def drop_log(self) -> None:
        """Delete the write-ahead log that is left of a database file that is gone.

        SQLite would replay it into the next file of that name. Call this only once all of it is
        saved elsewhere.
        """
        with suppress(OSError):
            if _identity(self.path.stat()) == self.identity:
                return
        for path, known in self._beside.items():
            with suppress(OSError):
                if _identity(path.stat()) == known:
                    path.unlink()


def _identity(found: os.stat_result) -> _Identity:
    return found.st_dev, found.st_ino


def _close_unused() -> None:
    if _opening:
        return
    used = {file.identity for file in _in_use}
    for identity, descriptor in list(_unused):
        if identity not in used:
            _unused.remove((identity, descriptor))
            os.close(descriptor)


def _after_fork() -> None:
    global _guard, _opening
    _guard, _opening = threading.Lock(), 0  # another thread of the parent may hold the lock
    for file in _in_use:
        # Locks of an open file description are inherited: this descriptor would keep the store
        # locked after the parent dies. SQLite's own locks belong to the parent alone.
        if file.descriptor is not None:
            os.close(file.descriptor)
            file.descriptor = None
    _in_use.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


# Locks of an open file description: unlike flock() they stay clear of SQLite's locks on every file
# system, and unlike other fcntl() locks they outlive the closing of other descriptors.
_FLOCK: Final = struct.Struct("hhqqi4x")
_fcntl: Any = importlib.import_module("fcntl") if sys.platform == "linux" else None


def _open(path: Path) -> int | None:
    if _fcntl:
        for mode in (os.O_RDWR, os.O_RDONLY):
            with suppress(OSError):
                return os.open(path, mode | os.O_CLOEXEC)
    return None


def _request(kind: str) -> bytes:
    return _FLOCK.pack(getattr(_fcntl, kind), os.SEEK_SET, _LOCKED_BYTE, 1, 0)


# The lock on a store: exclusive to one run, or shared by workers.
#
# SQLite: a lock on the file itself, which is independent of the path that names it, and one on
# ``NAME.lock`` beside it. The first needs Linux; the second is the only lock elsewhere, and the
# one that earlier versions of cfr check. PostgreSQL: an advisory lock. The operating system or the
# server releases all of them when the process that holds them ends. Workers of a PostgreSQL store
# share the lock, since leases assign each attempt to one of them; a SQLite file belongs to one
# run.

_NUMBER: Final = 0x63_66_72  # "cfr"
_MOMENT: Final = 0.5
_LOOK_EVERY: Final = 1.0
_SHARING: Final = 5.0
"""Seconds to wait for an exclusive lock to be released: the first worker holds it briefly."""
_HOLDERS: Final = (
    "SELECT count(*) FROM pg_locks JOIN pg_database ON pg_database.oid = database"
    " WHERE locktype = 'advisory' AND granted AND classid = 0 AND objid = :number"
    " AND datname = current_database()"
)
_IS_TAKEN: Final = sa.text(_HOLDERS).bindparams(number=_NUMBER)
_IS_HELD: Final = sa.text(_HOLDERS + " AND pid = pg_backend_pid()").bindparams(number=_NUMBER)


class LockFile:
    """The lock of a SQLite store; while it is held, ``check`` detects the loss of the file."""

    def __init__(self, url: str, file: StoreFile, save: Callable[[Path], str]) -> None:
        self._url = url
        self._file = file
        self._save = save
        self._path = file.path.with_name(file.path.name + ".lock")
        self._guard = threading.Lock()
        self._wanted = False
        self._lost: StoreError | None = None

    @contextmanager
    def held(self) -> Generator[None]:
        try:
            # Another process that tests whether the store is locked holds the lock for a moment.
            beside = FileLock(self._path, timeout=_MOMENT).acquire(poll_interval=_MOMENT / 10)
        except Timeout:
            raise _in_use_lock(self._url, _ONE_RUNNER) from None
        except OSError as error:
            raise StoreError(
                f"{self._url}: cannot be locked ({error.strerror}: {self._path}); name a store in "
                "a folder that you may write to"
            ) from None
        with beside:
            if not self._file.lock():
                raise _in_use_lock(self._url, _ONE_RUNNER)
            try:
                self._wanted = True
                yield
                self.check()
            finally:
                self._wanted = False
                self._file.unlock()

    def shared(self, first: Callable[[], None]) -> AbstractContextManager[None]:  # noqa: ARG002
        """Hold the lock exclusively: without leases two runs would make the same attempts."""
        return self.held()

    def check(self) -> None:
        """Raise if the path no longer refers to the opened file: further writes would be lost."""
        with self._guard:
            if self._lost is None and self._wanted and (damage := self._file.find_damage()):
                saved = self._save(self._file.path)
                self._lost = StoreError(f"{self._url}: {damage} during the run; {saved}")
            if self._lost:
                raise self._lost

    def is_taken(self) -> bool:
        if self._file.is_locked():
            return True
        if not self._path.exists():
            return False
        try:
            with FileLock(self._path, timeout=0):
                return False
        except Timeout:
            return True
        except OSError:  # a read-only folder
            return False


class AdvisoryLock:
    """The lock of a PostgreSQL store, which belongs to a connection, not to a transaction.

    The connection is in autocommit mode: a transaction as long as a run would keep the server from
    vacuuming, and servers may terminate idle transactions. They may also close the connection,
    which releases the lock; so the lock is checked before each write, and acquired again unless
    another run has acquired it meanwhile.
    """

    def __init__(self, url: str, database: sa.Engine) -> None:
        self._url = url
        self._database = database
        self._guard = threading.Lock()
        self._wanted = self._shared = False
        self._look_at = 0.0
        self._connection: sa.Connection | None = None
        self._lost: StoreError | None = None

    def held(self) -> AbstractContextManager[None]:
        return self._hold(self._take, 0.0, _WAIT)

    def shared(self, first: Callable[[], None]) -> AbstractContextManager[None]:
        """Share the lock with other workers; the first calls ``first`` while it is exclusive."""
        return self._hold(lambda: self._join(first), _SHARING, _ALONE)

    @contextmanager
    def _hold(self, take: Callable[[], bool], patience: float, way_out: str) -> Generator[None]:
        deadline = time.monotonic() + patience
        with self._guard:
            self._lost, self._shared = None, False
            while not patiently(self._url, "locked", take):
                if time.monotonic() >= deadline:
                    raise _in_use_lock(self._url, way_out)
                time.sleep(_MOMENT / 10)
            self._wanted = True
        try:
            yield
        except BaseException:
            with suppress(StoreError):  # the first error is the one to report
                self._release()
            raise
        self._release()

    def _join(self, first: Callable[[], None]) -> bool:
        self._shared = False
        if not self._take() or self._connection is None:
            self._shared = True
            return self._take()
        try:
            first()
            self._connection.execute(sa.select(sa.func.pg_advisory_lock_shared(_NUMBER)))
            self._connection.execute(sa.select(sa.func.pg_advisory_unlock(_NUMBER)))
        except BaseException:
            self._drop()
            raise
        self._shared = True
        return True

    def _retake(self) -> bool:
        """Acquire the lock again; wait a moment for a first worker that holds it exclusively."""
        deadline = time.monotonic() + (_SHARING if self._shared else 0.0)
        while not (taken := self._take()) and time.monotonic() < deadline:
            time.sleep(_MOMENT / 10)
        return taken

    def _drop(self) -> None:
        held, self._connection = self._connection, None
        if held is not None:
            held.invalidate()
            held.close()

    def check(self) -> None:
        with self._guard:
            if self._lost:
                raise self._lost
            if self._shared and time.monotonic() < self._look_at:
                return  # leases guard every row; the lock need not be checked each time
            self._look_at = time.monotonic() + _LOOK_EVERY
            if not self._wanted or self._is_held():
                return
            if not self._retake():
                self._lost = self._taken_away("another run took it")
                raise self._lost

    def is_taken(self) -> bool:
        def look() -> bool:
            with self._database.connect() as connection:
                return bool(connection.scalar(_IS_TAKEN))

        return patiently(self._url, "read", look)

    def _take(self) -> bool:
        connection = self._database.connect().execution_options(isolation_level="AUTOCOMMIT")
        try:
            taken = connection.scalar(sa.select(self._call("pg_try_advisory_lock")))
        except BaseException:
            connection.close()
            raise
        if taken:
            self._connection = connection
        else:
            connection.close()
        return bool(taken)

    def _is_held(self) -> bool:
        held = self._connection
        if held is None:
            return False
        with suppress(DBAPIError):
            if held.scalar(_IS_HELD):
                return True
        self._drop()
        return False

    def _release(self) -> None:
        """Release the lock, which a pooled connection would keep; raise if it was lost."""
        with self._guard:
            held, self._connection, self._wanted = self._connection, None, False
        if held is None:
            raise self._lost or self._taken_away("it was held no longer")
        lost = "it was held no longer"
        try:
            if held.scalar(sa.select(self._call("pg_advisory_unlock"))):
                return
        except DBAPIError as error:
            lost = reason(error)
        finally:
            held.close()
        raise self._taken_away(lost)

    def _call(self, name: str) -> sa.Function[bool]:
        return getattr(sa.func, name + "_shared" * self._shared)(_NUMBER)

    def _taken_away(self, why: str) -> StoreError:
        return StoreError(
            f"{self._url}: the lock on this store was lost during the run ({why}), and another run "
            "may have used it meanwhile; make sure that none does, and run the same command again"
        )


def _in_use_lock(url: str, way_out: str) -> StoreError:
    return StoreError(f"{url}: another run is using this store{way_out}")


_WAIT: Final = "; wait, or name another"
_ONE_RUNNER: Final = (
    ", and a file takes one at a time; wait, name another, or a PostgreSQL database "
    "(--store postgresql://…), which takes any number"
)
_ALONE: Final = (
    " and needs it alone (cfr merge, cfr serve, cfr eval --batch); wait, or name another"
)


# The tables. One definition serves SQLite and PostgreSQL.

VERSION: Final = 1
METADATA: Final = sa.MetaData()
_KEY: Final = ("series", "problem", "run")


def _texts(*names: str) -> list[sa.Column[str]]:
    return [sa.Column(name, sa.Text, nullable=False) for name in names]


def _tokens() -> list[sa.Column[int]]:
    names = ("input_tokens", "output_tokens", "reasoning_tokens", "cached_tokens")
    return [sa.Column(name, sa.Integer, nullable=False) for name in names]


def _key() -> list[sa.Column[int]]:
    return [
        sa.Column("series", sa.Integer, sa.ForeignKey("series.id"), nullable=False),
        sa.Column("problem", sa.Integer, sa.ForeignKey("problems.id"), nullable=False),
        sa.Column("run", sa.Integer, nullable=False),
    ]


store = sa.Table("store", METADATA, sa.Column("version", sa.Integer, nullable=False))

problems = sa.Table(
    "problems",
    METADATA,
    sa.Column("id", sa.Integer, primary_key=True),
    *_texts("benchmark", "name", "text"),
    sa.Column("answer", sa.Text),
    sa.UniqueConstraint("benchmark", "name"),
)

series = sa.Table(
    "series",
    METADATA,
    sa.Column("id", sa.Integer, primary_key=True),
    *_texts("benchmark", "method", "label", "model", "decoding", "fingerprint"),
    sa.UniqueConstraint("benchmark", "method", "model", "decoding"),
)

# A user's prompts that replace those of a method. Stores that are older than this feature lack the
# table.
prompts = sa.Table(
    "prompts",
    METADATA,
    sa.Column("series", sa.Integer, sa.ForeignKey("series.id"), nullable=False),
    *_texts("name", "text"),
    sa.PrimaryKeyConstraint("series", "name"),
)

attempts = sa.Table(
    "attempts",
    METADATA,
    *_key(),
    *_texts("status"),
    sa.Column("verdict", sa.Text),
    sa.Column("tier", sa.Text),
    *_tokens(),
    sa.Column("seconds", sa.Float, nullable=False),
    sa.Column("finished_at", sa.Float, nullable=False),
    # Columns with long values come last: SQLite reads a row only up to the last column of a query.
    sa.Column("answer", sa.Text),
    sa.Column("error", sa.Text),
    *_texts("details", "text"),
    sa.PrimaryKeyConstraint(*_KEY),
)

# Calls and the programs among them; a program's row is described at ``writer.EXECUTED``. If
# another model than that of the series answered, the digest ends with @ and its name.
calls = sa.Table(
    "calls",
    METADATA,
    *_key(),
    sa.Column("ordinal", sa.Integer, nullable=False),
    *_texts("stage", "digest", "messages"),
    sa.Column("max_tokens", sa.Integer, nullable=False),
    *_texts("text", "reasoning", "finish"),
    *_tokens(),
    sa.Column("reported", sa.Boolean, nullable=False),
    sa.Column("seconds", sa.Float, nullable=False),
    sa.PrimaryKeyConstraint(*_KEY, "ordinal"),
)

# The following tables are for several workers on one store, and therefore only on PostgreSQL.
# Older stores get these tables at their next run.

# The queue of attempts to make. A row without an owner is free; a row with an owner is leased to
# that worker until it expires; the row is deleted when the attempt is stored. No foreign keys:
# there may be millions of short-lived rows.
leases = sa.Table(
    "leases",
    METADATA,
    *(sa.Column(name, sa.Integer, nullable=False, autoincrement=False) for name in _KEY),
    sa.Column("owner", sa.Text),
    sa.Column("expires", sa.DateTime(timezone=True)),
    # Whether calls of the attempt may be stored, by an earlier run or an earlier owner.
    sa.Column("begun", sa.Boolean, nullable=False),
    sa.PrimaryKeyConstraint(*_KEY),
)
# As text: an Index with postgresql_where imports the PostgreSQL dialect at every start, also for
# SQLite.
for index in (
    "leases_free ON leases (series, run, problem) WHERE owner IS NULL",
    "leases_owned ON leases (owner) WHERE owner IS NOT NULL",
):
    listen(leases, "after_create", sa.DDL(f"CREATE INDEX {index}"))

# The settings of a series that a worker on another machine needs beside the tables above: the
# names and endpoints of its models, as JSON and without keys, and its budget.
run_settings = sa.Table(
    "run_settings",
    METADATA,
    sa.Column("series", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("models", sa.Text),
    sa.Column("budget", sa.Text),
)

# ``lost_…`` is the part of the tokens and the cost that workers had set aside when they died.
budgets = sa.Table(
    "budgets",
    METADATA,
    sa.Column("id", sa.Text, primary_key=True),
    sa.Column("max_tokens", sa.BigInteger),
    sa.Column("max_cost", sa.Float),
    sa.Column("tokens", sa.BigInteger, nullable=False),
    sa.Column("cost", sa.Float, nullable=False),
    sa.Column("lost_tokens", sa.BigInteger, nullable=False),
    sa.Column("lost_cost", sa.Float, nullable=False),
)

# The amount that each worker has reserved for calls under way, until it expires. ``change`` is the
# number of the last change, so that a change that is sent again after a lost reply is applied
# once.
reservations = sa.Table(
    "reservations",
    METADATA,
    *_texts("budget", "owner"),
    sa.Column("tokens", sa.BigInteger, nullable=False),
    sa.Column("cost", sa.Float, nullable=False),
    sa.Column("change", sa.Integer, nullable=False),
    sa.Column("expires", sa.DateTime(timezone=True), nullable=False),
    sa.PrimaryKeyConstraint("budget", "owner"),
)

SHARED: Final = (leases, run_settings, budgets, reservations)

ONE_BY_ONE: Final = sa.select(sa.func.pg_advisory_xact_lock(0x63_66_73))
"""Serializes transactions that insert a row if it is missing: two at a time would both insert
it."""


def make_tables(connection: sa.Connection) -> bool:
    """Create the tables that a store lacks; return whether it existed before."""
    later = SHARED if connection.dialect.name == "postgresql" else ()
    if _is_complete(connection, later):
        return True
    if later:
        connection.execute(ONE_BY_ONE)  # workers may start at the same time
    if _is_complete(connection):
        METADATA.create_all(connection, later)
        return True
    METADATA.create_all(connection, [*_FIRST, *later])
    connection.execute(store.insert(), {"version": VERSION})
    return False


_FIRST: Final = tuple(table for table in METADATA.sorted_tables if table not in SHARED)


def _is_complete(connection: sa.Connection, later: Sequence[sa.Table] = ()) -> bool:
    """Return whether a store was created completely and has the ``later`` tables too."""
    there = {*sa.inspect(connection).get_table_names()}
    if not {store.name, *(table.name for table in later)} <= there:
        return False
    return connection.scalar(sa.select(store.c.version)) is not None


# The tables of batches. A store gets them with its first batch; they are separate from the others,
# so that stores without batches keep their schema.

BATCHES: Final = sa.MetaData()
OPEN: Final = ("collected", "uploaded", "created", "ended")
"""States of a batch whose results are not all stored; the final states are closed and
forgotten."""

# The endpoint is an address without anything secret, or a folder; the price factor is the fraction
# of the model's price that a call costs.
batches = sa.Table(
    "batches",
    BATCHES,
    sa.Column("tag", sa.Text, primary_key=True),
    *_texts("endpoint", "model"),
    sa.Column("wave", sa.Integer, nullable=False),
    sa.Column("requests", sa.Integer, nullable=False),
    sa.Column("price_factor", sa.Float, nullable=False),
    sa.Column("created_at", sa.Float, nullable=False),
    *_texts("state"),
    *(
        sa.Column(name, sa.Text, nullable=False, server_default="")
        for name in ("input_file", "batch", "status", "output_file", "error_file", "reason")
    ),
)

# One row for each request of a batch; its custom_id is made of these columns (model/batch.py). The
# status is that of HTTP, 0 if the request was not performed, NULL while there is no result;
# ``said`` is the text of a refusal.
requests = sa.Table(
    "batch_requests",
    BATCHES,
    sa.Column("tag", sa.Text, sa.ForeignKey("batches.tag"), nullable=False),
    *(sa.Column(name, sa.Integer, nullable=False) for name in (*_KEY, "ordinal")),
    *_texts("digests"),
    sa.Column("status", sa.Integer),
    sa.Column("said", sa.Text),
    sa.PrimaryKeyConstraint(*_KEY, "ordinal", "tag"),
    sa.Index("batch_requests_tag", "tag"),
)
