"""The store of attempts and calls: everything asked and answered, in SQLite or PostgreSQL.

Calls are written before their attempt goes on, so that whatever was paid for is there after a
crash. Attempts that are complete are never made again; a failed one leaves its reason and is made
again by the next run.
"""

from __future__ import annotations

from asyncio import Future
from collections import defaultdict
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Final, TypeVar, cast

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import SQLAlchemyError

from cfr.evaluation import schema
from cfr.evaluation.database import (
    open_database,
    patiently,
    sqlite_path,
    sqlite_tables,
    without_password,
)
from cfr.evaluation.error import StoreError, cannot_be
from cfr.evaluation.lock import AdvisoryLock, Lock, LockFile
from cfr.evaluation.registration import Registered, register
from cfr.evaluation.series import Series
from cfr.evaluation.shared_prompt import shared_tokens
from cfr.evaluation.stored_prompt import drop_prompts
from cfr.evaluation.writer import RowValues, Writer
from cfr.file.storable import storable_count
from cfr.problem import Problem
from cfr.protocol import Answer, Completion, Finish, Output, Usage

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

EXECUTED: Final = "executed"
"""How a row of ``calls`` finished that is a program's: its text is what the program printed, its
reasoning the error. So programs stand in their place among the calls, in stores of any age."""

AttemptKey = tuple[int, int]
"""A problem's number in the store and a run's index: an attempt within its series."""


@dataclass(frozen=True, slots=True)
class StoredCall:
    """A call or program of an unfinished attempt, with the answer that an earlier run got."""

    digest: str
    answer: Answer


class Store:
    """An open store: ``with Store("runs.db") as store``.

    One that must be ``existing`` is opened without being touched, on a medium that takes no writes
    if need be.
    """

    def __init__(self, url: str, *, existing: bool = False) -> None:
        self.url = without_password(url)
        path = sqlite_path(url)
        if path and path.exists():
            self._require_store(sqlite_tables(self.url, path), existing=existing)
        self.database = open_database(url, existing=existing)
        try:
            self._prepare(existing=existing)
        except BaseException:
            self.database.dispose()
            raise
        self._lock: Lock
        self._lock = LockFile(self.url, path) if path else AdvisoryLock(self.url, self.database)
        dialect = cast("Any", sqlite if path else postgresql)
        self._put_attempt, self._put_call = (
            _upsert(dialect, table) for table in (schema.attempts, schema.calls)
        )
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

    def exclusively(self) -> AbstractContextManager[None]:
        """Hold the store for one run: two that write the same attempts would pay for them twice."""
        self._writer.start()  # it keeps an eye on the lock
        return self._lock.held()

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
            with self.database.begin() as connection:
                return work(connection)

        return patiently(self.url, done, transaction)

    def register(self, series: Series, problems: Sequence[Problem]) -> Registered:
        """Enter a series and its problems, or find them; what has changed since is refused."""
        return self.change(lambda connection: register(connection, self.url, series, problems))

    def withdraw(self, numbers: Sequence[int]) -> None:
        """Take series out again of which nothing was ever made."""
        table, made = schema.series, (schema.attempts.c.series, schema.calls.c.series)
        unused = [~sa.exists().where(series == table.c.id) for series in made]
        query = sa.select(table.c.id).where(table.c.id.in_(numbers), *unused)

        def work(connection: sa.Connection) -> None:
            found = connection.scalars(query).all()
            drop_prompts(connection, found)
            connection.execute(table.delete().where(table.c.id.in_(found)))

        self.change(work)

    def finished(self, series: int) -> set[AttemptKey]:
        """Return the attempts that need not be made again."""
        table = schema.attempts
        query = sa.select(table.c.problem, table.c.run).where(
            table.c.series == series, table.c.status != "failed"
        )
        return {(problem, run) for problem, run in self.read(query)}

    def begun(self, series: int) -> dict[AttemptKey, dict[int, StoredCall]]:
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
        found: dict[AttemptKey, dict[int, StoredCall]] = defaultdict(dict)
        for row in self.read(query):
            stored = StoredCall(row.digest, _answer(row))
            found[row.problem, row.run][row.ordinal] = stored
        return dict(found)

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
        return self._writer.write(self._put_call, row)

    def write_attempt(self, row: RowValues) -> Future[None]:
        """Write how an attempt ended. If this is lost, its calls are not: it is replayed."""
        return self._writer.write(self._put_attempt, row)

    def forget_calls(self, key: RowValues) -> Future[None]:
        """Delete the calls of an attempt, of which its method can make nothing."""
        return self._writer.write(_DELETE_CALLS, key)

    async def watch(self) -> None:
        """Wait until nothing can be written any more, and raise that."""
        await self._writer.watch()

    def flush(self) -> None:
        """Wait until all that was written is safe."""
        self._writer.flush()

    def hasten(self) -> None:
        """Wait for no server any more: somebody wants to leave."""
        self._writer.hasten()

    def _require_store(self, tables: set[str], *, existing: bool) -> None:
        """Refuse a file that is somebody else's; a new one, or one just begun, is made a store."""
        ours = set(schema.METADATA.tables)
        if schema.store.name not in tables and (existing or tables - ours):
            raise StoreError(f"{self.url}: not a store of runs; name one that 'cfr eval' made")

    def _prepare(self, *, existing: bool) -> None:
        """Make the tables where nothing was made yet, or see that they are all there."""
        try:
            with self.database.begin() as connection:
                made = existing or sa.inspect(connection).has_table(schema.store.name)
                version = connection.scalar(sa.select(schema.store.c.version)) if made else None
                if version is None and not existing:
                    schema.METADATA.create_all(connection)
                    connection.execute(schema.store.insert(), {"version": schema.VERSION})
                for table in schema.METADATA.sorted_tables:  # all columns, and not a single row
                    if table is not schema.prompts:
                        connection.execute(sa.select(table).limit(0))
        except SQLAlchemyError as error:
            raise cannot_be("opened as a store", self.url, error) from None
        if version not in (None, schema.VERSION):
            raise StoreError(f"{self.url}: written by another version of cfr ({version})")


