"""The database behind a store, opened by its address: a SQLite file or PostgreSQL.

One that must be there already is opened without being touched: the file may be somebody else's, or
lie on a medium that takes no writes.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from itertools import count
from pathlib import Path
from typing import Any, Final, TypeVar
from urllib.parse import quote

import sqlalchemy as sa
from sqlalchemy.event import listens_for
from sqlalchemy.exc import ArgumentError, SQLAlchemyError

from constraint_first.evaluation.error import StoreError, cannot_be, is_outage
from constraint_first.file.path import expand_user

__all__ = [
    "open_database",
    "patiently",
    "pauses",
    "save_copy",
    "sqlite_path",
    "sqlite_tables",
    "without_password",
]

T = TypeVar("T")

_OUTAGE: Final = 60.0
_LONGEST_PAUSE: Final = 2.0
# A server that is gone without a word must not be waited for as long as TCP would.
_POSTGRES: Final = {"connect_timeout": "10", "keepalives_idle": "30", "tcp_user_timeout": "60000"}


def sqlite_path(url: str) -> Path | None:
    """Return the file of a SQLite store, its links followed; None where it is PostgreSQL's."""
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
    except OSError as error:  # a folder that one may not look into, a name too long
        raise StoreError(f"{url}: cannot be opened ({error.strerror}); name another") from None
    return Path(os.path.realpath(path))  # SQLite keeps its log beside the file, not beside a link


def open_database(url: str, *, existing: bool) -> sa.Engine:
    """Open the database of a store; whether it is one will show."""
    path = sqlite_path(url)
    if path:
        return _sqlite_reader(path) if existing else _sqlite_writer(path)
    parsed = _parsed(url)
    parsed = parsed.set(drivername="postgresql+psycopg", query={**_POSTGRES, **parsed.query})
    try:
        # Whoever runs tries again where a connection turns out to be broken, and need not ask first
        # whether it is; whoever reads may be in the middle of a stream by then.
        return sa.create_engine(parsed, pool_pre_ping=existing)
    except ModuleNotFoundError:
        raise StoreError("PostgreSQL needs: pip install 'constraint-first[postgres]'") from None


def sqlite_tables(url: str, path: Path) -> set[str]:
    """List the tables of a SQLite file without leaving a trace beside it."""
    # Where there is no log of writes beside it nobody is writing, and SQLite need not make one.
    mode = "mode=ro" if _log(path).exists() else "immutable=1"
    query = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%'"
    try:
        address = f"{path.absolute().as_uri()}?{mode}"
        with closing(sqlite3.connect(address, uri=True, timeout=30)) as connection:
            return {name for (name,) in connection.execute(query)}
    except sqlite3.Error as error:
        raise cannot_be("opened as a store", url, error) from None


def save_copy(database: sa.Engine, path: Path) -> tuple[Path, int]:
    """Copy what SQLite has open, also where its file is gone; return where, and its attempts.

    Beside ``path``, or in the working directory where that folder is gone.
    """
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
    """Return an address as it may be shown."""
    try:
        return sa.make_url(url).render_as_string() if "://" in url else url
    except ArgumentError:
        return url


def patiently(
    url: str, done: str, work: Callable[[], T], hasty: Callable[[], bool] = lambda: False
) -> T:
    """Do something with a database, again if its server is away for a short time.

    ``done`` is the word for it where it fails: the store cannot be *read*, or *written*. Whoever is
    ``hasty`` by then does not wait.
    """
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
    """Yield the seconds to wait after each try, for as long as an outage is waited out."""
    deadline, pause = time.monotonic() + _OUTAGE, 0.05
    while time.monotonic() < deadline:
        yield pause
        pause = min(2 * pause, _LONGEST_PAUSE)


def _parsed(url: str) -> sa.URL:
    try:
        return sa.make_url(url)
    except ArgumentError:
        raise StoreError(f"{url}: not a store's address; give a file or postgresql://…") from None


def _log(path: Path) -> Path:
    return path.with_name(path.name + "-wal")


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
    # To read a file that has a log SQLite makes files beside it, and takes them away again. Where
    # it cannot it must be told that nothing will change.
    still = not os.access(path.absolute().parent, os.W_OK) and not _log(path).exists()
    query = {"immutable": "1"} if still else {"mode": "rw"}
    file = f"file:{quote(str(path.absolute()))}"
    url = sa.URL.create("sqlite", database=file, query=query | {"uri": "true"})
    return sa.create_engine(url, connect_args=_WAITING)


_WAITING: Final = {"timeout": 30}
