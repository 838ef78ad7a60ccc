"""Make the attempts that are missing, many at a time, and lose nothing."""

from __future__ import annotations

import asyncio
import gc
import time
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Final

import orjson

from cfr.answer import GradingCase, grade_all
from cfr.engine.drive import Outcome, drive
from cfr.engine.engine import SILENT, Engine, Watcher
from cfr.engine.error import EngineError, JournalMismatch, ModelNotFound, Unauthorized
from cfr.engine.journal import digest, require_same
from cfr.evaluation.budget import BudgetSpent
from cfr.evaluation.series import Series
from cfr.evaluation.status import Status
from cfr.evaluation.store import AttemptKey, Registered, Store, StoredCall, usage_columns
from cfr.evaluation.writer import RowValues
from cfr.method import Method
from cfr.problem import Problem, Solution
from cfr.protocol import Call, Completion, Message, Usage

__all__ = ["Job", "SeriesResult", "Tally", "prepare", "run"]

# Runs of one problem, and samples within a run, get seeds of their own where a seed is fixed.
_SEEDS_A_RUN: Final = 1_000
_OBJECTS_A_COLLECTION: Final = 20_000
# No other attempt will fare better: after the first of these none is asked for.
_HOPELESS: Final = (Unauthorized, ModelNotFound)


@dataclass(slots=True)
class Tally:
    """How a series stands."""

    total: int
    ok: int = 0
    truncated: int = 0
    unparsed: int = 0
    failed: int = 0
    correct: int = 0
    undecided: int = 0
    usage: Usage = field(default_factory=Usage)
    resumed: int = 0
    """Attempts that were there before this run."""
    refused: str = ""
    """Why the endpoint will have nothing to do with us, where it said so before any success."""

    @property
    def scored(self) -> int:
        """Attempts that count for the score; failed ones do not."""
        return self.ok + self.truncated + self.unparsed

    @property
    def complete(self) -> bool:
        """Whether every attempt is there and none failed."""
        return self.scored == self.total

    def add(self, status: Status, verdict: str | None, usage: Usage, count: int = 1) -> None:
        """Count an attempt, or several that ended alike."""
        setattr(self, status, getattr(self, status) + count)
        self.correct += count * (verdict == "correct")
        self.undecided += count * (verdict == "undecided")
        self.usage += usage


@dataclass(frozen=True, slots=True)
class SeriesResult:
    """A series and its counts."""

    series: Series
    tally: Tally

    @property
    def accuracy(self) -> float | None:
        """The share of correct answers among scored attempts; None where there are none."""
        return self.tally.correct / self.tally.scored if self.tally.scored else None


@dataclass(frozen=True, slots=True)
class Job:
    """A series to be completed, and what it needs for that."""

    series: Series
    problems: tuple[Problem, ...]
    runs: int
    engine: Engine
    registered: Registered
    method: Method
    tally: Tally
    finished: set[AttemptKey]
    begun: dict[AttemptKey, dict[int, StoredCall]]

    @property
    def result(self) -> SeriesResult:
        """The series with its counts, which go on while it is run."""
        return SeriesResult(self.series, self.tally)

    def missing(self) -> Iterator[tuple[Job, Problem, int]]:
        """List the attempts that are to be made, run by run."""
        for run_index in range(self.runs):
            for problem in self.problems:
                if (self.registered.problems[problem.id], run_index) not in self.finished:
                    yield self, problem, run_index


def prepare(
    store: Store, series: Series, problems: tuple[Problem, ...], runs: int, engine: Engine
) -> Job:
    """Enter a series into the store and find out what is missing of it."""
    registered = store.register(series, problems)
    numbers = [registered.problems[problem.id] for problem in problems]
    finished = store.finished(registered.series)
    tally = Tally(total=len(numbers) * runs)
    for status, verdict, count, usage in store.outcomes(registered, numbers, runs):
        tally.add(status, verdict, usage, count)
    tally.resumed = tally.scored
    begun = store.begun(registered.series)
    method = series.build()
    return Job(series, problems, runs, engine, registered, method, tally, finished, begun)


async def run(store: Store, jobs: Iterable[Job], width: int) -> None:
    """Make all missing attempts, at most ``width`` at the same time.

    A failed call fails its attempt and nothing else; only a key or a model that is refused before
    anything succeeded fails the rest of its series unasked. A spent budget, a store that cannot be
    written and a stored call that no longer fits end the run.
    """
    missing = (attempt for job in jobs for attempt in job.missing())

    async def work() -> None:
        for job, problem, run_index in missing:
            await _attempt(store, job, problem, run_index)

    with _collecting_rarely():
        workers = [asyncio.create_task(work()) for _ in range(width)]
        try:
            await _first_failure(workers)
        finally:
            for worker in workers:
                worker.cancel()
            await asyncio.gather(*workers, return_exceptions=True)
            await asyncio.to_thread(store.flush)


