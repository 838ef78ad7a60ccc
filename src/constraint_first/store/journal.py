"""Attempts on their way into a store: their calls as they are made, and how they ended."""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final, cast

import sqlalchemy as sa

from constraint_first.attempt.attempt import Attempt, failed
from constraint_first.attempt.drive import digest, require_same
from constraint_first.error import CfrError
from constraint_first.file.safe import storable_count, storable_json, storable_text
from constraint_first.model.limit import Cost, PriceList
from constraint_first.problem import Problem
from constraint_first.protocol import Answer, Call, Completion, Output, Program, Step, Usage
from constraint_first.store import schema
from constraint_first.store.database import Unstorable
from constraint_first.store.series import Series, enter_problem, enter_series
from constraint_first.store.store import Store
from constraint_first.store.writer import EXECUTED, KnownCalls, RowValues, usage_columns

_NO_PRICES: Final = PriceList()
_FREE: Final = usage_columns(Usage())


def attempt_columns(attempt: Attempt) -> RowValues:
    """Spread how an attempt ended over the columns of a row."""
    solution, verdict = attempt.solution, attempt.verdict
    return {
        "status": attempt.status,
        "answer": None if solution.answer is None else storable_text(solution.answer),
        "text": storable_text(solution.text),
        "error": attempt.error,
        "verdict": verdict and verdict.verdict,
        "tier": verdict and verdict.tier,
        "details": storable_json(solution.details),
        **usage_columns(attempt.usage),
    }


class StoredJournal:
    """Answers from the store what an earlier run asked, and stores all further answers."""

    def __init__(
        self, store: Store, key: RowValues, known: KnownCalls, prices: PriceList = _NO_PRICES
    ) -> None:
        self._store = store
        self._key = key
        self._known = known
        self._prices = prices
        self._began = time.monotonic()
        self.usage = Usage()
        self.cost = Cost()

    @property
    def replays(self) -> bool:
        return bool(self._known)

    async def forget(self) -> None:
        """Forget the calls of earlier runs, in the store too; only their cost stays counted."""
        await self._store.forget_calls(self._key)
        self._known, self.usage = {}, Usage()

    def recall(self, ordinal: int, step: Step) -> Answer | None:
        """Return the stored answer of an earlier run, if it was asked the same."""
        if ordinal not in self._known:
            self._store.require_lease(self._key)
            self._began = time.monotonic()
            return None
        stored = self._known[ordinal]
        require_same(ordinal, step, stored.digest)
        self._count(step, stored.answer)
        return stored.answer

    async def record(self, ordinal: int, step: Step, answer: Answer) -> None:
        """Store an answer with its call or program, and wait until it is committed."""
        self._count(step, answer)
        if isinstance(step, Program) and isinstance(answer, Output):
            written = {
                "messages": storable_json([{"role": "program", "content": step.source}]),
                "max_tokens": 0,
                "text": answer.text,
                "reasoning": answer.error,
                "finish": EXECUTED,
                "reported": True,
                "seconds": answer.seconds,
                **_FREE,
            }
        else:
            written = self._exchange(cast("Call", step), cast("Completion", answer))
        await self._store.write_call(
            {
                **self._key,
                "ordinal": ordinal,
                "stage": storable_text(step.stage),
                "digest": digest(step),
                **written,
            }
        )

    def _exchange(self, call: Call, completion: Completion) -> RowValues:
        messages = [{"role": m.role, "content": m.content} for m in call.messages]
        return {
            "messages": storable_json(messages),
            "max_tokens": storable_count(call.max_tokens),
            "text": completion.text,
            "reasoning": completion.reasoning,
            "finish": completion.finish,
            "reported": completion.usage.reported,
            "seconds": time.monotonic() - self._began,
            **usage_columns(completion.usage),
        }

    def _count(self, step: Step, answer: Answer) -> None:
        if isinstance(step, Call) and isinstance(answer, Completion):
            self.usage += answer.usage
            self.cost += self._prices.cost(answer.usage, step.model)


# The answers of a server, entered one by one as questions come in.
#
# An evaluation knows its problems and runs beforehand; a server does not. The same question may
# come a thousand times: each time it is another run of the same problem, numbered on from the last.

_KEPT: Final = 50_000
"""Problems whose next run is remembered; the store knows it of all others."""
_KEPT_SERIES: Final = 1_000


@dataclass(slots=True)
class _Place:
    """A problem in a series: its number in the store, the next run, and the runs under way."""

    problem: int
    run: int
    under_way: int = 0


@dataclass(frozen=True, slots=True)
class _Entry:
    series: Series
    problem: Problem
    done: asyncio.Future[dict[str, int]]


