"""A series to be completed, its progress, and the run that makes its missing attempts."""

from __future__ import annotations

import asyncio
import time
from collections import Counter, deque
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Sequence
from contextlib import (
    AbstractAsyncContextManager,
    AbstractContextManager,
    asynccontextmanager,
    nullcontext,
)
from dataclasses import dataclass, field, replace
from typing import Any, Final, NamedTuple, TypeAlias

import sqlalchemy as sa

from constraint_first.attempt.attempt import Attempt, failed, judged_attempt
from constraint_first.attempt.drive import AsSent, AttemptLimit, collecting_rarely, put_ahead
from constraint_first.error import InputError
from constraint_first.method.method import Method
from constraint_first.model.limit import Cost, Limiter, PriceList, sum_costs
from constraint_first.model.local import NO_PROGRESS
from constraint_first.model.local import Progress as FetchProgress
from constraint_first.model.resolve import AutoChoice
from constraint_first.model.transport import DecodingRefused
from constraint_first.model.wire import SEEDS_A_RUN, Engine, Served
from constraint_first.problem import Problem
from constraint_first.protocol import Message, Usage
from constraint_first.store import database as schema
from constraint_first.store.database import LeaseLost, StoreError, Unstorable
from constraint_first.store.query import (
    SeriesResult,
    Tally,
    begun_calls,
    count_attempts,
    finished_keys,
    mean_output,
    problem_scores,
    require_finished,
)
from constraint_first.store.series import Series
from constraint_first.store.store import Store, StoredJournal, attempt_columns
from constraint_first.store.writer import (
    CLAIMED_AT_ONCE,
    LEASE_SECONDS,
    AttemptKey,
    Claimed,
    KnownCalls,
    LeaseKey,
    Leases,
    RowValues,
    SeriesShare,
    share_of,
)

_NO_PRICES: Final = PriceList()
_NO_LIMIT: Final = AttemptLimit()


@dataclass(frozen=True, slots=True)
class Job:
    series: Series
    share: SeriesShare
    problems: dict[int, Problem] = field(repr=False)
    """By their numbers in the store; empty for a worker, which reads them from the store."""
    engine: Engine
    method: Method
    tally: Tally
    finished: set[AttemptKey]
    """The attempts that are finished in a SQLite store; a shared store has a queue instead."""
    begun: dict[AttemptKey, KnownCalls]
    prices: PriceList
    limit: AttemptLimit
    earlier: float | None = None
    """Output tokens that an attempt of the method took on average in other series of the store."""

    @property
    def number(self) -> int:
        return self.share.series

    def as_sent(self, run_index: int) -> AsSent | None:
        """Return what is added to each call of a run: the system message and separate seeds."""
        system = self.series.system
        ahead = (Message("system", system),) if system else ()
        return put_ahead(ahead, run_index * SEEDS_A_RUN)

    def missing(self) -> Iterator[tuple[int, Problem, int]]:
        """List the missing attempts as problems (with their numbers) and runs, run by run."""
        for run_index in range(self.share.runs):
            for number, problem in self.problems.items():
                if (number, run_index) not in self.finished:
                    yield number, problem, run_index


def prepare(
    store: Store,
    series: Series,
    problems: Sequence[Problem],
    runs: int,
    engine: Engine,
    prices: PriceList = _NO_PRICES,
    limit: AttemptLimit = _NO_LIMIT,
) -> Job:
    registered = store.register(series, problems, runs)
    share = share_of(*registered, problems, runs)
    numbered = {registered.problems[problem.id]: problem for problem in problems}
    return adopt(store, series, share, engine, prices, limit, numbered)


def adopt(
    store: Store,
    series: Series,
    share: SeriesShare,
    engine: Engine,
    prices: PriceList,
    limit: AttemptLimit,
    problems: dict[int, Problem] | None = None,
) -> Job:
    total = None if problems is None else len(problems) * share.runs
    job = Job(
        series,
        share,
        problems or {},
        engine,
        series.build(),
        count_attempts(store, share, prices, total=total, resumed=True),
        set() if store.is_shared else finished_keys(store, share.series),
        {} if store.is_shared else begun_calls(store, share.series),
        prices,
        limit,
    )
    job.tally.resumed = job.tally.scored
    if job.tally.scored:
        return job
    return replace(job, earlier=mean_output(store, series.method, series.model))