@contextmanager
def _collecting_rarely() -> Generator[None]:
    """Let the garbage collector look less often.

    A call makes hundreds of objects that live until its reply comes. At Python's own pace the
    collector goes through them again and again and finds nothing: a tenth of all time.
    """
    before = gc.get_threshold()
    gc.set_threshold(max(before[0], _OBJECTS_A_COLLECTION) if before[0] else 0, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)


async def _first_failure(workers: list[asyncio.Task[None]]) -> None:
    done, _ = await asyncio.wait(workers, return_when=asyncio.FIRST_EXCEPTION)
    for worker in done:
        worker.result()


async def _attempt(store: Store, job: Job, problem: Problem, run_index: int) -> None:
    number = job.registered.problems[problem.id]
    key = {"series": job.registered.series, "problem": number, "run": run_index}
    journal = _Journal(store, key, job.begun.pop((number, run_index), {}))
    engine = _ForRun(job.engine, run_index, job.series.system)
    started = time.monotonic()
    try:
        if job.tally.refused:
            raise Unauthorized(job.tally.refused)
        outcome = await drive(job.method.solve(problem), engine, journal=journal)
    except (BudgetSpent, JournalMismatch):
        raise
    except EngineError as error:
        ending = _failed(str(error), journal.usage)
        if isinstance(error, _HOPELESS) and job.tally.scored == job.tally.resumed:
            job.tally.refused = str(error)
    else:
        ending = await _ended(outcome, problem)
    job.tally.add(ending.status, ending.verdict, ending.usage)
    seconds = time.monotonic() - started
    store.write_attempt(key | ending.columns() | {"seconds": seconds, "finished_at": time.time()})


@dataclass(frozen=True, slots=True)
class _Ending:
    status: Status
    usage: Usage
    answer: str | None = None
    text: str = ""
    error: str | None = None
    verdict: str | None = None
    tier: str | None = None
    details: str = "{}"

    def columns(self) -> RowValues:
        return {
            "status": self.status,
            "answer": self.answer,
            "text": self.text,
            "error": self.error,
            "verdict": self.verdict,
            "tier": self.tier,
            "details": self.details,
        } | usage_columns(self.usage)


def _failed(reason: str, usage: Usage) -> _Ending:
    return _Ending("failed", usage, error=reason)


async def _ended(outcome: Outcome[Solution], problem: Problem) -> _Ending:
    solution = outcome.result
    ending = _Ending(
        status=_status(solution),
        usage=sum((e.completion.usage for e in outcome.exchanges), Usage()),
        answer=solution.answer,
        text=solution.text,
        details=orjson.dumps(solution.details).decode(),
    )
    if problem.answer is None:
        return ending
    (verdict,) = await grade_all([GradingCase(solution.answer, problem.answer, problem.text)])
    return replace(ending, verdict=verdict.verdict, tier=verdict.tier)


def _status(solution: Solution) -> Status:
    if solution.answer is not None:
        return "ok"
    return "truncated" if solution.truncated else "unparsed"


class _Journal:
    """The calls of one attempt, in the store."""

    def __init__(self, store: Store, key: dict[str, int], known: dict[int, StoredCall]) -> None:
        self._store = store
        self._key = key
        self._known = known
        self._began = time.monotonic()
        self.usage = Usage()

    def recall(self, ordinal: int, call: Call) -> Completion | None:
        if ordinal not in self._known:
            self._began = time.monotonic()
            return None
        stored = self._known[ordinal]
        require_same(ordinal, call, stored.digest)
        self.usage += stored.completion.usage
        return stored.completion

    async def record(self, ordinal: int, call: Call, completion: Completion) -> None:
        self.usage += completion.usage
        messages = [{"role": m.role, "content": m.content} for m in call.messages]
        await self._store.write_call(
            self._key
            | {
                "ordinal": ordinal,
                "stage": call.stage,
                "digest": digest(call),
                "messages": orjson.dumps(messages).decode(),
                "max_tokens": call.max_tokens,
                "text": completion.text,
                "reasoning": completion.reasoning,
                "finish": completion.finish,
                "reported": completion.usage.reported,
                "seconds": time.monotonic() - self._began,
            }
            | usage_columns(completion.usage)
        )


class _ForRun:
    """An engine for one run of a series: with its system prompt, and seeds of its own."""

    def __init__(self, engine: Engine, run_index: int, system: str) -> None:
        self._engine = engine
        self._offset = run_index * _SEEDS_A_RUN
        self._ahead = (Message("system", system),) if system else ()

    async def complete(self, call: Call, watcher: Watcher = SILENT) -> Completion:
        messages = self._ahead + call.messages
        sample = call.sample + self._offset
        return await self._engine.complete(replace(call, messages=messages, sample=sample), watcher)