class Traffic:
    """A store that takes attempts as they come; it must be held exclusively meanwhile."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._numbers: OrderedDict[Series, int] = OrderedDict()
        self._places: OrderedDict[tuple[int, str], _Place] = OrderedDict()
        self._pending: list[_Entry] = []
        self._entering: asyncio.Task[None] | None = None

    async def begin(
        self, series: Series, problem: Problem, prices: PriceList = _NO_PRICES
    ) -> TrafficAttempt:
        """Enter an attempt under a run of its own; those that come together enter together."""
        entry = _Entry(series, problem, asyncio.get_running_loop().create_future())
        self._pending.append(entry)
        if self._entering is None or self._entering.done():
            # A task of its own: a request may be cancelled while others wait for it too.
            self._entering = asyncio.create_task(self._enter())
        key = await entry.done
        return TrafficAttempt(self, key, problem, StoredJournal(self._store, key, {}, prices))

    async def _enter(self) -> None:
        while self._pending:
            batch, self._pending = self._pending, []
            found: Sequence[tuple[int, _Place] | Exception]
            try:
                found = await asyncio.to_thread(self._store.change, partial(self._place_all, batch))
            except Exception as error:  # of any kind: no request may wait for ever
                found = [error] * len(batch)
            for entry, place in zip(batch, found, strict=True):
                self._settle(entry, place)
            self._forget_old()

    def _settle(self, entry: _Entry, found: tuple[int, _Place] | Exception) -> None:
        if entry.done.done():  # the request was cancelled
            return
        if isinstance(found, Exception):
            entry.done.set_exception(found)
            return
        number, place = found
        self._numbers[entry.series] = number
        entry.done.set_result(self._next_run(number, place, entry.problem.id))

    def _place_all(
        self, batch: Sequence[_Entry], connection: sa.Connection
    ) -> list[tuple[int, _Place] | Exception]:
        return [self._place(connection, entry) for entry in batch]

    def _place(self, connection: sa.Connection, entry: _Entry) -> tuple[int, _Place] | CfrError:
        try:
            number = self._numbers.get(entry.series)
            if number is None:
                number = enter_series(connection, self._store.url, entry.series)
        except CfrError as error:  # it is refused, and no other
            return error
        known = self._places.get((number, entry.problem.id))
        if known is None:
            posed = replace(entry.problem, text=storable_text(entry.problem.text))
            problem = enter_problem(connection, entry.series.benchmark, posed)
            known = _Place(problem, _next_run(connection, number, problem))
        return number, known  # remembered once it is safe: a transaction may be done twice

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
        # A run under way is not in the store yet, which would give its number away again.
        for key in list(self._places):
            if len(self._places) <= _KEPT:
                return
            if not self._places[key].under_way:
                del self._places[key]

    def write(self, key: dict[str, int], name: str, row: RowValues) -> asyncio.Future[None]:
        written = self._store.write_attempt(key | row)

        def release(_: asyncio.Future[None]) -> None:
            if place := self._places.get((key["series"], name)):
                place.under_way -= 1

        written.add_done_callback(release)
        return written

    async def watch(self) -> None:
        """Wait until the store cannot be written any more, and raise that."""
        await self._store.watch()


class TrafficAttempt:
    def __init__(
        self, traffic: Traffic, key: dict[str, int], problem: Problem, journal: StoredJournal
    ) -> None:
        self._traffic = traffic
        self._key = key
        self._name = problem.id
        self._began = time.monotonic()
        self.journal = journal

    @property
    def run(self) -> int:
        return self._key["run"]

    async def finish(self, attempt: Attempt) -> None:
        """Write how it ended, and wait until that is committed."""
        try:
            await self._write(attempt)
        except Unstorable as error:
            await self._write(failed(attempt, str(error), attempt.usage))

    def abandon(self, attempt: Attempt) -> None:
        """Write how it ended without waiting: its client is gone."""
        self._write(attempt).add_done_callback(_heed)

    def _write(self, attempt: Attempt) -> asyncio.Future[None]:
        row = {"seconds": time.monotonic() - self._began, "finished_at": time.time()}
        return self._traffic.write(self._key, self._name, row | attempt_columns(attempt))


def _heed(written: asyncio.Future[None]) -> None:
    """Read the result of a write, which asyncio would otherwise report as never retrieved."""
    if not written.cancelled():
        written.exception()


def _next_run(connection: sa.Connection, series: int, problem: int) -> int:
    last = -1
    for table in (schema.attempts, schema.calls):
        where = (table.c.series == series, table.c.problem == problem)
        found = connection.scalar(sa.select(sa.func.max(table.c.run)).where(*where))
        last = max(last, -1 if found is None else cast("int", found))
    return last + 1