def result_of(store: Store, job: Job) -> SeriesResult:
    """Return a series with its counts by problem, after checking that all attempts are stored."""
    require_finished(store, job.share, job.tally.scored)
    scores = problem_scores(store, *job.share.finished).get(job.number, Counter())
    return SeriesResult(job.series, job.tally, scores)


@dataclass(frozen=True, slots=True)
class Evaluated:
    """The result of an evaluation: every series with its counts, and the store that has them."""

    store: str
    series: tuple[SeriesResult, ...]
    seconds: float
    stopped: str = ""
    """Why attempts are missing, if some are; repeating the call makes them."""

    @property
    def complete(self) -> bool:
        """Whether every attempt was made and none failed."""
        return not self.stopped

    @property
    def usage(self) -> Usage:
        """Tokens of all series together, including those of earlier runs."""
        return sum((one.tally.usage for one in self.series), Usage())

    @property
    def cost(self) -> Cost | None:
        """The cost of all series at current prices; None if no model has a price."""
        return sum_costs(one.tally.cost for one in self.series)


def refuse_in_flight(
    store: Store, series: Sequence[int], here: Sequence[tuple[str, str]] = (), *, forget: bool
) -> None:
    """Refuse to repeat calls that are in flight in other batches; or forget these, if told to.

    ``here`` are the endpoints and models whose batches are collected by this run.
    """
    batches, requests = schema.batches, schema.requests
    if not store.change(lambda one: sa.inspect(one).has_table(batches.name), "read"):
        return
    asked = sa.exists().where(requests.c.tag == batches.c.tag, requests.c.series.in_(series))
    found = store.read(sa.select(batches).where(batches.c.state.in_(schema.OPEN), asked))
    if forget:
        tags = batches.c.tag.in_([one.tag for one in found])
        store.change(
            lambda one: one.execute(batches.update().where(tags).values(state="forgotten"))
        )
    elif others := [one for one in found if (one.endpoint, one.model) not in here]:
        count = len(others)
        several = "1 batch has" if count == 1 else f"{count} batches have"
        raise InputError(
            f"{store.url}: {several} not been collected yet, of {others[0].model} at "
            f"{others[0].endpoint}; run the command that made them, or pay again with "
            "--forget-batches"
        )


@dataclass(frozen=True, slots=True)
class EvaluationProgress:
    """How far an evaluation is; the attempts of earlier runs are counted with it."""

    done: int
    """Attempts that have ended, well or not."""
    total: int
    failed: int
    usage: Usage
    cost: Cost | None
    """Of all attempts at current prices; None if no model has a price."""
    seconds: float
    """Since this run began."""

    @property
    def tokens(self) -> int:
        return self.usage.total

    def __str__(self) -> str:
        failed = f", {self.failed:,} failed" if self.failed else ""
        cost = "" if self.cost is None else f", {self.cost}"
        counted = f"{self.done:,} of {self.total:,} attempts{failed}"
        return f"{counted}, {self.tokens:,} tokens{cost}, {self.seconds:.0f} s"


TellEvaluationProgress: TypeAlias = Callable[[EvaluationProgress], object]
"""A function that is called with the progress of an evaluation; an exception ends the run."""


def measure_progress(jobs: Sequence[Job], seconds: float) -> EvaluationProgress:
    tallies = [job.tally for job in jobs]
    failed = sum(tally.failed for tally in tallies)
    return EvaluationProgress(
        done=sum(tally.scored for tally in tallies) + failed,
        total=sum(tally.total for tally in tallies),
        failed=failed,
        usage=sum((tally.usage for tally in tallies), Usage()),
        cost=sum_costs(tally.cost for tally in tallies),
        seconds=seconds,
    )


# The remaining time of an evaluation, estimated from the output tokens of each method.
#
# Attempts differ in cost by method: a vote of eight writes eight times what Direct CoT does.
# Missing attempts are therefore weighted by output tokens: the mean of the series so far, else of
# the method on other benchmarks, else of earlier runs in the store, else of all series.


