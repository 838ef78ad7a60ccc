"""The store of attempts and calls: everything asked and answered, in SQLite or PostgreSQL.

Calls are written before their attempt goes on, so that every call that was paid for is there after
a crash. Attempts that are complete are never made again; a failed one leaves its reason and is made
again by the next run.
"""

from __future__ import annotations

import sqlite3
import time
from asyncio import Future
from collections.abc import Callable, Generator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Final, TypeVar

import sqlalchemy as sa
from sqlalchemy.exc import SQLAlchemyError

from constraint_first.problem import Problem
from constraint_first.store import schema
from constraint_first.store.database import (
    AdvisoryLock,
    LeaseLost,
    Lock,
    LockFile,
    StoreError,
    StoreFile,
    cannot_be,
    open_database,
    opening,
    patiently,
    reason,
    save_copy,
    sqlite_path,
    sqlite_tables,
    without_password,
)
from constraint_first.store.series import Registered, Series, register
from constraint_first.store.writer import (
    Leases,
    RowValues,
    Writer,
    WriteStatements,
    enqueue,
    free_all,
    name_owner,
    share_of,
)

T = TypeVar("T")

_THERE_AGAIN: Final = 10.0
"""Seconds after which every worker has found a server again that was restarted."""


class Store:
    """An open store: ``with Store("runs.db") as store``.

    One that must be ``existing`` is opened without being touched, on a medium that takes no writes
    if need be.
    """

    def __init__(self, url: str, *, existing: bool = False) -> None:
        self.url = without_password(url)
        path = sqlite_path(url)
        self._file: StoreFile | None = None
        self._is_saved = False
        with opening(), ExitStack() as undo:
            if path and path.exists():
                self._file = StoreFile(path)
                undo.callback(self._file.close)
                self._require_one_name(self._file)
                self._require_store(sqlite_tables(self.url, path), existing=existing)
            self.database = open_database(url, existing=existing)
            undo.callback(self.database.dispose)
            self._prepare(existing=existing)
            self._file = StoreFile(path) if path and not self._file else self._file
            undo.pop_all()
        self.has_leases = self.is_shared = path is None
        """Whether any number of workers may run on it at the same time: on PostgreSQL, as long as
        no run holds it alone."""
        self.owner = name_owner()
        """The unique name of this worker."""
        self._lock: Lock = (
            LockFile(self.url, self._file, self._save)
            if self._file
            else AdvisoryLock(self.url, self.database)
        )
        self._statements = WriteStatements(is_shared=self.has_leases)
        self._writer = Writer(self.url, self.database, self._lock.check)
        self.watch = self._writer.watch
        self.flush = self._writer.flush

    def __enter__(self) -> Store:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._writer.close()
        self.database.dispose()
        if self._file:
            if self._is_saved:
                self._file.drop_log()
            self._file.close()

    @contextmanager
    def exclusively(self) -> Generator[None]:
        """Take the exclusive lock and void all leases, also those of workers that are cut off."""
        self._writer.start()  # it looks at the lock now and then
        with self._lock.held():
            if self.has_leases:
                self.change(free_all)
            self.is_shared = False
            try:
                yield
            finally:
                self.is_shared = self.has_leases

    def running(self) -> AbstractContextManager[None]:
        """Lock the store for a run: shared where leases tell workers apart, else exclusively.

        The first worker voids the leases of workers that are all gone, and need not wait for them.
        """
        self._writer.start()
        return self._lock.shared(lambda: self.change(lambda one: free_all(one, _THERE_AGAIN)))

    @contextmanager
    def leasing(self, seconds: float) -> Generator[Leases]:
        """Write only attempts that this worker has a lease on; give the leases back at the end."""
        self._writer.leases = leases = Leases(self.url, self.database, self.owner, seconds)
        try:
            yield leases
        finally:
            self._writer.leases = None
            leases.release()

    def require_lease(self, key: RowValues) -> None:
        """Refuse to go on with an attempt that another worker is known to have."""
        leases = self._writer.leases
        if leases and leases.is_lost((key["series"], key["problem"], key["run"])):
            raise LeaseLost(f"{self.url}: another worker has taken this attempt over")

    @property
    def is_taken(self) -> bool:
        """Whether a run has the store now: an evaluation, or a server that keeps its answers."""
        return self._lock.is_taken()

    def read(self, query: sa.Executable) -> Sequence[Any]:
        """Return all rows that a query finds."""
        return patiently(self.url, "read", lambda: _read(self.database, query))

    def read_from_disk(self, query: sa.Executable) -> Sequence[Any]:
        """Read on a fresh connection: the cache of an open one hides an overwritten file."""
        if not self._file:
            return self.read(query)
        self._lock.check()
        fresh = open_database(str(self._file.path), existing=True)
        try:
            with self.reading():
                return _read(fresh, query)
        finally:
            fresh.dispose()

    @contextmanager
    def reading(self) -> Generator[None]:
        """Turn a value that cannot be read, or is malformed, into a ``StoreError``."""
        try:
            yield
        except (SQLAlchemyError, ValueError, TypeError, KeyError) as error:
            raise cannot_be("read", self.url, error) from None

    def change(self, work: Callable[[sa.Connection], T], done: str = "written") -> T:
        """Run a transaction, again if the server breaks off."""

        def transaction() -> T:
            if self._file:  # the writer looks at a lock of PostgreSQL
                self._lock.check()
            with self.database.begin() as connection:
                return work(connection)

        return patiently(self.url, done, transaction)

    def register(
        self, series: Series, problems: Sequence[Problem], runs: int | None = None
    ) -> Registered:
        """Enter a series and its problems, or find them; what has changed since is refused.

        Where workers share the store, the missing attempts of so many ``runs`` are queued.
        """

        def work(connection: sa.Connection) -> Registered:
            if self.has_leases:  # two that enter the same would otherwise both find it missing
                connection.execute(schema.ONE_BY_ONE)
            found = register(connection, self.url, series, problems)
            if self.is_shared and runs:
                enqueue(connection, series.benchmark, share_of(*found, problems, runs))
            return found

        return self.change(work)

    def withdraw(self, numbers: Sequence[int]) -> None:
        """Take series out again that have no attempts."""
        table, made = schema.series, (schema.attempts.c.series, schema.calls.c.series)
        unused = [~sa.exists().where(series == table.c.id) for series in made]
        query = sa.select(table.c.id).where(table.c.id.in_(numbers), *unused)

        def work(connection: sa.Connection) -> None:
            found = connection.scalars(query).all()
            about = [schema.leases, schema.run_settings] if self.has_leases else []
            if sa.inspect(connection).has_table(schema.prompts.name):
                about.append(schema.prompts)
            for one in about:
                connection.execute(one.delete().where(one.c.series.in_(found)))
            connection.execute(table.delete().where(table.c.id.in_(found)))

        self.change(work)

    def write_call(self, row: RowValues) -> Future[None]:
        """Write a completed call; the future is done when it is committed."""
        return self._writer.write(self._statements.put_call, row)

    def write_attempt(self, row: RowValues) -> Future[None]:
        """Write how an attempt ended. If this is lost, its calls are not: it is replayed."""
        if "finished_at" in row:
            return self._writer.write(self._statements.put_attempt, row)
        if self.is_shared:
            return self._writer.write(self._statements.put_attempt_now, row)
        return self._writer.write(self._statements.put_attempt, row | {"finished_at": time.time()})

    def forget_calls(self, key: RowValues) -> Future[None]:
        """Delete the calls of an attempt, on which its method breaks."""
        return self._writer.write(self._statements.delete_calls, key)

    def hasten(self) -> None:
        """Stop waiting for a server that is away: the run was cancelled."""
        self._writer.hasten()
        if self._writer.leases:
            self._writer.leases.hasten()

    def _save(self, path: Path) -> str:
        """Copy the contents of a file that is gone; say where they are, or that they are lost."""
        try:
            copy, attempts = save_copy(self.database, path)
        except (OSError, sqlite3.Error, SQLAlchemyError) as error:
            return (
                f"what was stored is lost ({reason(error)}); restore it from a copy, or run the "
                "same command again to make it anew"
            )
        self._is_saved = True
        were = "attempt was" if attempts == 1 else "attempts were"
        return (
            f"its {attempts} {were} saved to {copy}; rename that to {path.name} and run the same "
            "command again"
        )

    def _require_one_name(self, file: StoreFile) -> None:
        """Refuse a file in use that has several names: SQLite keeps a log for each of them."""
        if file.has_other_names and file.is_locked():
            raise StoreError(
                f"{self.url}: another run is using this store, and it has several names (hard "
                "links); wait, or use the name which that run was given"
            )

    def _require_store(self, tables: set[str], *, existing: bool) -> None:
        """Refuse a database of another program; an empty file is made a store."""
        ours = set(schema.METADATA.tables)
        if schema.store.name not in tables and (existing or tables - ours):
            raise StoreError(f"{self.url}: not a store of runs; name one that 'cfr eval' made")

    def _prepare(self, *, existing: bool) -> None:
        """Make the tables where there are none yet, or see that they are all there."""
        try:
            with self.database.begin() as connection:
                made = existing or schema.make_tables(connection)
                version = connection.scalar(sa.select(schema.store.c.version)) if made else None
                for table in schema.METADATA.sorted_tables:  # all columns, and not a single row
                    if table not in (schema.prompts, *schema.SHARED):
                        connection.execute(sa.select(table).limit(0))
        except SQLAlchemyError as error:
            raise cannot_be("opened as a store", self.url, error) from None
        if version not in (None, schema.VERSION):
            raise StoreError(f"{self.url}: written by another version of cfr ({version})")


def _read(database: sa.Engine, query: sa.Executable) -> Sequence[Any]:
    with database.connect() as connection:
        return connection.execute(query).all()
