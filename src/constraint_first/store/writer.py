"""Writing to a store: statements, leases on attempts, and the thread that commits rows."""

from __future__ import annotations

import asyncio
import os
import secrets
import socket
import threading
import time
from asyncio import Future
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, TypeAlias, TypeVar, cast

import sqlalchemy as sa
from sqlalchemy.exc import SQLAlchemyError

from constraint_first.error import CfrError
from constraint_first.file.safe import storable_count
from constraint_first.problem import Problem
from constraint_first.protocol import Answer, Completion, Finish, Output, Usage
from constraint_first.store import database as schema
from constraint_first.store.database import (
    LeaseLost,
    StoreError,
    Unstorable,
    cannot_be,
    is_of_the_row,
    is_outage,
    patiently,
    pauses,
    reason,
)

# ruff: noqa: S608


class WriteStatements:
    """The writer's statements as text for the driver, with the names of columns as parameters.

    SQLAlchemy's own statements are looked up and convert each row, which takes longer than the
    write.
    """

    def __init__(self, *, is_shared: bool) -> None:
        self._mark = "%({})s" if is_shared else ":{}"
        self.put_attempt = self._insert(schema.attempts)
        # Use the server's clock, since those of workers may differ.
        clock = "extract(epoch FROM clock_timestamp())"
        self.put_attempt_now = self._insert(schema.attempts, finished_at=clock)
        # DO NOTHING: if the connection broke after a commit, the retried insert must change
        # nothing.
        self.put_call = self._insert(schema.calls, replace=not is_shared)
        same = (f"{name} = {self._mark.format(name)}" for name in ("series", "problem", "run"))
        self.delete_calls = f"DELETE FROM calls WHERE {' AND '.join(same)}"

    def _insert(self, table: sa.Table, *, replace: bool = True, **computed: str) -> str:
        """Insert a row, or replace the one with its key: a failed attempt is made again."""
        names, keys = [c.name for c in table.columns], [c.name for c in table.primary_key]
        values = (computed.get(name) or self._mark.format(name) for name in names)
        rest = ", ".join(f"{name} = excluded.{name}" for name in names if name not in keys)
        return (
            f"INSERT INTO {table.name} ({', '.join(names)}) VALUES ({', '.join(values)})"
            f" ON CONFLICT ({', '.join(keys)}) DO {f'UPDATE SET {rest}' if replace else 'NOTHING'}"
        )


# Stored calls of an earlier run, used to replay an attempt.

EXECUTED: Final = "executed"
"""The ``finish`` of a program's row in ``calls``: its text is the program's output, its reasoning
the error. So programs keep their place among the calls, in stores of any version."""

AttemptKey = tuple[int, int]
"""A problem's number in the store and a run's index: an attempt within its series."""


@dataclass(frozen=True, slots=True)
class StoredCall:
    digest: str
    answer: Answer


KnownCalls = dict[int, StoredCall]
"""The stored calls of one attempt, by their place in it."""


def usage_columns(usage: Usage) -> dict[str, int]:
    return {
        "input_tokens": storable_count(usage.input),
        "output_tokens": storable_count(usage.output),
        "reasoning_tokens": storable_count(usage.reasoning),
        "cached_tokens": storable_count(usage.cached),
    }


def calls_by_attempt(rows: Iterable[sa.Row[Any]]) -> dict[AttemptKey, KnownCalls]:
    found: dict[AttemptKey, KnownCalls] = defaultdict(dict)
    for row in rows:
        found[row.problem, row.run][row.ordinal] = StoredCall(row.digest, _answer(row))
    return dict(found)


def _answer(row: sa.Row[Any]) -> Answer:
    if row.finish == EXECUTED:
        return Output(row.text, row.reasoning, row.seconds)
    usage = Usage(
        row.input_tokens, row.output_tokens, row.reasoning_tokens, row.cached_tokens, row.reported
    )
    return Completion(row.text, cast("Finish", row.finish), row.reasoning, usage)


# The statements of leases, for PostgreSQL only. They use only the database's clock.
#
# They are composed of the constants below; every external value is a bound parameter.