class Progress(NamedTuple):
    method: tuple[str, str]
    """The method and the model, which determine the cost of an attempt."""
    left: int
    made: int
    """Attempts of this run."""
    stored: int = 0
    """Attempts of earlier runs."""
    tokens: int = 0
    """Output tokens of all attempts so far."""
    earlier: float | None = None
    """The mean of the method in other series of the store."""

    @property
    def cost(self) -> float | None:
        """The mean of its own attempts; None without attempts or token counts."""
        attempts = self.made + self.stored
        return self.tokens / attempts if attempts and self.tokens else None


def progress_of(job: Job) -> Progress:
    tally, series = job.tally, job.series
    done = tally.scored + tally.failed
    return Progress(
        (series.method, series.model),
        left=tally.total - done,
        made=done - tally.resumed,
        stored=tally.resumed,
        tokens=tally.usage.output if tally.usage.reported else 0,
        earlier=job.earlier,
    )


def seconds_left(parts: Sequence[Progress], elapsed: float) -> float | None:
    """Estimate the remaining seconds at the pace so far; None before the first attempt."""
    overall = _mean(parts) or 1.0
    costs = [
        part.cost
        or _mean([one for one in parts if one.method == part.method])
        or part.earlier
        or overall
        for part in parts
    ]
    made = sum(part.made * cost for part, cost in zip(parts, costs, strict=True))
    left = sum(part.left * cost for part, cost in zip(parts, costs, strict=True))
    return elapsed * left / made if made else None


def _mean(parts: Iterable[Progress]) -> float | None:
    known = [part for part in parts if part.cost is not None]
    attempts = sum(part.made + part.stored for part in known)
    return sum(part.tokens for part in known) / attempts if attempts else None


# The progress of a wave of batches.

_MOST_NAMED: Final = 3


@dataclass(frozen=True, slots=True)
class BatchView:
    name: str
    status: str
    requests: int
    done: int = 0
    failed: int = 0

    def __str__(self) -> str:
        failed = f", {self.failed:,} failed" if self.failed else ""
        return f"{self.name} {self.status} ({self.done:,} of {self.requests:,}{failed})"


@dataclass(frozen=True, slots=True)
class WaveProgress:
    """The progress of the batches of one wave."""

    wave: int
    batches: tuple[BatchView, ...] = ()
    next_look: float | None = None
    """Seconds until the next poll; None if there is none."""
    trouble: str = ""
    """Why the last poll failed."""

    @property
    def requests(self) -> int:
        return sum(one.requests for one in self.batches)

    @property
    def done(self) -> int:
        return sum(one.done for one in self.batches)

    @property
    def failed(self) -> int:
        return sum(one.failed for one in self.batches)

    def __str__(self) -> str:
        failed = f", {self.failed:,} failed" if self.failed else ""
        counted = f"wave {self.wave}: {self.done:,} of {self.requests:,} requests done{failed}"
        wait = "" if self.next_look is None else f"; next look in {self.next_look:.0f} s"
        trouble = f"; {self.trouble}" if self.trouble else ""
        return f"{counted}; {self._named()}{wait}{trouble}"

    def _named(self) -> str:
        if len(self.batches) <= _MOST_NAMED:
            return ", ".join(map(str, self.batches))
        counts = Counter(one.status for one in self.batches)
        listed = ", ".join(f"{count} {status}" for status, count in counts.items())
        return f"{len(self.batches)} batches ({listed})"


class EvaluationWatcher:
    """Shows an evaluation, on a terminal or in a log. Override the methods of interest."""

    def fetching(self, model: str) -> AbstractContextManager[FetchProgress]:  # noqa: ARG002
        """Make the context of a download; its value is called with the download's size."""
        return nullcontext(NO_PROGRESS)

    def running(
        self,
        jobs: Sequence[Job],  # noqa: ARG002
        limiters: Sequence[Limiter],  # noqa: ARG002
    ) -> AbstractAsyncContextManager[None]:
        """Make the context of the run; the tallies of ``jobs`` change while it lasts."""
        return nullcontext()

    def opened(self, models: Sequence[Served]) -> None:
        """The models are open; one may be ``Balanced`` over several endpoints."""

    def chose(self, model: str, choice: AutoChoice) -> None:
        """``auto`` has chosen this method for a model."""

    def skipped(self, what: str, why: str) -> None:
        """A worker cannot run a series of the store."""

    def refused(self, error: DecodingRefused) -> None:
        """A worker's model refuses a setting of a series, which the worker skips."""

    def adapted(self, model: str, change: str) -> None:
        """A model refused a setting, which is left out in all of its series."""

    def batches(self, progress: WaveProgress) -> None:
        """The progress of a wave of batches."""

    def noted(self, line: str) -> None:
        """A note for the user."""


