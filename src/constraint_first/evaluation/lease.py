"""Leases on attempts: which worker makes which, and until when. The database's clock alone counts.

A row of ``leases`` is an attempt that is to be made. A worker claims some, renews them while it
lives, and deletes each in the transaction that writes how the attempt ended. What a worker that
died had claimed expires, and others take it over. Whatever is written of an attempt is written in a
transaction that holds its lease: of two workers that both take it for theirs, one writes.
"""

from __future__ import annotations

import os
import secrets
import socket
import threading
import time
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, TypeAlias, TypeVar

import sqlalchemy as sa
from sqlalchemy.exc import SQLAlchemyError

from constraint_first.evaluation import lease_statement as sql
from constraint_first.evaluation.database import patiently
from constraint_first.evaluation.stored_call import AttemptKey, KnownCalls, calls_by_attempt
from constraint_first.problem import Problem

__all__ = [
    "CLAIMED_AT_ONCE",
    "EVERY_RUN",
    "LEASE_SECONDS",
    "Claimed",
    "LeaseKey",
    "Leases",
    "SeriesShare",
    "Waiting",
    "drop_finished",
    "enqueue",
    "free_all",
    "name_owner",
    "release_crew",
    "requeue_failed",
]

T = TypeVar("T")

LEASE_SECONDS: Final = 60.0
"""Seconds after which what a worker that is gone had claimed is taken over."""
CLAIMED_AT_ONCE: Final = 32
EVERY_RUN: Final = 2**31 - 1
"""The number of runs that stands for however many there are."""
_MANY: Final = 1_000
"""Attempts entered at once from which on the planner is told."""
_BEATS: Final = 3
"""How often a lease is renewed before it would expire."""

LeaseKey: TypeAlias = tuple[int, int, int]
"""Series, problem and run: an attempt in a store."""


@dataclass(frozen=True, slots=True)
class SeriesShare:
    """The attempts of a series that a worker is to make."""

    series: int
    runs: int
    problems: tuple[int, ...] | None = None
    """The numbers of its problems; None for all of them."""

    @property
    def parameters(self) -> dict[str, Any]:
        """What a statement needs to select them."""
        problems = None if self.problems is None else list(self.problems)
        return {"series": self.series, "runs": self.runs, "problems": problems}


class Claimed(NamedTuple):
    """An attempt that was claimed: its problem as it is stored, and the calls that are."""

    problem: Problem
    known: KnownCalls


class Waiting(NamedTuple):
    """Attempts that are still to be made: free to be claimed, and all of them."""

    free: int
    total: int


def name_owner(crew: str = "") -> str:
    """Make the name of a worker, which no other has: its machine, its process, a random part.

    Workers that a run has started elsewhere have the name of that run before their own.
    """
    return (
        f"{crew}{'/' * bool(crew)}{socket.gethostname()[:60]}-{os.getpid()}-{secrets.token_hex(4)}"
    )


def enqueue(connection: sa.Connection, benchmark: str, share: SeriesShare) -> None:
    """Note the attempts of a series that are missing, failed ones among them, as to be made.

    One that ends between the look at it and the insertion would be made twice. But then it had
    ended before its row could be inserted anew, and a second look finds it.
    """
    entered = connection.execute(sql.ENQUEUE, share.parameters | {"benchmark": benchmark})
    drop_finished(connection, share.series)
    if entered.rowcount > _MANY:
        # Until the planner knows of them it would sort all that is waiting for every claim.
        connection.execute(sql.ANALYZE)


def requeue_failed(connection: sa.Connection) -> None:
    """Note all that failed as to be made again, where the store says how."""
    connection.execute(sql.REQUEUE_FAILED)
    drop_finished(connection)


def drop_finished(connection: sa.Connection, series: int | None = None) -> None:
    """Take attempts out that were made already, of one series or of all."""
    connection.execute(sql.DROP_FINISHED, {"series": series})


def free_all(connection: sa.Connection, up: float = 0.0) -> None:
    """Take every lease away: whoever has the store alone knows that nobody else works on it.

    Those who share it know that only of a server that has been up for a while: after a restart it
    takes workers a moment to be there again.
    """
    connection.execute(sql.FREE_ALL, {"up": up})
    connection.execute(sql.EXPIRE_RESERVED, {"up": up})


def release_crew(connection: sa.Connection, crew: str) -> None:
    """Free what the workers of a run had claimed, once they are gone.

    One that lives on after all writes nothing more: it holds no lease.
    """
    connection.execute(sql.RELEASE_CREW, {"crew": f"{crew}/"})


