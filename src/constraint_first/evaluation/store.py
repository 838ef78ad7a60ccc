"""The store of attempts and calls: everything asked and answered, in SQLite or PostgreSQL.

Calls are written before their attempt goes on, so that whatever was paid for is there after a
crash. Attempts that are complete are never made again; a failed one leaves its reason and is made
again by the next run.
"""

from __future__ import annotations

import sqlite3
import time
from asyncio import Future
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Final, TypeVar, cast

import sqlalchemy as sa
from sqlalchemy.exc import SQLAlchemyError

from constraint_first.evaluation import schema
from constraint_first.evaluation.database import (
    open_database,
    patiently,
    save_copy,
    sqlite_path,
    sqlite_tables,
    without_password,
)
from constraint_first.evaluation.error import LeaseLost, StoreError, cannot_be, reason
from constraint_first.evaluation.lease import Leases, enqueue, free_all, name_owner
from constraint_first.evaluation.lock import AdvisoryLock, Lock, LockFile
from constraint_first.evaluation.registration import Registered, register
from constraint_first.evaluation.selection import (
    finished_attempts,
    share_of,
    summed_usage,
    usage_columns,
)
from constraint_first.evaluation.series import Series
from constraint_first.evaluation.statement import WriteStatements
from constraint_first.evaluation.store_file import StoreFile, opening
from constraint_first.evaluation.stored_call import (
    EXECUTED,
    AttemptKey,
    KnownCalls,
    StoredCall,
    calls_by_attempt,
)
from constraint_first.evaluation.stored_prompt import drop_prompts
from constraint_first.evaluation.writer import RowValues, Writer
from constraint_first.problem import Problem
from constraint_first.protocol import Usage