# The assignment of attempts to a run: the next attempt, and the end of all.
#
# On a SQLite store one run iterates over a list. On a PostgreSQL store attempts are claimed as
# they are needed. A run that finds none free waits for those of other workers: it ends when all
# are made, and claims attempts whose leases expire.

_MOST_AT_ONCE: Final = 8 * CLAIMED_AT_ONCE
_SHORTEST_WAIT: Final = 0.02
_LONGEST_WAIT: Final = 1.0


class Assigned(NamedTuple):
    job: Job
    number: int
    """The number of its problem in the store."""
    problem: Problem
    run: int
    known: KnownCalls

    @property
    def key(self) -> LeaseKey:
        return self.job.number, self.number, self.run


class ListedAttempts:
    """The missing attempts of a store that only this run uses."""

    def __init__(self, jobs: Iterable[Job]) -> None:
        self._attempts = (
            Assigned(job, number, problem, run, job.begun.pop((number, run), {}))
            for job in jobs
            for number, problem, run in job.missing()
        )

    def ready(self) -> Assigned | None:
        return next(self._attempts, None)

    async def next(self) -> Assigned | None:
        return self.ready()

    async def give_up(self, _assigned: Assigned) -> bool:
        """Return False: there are no other workers."""
        return False


class ClaimedAttempts:
    """The missing attempts of a store that many workers share."""

    def __init__(self, leases: Leases, jobs: Sequence[Job], width: int = CLAIMED_AT_ONCE) -> None:
        self._leases = leases
        self._jobs = deque(jobs)
        """Series that may have free attempts, in order."""
        self._shares = {job.number: job for job in jobs}
        self._ready: deque[Assigned] = deque()
        self._claiming = asyncio.Lock()
        self._ended = asyncio.Event()
        self._over = False
        self._enough = 0
        """More are claimed when this many claimed attempts are left."""
        self._smallest = min(width, CLAIMED_AT_ONCE)
        """A claim is no larger than the number of concurrent attempts: with a slow model the rest
        would be kept from other workers."""
        self._size = self._smallest
        self._count = 0
        self._pace = (time.monotonic(), 0)
        """The time of the last claim, and how many attempts had ended then."""
        self._ahead: asyncio.Task[None] | None = None
        self._under_way: asyncio.Future[dict[AttemptKey, Claimed]] | None = None

    def ready(self) -> Assigned | None:
        """Return an attempt that is claimed but not begun; None without one."""
        if len(self._ready) <= self._enough and self._jobs and not self._claiming.locked():
            self._ahead = asyncio.create_task(self._claim_ahead())
        return self._ready.popleft() if self._ready else None

    async def next(self) -> Assigned | None:
        """Claim attempts and return one; None when all are made, by this worker or another."""
        async with self._claiming:
            if self._ahead and self._ahead.done():
                self._ahead.result()
            wait = _SHORTEST_WAIT
            while not self._ready and not self._over:
                await self._claim()
                if not self._ready and not self._over:
                    wait = await self._wait(wait)
        return self.ready()

    def ended(self, _written: asyncio.Future[None]) -> None:
        # Wakes ``_wait``, since this may have been the last attempt of all.
        self._count += 1
        self._ended.set()

    async def close(self) -> None:
        """Wait for a claim that is under way, so that its leases can be released."""
        for task in (self._ahead, self._under_way):
            if task:
                await asyncio.gather(task, return_exceptions=True)

    async def give_up(self, assigned: Assigned) -> bool:
        """Leave an attempt and its whole series to other workers, if there are any.

        A worker without a key would otherwise quickly fail all attempts that others could make.
        """
        job = assigned.job
        if not await asyncio.to_thread(self._leases.has_others, job.number):
            return False
        self._shares.pop(job.number, None)
        self._jobs = deque(one for one in self._jobs if one is not job)
        left = [one.key for one in (assigned, *self._ready) if one.job is job]
        self._ready = deque(one for one in self._ready if one.job is not job)
        await asyncio.to_thread(self._leases.give_back, left)
        return True

    async def _claim_ahead(self) -> None:
        """Claim attempts before they are needed, so that none waits for the database."""
        async with self._claiming:
            if len(self._ready) <= self._enough:
                await self._claim()

    async def _claim(self) -> None:
        while self._jobs and len(self._ready) <= self._enough:
            began = time.monotonic()
            job = self._jobs[0]
            size = self._size
            claim = asyncio.to_thread(self._leases.claim, job.share, size)
            self._under_way = asyncio.ensure_future(claim)
            found = await asyncio.shield(self._under_way)
            for (number, run), (posed, known) in found.items():
                problem = job.problems.get(number, posed)
                self._ready.append(Assigned(job, number, problem, run, known))
            self._keep_pace(began)
            if len(found) < size and self._jobs and self._jobs[0] is job:
                self._jobs.popleft()

    def _keep_pace(self, began: float) -> None:
        """Adapt the size and the time of claims to the rate at which attempts end.

        The threshold for the next claim is twice the number of attempts that end during a claim.
        It is zero if calls are slow, so that the last attempts of a grid are not all claimed by
        one worker. If attempts are fast, a claim has as many as end in a tenth of a second.
        """
        now, (since, ended) = time.monotonic(), self._pace
        self._pace = now, self._count
        pace = (self._count - ended) / max(now - since, 0.001)
        self._enough = min(int(2 * pace * (now - began)), _MOST_AT_ONCE)
        self._size = min(max(self._smallest, int(pace / 10)), _MOST_AT_ONCE)

    async def _wait(self, seconds: float) -> float:
        """Look for free attempts; if other workers hold them all, wait until an attempt ends."""
        self._ended.clear()
        shares = [job.share for job in self._shares.values()]
        left = await asyncio.to_thread(self._leases.waiting, shares)
        free = [job for job in self._shares.values() if left[job.number].free]
        self._jobs.extend(free)
        self._over = not any(one.total for one in left.values())
        if free or self._over:
            return _SHORTEST_WAIT
        try:
            await asyncio.wait_for(self._ended.wait(), seconds)
        except TimeoutError:
            return min(2 * seconds, _LONGEST_WAIT)
        await asyncio.sleep(_SHORTEST_WAIT)  # other attempts may end at the same time
        return _SHORTEST_WAIT


