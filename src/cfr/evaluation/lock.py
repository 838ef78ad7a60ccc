"""The lock on a store: one run at a time writes to it.

A file beside a SQLite store, an advisory lock of PostgreSQL otherwise. Both end with the process
that holds them, however it ends.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

import sqlalchemy as sa
from filelock import FileLock, Timeout
from sqlalchemy.exc import DBAPIError

from cfr.evaluation.error import StoreError, reason

__all__ = ["advisory_lock", "file_lock"]

_NUMBER: Final = 0x63_66_72  # "cfr"


@contextmanager
def file_lock(url: str, path: Path) -> Generator[None]:
    """Hold the lock of a SQLite store, which is a file beside it."""
    try:
        held = FileLock(path, timeout=0).acquire()
    except Timeout:
        raise _in_use(url) from None
    with held:
        yield


@contextmanager
def advisory_lock(url: str, database: sa.Engine) -> Generator[None]:
    """Hold the lock of a PostgreSQL store, which belongs to a connection and not to a transaction.

    The connection commits by itself: a transaction that is open as long as a run would keep the
    server from cleaning up, and servers may end those that are idle.
    """
    with database.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        if not connection.scalar(sa.select(sa.func.pg_try_advisory_lock(_NUMBER))):
            raise _in_use(url)
        try:
            yield
        except BaseException:
            with suppress(StoreError):  # what went wrong first is what is told
                _release(url, connection)
            raise
        _release(url, connection)


def _release(url: str, connection: sa.Connection) -> None:
    """Give the lock back; raise where it was lost, since then another run may have had the store.

    A connection goes back to its pool and lives on, and so would its lock.
    """
    lost = "it was held no longer"
    try:
        if connection.scalar(sa.select(sa.func.pg_advisory_unlock(_NUMBER))):
            return
    except DBAPIError as error:
        lost = reason(error)
    raise StoreError(
        f"{url}: the lock on this store was lost during the run ({lost}), and another run may have "
        "used it meanwhile; make sure that none does, and run the same command again"
    )


def _in_use(url: str) -> StoreError:
    return StoreError(f"{url}: another run is using this store; wait, or name another")