_KEY: Final = "series, problem, run"
_SHARE: Final = (
    "series = :series AND run < :runs"
    " AND (CAST(:problems AS integer[]) IS NULL OR problem = ANY(CAST(:problems AS integer[])))"
)
_FREED: Final = "owner = NULL, expires = NULL, begun = TRUE"
_UNTIL: Final = "clock_timestamp() + make_interval(secs => :seconds)"
_KEYS: Final = (
    "unnest(CAST(:all_series AS integer[]), CAST(:all_problems AS integer[]),"
    " CAST(:all_runs AS integer[])) AS named (series, problem, run)"
)
CLAIM: Final = sa.text(
    f"WITH chosen AS (SELECT {_KEY} FROM leases WHERE {_SHARE} AND owner IS NULL"
    " ORDER BY run, problem LIMIT :most FOR UPDATE SKIP LOCKED)"
    f" UPDATE leases SET owner = :owner, expires = {_UNTIL} FROM chosen"
    " JOIN problems ON problems.id = chosen.problem"
    " WHERE leases.series = chosen.series AND leases.problem = chosen.problem"
    " AND leases.run = chosen.run"
    " RETURNING leases.problem, leases.run, begun, name, text, answer, benchmark"
)
RENEW: Final = sa.text(
    f"UPDATE leases SET expires = {_UNTIL} WHERE owner = :owner RETURNING {_KEY}"
)
RENEW_RESERVED: Final = sa.text(f"UPDATE reservations SET expires = {_UNTIL} WHERE owner = :owner")
# No lease can be renewed while the server is down, so after its start none is freed for a while.
FREE_EXPIRED: Final = sa.text(
    f"WITH dead AS (SELECT {_KEY} FROM leases"
    " WHERE owner IS NOT NULL AND owner <> :owner AND expires < clock_timestamp()"
    " AND pg_postmaster_start_time() < clock_timestamp() - make_interval(secs => :seconds)"
    " FOR UPDATE SKIP LOCKED)"
    f" UPDATE leases SET {_FREED} FROM dead WHERE leases.series = dead.series"
    " AND leases.problem = dead.problem AND leases.run = dead.run"
)
HOLD: Final = sa.text(
    "WITH wanted AS MATERIALIZED (SELECT * FROM unnest(CAST(:all_series AS integer[]),"
    " CAST(:all_problems AS integer[]), CAST(:all_runs AS integer[]), CAST(:all_ends AS boolean[]))"
    f" AS wanted ({_KEY}, ends)),"
    " ended AS (DELETE FROM leases USING wanted WHERE ends AND owner = :owner"
    " AND leases.series = wanted.series AND leases.problem = wanted.problem"
    " AND leases.run = wanted.run RETURNING leases.series, leases.problem, leases.run),"
    f" held AS (SELECT {_KEY} FROM leases JOIN wanted USING ({_KEY})"
    " WHERE NOT ends AND owner = :owner FOR UPDATE OF leases)"
    " SELECT * FROM ended UNION ALL SELECT * FROM held"
)
RELEASE: Final = sa.text(f"UPDATE leases SET {_FREED} WHERE owner = :owner")
RELEASE_CREW: Final = sa.text(f"UPDATE leases SET {_FREED} WHERE starts_with(owner, :crew)")
GIVE_BACK: Final = sa.text(
    f"UPDATE leases SET {_FREED} FROM {_KEYS} WHERE owner = :owner"
    " AND leases.series = named.series AND leases.problem = named.problem"
    " AND leases.run = named.run"
)
RELEASE_BUT: Final = sa.text(
    f"UPDATE leases SET {_FREED} WHERE owner = :owner"
    f" AND ({_KEY}) NOT IN (SELECT {_KEY} FROM {_KEYS})"
)
WAITING: Final = sa.text(
    f"SELECT count(*) FILTER (WHERE owner IS NULL), count(*) FROM leases WHERE {_SHARE}"
)
OTHERS: Final = sa.text(
    "SELECT EXISTS (SELECT FROM leases WHERE owner <> :owner AND series = :series"
    " AND expires > clock_timestamp())"
)
ENQUEUE: Final = sa.text(
    "INSERT INTO leases (series, problem, run, begun)"
    " SELECT :series, id, nth, EXISTS (SELECT FROM calls WHERE series = :series AND problem = id"
    " AND run = nth) FROM problems CROSS JOIN generate_series(0, :runs - 1) AS runs (nth)"
    " WHERE benchmark = :benchmark"
    " AND (CAST(:problems AS integer[]) IS NULL OR id = ANY(CAST(:problems AS integer[])))"
    " AND NOT EXISTS (SELECT FROM attempts WHERE series = :series AND problem = id AND run = nth"
    " AND status <> 'failed') ON CONFLICT DO NOTHING"
)
ANALYZE: Final = sa.text("ANALYZE leases")
REQUEUE_FAILED: Final = sa.text(
    "INSERT INTO leases (series, problem, run, begun)"
    " SELECT series, problem, run, TRUE FROM attempts"
    " JOIN run_settings USING (series) WHERE status = 'failed' ON CONFLICT DO NOTHING"
)
DROP_FINISHED: Final = sa.text(
    "DELETE FROM leases USING attempts WHERE attempts.series = leases.series"
    " AND attempts.problem = leases.problem AND attempts.run = leases.run"
    " AND attempts.status <> 'failed'"
    " AND leases.series = coalesce(CAST(:series AS integer), leases.series)"
)
_UP_FOR: Final = "pg_postmaster_start_time() < clock_timestamp() - make_interval(secs => :up)"
FREE_ALL: Final = sa.text(f"UPDATE leases SET {_FREED} WHERE owner IS NOT NULL AND {_UP_FOR}")
EXPIRE_RESERVED: Final = sa.text(f"UPDATE reservations SET expires = '-infinity' WHERE {_UP_FOR}")
CALLS: Final = sa.text(f"SELECT calls.* FROM calls JOIN {_KEYS} USING ({_KEY})")