# The run: many attempts at a time, each call committed before its attempt goes on.

_FOLLOW_EVERY: Final = 5.0
"""Seconds between two counts of the attempts of other workers."""
_FOLLOW_SHARE: Final = 50
"""A large store is counted rarely: the pause is this many times as long as the last count."""

_Attempts: TypeAlias = ListedAttempts | ClaimedAttempts


async def run(
    store: Store,
    jobs: Iterable[Job],
    width: int,
    counted: Callable[[], object] = lambda: None,
    lease: float = LEASE_SECONDS,
) -> None:
    """Make all missing attempts, at most ``width`` at the same time; call ``counted`` after each.

    An exception fails only its own attempt, except that a key or a model that is refused before
    any success fails the rest of its series without further calls. The run ends if its budget is
    spent, a decoding is refused, the store cannot be written, or a stored call does not match its
    replay. In a shared store it ends when all attempts are made by any worker; leases of this
    worker expire ``lease`` seconds after their last renewal.
    """
    several = list(jobs)
    with collecting_rarely():
        async with _handed_out(store, several, lease, width) as attempts:
            workers = [asyncio.create_task(_work(store, attempts, counted)) for _ in range(width)]
            either: list[asyncio.Future[Any]] = [
                asyncio.gather(*workers),
                asyncio.create_task(store.watch()),
            ]
            if store.is_shared:
                either.append(asyncio.create_task(follow(store, several, counted)))
            await until_first(store, either, workers)


