"""The store of attempts and calls: calls and completions, in SQLite or PostgreSQL.

Each call is committed before its attempt continues, so that after a crash every call that was paid
for is stored. Complete attempts are never repeated; a failed attempt is stored with its reason and
repeated by the next run.
"""

from __future__ import annotations

import asyncio
import sqlite3
import time
from asyncio import Future
from collections import OrderedDict
from collections.abc import Callable, Generator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeVar

import sqlalchemy as sa
from sqlalchemy.exc import SQLAlchemyError

from constraint_first.attempt.attempt import Attempt, failed
from constraint_first.attempt.drive import digest, require_same
from constraint_first.error import CfrError
from constraint_first.file.safe import storable_count, storable_json, storable_text
from constraint_first.model.limit import Cost, PriceList
from constraint_first.problem import Problem
from constraint_first.protocol import Answer, Call, Completion, Output, Program, Step, Usage
from constraint_first.store import database as schema
from constraint_first.store.database import (
    AdvisoryLock,
    LeaseLost,
    LockFile,
    StoreError,
    StoreFile,
    Unstorable,
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
from constraint_first.store.series import (
    Registered,
    Series,
    enter_problem,
    enter_series,
    register,
    require_interpreter,
)
from constraint_first.store.writer import (
    EXECUTED,
    KnownCalls,
    Leases,
    RowValues,
    SeriesShare,
    Writer,
    WriteStatements,
    enqueue,
    free_all,
    name_owner,
    share_of,
    usage_columns,
)

T = TypeVar("T")

_THERE_AGAIN: Final = 10.0
"""Seconds within which every worker has reconnected to a restarted server."""


class Store:
    """An open store: ``with Store("runs.db") as store``.

    With ``existing`` it is opened without a write, even on a read-only medium.
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
        """Whether several workers may use it at the same time: on PostgreSQL, unless a run holds
        the exclusive lock."""
        self.owner = name_owner()
        """The unique name of this worker."""
        self._lock = (
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

    def __exit__(self, *_: object) -> None:
        self._writer.close()
        self.database.dispose()
        if self._file:
            if self._is_saved:
                self._file.drop_log()
            self._file.close()

    @contextmanager
    def exclusively(self) -> Generator[None]:
        """Take the exclusive lock and void all leases, including those of disconnected workers."""
        self._writer.start()  # the writer checks the lock periodically
        with self._lock.held():
            if self.has_leases:
                self.change(free_all)
            self.is_shared = False
            try:
                yield
            finally:
                self.is_shared = self.has_leases

    def running(self) -> AbstractContextManager[None]:
        """Lock the store for a run: shared if attempts are leased, else exclusively."""
        self._writer.start()
        return self._lock.shared(lambda: self.change(lambda one: free_all(one, _THERE_AGAIN)))

    @contextmanager
    def leasing(self, seconds: float) -> Generator[Leases]:
        """Write only attempts that this worker has a lease on; release the leases at the end."""
        self._writer.leases = leases = Leases(self.url, self.database, self.owner, seconds)
        try:
            yield leases
        finally:
            self._writer.leases = None
            leases.release()

    def require_lease(self, key: RowValues) -> None:
        """Raise ``LeaseLost`` if the lease of an attempt is known to be lost."""
        leases = self._writer.leases
        if leases and leases.is_lost((key["series"], key["problem"], key["run"])):
            raise LeaseLost(f"{self.url}: another worker has taken this attempt over")

    @property
    def is_taken(self) -> bool:
        """Whether the store is locked: by an evaluation, or a server that stores its answers."""
        return self._lock.is_taken()

    def read(self, query: sa.Executable) -> Sequence[Any]:
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
        """Turn errors of unreadable or malformed values into a ``StoreError``."""
        try:
            yield
        except (SQLAlchemyError, ValueError, TypeError, KeyError) as error:
            raise cannot_be("read", self.url, error) from None

    def change(self, work: Callable[[sa.Connection], T], done: str = "written") -> T:
        """Run a transaction; retry it if the connection breaks."""

        def transaction() -> T:
            if self._file:  # on PostgreSQL the writer checks the lock
                self._lock.check()
            with self.database.begin() as connection:
                return work(connection)

        return patiently(self.url, done, transaction)

    def register(
        self, series: Series, problems: Sequence[Problem], runs: int | None = None
    ) -> Registered:
        """Insert a series and its problems, or find them; changed ones are refused.

        In a store that workers share, the missing attempts of the first ``runs`` runs are queued.
        """

        def work(connection: sa.Connection) -> Registered:
            if self.has_leases:  # else two workers could insert the same series
                connection.execute(schema.ONE_BY_ONE)
            found = register(connection, self.url, series, problems)
            if runs:
                share = share_of(*found, problems, runs)
                if _count(connection, share) < len(problems) * runs:
                    require_interpreter(connection, self.url, series, found.series)
                if self.is_shared:
                    enqueue(connection, series.benchmark, share)
            return found

        return self.change(work)

    def withdraw(self, numbers: Sequence[int]) -> None:
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
        return self._writer.write(self._statements.put_call, row)

    def write_attempt(self, row: RowValues) -> Future[None]:
        """Write how an attempt ended. If this write is lost, its stored calls allow a replay."""
        put = self._statements.put_attempt
        if "finished_at" not in row:
            if self.is_shared:
                put = self._statements.put_attempt_now
            else:
                row["finished_at"] = time.time()
        return self._writer.write(put, row, ends=True)

    def forget_calls(self, key: RowValues) -> Future[None]:
        return self._writer.write(self._statements.delete_calls, key)

    def hasten(self) -> None:
        """Stop waiting for an unreachable server: the run was cancelled."""
        self._writer.hasten()
        if self._writer.leases:
            self._writer.leases.hasten()

    def _save(self, path: Path) -> str:
        """Copy the contents of a deleted file; describe where they are, or that they are lost."""
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
        """Refuse a file with hard links: SQLite would keep a separate log for each name."""
        if file.path.stat().st_nlink > 1 and file.is_locked():
            raise StoreError(
                f"{self.url}: another run is using this store, and it has several names (hard "
                "links); wait, or use the name which that run was given"
            )

    def _require_store(self, tables: set[str], *, existing: bool) -> None:
        """Refuse a database of another program; an empty file becomes a store."""
        ours = set(schema.METADATA.tables)
        if schema.store.name not in tables and (existing or tables - ours):
            raise StoreError(f"{self.url}: not a store of runs; name one that 'cfr eval' made")

    def _prepare(self, *, existing: bool) -> None:
        try:
            with self.database.begin() as connection:
                made = existing or schema.make_tables(connection)
                version = connection.scalar(sa.select(schema.store.c.version)) if made else None
                for table in schema.METADATA.sorted_tables:  # all columns, no rows
                    if table not in (schema.prompts, *schema.SHARED):
                        connection.execute(sa.select(table).limit(0))
        except SQLAlchemyError as error:
            raise cannot_be("opened as a store", self.url, error) from None
        if version not in (None, schema.VERSION):
            raise StoreError(f"{self.url}: written by another version of cfr ({version})")


def _count(connection: sa.Connection, share: SeriesShare) -> int:
    finished = sa.select(sa.func.count()).select_from(schema.attempts).where(*share.finished)
    return connection.execute(finished).scalar_one()


def _read(database: sa.Engine, query: sa.Executable) -> Sequence[Any]:
    with database.connect() as connection:
        return connection.execute(query).all()


# The journal of an attempt: its calls as they are made, and how it ended.

_NO_PRICES: Final = PriceList()
_FREE: Final = usage_columns(Usage())


def attempt_columns(attempt: Attempt, usage: Usage) -> RowValues:
    solution, verdict = attempt.solution, attempt.verdict
    return {
        "status": attempt.status,
        "answer": None if solution.answer is None else storable_text(solution.answer),
        "text": storable_text(solution.text),
        "error": attempt.error,
        "verdict": verdict and verdict.verdict,
        "tier": verdict and verdict.tier,
        "details": storable_json(solution.details),
        **usage_columns(usage),
    }


class StoredJournal:
    """Answers calls of an earlier run from the store, and stores all further answers."""

    def __init__(
        self, store: Store, key: RowValues, known: KnownCalls, prices: PriceList = _NO_PRICES
    ) -> None:
        self._store = store
        self._key = key
        self._known = known
        self._prices = prices
        self._began = time.monotonic()
        self._used: list[tuple[Usage, str | None]] = []
        self._forgotten = 0

    @property
    def replays(self) -> bool:
        return bool(self._known)

    @property
    def usage(self) -> Usage:
        return sum((usage for usage, _ in self._used[self._forgotten :]), Usage())

    @property
    def cost(self) -> Cost:
        return sum((self._prices.cost(*used) for used in self._used), Cost())

    async def forget(self) -> None:
        """Delete the calls of earlier runs, in the store too; only their cost stays counted."""
        await self._store.forget_calls(self._key)
        self._known, self._forgotten = {}, len(self._used)

    def recall(self, ordinal: int, step: Step) -> Answer | None:
        """Return the stored answer of an earlier run if its call was the same."""
        if ordinal not in self._known:
            self._store.require_lease(self._key)
            self._began = time.monotonic()
            return None
        stored = self._known[ordinal]
        require_same(ordinal, step, stored.digest)
        self._count(step, stored.answer)
        return stored.answer

    async def record(self, ordinal: int, step: Step, answer: Answer) -> None:
        self._count(step, answer)
        row = {
            **self._key,
            "ordinal": ordinal,
            "stage": storable_text(step.stage),
            "digest": digest(step),
            "text": answer.text,
        }
        if isinstance(answer, Output):
            source = step.source if isinstance(step, Program) else ""
            row |= {
                "messages": storable_json([{"role": "program", "content": source}]),
                "max_tokens": 0,
                "reasoning": answer.error,
                "finish": EXECUTED,
                "reported": True,
                "seconds": answer.seconds,
                **_FREE,
            }
        elif isinstance(step, Call):
            messages = [{"role": m.role, "content": m.content} for m in step.messages]
            row |= {
                "messages": storable_json(messages),
                "max_tokens": storable_count(step.max_tokens),
                "reasoning": answer.reasoning,
                "finish": answer.finish,
                "reported": answer.usage.reported,
                "seconds": time.monotonic() - self._began,
                **usage_columns(answer.usage),
            }
        await self._store.write_call(row)

    def _count(self, step: Step, answer: Answer) -> None:
        if isinstance(step, Call) and isinstance(answer, Completion):
            self._used.append((answer.usage, step.model))


# The attempts of a server, inserted one by one as requests arrive.
#
# Unlike an evaluation, a server has no list of problems and runs. The same question may arrive a
# thousand times: each time it is another run of the same problem, with the next number.

_KEPT: Final = 50_000
"""Problems whose next run number is cached; for all others it is read from the store."""
_KEPT_SERIES: Final = 1_000


@dataclass(slots=True)
class _Place:
    problem: int
    run: int
    under_way: int = 0


class _Entry(NamedTuple):
    series: Series
    problem: Problem
    done: Future[dict[str, int]]


class Traffic:
    """Inserts attempts as they arrive; the store must be locked exclusively meanwhile."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.watch = store.watch
        self._numbers: OrderedDict[Series, int] = OrderedDict()
        self._places: OrderedDict[tuple[int, str], _Place] = OrderedDict()
        self._pending: list[_Entry] = []
        self._entering: asyncio.Task[None] | None = None

    async def begin(
        self, series: Series, problem: Problem, prices: PriceList = _NO_PRICES
    ) -> TrafficAttempt:
        """Insert an attempt as a new run; concurrent ones share a transaction."""
        entry = _Entry(series, problem, asyncio.get_running_loop().create_future())
        self._pending.append(entry)
        if self._entering is None or self._entering.done():
            # A separate task: a request may be cancelled while others wait for it too.
            self._entering = asyncio.create_task(self._enter())
        key = await entry.done
        return TrafficAttempt(self, key, problem, StoredJournal(self._store, key, {}, prices))

    async def _enter(self) -> None:
        while self._pending:
            batch, self._pending = self._pending, []
            found: Sequence[tuple[int, _Place] | Exception]
            try:
                found = await asyncio.to_thread(
                    self._store.change, lambda one, new=batch: [self._place(one, e) for e in new]
                )
            except Exception as error:  # of any kind, else requests would wait forever
                found = [error] * len(batch)
            for entry, place in zip(batch, found, strict=True):
                if entry.done.done():  # the request was cancelled
                    continue
                if isinstance(place, Exception):
                    entry.done.set_exception(place)
                else:
                    self._numbers[entry.series] = place[0]
                    entry.done.set_result(self._next_run(*place, entry.problem.id))
            self._forget_old()

    def _place(self, connection: sa.Connection, entry: _Entry) -> tuple[int, _Place] | CfrError:
        try:
            number = self._numbers.get(entry.series)
            if number is None:
                number = enter_series(connection, self._store.url, entry.series)
        except CfrError as error:  # refuse this one, not the whole batch
            return error
        known = self._places.get((number, entry.problem.id))
        if known is None:
            posed = replace(entry.problem, text=storable_text(entry.problem.text))
            problem = enter_problem(connection, entry.series.benchmark, posed)
            known = _Place(problem, _first_free_run(connection, number, problem))
        return number, known  # cached after the commit: a transaction may be retried

    def _next_run(self, number: int, place: _Place, name: str) -> dict[str, int]:
        place = self._places.setdefault((number, name), place)
        self._places.move_to_end((number, name))
        key = {"series": number, "problem": place.problem, "run": place.run}
        place.run += 1
        place.under_way += 1
        return key

    def _forget_old(self) -> None:
        while len(self._numbers) > _KEPT_SERIES:
            self._numbers.popitem(last=False)
        # A run under way is not in the store yet; without the cache its number would be reused.
        for key in list(self._places):
            if len(self._places) <= _KEPT:
                return
            if not self._places[key].under_way:
                del self._places[key]

    def write(self, key: dict[str, int], name: str, row: RowValues) -> Future[None]:
        def release(_: Future[None]) -> None:
            if place := self._places.get((key["series"], name)):
                place.under_way -= 1

        written = self._store.write_attempt(key | row)
        written.add_done_callback(release)
        return written


class TrafficAttempt:
    def __init__(
        self, traffic: Traffic, key: dict[str, int], problem: Problem, journal: StoredJournal
    ) -> None:
        self._traffic = traffic
        self._key = key
        self._name = problem.id
        self._began = time.monotonic()
        self.journal = journal
        self.run = key["run"]

    async def finish(self, attempt: Attempt) -> None:
        try:
            await self._write(attempt)
        except Unstorable as error:
            await self._write(failed(attempt, str(error), attempt.usage))

    def abandon(self, attempt: Attempt) -> None:
        """Write how the attempt ended without waiting: its client has disconnected."""
        # Retrieve the result: asyncio logs a future's exception that was never retrieved.
        self._write(attempt).add_done_callback(lambda one: one.cancelled() or one.exception())

    def _write(self, attempt: Attempt) -> Future[None]:
        row = {"seconds": time.monotonic() - self._began, "finished_at": time.time()}
        row |= attempt_columns(attempt, attempt.usage)
        return self._traffic.write(self._key, self._name, row)


def _first_free_run(connection: sa.Connection, series: int, problem: int) -> int:
    runs = (
        sa.select(table.c.run).where(table.c.series == series, table.c.problem == problem)
        for table in (schema.attempts, schema.calls)
    )
    last = connection.scalar(sa.select(sa.func.max(sa.union_all(*runs).subquery().c.run)))
    return 0 if last is None else last + 1