# Leases on attempts: which worker makes which attempt, and until when, by the database's clock.
#
# A row of ``leases`` is an attempt to be made. A worker claims some rows, renews them while it
# lives, and deletes each in the transaction that writes how the attempt ended. The leases of a
# dead worker expire, and other workers claim them. Every row of an attempt is written in a
# transaction that holds its lease: of two workers that claimed the same attempt, only one can
# write.

T = TypeVar("T")

LEASE_SECONDS: Final = 60.0
"""Seconds after which the leases of a dead worker expire."""
CLAIMED_AT_ONCE: Final = 32
EVERY_RUN: Final = 2**31 - 1
"""A number of runs that means all runs."""
_MANY: Final = 1_000
"""Run ANALYZE above this many inserted rows."""
_BEATS: Final = 3
"""How often a lease is renewed within its duration."""

LeaseKey: TypeAlias = tuple[int, int, int]
"""Series, problem and run: an attempt in a store."""


@dataclass(frozen=True, slots=True)
class SeriesShare:
    """Attempts of a series: its first runs, on all or some of its problems."""

    series: int
    runs: int
    problems: tuple[int, ...] | None = None
    """The numbers of its problems; None for all of them."""

    @property
    def parameters(self) -> dict[str, Any]:
        problems = None if self.problems is None else list(self.problems)
        return {"series": self.series, "runs": self.runs, "problems": problems}

    @property
    def attempts(self) -> list[sa.ColumnElement[bool]]:
        c = schema.attempts.c
        where = [c.series == self.series, c.run < self.runs]
        if self.problems is not None:
            # Written into the statement: databases limit the number of parameters.
            ids: sa.BindParameter[int] = sa.bindparam(
                "ids", self.problems, type_=sa.Integer, expanding=True, literal_execute=True
            )
            where.append(c.problem.in_(ids))
        return where

    @property
    def finished(self) -> list[sa.ColumnElement[bool]]:
        return [*self.attempts, schema.attempts.c.status != "failed"]


def share_of(
    series: int, numbers: Mapping[str, int], problems: Sequence[Problem], runs: int
) -> SeriesShare:
    """Select the first runs of some or all problems of a series."""
    chosen = tuple(numbers[problem.id] for problem in problems)
    return SeriesShare(series, runs, None if len(chosen) == len(numbers) else chosen)