async def until_first(
    store: Store, tasks: Sequence[asyncio.Future[Any]], others: Sequence[asyncio.Task[None]] = ()
) -> None:
    """Wait for the first of some tasks to end; then cancel all, and flush the store."""
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for ended in done:
            ended.result()
    except asyncio.CancelledError:
        store.hasten()
        raise
    finally:
        for task in (*others, *tasks):
            task.cancel()
        await asyncio.gather(*others, *tasks, return_exceptions=True)
        await asyncio.to_thread(store.flush)


@asynccontextmanager
async def _handed_out(
    store: Store, jobs: Sequence[Job], lease: float, width: int
) -> AsyncGenerator[_Attempts]:
    """Assign the missing attempts; at the end count those of other workers too."""
    if not store.is_shared:
        yield ListedAttempts(jobs)
        return
    try:
        with store.leasing(lease) as leases:
            attempts = ClaimedAttempts(leases, jobs, width)
            try:
                yield attempts
            finally:
                await attempts.close()
    except (StoreError, asyncio.CancelledError):  # the count would fail, or is not needed
        raise
    except BaseException:
        await recount(store, jobs)
        raise
    await recount(store, jobs)


async def follow(store: Store, jobs: Sequence[Job], counted: Callable[[], object]) -> None:
    """Count the attempts of other workers periodically."""
    pause = _FOLLOW_EVERY
    while True:
        await asyncio.sleep(pause)
        began = time.monotonic()
        await recount(store, jobs)
        counted()
        pause = max(_FOLLOW_EVERY, _FOLLOW_SHARE * (time.monotonic() - began))


async def recount(store: Store, jobs: Sequence[Job]) -> None:
    for job in jobs:
        total = job.tally.total if job.problems else None
        found = await asyncio.to_thread(count_attempts, store, job.share, job.prices, total=total)
        job.tally.recount(found)


async def _work(store: Store, attempts: _Attempts, counted: Callable[[], object]) -> None:
    before: _Writing | None = None
    try:
        while True:
            assigned = attempts.ready()
            if assigned is None:
                if before:  # it may be the last missing attempt
                    await before.done()
                before = None
                assigned = await attempts.next()
                if assigned is None:
                    return
            job, number, problem, run_index, known = assigned
            key: RowValues = {"series": job.number, "problem": number, "run": run_index}
            started = time.monotonic()
            try:
                if job.tally.refused:
                    made = failed(Attempt(problem, job.method), job.tally.refused, Usage())
                else:
                    journal = StoredJournal(store, key, known, job.prices)
                    as_sent = job.as_sent(run_index)
                    made = await judged_attempt(
                        job.method, problem, job.engine, journal, job.limit, as_sent
                    )
                    if job.tally.cost is not None:
                        job.tally.cost += journal.cost
            except LeaseLost:
                last, before = before, None
            else:
                last, before = before, await _count(store, attempts, assigned, made, key, started)
            counted()
            if last:  # its commit overlapped with the attempt just made
                await last.done()
    finally:
        if before:
            await before.done()


async def _count(
    store: Store,
    attempts: _Attempts,
    assigned: Assigned,
    made: Attempt,
    key: RowValues,
    started: float,
) -> _Writing | None:
    """Count an attempt and write it; return None if it is left to other workers."""
    tally = assigned.job.tally
    if made.ends == "series" and not tally.made:
        if await attempts.give_up(assigned):
            tally.left = made.error or ""
            return None
        tally.refused = made.error or ""
    usage = made.usage
    tally.count(made, usage)
    row = key | {"seconds": time.monotonic() - started}
    written = store.write_attempt(row | attempt_columns(made, usage))
    if isinstance(attempts, ClaimedAttempts):
        written.add_done_callback(attempts.ended)
    return _Writing(store, tally, row, made, written)


class _Writing(NamedTuple):
    store: Store
    tally: Tally
    row: RowValues
    made: Attempt
    written: asyncio.Future[None]

    async def done(self) -> None:
        """Wait for the commit; an attempt whose row is refused is stored as failed."""
        try:
            await self.written
        except LeaseLost:  # the new owner of the lease counts it
            self.tally.uncount(self.made)
        except Unstorable as error:
            self.tally.uncount(self.made)
            instead = failed(self.made, str(error), self.made.usage)
            self.tally.count(instead, Usage())
            await self.store.write_attempt(self.row | attempt_columns(instead, instead.usage))