__all__ = [
    "EXECUTED",
    "AttemptKey",
    "Registered",
    "Store",
    "StoreError",
    "StoredCall",
    "finished_attempts",
    "summed_usage",
    "usage_columns",
]

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
        nobody holds it alone."""
        self.owner = name_owner()
        """The name of this worker, which no other has."""
        self._lock: Lock = (
            LockFile(self.url, self._file, self._save)
            if self._file
            else AdvisoryLock(self.url, self.database)
        )
        self._statements = WriteStatements(is_shared=self.has_leases)
        self._writer = Writer(self.url, self.database, self._lock.check)

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
        """Hold the store alone. A worker that does not know yet that it is cut off loses all."""
        self._writer.start()  # it keeps an eye on the lock
        with self._lock.held():
            if self.has_leases:
                self.change(free_all)
            self.is_shared = False
            try:
                yield
            finally:
                self.is_shared = self.has_leases

    def running(self) -> AbstractContextManager[None]:
        """Hold the store for a run: with other workers where leases tell them apart, else alone.

        The first of them finds the leases of workers that are all gone, and need not wait for them.
        """
        self._writer.start()
        return self._lock.shared(lambda: self.change(lambda one: free_all(one, _THERE_AGAIN)))

    @contextmanager
    def leasing(self, seconds: float) -> Generator[Leases]:
        """Write only what this worker has a lease on; give the leases back at the end."""
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

        def rows() -> Sequence[Any]:
            with self.database.connect() as connection:
                return connection.execute(query).all()

        return patiently(self.url, "read", rows)

    def require_finished(
        self, registered: Registered, problems: Sequence[int], runs: int, count: int
    ) -> None:
        """Raise where fewer finished attempts can be read than were written."""
        where = finished_attempts(registered, problems, runs)
        query = sa.select(sa.func.count()).select_from(schema.attempts).where(*where)
        if self._file:
            self._lock.check()
            # What an open connection has in memory would hide that the file was overwritten.
            fresh = open_database(str(self._file.path), existing=True)
            try:
                with self.reading(), fresh.connect() as connection:
                    found: int = connection.execute(query).scalar_one()
            finally:
                fresh.dispose()
        else:
            found = self.read(query)[0][0]
        if found < count:
            raise StoreError(
                f"{self.url}: holds {found} of the {count} attempts that were written to it, so "
                "another program changed it during the run; run the same command again to make "
                "those that are lost"
            )

    @contextmanager
    def reading(self) -> Generator[None]:
        """Tell in words where what is stored cannot be read, or makes no sense."""
        try:
            yield
        except (SQLAlchemyError, ValueError, TypeError, KeyError) as error:
            raise cannot_be("read", self.url, error) from None

    def change(self, work: Callable[[sa.Connection], T], done: str = "written") -> T:
        """Do some work in a transaction; it is done again where the server broke off."""

        def transaction() -> T:
            if self._file:  # a lock of PostgreSQL is looked at by the writer
                self._lock.check()
            with self.database.begin() as connection:
                return work(connection)

        return patiently(self.url, done, transaction)

    def register(
        self, series: Series, problems: Sequence[Problem], runs: int | None = None
    ) -> Registered:
        """Enter a series and its problems, or find them; what has changed since is refused.

        Where workers share the store, what is missing of so many ``runs`` is noted as to be made.
        """

        def work(connection: sa.Connection) -> Registered:
            if self.has_leases:  # two that enter the same would otherwise both find it missing
                connection.execute(schema.ONE_BY_ONE)
            found = register(connection, self.url, series, problems)
            if self.is_shared and runs:
                enqueue(connection, series.benchmark, share_of(found, problems, runs))
            return found

        return self.change(work)

    def withdraw(self, numbers: Sequence[int]) -> None:
        """Take series out again of which nothing was ever made."""
        table, made = schema.series, (schema.attempts.c.series, schema.calls.c.series)
        unused = [~sa.exists().where(series == table.c.id) for series in made]
        query = sa.select(table.c.id).where(table.c.id.in_(numbers), *unused)

        def work(connection: sa.Connection) -> None:
            found = connection.scalars(query).all()
            drop_prompts(connection, found)
            if self.has_leases:
                for one in (schema.leases, schema.run_settings):
                    connection.execute(one.delete().where(one.c.series.in_(found)))
            connection.execute(table.delete().where(table.c.id.in_(found)))

        self.change(work)

    def finished(self, series: int) -> set[AttemptKey]:
        """Return the attempts that need not be made again."""
        table = schema.attempts
        query = sa.select(table.c.problem, table.c.run).where(
            table.c.series == series, table.c.status != "failed"
        )
        return {(problem, run) for problem, run in self.read(query)}

    def begun(self, series: int) -> dict[AttemptKey, KnownCalls]:
        """Return the calls of attempts that were begun and not finished."""
        calls, attempts = schema.calls, schema.attempts
        same = sa.and_(
            *(attempts.c[name] == calls.c[name] for name in ("series", "problem", "run")),
            attempts.c.status != "failed",
        )
        query = (
            sa.select(calls)
            .outerjoin(attempts, same)
            .where(calls.c.series == series, attempts.c.series.is_(None))
        )
        return calls_by_attempt(self.read(query))

    def outcomes(
        self, registered: Registered, problems: Sequence[int], runs: int
    ) -> Iterator[tuple[Any, str | None, int, Usage]]:
        """Count finished attempts by status and verdict, each with the tokens they took together.

        The database adds up: a row for each attempt would take longer than all the rest.
        """
        table = schema.attempts
        where = finished_attempts(registered, problems, runs)
        by = (table.c.status, table.c.verdict)
        query = sa.select(*by, sa.func.count(), *summed_usage()).where(*where).group_by(*by)
        for row in self.read(query):
            status, verdict, count, *used, shared = cast("tuple[Any, ...]", row)
            yield status, verdict, count, Usage(*used, shared=shared)

    def write_call(self, row: RowValues) -> Future[None]:
        """Write a completed call; await what is returned, and it is safe."""
        return self._writer.write(self._statements.put_call, row)

    def write_attempt(self, row: RowValues) -> Future[None]:
        """Write how an attempt ended. If this is lost, its calls are not: it is replayed."""
        if "finished_at" in row:
            return self._writer.write(self._statements.put_attempt, row)
        if self.is_shared:
            return self._writer.write(self._statements.put_attempt_now, row)
        return self._writer.write(self._statements.put_attempt, row | {"finished_at": time.time()})

    def forget_calls(self, key: RowValues) -> Future[None]:
        """Delete the calls of an attempt, of which its method can make nothing."""
        return self._writer.write(self._statements.delete_calls, key)

    async def watch(self) -> None:
        """Wait until nothing can be written any more, and raise that."""
        await self._writer.watch()

    def flush(self) -> None:
        """Wait until all that was written is safe."""
        self._writer.flush()

    def hasten(self) -> None:
        """Wait for no server any more: somebody wants to leave."""
        self._writer.hasten()
        if self._writer.leases:
            self._writer.leases.hasten()

    def _save(self, path: Path) -> str:
        """Copy what was written to a file that is gone, and say where it is, or that it is lost."""
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
        """Refuse a file that is somebody else's; a new one, or one just begun, is made a store."""
        ours = set(schema.METADATA.tables)
        if schema.store.name not in tables and (existing or tables - ours):
            raise StoreError(f"{self.url}: not a store of runs; name one that 'cfr eval' made")

    def _prepare(self, *, existing: bool) -> None:
        """Make the tables where nothing was made yet, or see that they are all there."""
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