class Claimed(NamedTuple):
    problem: Problem
    known: KnownCalls


class Waiting(NamedTuple):
    """Attempts that are still to be made: how many are free to be claimed, and how many in all."""

    free: int
    total: int


def name_owner(crew: str = "") -> str:
    """Name a worker uniquely; if a run started it, the name includes that of the run."""
    return (
        f"{crew}{'/' * bool(crew)}{socket.gethostname()[:60]}-{os.getpid()}-{secrets.token_hex(4)}"
    )


def enqueue(connection: sa.Connection, benchmark: str, share: SeriesShare) -> None:
    """Queue the missing and failed attempts of a series.

    An attempt that ends between the query and the insertion would be made twice. But it must have
    ended before its row could be inserted again, so a second query finds it.
    """
    entered = connection.execute(ENQUEUE, share.parameters | {"benchmark": benchmark})
    drop_finished(connection, share.series)
    if entered.rowcount > _MANY:
        # With outdated statistics the query planner would sort the whole queue for every claim.
        connection.execute(ANALYZE)


def requeue_failed(connection: sa.Connection) -> None:
    connection.execute(REQUEUE_FAILED)
    drop_finished(connection)


def drop_finished(connection: sa.Connection, series: int | None = None) -> None:
    connection.execute(DROP_FINISHED, {"series": series})


def free_all(connection: sa.Connection, up: float = 0.0) -> None:
    """Void every lease; only for a worker that holds the exclusive lock.

    With ``up`` seconds, only on a server that has been up for so long: after a restart workers
    need a moment to reconnect and to lock the store again.
    """
    connection.execute(FREE_ALL, {"up": up})
    connection.execute(EXPIRE_RESERVED, {"up": up})


def release_crew(connection: sa.Connection, crew: str) -> None:
    """Free the leases of workers that a run started; any that still run can no longer write."""
    connection.execute(RELEASE_CREW, {"crew": f"{crew}/"})


