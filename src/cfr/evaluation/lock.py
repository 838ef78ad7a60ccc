"""The lock on a store: one run at a time writes to it.

A file beside a SQLite store, an advisory lock of PostgreSQL otherwise. Both end with the process
that holds them, however it ends.
"""

from __future__ import annotations

import threading
from collections.abc import Generator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import Final, Protocol

import sqlalchemy as sa
from filelock import FileLock, Timeout
from sqlalchemy.exc import DBAPIError

from cfr.evaluation.database import patiently
from cfr.evaluation.error import StoreError, reason

__all__ = ["AdvisoryLock", "Lock", "LockFile"]

_NUMBER: Final = 0x63_66_72  # "cfr"
_MOMENT: Final = 0.5
_HOLDERS: Final = (
    "SELECT count(*) FROM pg_locks JOIN pg_database ON pg_database.oid = database"
    " WHERE locktype = 'advisory' AND granted AND classid = 0 AND objid = :number"
    " AND datname = current_database()"
)
_IS_TAKEN: Final = sa.text(_HOLDERS).bindparams(number=_NUMBER)
_IS_HELD: Final = sa.text(_HOLDERS + " AND pid = pg_backend_pid()").bindparams(number=_NUMBER)


class Lock(Protocol):
    """A lock on a store."""

    def held(self) -> AbstractContextManager[None]:
        """Hold it, or refuse to where another run has it."""
        ...

    def check(self) -> None:
        """Make sure that it is held still, if it was taken at all; raise where it is not."""
        ...

    def is_taken(self) -> bool:
        """Say whether a run has it now, this one or another."""
        ...


class LockFile:
    """The lock of a SQLite store, which is a file beside it."""

    def __init__(self, url: str, path: Path) -> None:
        self._url = url
        self._path = path.with_name(path.name + ".lock")

    @contextmanager
    def held(self) -> Generator[None]:
        """Hold it, or refuse to where another run has it."""
        try:
            # Somebody who only looks whether it is taken has it for a moment.
            held = FileLock(self._path, timeout=_MOMENT).acquire(poll_interval=_MOMENT / 10)
        except Timeout:
            raise _in_use(self._url) from None
        except OSError as error:
            raise StoreError(
                f"{self._url}: cannot be locked ({error.strerror}: {self._path}); name a store in "
                "a folder that you may write to"
            ) from None
        with held:
            yield

    def check(self) -> None:
        """Do nothing: the system takes such a lock away from nobody."""

    def is_taken(self) -> bool:
        """Say whether a run has it now."""
        if not self._path.exists():
            return False
        try:
            with FileLock(self._path, timeout=0):
                return False
        except Timeout:
            return True
        except OSError:  # a place where nobody writes
            return False


class AdvisoryLock:
    """The lock of a PostgreSQL store, which belongs to a connection and not to a transaction.

    The connection commits by itself: a transaction that is open as long as a run would keep the
    server from cleaning up, and servers may end those that are idle. They may end the connection
    too, and the lock with it; so it is looked at before anything is written, and taken again where
    nobody else took it meanwhile.
    """

    def __init__(self, url: str, database: sa.Engine) -> None:
        self._url = url
        self._database = database
        self._guard = threading.Lock()
        self._wanted = False
        self._connection: sa.Connection | None = None
        self._lost: StoreError | None = None

    @contextmanager
    def held(self) -> Generator[None]:
        """Hold it, or refuse to where another run has it."""
        with self._guard:
            self._lost = None
            if not patiently(self._url, "locked", self._take):
                raise _in_use(self._url)
            self._wanted = True
        try:
            yield
        except BaseException:
            with suppress(StoreError):  # what went wrong first is what is told
                self._release()
            raise
        self._release()

    def check(self) -> None:
        """Make sure that it is held still, if it was taken at all; raise where it is not."""
        with self._guard:
            if self._lost:
                raise self._lost
            if not self._wanted or self._is_held():
                return
            if not self._take():
                self._lost = self._taken_away("another run took it")
                raise self._lost

    def is_taken(self) -> bool:
        """Say whether a run has it now, this one or another."""

        def look() -> bool:
            with self._database.connect() as connection:
                return bool(connection.scalar(_IS_TAKEN))

        return patiently(self._url, "read", look)

    def _take(self) -> bool:
        connection = self._database.connect().execution_options(isolation_level="AUTOCOMMIT")
        try:
            taken = connection.scalar(sa.select(sa.func.pg_try_advisory_lock(_NUMBER)))
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
        self._connection = None
        held.invalidate()
        held.close()
        return False

    def _release(self) -> None:
        """Give the lock back; raise where it was lost: another run may have had the store since.

        A connection goes back to its pool and lives on, and so would its lock.
        """
        with self._guard:
            held, self._connection, self._wanted = self._connection, None, False
        if held is None:
            raise self._lost or self._taken_away("it was held no longer")
        lost = "it was held no longer"
        try:
            if held.scalar(sa.select(sa.func.pg_advisory_unlock(_NUMBER))):
                return
        except DBAPIError as error:
            lost = reason(error)
        finally:
            held.close()
        raise self._taken_away(lost)

    def _taken_away(self, why: str) -> StoreError:
        return StoreError(
            f"{self._url}: the lock on this store was lost during the run ({why}), and another run "
            "may have used it meanwhile; make sure that none does, and run the same command again"
        )


def _in_use(url: str) -> StoreError:
    return StoreError(f"{url}: another run is using this store; wait, or name another")