def finished_attempts(
    registered: Registered, problems: Sequence[int], runs: int
) -> list[sa.ColumnElement[bool]]:
    """Select the attempts of a series that were made, at some problems and in the first runs."""
    table = schema.attempts
    where = [table.c.series == registered.series, table.c.status != "failed", table.c.run < runs]
    if len(problems) < len(registered.problems):
        # Written into the statement: databases take only so many parameters.
        ids: sa.BindParameter[int] = sa.bindparam(
            "ids", problems, type_=sa.Integer, expanding=True, literal_execute=True
        )
        where.append(table.c.problem.in_(ids))
    return where


def usage_columns(usage: Usage) -> RowValues:
    """Spread token counts over their columns."""
    return {
        "input_tokens": storable_count(usage.input),
        "output_tokens": storable_count(usage.output),
        "reasoning_tokens": storable_count(usage.reasoning),
        "cached_tokens": storable_count(usage.cached),
    }


def summed_usage() -> list[sa.ColumnElement[int]]:
    """Add up the tokens of attempts: their columns, then those of prompts that were shared."""
    columns = (*(schema.attempts.c[name] for name in usage_columns(Usage())), shared_tokens())
    # A sum of sums is a decimal number in PostgreSQL.
    return [sa.cast(sa.func.coalesce(sa.func.sum(c), 0), sa.BigInteger) for c in columns]


_DELETE_CALLS = schema.calls.delete().where(
    *(schema.calls.c[name] == sa.bindparam(name) for name in ("series", "problem", "run"))
)


def _answer(row: sa.Row[Any]) -> Answer:
    if row.finish == EXECUTED:
        return Output(row.text, row.reasoning, row.seconds)
    usage = Usage(
        row.input_tokens, row.output_tokens, row.reasoning_tokens, row.cached_tokens, row.reported
    )
    return Completion(row.text, cast("Finish", row.finish), row.reasoning, usage)


def _upsert(dialect: Any, table: sa.Table) -> sa.Insert:
    """Insert a row, or replace the one with its key: a failed attempt that was made again."""
    insert = dialect.insert(table)
    keys = [column.name for column in table.primary_key]
    rest = {c.name: insert.excluded[c.name] for c in table.columns if c.name not in keys}
    return insert.on_conflict_do_update(index_elements=keys, set_=rest)