class Leases:
    """The leases of one worker. Its writer renews them, and checks which rows it may write."""

    def __init__(self, url: str, database: sa.Engine, owner: str, seconds: float) -> None:
        self._url = url
        self._database = database
        # A single statement in autocommit needs fewer round trips than a transaction.
        self._single = database.execution_options(isolation_level="AUTOCOMMIT")
        self._named = {"owner": owner, "seconds": seconds}
        self._pause = seconds / _BEATS
        self._due = 0.0
        self._guard = threading.Lock()
        self._held: set[LeaseKey] = set()
        self._lost: set[LeaseKey] = set()
        self._doubtful = self._hasty = False

    def claim(self, share: SeriesShare, most: int) -> dict[AttemptKey, Claimed]:
        claimed = self._patiently("written", lambda: self._claim(share, most))
        with self._guard:
            keys = {(share.series, *key) for key in claimed}
            self._held |= keys
            self._lost -= keys
            self._doubtful = False
        return claimed

    def _claim(self, share: SeriesShare, most: int) -> dict[AttemptKey, Claimed]:
        with self._single.connect() as connection:
            if self._doubtful:
                # If the connection broke during a commit, it is unknown whether it succeeded. A
                # lease of ours that is not in memory would never be worked on, so release it.
                connection.execute(RELEASE_BUT, self._named | _columns(self._snapshot()))
            self._doubtful = True
            rows = connection.execute(CLAIM, self._named | share.parameters | {"most": most})
            found = {(row.problem, row.run): row for row in rows}
            begun = [(share.series, *key) for key, row in found.items() if row.begun]
            # A separate statement has a new snapshot, with all calls that were committed before
            # these leases became free.
            stored = connection.execute(CALLS, _columns(begun)) if begun else ()
            known = calls_by_attempt(stored)
        keys = sorted(found, key=lambda at: at[::-1])
        return {
            key: Claimed(Problem(row.text, row.name, row.answer, row.benchmark), known.get(key, {}))
            for key in keys
            for row in [found[key]]
        }

    def waiting(self, shares: Iterable[SeriesShare]) -> dict[int, Waiting]:
        """Free expired leases, and count the waiting attempts of each series."""

        def count(connection: sa.Connection) -> dict[int, Waiting]:
            connection.execute(FREE_EXPIRED, self._named)
            return {
                share.series: Waiting(*connection.execute(WAITING, share.parameters).one())
                for share in shares
            }

        return self._change("read", count)

    def has_others(self, series: int) -> bool:
        wanted = self._named | {"series": series}
        return self._change("read", lambda one: bool(one.scalar(OTHERS, wanted)))

    def give_back(self, keys: Collection[LeaseKey]) -> None:
        named = self._named | _columns(keys)
        self._change("written", lambda one: one.execute(GIVE_BACK, named))
        self.forget(keys)

    def release(self) -> None:
        """Release all leases, so that others can claim them at once; if that fails they expire."""
        for _ in range(2):  # the first pooled connection may be dead
            with suppress(SQLAlchemyError), self._database.begin() as connection:
                connection.execute(RELEASE, self._named)
                break
        with self._guard:
            self._held.clear()

    def is_lost(self, key: LeaseKey) -> bool:
        return key in self._lost

    def renew(self) -> None:
        """Renew all leases if they are due, free expired ones, and record which were lost."""
        now = time.monotonic()
        if now < self._due:
            return
        before = self._snapshot()
        with self._database.begin() as connection:
            renewed = {tuple(row) for row in connection.execute(RENEW, self._named)}
            connection.execute(RENEW_RESERVED, self._named)
            connection.execute(FREE_EXPIRED, self._named)
        self._due = now + self._pause
        with self._guard:
            self._lost |= (before & self._held) - renewed

    def hold(self, connection: sa.Connection, keys: Mapping[LeaseKey, bool]) -> set[LeaseKey]:
        """Lock leases for a transaction, delete those of ended attempts; return ours."""
        wanted = self._named | _columns(keys) | {"all_ends": list(keys.values())}
        return {(row[0], row[1], row[2]) for row in connection.execute(HOLD, wanted)}

    def forget(self, keys: Iterable[LeaseKey]) -> None:
        """Drop leases from memory after the transaction that ended them is committed."""
        with self._guard:
            self._held.difference_update(keys)

    def hasten(self) -> None:
        self._hasty = True

    def _patiently(self, done: str, work: Callable[[], T]) -> T:
        return patiently(self._url, done, work, lambda: self._hasty)

    def _change(self, done: str, work: Callable[[sa.Connection], T]) -> T:
        def once() -> T:
            with self._database.begin() as connection:
                return work(connection)

        return self._patiently(done, once)

    def _snapshot(self) -> set[LeaseKey]:
        with self._guard:
            return set(self._held)


def _columns(keys: Iterable[LeaseKey]) -> dict[str, list[int]]:
    series, problems, runs = zip(*listed, strict=True) if (listed := list(keys)) else ((), (), ())
    return {"all_series": list(series), "all_problems": list(problems), "all_runs": list(runs)}


# The store's writer thread: many rows per commit, each acknowledged after its commit.
#
# A commit that waits for the disk takes as long for a thousand rows as for one. So rows queue up
# during one commit and go into the next together; the future of a row is done once it is
# committed. A batch that fails is halved until only the bad row is left out. A server that is
# unreachable for a short time is waited for. Rows of an attempt whose lease is lost are left out
# too: their futures raise ``LeaseLost``.

RowValues: TypeAlias = dict[str, Any]

# A commit costs the same for one row as for fifty. This pause is negligible beside the latency of
# a model, and halves the CPU time of writing.
_LINGER: Final = 0.004
_LINGER_SHARED: Final = 0.015
"""On a server a commit takes several round trips, and all workers share the server."""
_HEARTBEAT: Final = 1.0
"""Seconds after which the lock is checked even if there is nothing to write."""


_Pending: TypeAlias = tuple[str, RowValues, Future[None], bool]
"""A statement, its row, the future of its commit, and whether it ends the row's attempt."""


