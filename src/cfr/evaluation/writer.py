"""The store's writer thread: rows committed many at a time, each acknowledged when it is safe.

A commit that waits for the disk takes as long for a thousand rows as for one. So rows queue up
while one commit is under way and go into the next together, and whoever waits for a row hears of it
once it is committed.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final, TypeAlias

import sqlalchemy as sa

from cfr.evaluation.error import StoreError, reason

__all__ = ["RowValues", "Writer"]

RowValues: TypeAlias = dict[str, Any]
"""The values of one row, by column."""

# A commit costs the same for one row as for fifty. Beside the time that a model takes to reply this
# pause is nothing, and it halves the work of writing.
_LINGER: Final = 0.004
_Pending: TypeAlias = tuple[sa.Table, RowValues, asyncio.Future[None] | None]


class Writer:
    """A queue of rows and the thread that writes them, in the order in which they came."""

    def __init__(
        self, url: str, database: sa.Engine, upsert: Callable[[sa.Table], sa.Insert]
    ) -> None:
        self._url = url
        self._database = database
        self._upsert = upsert
        self._pending: list[_Pending] = []
        self._changed = threading.Condition()
        self._busy = False
        self._closing = False
        self._failure: StoreError | None = None
        self._thread = threading.Thread(target=self._work, name="store-writer", daemon=True)
        self._thread.start()

    async def write(self, table: sa.Table, row: RowValues) -> None:
        """Write a row and wait until it is committed."""
        done = asyncio.get_running_loop().create_future()
        self._put(table, row, done)
        await done

    def write_later(self, table: sa.Table, row: RowValues) -> None:
        """Write a row without waiting for it."""
        self._put(table, row, None)

    def flush(self) -> None:
        """Wait until everything is committed; a write that failed meanwhile is raised here."""
        with self._changed:
            self._changed.wait_for(lambda: not self._pending and not self._busy)
        if self._failure:
            raise self._failure

    def close(self) -> None:
        """Commit what is left and stop."""
        with self._changed:
            self._closing = True
            self._changed.notify_all()
        self._thread.join()

    def _put(self, table: sa.Table, row: RowValues, done: asyncio.Future[None] | None) -> None:
        with self._changed:
            self._pending.append((table, row, done))
            self._changed.notify_all()

    def _work(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._pending or self._closing)
            time.sleep(_LINGER)
            with self._changed:
                batch, self._pending = self._pending, []
                if not batch:
                    return
                self._busy = True
            failure = self._commit(batch)
            with self._changed:
                self._busy = False
                self._failure = self._failure or failure
                self._changed.notify_all()

    def _commit(self, batch: list[_Pending]) -> StoreError | None:
        rows: dict[str, tuple[sa.Table, list[RowValues]]] = {}
        for table, row, _ in batch:
            rows.setdefault(table.name, (table, []))[1].append(row)
        failure: StoreError | None = None
        try:
            with self._database.begin() as connection:
                for table, several in rows.values():
                    connection.execute(self._upsert(table), several)
        # Whatever it is: a thread that dies here would leave everybody waiting for ever.
        except Exception as error:
            failure = StoreError(
                f"{self._url}: cannot be written ({reason(error)}); put that right and run the "
                "same command again"
            )
        _acknowledge(batch, failure)
        return failure


def _acknowledge(batch: list[_Pending], failure: StoreError | None) -> None:
    waiting: dict[asyncio.AbstractEventLoop, list[asyncio.Future[None]]] = {}
    for _, _, done in batch:
        if done is not None:
            waiting.setdefault(done.get_loop(), []).append(done)
    for loop, futures in waiting.items():
        with suppress(RuntimeError):  # the loop is closed, and nobody waits any more
            loop.call_soon_threadsafe(_settle, futures, failure)


def _settle(waiting: list[asyncio.Future[None]], failure: StoreError | None) -> None:
    for done in waiting:
        if done.done():  # whoever waited was cancelled; the row is safe all the same
            continue
        if failure:
            done.set_exception(failure)
        else:
            done.set_result(None)