class Leases:
    """The leases of one worker. Its writer renews them, and asks which rows it may write."""

    def __init__(self, url: str, database: sa.Engine, owner: str, seconds: float) -> None:
        self._url = url
        self._database = database
        # A statement that stands alone needs no transaction around it, and fewer ways to and fro.
        self._single = database.execution_options(isolation_level="AUTOCOMMIT")
        self._named = {"owner": owner, "seconds": seconds}
        self._pause = seconds / _BEATS
        self._due = 0.0
        self._guard = threading.Lock()
        self._held: set[LeaseKey] = set()
        self._lost: set[LeaseKey] = set()
        self._doubtful = self._hasty = False

    def claim(self, share: SeriesShare, most: int) -> dict[AttemptKey, Claimed]:
        """Take free attempts of a series, run by run."""
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
                # A server that breaks off in a commit does not say whether it was made. What is
                # ours and unknown to us nobody would ever make.
                connection.execute(sql.RELEASE_BUT, self._named | _columns(self._snapshot()))
            self._doubtful = True
            rows = connection.execute(sql.CLAIM, self._named | share.parameters | {"most": most})
            found = {(row.problem, row.run): row for row in rows}
            begun = [(share.series, *key) for key, row in found.items() if row.begun]
            # A statement of its own: it sees all that was written before these leases were free.
            stored = connection.execute(sql.CALLS, _columns(begun)) if begun else ()
            known = calls_by_attempt(stored)
        keys = sorted(found, key=lambda at: at[::-1])
        return {key: Claimed(_problem(found[key]), known.get(key, {})) for key in keys}

    def waiting(self, shares: Iterable[SeriesShare]) -> dict[int, Waiting]:
        """Free what expired, and count what is left of each series, whoever has it."""

        def count() -> dict[int, Waiting]:
            with self._database.begin() as connection:
                connection.execute(sql.FREE_EXPIRED, self._named)
                return {
                    share.series: Waiting(*connection.execute(sql.WAITING, share.parameters).one())
                    for share in shares
                }

        return self._patiently("read", count)

    def has_others(self, series: int) -> bool:
        """Say whether other workers make attempts of a series now."""

        def look() -> bool:
            with self._database.connect() as connection:
                return bool(connection.scalar(sql.OTHERS, self._named | {"series": series}))

        return self._patiently("read", look)

    def give_back(self, keys: Collection[LeaseKey]) -> None:
        """Leave some attempts to others."""

        def work() -> None:
            with self._database.begin() as connection:
                connection.execute(sql.GIVE_BACK, self._named | _columns(keys))

        self._patiently("written", work)
        self.forget(keys)

    def release(self) -> None:
        """Give back all that is held, for others to take at once; if that fails it expires."""
        for _ in range(2):  # the first connection may be one that the server has forgotten
            with suppress(SQLAlchemyError), self._database.begin() as connection:
                connection.execute(sql.RELEASE, self._named)
                break
        with self._guard:
            self._held.clear()

    def is_lost(self, key: LeaseKey) -> bool:
        """Say whether another worker is known to have an attempt that was ours."""
        return key in self._lost

    def renew(self) -> None:
        """Renew all leases where it is time, free those of the dead, and see which were lost."""
        now = time.monotonic()
        if now < self._due:
            return
        before = self._snapshot()
        with self._database.begin() as connection:
            renewed = {tuple(row) for row in connection.execute(sql.RENEW, self._named)}
            connection.execute(sql.RENEW_RESERVED, self._named)
            connection.execute(sql.FREE_EXPIRED, self._named)
        self._due = now + self._pause
        with self._guard:
            self._lost |= (before & self._held) - renewed

    def hold(self, connection: sa.Connection, keys: Mapping[LeaseKey, bool]) -> set[LeaseKey]:
        """Keep leases from being taken until a transaction ends; return those that are ours.

        The leases of attempts that end with it, for which ``keys`` has True, end with it too.
        """
        wanted = self._named | _columns(keys) | {"all_ends": list(keys.values())}
        return {(row[0], row[1], row[2]) for row in connection.execute(sql.HOLD, wanted)}

    def forget(self, keys: Iterable[LeaseKey]) -> None:
        """Note that leases are held no longer, once that is safe."""
        with self._guard:
            self._held.difference_update(keys)

    def hasten(self) -> None:
        """Wait for no server any more: somebody wants to leave."""
        self._hasty = True

    def _patiently(self, done: str, work: Callable[[], T]) -> T:
        return patiently(self._url, done, work, lambda: self._hasty)

    def _snapshot(self) -> set[LeaseKey]:
        with self._guard:
            return set(self._held)


def _problem(row: sa.Row[Any]) -> Problem:
    return Problem(row.text, row.name, row.answer, row.benchmark)


def _columns(keys: Iterable[LeaseKey]) -> dict[str, list[int]]:
    series, problems, runs = zip(*listed, strict=True) if (listed := list(keys)) else ((), (), ())
    return {"all_series": list(series), "all_problems": list(problems), "all_runs": list(runs)}