class Writer:
    """A queue of rows and the thread that writes them, in the order in which they came.

    ``check`` is called before each commit and once a second; it raises if the lock is lost. With
    ``leases`` only rows of attempts that this worker has a lease on are written.
    """

    def __init__(self, url: str, database: sa.Engine, check: Callable[[], None]) -> None:
        self.leases: Leases | None = None
        self._url = url
        self._database = database
        self._check = check
        self._pending: list[_Pending] = []
        self._watching: list[Future[None]] = []
        self._changed = threading.Condition()
        self._busy = False
        self._hasty = False
        self._closing = False
        self._failure: StoreError | None = None
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        with self._changed:
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="store-writer", daemon=True)
                self._thread.start()

    def write(self, statement: str, row: RowValues, *, ends: bool = False) -> Future[None]:
        if self._thread is None:
            self.start()
        done: Future[None] = asyncio.get_running_loop().create_future()
        with self._changed:
            self._pending.append((statement, row, done, ends))
            if len(self._pending) == 1:  # the thread is only woken by the first row
                self._changed.notify_all()
        return done

    async def watch(self) -> None:
        """Wait until the store can no longer be written, and raise the error."""
        done = asyncio.get_running_loop().create_future()
        with self._changed:
            if self._failure:
                raise self._failure
            self._watching.append(done)
        await done

    def flush(self) -> None:
        with self._changed:
            self._changed.wait_for(lambda: not self._pending and not self._busy)
        if self._failure:
            raise self._failure

    def hasten(self) -> None:
        with self._changed:
            self._hasty = True
            self._changed.notify_all()

    def close(self) -> None:
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
        """Write rows and settle their futures; halve a batch until a bad row is isolated."""
        error = self._try(batch)
        waiting = [done for _, _, done, _ in batch]
        if error is None:
            _settle(waiting, None)
        elif isinstance(error, _NotOurs):
            lost = LeaseLost(f"{self._url}: another worker has taken this attempt over")
            _settle([done for _, row, done, _ in batch if _key(row) in error.keys], lost)
            _settle([done for _, row, done, _ in batch if _key(row) not in error.keys], None)
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
            # Any exception: if the thread died here, every future would stay pending forever.
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
        for _, row, _, ends in batch:
            keys[_key(row)] = keys.get(_key(row), False) or ends
        with self._database.begin() as connection:
            ours = leases.hold(connection, keys)
            _execute(connection, [one for one in batch if _key(one[1]) in ours])
        leases.forget(key for key, ends in keys.items() if ends or key not in ours)
        if lost := keys.keys() - ours:
            raise _NotOurs(lost)

    def _fail(self, waiting: list[Future[None]], error: Exception) -> None:
        failure = error if isinstance(error, StoreError) else cannot_be("written", self._url, error)
        with self._changed:
            self._failure = self._failure or failure
            watching, self._watching = self._watching, []
        _settle(waiting + watching, failure)


class _NotOurs(Exception):
    """Everything was written except rows of attempts that other workers hold."""

    def __init__(self, keys: set[LeaseKey]) -> None:
        super().__init__()
        self.keys = keys


def _key(row: RowValues) -> LeaseKey:
    return row["series"], row["problem"], row["run"]


def _execute(connection: sa.Connection, batch: Iterable[_Pending]) -> None:
    rows: dict[str, list[RowValues]] = {}
    for statement, row, _, _ in batch:
        rows.setdefault(statement, []).append(row)
    for statement, several in rows.items():
        connection.exec_driver_sql(statement, several)


def _settle(waiting: Iterable[Future[None]], failure: CfrError | None) -> None:
    by_loop: dict[asyncio.AbstractEventLoop, list[Future[None]]] = {}
    for done in waiting:
        by_loop.setdefault(done.get_loop(), []).append(done)
    for loop, futures in by_loop.items():
        with suppress(RuntimeError):  # the loop is closed, and its tasks are gone
            loop.call_soon_threadsafe(resolve, futures, failure)


def resolve(waiting: Iterable[Future[None]], failure: Exception | None) -> None:
    """Settle futures that tasks wait for, except those that were cancelled."""
    for done in waiting:
        if done.done():
            continue
        if failure:
            done.set_exception(failure)
        else:
            done.set_result(None)
