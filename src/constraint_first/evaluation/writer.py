"""The store's writer thread: rows committed many at a time, each acknowledged when it is safe.

A commit that waits for the disk takes as long for a thousand rows as for one. So rows queue up
while one commit is under way and go into the next together, and whoever waits for a row hears of it
once it is committed. Rows that fail together are written in ever smaller parts, until only the bad
one is left out. A server that is away for a short time is waited for. Rows of an attempt that
another worker has taken over meanwhile are left out too, and whoever waits for them is told.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any, Final, NamedTuple, TypeAlias

import sqlalchemy as sa

from constraint_first.error import CfrError
from constraint_first.evaluation import schema
from constraint_first.evaluation.database import pauses
from constraint_first.evaluation.error import (
    LeaseLost,
    StoreError,
    Unstorable,
    cannot_be,
    is_of_the_row,
    is_outage,
    reason,
)
from constraint_first.evaluation.lease import LeaseKey, Leases

__all__ = ["RowValues", "Statement", "Writer"]

RowValues: TypeAlias = dict[str, Any]
"""The values of one row, by column."""
Statement: TypeAlias = sa.Insert | sa.Delete
"""What is done with a row."""

# A commit costs the same for one row as for fifty. Beside the time that a model takes to reply this
# pause is nothing, and it halves the work of writing.
_LINGER: Final = 0.004
_LINGER_SHARED: Final = 0.015
"""Likewise where workers share a server: a commit takes several ways to and fro, of all of them."""
_HEARTBEAT: Final = 1.0
"""Seconds after which the lock is looked at where nothing was written meanwhile."""


class _Pending(NamedTuple):
    statement: Statement
    row: RowValues
    done: asyncio.Future[None]

    @property
    def key(self) -> LeaseKey:
        """The attempt that it belongs to."""
        return self.row["series"], self.row["problem"], self.row["run"]


class Writer:
    """A queue of rows and the thread that writes them, in the order in which they came.

    ``check`` is called before each commit, and now and then between them; it raises where nothing
    may be written any more. With ``leases`` only what this worker has a lease on is written.
    """

    def __init__(self, url: str, database: sa.Engine, check: Callable[[], None]) -> None:
        self.leases: Leases | None = None
        self._url = url
        self._database = database
        self._check = check
        self._pending: list[_Pending] = []
        self._watching: list[asyncio.Future[None]] = []
        self._changed = threading.Condition()
        self._busy = False
        self._hasty = False
        self._closing = False
        self._failure: StoreError | None = None
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Start the thread; the first row does that too."""
        with self._changed:
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="store-writer", daemon=True)
                self._thread.start()

    def write(self, statement: Statement, row: RowValues) -> asyncio.Future[None]:
        """Write a row; what is returned can be awaited, and is done when the row is committed."""
        if self._thread is None:
            self.start()
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        with self._changed:
            self._pending.append(_Pending(statement, row, done))
            if len(self._pending) == 1:  # the thread waits for the first row alone
                self._changed.notify_all()
        return done

    async def watch(self) -> None:
        """Wait until nothing can be written any more, and raise that."""
        done = asyncio.get_running_loop().create_future()
        with self._changed:
            if self._failure:
                raise self._failure
            self._watching.append(done)
        await done

    def flush(self) -> None:
        """Wait until everything is committed; a failure of the store meanwhile is raised here."""
        with self._changed:
            self._changed.wait_for(lambda: not self._pending and not self._busy)
        if self._failure:
            raise self._failure

    def hasten(self) -> None:
        """Wait for no server any more: somebody wants to leave."""
        with self._changed:
            self._hasty = True
            self._changed.notify_all()

    def close(self) -> None:
        """Commit what is left and stop."""
        with self._changed:
            self._hasty = self._closing = True
            self._changed.notify_all()
        if self._thread:
            self._thread.join()

    def _work(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._pending or self._closing, _HEARTBEAT)
            time.sleep(_LINGER_SHARED if self.leases else _LINGER)
            with self._changed:
                batch, self._pending = self._pending, []
                if self._closing and not batch:
                    return
                self._busy = True
            self._commit(batch)
            with self._changed:
                self._busy = False
                self._changed.notify_all()

    def _commit(self, batch: list[_Pending]) -> None:
        """Write rows, and tell whoever waits for them what became of each."""
        error = self._try(batch)
        waiting = [one.done for one in batch]
        if error is None:
            _settle(waiting, None)
        elif isinstance(error, _NotOurs):
            lost = LeaseLost(f"{self._url}: another worker has taken this attempt over")
            _settle([one.done for one in batch if one.key in error.keys], lost)
            _settle([one.done for one in batch if one.key not in error.keys], None)
        elif not batch or not is_of_the_row(error):
            self._fail(waiting, error)
        elif len(batch) == 1:
            _settle(waiting, Unstorable(f"{self._url}: refused to store it ({reason(error)})"))
        else:
            half = len(batch) // 2
            self._commit(batch[:half])
            self._commit(batch[half:])

    def _try(self, batch: list[_Pending]) -> Exception | None:
        waits = pauses()
        while True:
            try:
                self._check()
                if self.leases:
                    self.leases.renew()
                self._write(batch)
            except _NotOurs as lost:
                return lost
            # Whatever it is: a thread that dies here would leave everybody waiting for ever.
            except Exception as error:
                patient = is_outage(error) and not self._failure
                pause = next(waits, None) if patient else None
                if pause is None or self._hasty:
                    return error
            else:
                return None
            with self._changed:
                self._changed.wait_for(lambda: self._hasty, pause)

    def _write(self, batch: list[_Pending]) -> None:
        if not batch:
            return
        leases = self.leases
        if leases is None:
            with self._database.begin() as connection:
                _execute(connection, batch)
            return
        keys: dict[LeaseKey, bool] = {}
        for one in batch:
            keys[one.key] = keys.get(one.key, False) or one.statement.table is schema.attempts
        with self._database.begin() as connection:
            ours = leases.hold(connection, keys)
            _execute(connection, [one for one in batch if one.key in ours])
        leases.forget(key for key, ends in keys.items() if ends or key not in ours)
        if lost := keys.keys() - ours:
            raise _NotOurs(lost)

    def _fail(self, waiting: list[asyncio.Future[None]], error: Exception) -> None:
        """Note that the store cannot be written, and tell everybody."""
        failure = error if isinstance(error, StoreError) else cannot_be("written", self._url, error)
        with self._changed:
            self._failure = self._failure or failure
            watching, self._watching = self._watching, []
        _settle(waiting + watching, failure)


class _NotOurs(Exception):
    """All was written but what belongs to attempts that other workers have."""

    def __init__(self, keys: set[LeaseKey]) -> None:
        super().__init__()
        self.keys = keys


def _execute(connection: sa.Connection, batch: Iterable[_Pending]) -> None:
    rows: dict[Statement, list[RowValues]] = {}
    for statement, row, _ in batch:
        rows.setdefault(statement, []).append(row)
    for statement, several in rows.items():
        connection.execute(statement, several)


def _settle(waiting: Iterable[asyncio.Future[None]], failure: CfrError | None) -> None:
    by_loop: dict[asyncio.AbstractEventLoop, list[asyncio.Future[None]]] = {}
    for done in waiting:
        by_loop.setdefault(done.get_loop(), []).append(done)
    for loop, futures in by_loop.items():
        with suppress(RuntimeError):  # the loop is closed, and nobody waits any more
            loop.call_soon_threadsafe(_tell, futures, failure)


def _tell(waiting: list[asyncio.Future[None]], failure: CfrError | None) -> None:
    for done in waiting:
        if done.done():  # whoever waited was cancelled; the row is safe all the same
            continue
        if failure:
            done.set_exception(failure)
        else:
            done.set_result(None)
