"""The lock on a store: one run has it alone, or workers share it.

SQLite: a lock on the file itself, which holds whatever name leads to it, and one on ``NAME.lock``
beside it, which is all there is where a system has no lock of the first kind (only Linux has), and
which earlier versions of cfr look at. PostgreSQL: an advisory lock. All end with the process that
holds them, however it ends. Workers of a PostgreSQL store share the lock, since leases tell them
apart; a file is one run's.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import Final, Protocol

import sqlalchemy as sa
from filelock import FileLock, Timeout
from sqlalchemy.exc import DBAPIError

from constraint_first.evaluation.database import patiently
from constraint_first.evaluation.error import StoreError, reason
from constraint_first.evaluation.store_file import StoreFile

__all__ = ["AdvisoryLock", "Lock", "LockFile"]

_NUMBER: Final = 0x63_66_72  # "cfr"
_MOMENT: Final = 0.5
_LOOK_EVERY: Final = 1.0
_SHARING: Final = 5.0
"""Seconds to wait for whoever has it alone, which a worker that comes first has for a moment."""
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
        """Hold it alone, or refuse to where another run has it."""
        ...

    def shared(self, first: Callable[[], None]) -> AbstractContextManager[None]:
        """Hold it with others that share it, or refuse to where somebody needs it alone.

        Whoever finds nobody there does what is to be done ``first``.
        """
        ...

    def check(self) -> None:
        """Make sure that it is held still, if it was taken at all; raise where it is not."""
        ...

    def is_taken(self) -> bool:
        """Say whether a run has it now, this one or another."""
        ...


class LockFile:
    """The lock of a SQLite store; while it is held, a file that goes away is noticed."""

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
        """Hold it alone, or refuse to where another run has it."""
        with self._held_beside():
            if not self._file.lock():
                raise _in_use(self._url, _ONE_RUNNER)
            try:
                self._wanted = True
                yield
                self.check()
            finally:
                self._wanted = False
                self._file.unlock()

    def _held_beside(self) -> AbstractContextManager[object]:
        try:
            # Another process that only looks whether it is taken has it for a moment.
            return FileLock(self._path, timeout=_MOMENT).acquire(poll_interval=_MOMENT / 10)
        except Timeout:
            raise _in_use(self._url, _ONE_RUNNER) from None
        except OSError as error:
            raise StoreError(
                f"{self._url}: cannot be locked ({error.strerror}: {self._path}); name a store in "
                "a folder that you may write to"
            ) from None

    def shared(self, first: Callable[[], None]) -> AbstractContextManager[None]:  # noqa: ARG002
        """Hold it alone: nothing tells the attempts of two runs on a file apart."""
        return self.held()

    def check(self) -> None:
        """Raise where the file is no longer under its name: what is written there would be lost."""
        with self._guard:
            if self._lost is None and self._wanted and (damage := self._file.find_damage()):
                saved = self._save(self._file.path)
                self._lost = StoreError(f"{self._url}: {damage} during the run; {saved}")
            if self._lost:
                raise self._lost

    def is_taken(self) -> bool:
        """Say whether a run has it now."""
        if self._file.is_locked():
            return True
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
        self._wanted = self._shared = False
        self._look_at = 0.0
        self._connection: sa.Connection | None = None
        self._lost: StoreError | None = None

    @contextmanager
    def held(self) -> Generator[None]:
        """Hold it alone, or refuse to where another run has it."""
        with self._guard:
            self._lost, self._shared = None, False
            if not patiently(self._url, "locked", self._take):
                raise _in_use(self._url, _WAIT)
            self._wanted = True
        with self._until_released():
            yield

    @contextmanager
    def shared(self, first: Callable[[], None]) -> Generator[None]:
        """Hold it with others that share it, or refuse to where somebody needs it alone.

        Whoever finds nobody there has it alone for what is to be done ``first``; others that come
        meanwhile wait.
        """
        deadline = time.monotonic() + _SHARING
        with self._guard:
            self._lost = None
            while not patiently(self._url, "locked", lambda: self._join(first)):
                if time.monotonic() > deadline:
                    raise _in_use(self._url, _ALONE)
                time.sleep(_MOMENT / 10)
            self._wanted = True
        with self._until_released():
            yield

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
        """Take it again; a worker that comes first has it alone for a moment."""
        deadline = time.monotonic() + (_SHARING if self._shared else 0.0)
        while not (taken := self._take()) and time.monotonic() < deadline:
            time.sleep(_MOMENT / 10)
        return taken

    def _drop(self) -> None:
        """End the connection, and whatever it has locked with it."""
        held, self._connection = self._connection, None
        if held is not None:
            held.invalidate()
            held.close()

    @contextmanager
    def _until_released(self) -> Generator[None]:
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
            if self._shared and time.monotonic() < self._look_at:
                return  # leases guard every row, so the lock need not be seen before each commit
            self._look_at = time.monotonic() + _LOOK_EVERY
            if not self._wanted or self._is_held():
                return
            if not self._retake():
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
        """Give the lock back; raise where it was lost: another run may have had the store since.

        A connection goes back to its pool and lives on, and so would its lock.
        """
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


def _in_use(url: str, way_out: str) -> StoreError:
    return StoreError(f"{url}: another run is using this store{way_out}")


_WAIT: Final = "; wait, or name another"
_ONE_RUNNER: Final = (
    ", and a file takes one at a time; wait, name another, or a PostgreSQL database "
    "(--store postgresql://…), which takes any number"
)
_ALONE: Final = (
    " and needs it alone (cfr merge, cfr serve, cfr eval --batch); wait, or name another"
)
