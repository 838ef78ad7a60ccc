"""A series to be completed: what it needs for that, what is missing of it, how it stands."""

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
from typing import Final, NamedTuple, TypeAlias

import sqlalchemy as sa

from constraint_first.attempt.attempt import Attempt, failed, judged_attempt
from constraint_first.attempt.drive import AsSent, AttemptLimit, collecting_rarely, put_ahead
from constraint_first.attempt.judge import Status
from constraint_first.method.method import Method
from constraint_first.model.limit import Limiter
from constraint_first.model.pull import NO_PROGRESS
from constraint_first.model.pull import Progress as WatcherProgress
from constraint_first.model.resolve import AutoChoice, Cost, PriceList, sum_costs
from constraint_first.model.transport import DecodingRefused
from constraint_first.model.wire import SEEDS_A_RUN, Engine, Served
from constraint_first.problem import Problem
from constraint_first.protocol import Message, Usage
from constraint_first.run.attempt import StoredJournal, attempt_columns
from constraint_first.run.batch_service import WaveProgress
from constraint_first.store import schema
from constraint_first.store.database import LeaseLost, StoreError, Unstorable
from constraint_first.store.query import (
    SeriesResult,
    Tally,
    cost_of,
    mean_output,
    problem_scores,
    use_by_model,
)
from constraint_first.store.store import (
    Registered,
    Series,
    Store,
    finished_attempts,
    share_of,
    usage_columns,
)
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
)

_NO_PRICES: Final = PriceList()


@dataclass(frozen=True, slots=True)
class Job:
    """A series to be completed, and what it needs for that."""

    series: Series
    problems: tuple[Problem, ...]
    """None for a worker that takes whatever the store has of the series."""
    runs: int
    engine: Engine
    registered: Registered
    method: Method
    tally: Tally
    finished: set[AttemptKey]
    """Where one run has the store: what need not be made. Leases tell it where many share it."""
    begun: dict[AttemptKey, KnownCalls]
    prices: PriceList = _NO_PRICES
    earlier: float | None = None
    """Output tokens that an attempt of the method took on average in other series of the store."""
    limit: AttemptLimit = field(default_factory=AttemptLimit)
    by_number: dict[int, Problem] = field(default_factory=dict[int, Problem], repr=False)

    @property
    def result(self) -> SeriesResult:
        """The series with its counts, which go on while it is run."""
        return SeriesResult(self.series, self.tally)

    @property
    def numbers(self) -> list[int]:
        """The numbers of its problems in the store."""
        return list(self.by_number)

    @property
    def share(self) -> SeriesShare:
        """The attempts that are to be made, as leases select them."""
        return share_of(self.registered, self.problems, self.runs)

    def as_sent(self, run_index: int) -> AsSent | None:
        """Say what each call of a run gets on its way: the system message, seeds of its own."""
        system = self.series.system
        ahead = (Message("system", system),) if system else ()
        return put_ahead(ahead, run_index * SEEDS_A_RUN)

    def missing(self) -> Iterator[tuple[Problem, int]]:
        """List the attempts that are to be made, run by run."""
        for run_index in range(self.runs):
            for number, problem in self.by_number.items():
                if (number, run_index) not in self.finished:
                    yield problem, run_index


def prepare(
    store: Store,
    series: Series,
    problems: tuple[Problem, ...],
    runs: int,
    engine: Engine,
    prices: PriceList = _NO_PRICES,
    limit: AttemptLimit | None = None,
) -> Job:
    """Enter a series into the store and find out what is missing of it."""
    registered = store.register(series, problems, runs)
    return adopt(store, series, registered, problems, runs, engine, prices, limit)


def adopt(
    store: Store,
    series: Series,
    registered: Registered,
    problems: tuple[Problem, ...],
    runs: int,
    engine: Engine,
    prices: PriceList = _NO_PRICES,
    limit: AttemptLimit | None = None,
) -> Job:
    """Find out what is missing of a series that is in the store."""
    job = Job(
        series,
        problems,
        runs,
        engine,
        registered,
        series.build(),
        Tally(total=len(problems) * runs),
        set() if store.is_shared else store.finished(registered.series),
        {} if store.is_shared else store.begun(registered.series),
        prices,
        by_number={registered.problems[problem.id]: problem for problem in problems},
        limit=limit or AttemptLimit(),
    )
    read_standing(store, job, resumed=True).apply(job.tally)
    job.tally.resumed = job.tally.scored
    if job.tally.scored:
        return job
    return replace(job, earlier=mean_output(store, series.method, series.model))


def result_of(store: Store, job: Job) -> SeriesResult:
    """Return a series with its counts, those by problem included, once all is seen to be there."""
    tally = job.tally
    store.require_finished(job.registered, job.numbers, job.runs, tally.scored)
    made = finished_attempts(job.registered, job.numbers, job.runs)
    scores = problem_scores(store, *made).get(job.registered.series, Counter())
    return SeriesResult(job.series, tally, scores)


class _Outcome(NamedTuple):
    status: Status
    verdict: str | None
    attempts: int
    usage: Usage


@dataclass(frozen=True, slots=True)
class Standing:
    """How the attempts of a series ended, whoever made them."""

    outcomes: Sequence[_Outcome]
    reasons: Counter[str]
    cost: Cost | None
    left: int | None = None
    """Attempts that are to be made, where nobody said how many there are."""

    def apply(self, tally: Tally) -> None:
        """Count this in the place of what was counted so far."""
        counts = ("ok", "truncated", "unparsed", "failed", "correct", "undecided")
        for name in counts:
            setattr(tally, name, 0)
        tally.usage, tally.cost, tally.reasons = Usage(), self.cost, self.reasons
        for outcome in self.outcomes:
            tally.add(outcome.status, outcome.verdict, outcome.usage, outcome.attempts)
        if self.left is not None:
            tally.total = tally.scored + tally.failed + self.left


def read_standing(store: Store, job: Job, *, resumed: bool = False) -> Standing:
    """Let the database count how a series stands; where it is only begun, none has failed yet."""
    where = finished_attempts(job.registered, job.numbers, job.runs)
    found = [_Outcome(*one) for one in store.outcomes(job.registered, job.numbers, job.runs)]
    reasons: Counter[str] = Counter()
    if not resumed:
        for reason, count, usage in _failures(store, job):
            reasons[reason] += count
            found.append(_Outcome("failed", None, count, usage))
    cost = None
    if job.prices.has_prices:
        used = use_by_model(store, *where)
        cost = cost_of(used.get(job.registered.series, {}), job.prices)
    return Standing(found, reasons, cost, None if job.problems else _count_left(store, job))


def _count_left(store: Store, job: Job) -> int:
    series = schema.leases.c.series == job.registered.series
    query = sa.select(sa.func.count()).select_from(schema.leases).where(series)
    return store.read(query)[0][0]


def _failures(store: Store, job: Job) -> Iterable[tuple[str, int, Usage]]:
    """Count the attempts that failed and are not to be made again by now."""
    a, leased = schema.attempts.c, schema.leases.c
    same = (leased[name] == a[name] for name in ("series", "problem", "run"))
    sums = [sa.cast(sa.func.sum(a[name]), sa.BigInteger) for name in usage_columns(Usage())]
    query = (
        sa.select(a.error, a.problem, sa.func.count(), *sums)
        .where(a.series == job.registered.series, a.run < job.runs, a.status == "failed")
        .where(~sa.exists().where(*same))
        .group_by(a.error, a.problem)
    )
    for reason, problem, count, *used in store.read(query):
        if not job.problems or problem in job.by_number:
            yield reason or "", count, Usage(*used)


# The progress of an evaluation, as a function is told it after each attempt.


@dataclass(frozen=True, slots=True)
class EvaluationProgress:
    """How far an evaluation is; the attempts of earlier runs are counted with it."""

    done: int
    """Attempts that have ended, well or not."""
    total: int
    failed: int
    usage: Usage
    cost: Cost | None
    """What all of it cost at the prices of today; None where no model has a price."""
    seconds: float
    """Since this run began."""

    @property
    def tokens(self) -> int:
        """Input and output tokens together."""
        return self.usage.total

    def __str__(self) -> str:
        failed = f", {self.failed:,} failed" if self.failed else ""
        cost = "" if self.cost is None else f", {self.cost}"
        counted = f"{self.done:,} of {self.total:,} attempts{failed}"
        return f"{counted}, {self.tokens:,} tokens{cost}, {self.seconds:.0f} s"


TellEvaluationProgress: TypeAlias = Callable[[EvaluationProgress], object]
"""A function that is told how an evaluation gets on; what it raises ends the run."""


def measure_progress(jobs: Sequence[Job], seconds: float) -> EvaluationProgress:
    """Count what the series have come to."""
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


# The time that an evaluation still takes, estimated from the work that each method takes.
#
# Attempts differ in cost by method: a vote of eight writes eight times what Direct CoT does. What
# is left is therefore counted in output tokens: the mean of the series so far, else of the method
# on other benchmarks, else of earlier runs in the store, else of all that is known.


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a series is, and what its attempts took so far."""

    method: tuple[str, str]
    """The method and the model: what the cost of an attempt depends on."""
    left: int
    made: int
    """Attempts of this run."""
    stored: int = 0
    """Attempts of earlier runs."""
    tokens: int = 0
    """Output tokens of all attempts that are there."""
    earlier: float | None = None
    """The mean of the method in other series of the store."""

    @property
    def cost(self) -> float | None:
        """The mean of its own attempts; None where there are none, or none says what it took."""
        attempts = self.made + self.stored
        return self.tokens / attempts if attempts and self.tokens else None


def progress_of(job: Job) -> Progress:
    """Read off how far a series is."""
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
    """Estimate how long the rest takes at the pace so far; None while nothing was made yet."""
    overall = _mean(parts) or 1.0
    costs = [
        part.cost or _by_method(parts, part.method) or part.earlier or overall for part in parts
    ]
    made = sum(part.made * cost for part, cost in zip(parts, costs, strict=True))
    left = sum(part.left * cost for part, cost in zip(parts, costs, strict=True))
    return elapsed * left / made if made else None


def _by_method(parts: Iterable[Progress], method: tuple[str, str]) -> float | None:
    return _mean([part for part in parts if part.method == method])


def _mean(parts: Iterable[Progress]) -> float | None:
    known = [part for part in parts if part.cost is not None]
    attempts = sum(part.made + part.stored for part in known)
    return sum(part.tokens for part in known) / attempts if attempts else None


# Whoever watches an evaluation: a terminal, a log, a driver of workers on other machines.


class EvaluationWatcher:
    """Is told how an evaluation gets on. Override what is of interest."""

    def fetching(self, model: str) -> AbstractContextManager[WatcherProgress]:  # noqa: ARG002
        """Surround the fetching of a model file with a function that hears how far it is."""
        return nullcontext(NO_PROGRESS)

    def running(
        self,
        jobs: Sequence[Job],  # noqa: ARG002
        limiters: Sequence[Limiter],  # noqa: ARG002
    ) -> AbstractAsyncContextManager[None]:
        """Surround the run; the tallies of ``jobs`` go on while it lasts."""
        return nullcontext()

    def opened(self, models: Sequence[Served]) -> None:
        """Hear which models are open; one may be ``Balanced`` over several endpoints."""

    def chose(self, model: str, choice: AutoChoice) -> None:
        """Hear what the method ``auto`` stands for with a model."""

    def skipped(self, what: str, why: str) -> None:
        """Hear that a worker cannot run something that the store has to be run, and why."""

    def refused(self, error: DecodingRefused) -> None:
        """Hear that a worker's model refuses a setting of its series, which it leaves alone."""

    def adapted(self, model: str, change: str) -> None:
        """Hear that a model refused a setting, and what all its series do instead."""

    def batches(self, progress: WaveProgress) -> None:
        """Hear how far a wave of batches is."""

    def noted(self, line: str) -> None:
        """Hear of something that a person should know."""


# The hand-out of attempts to a run: which one is made next, and when none is left.
#
# On a SQLite store it is a list that one run goes through. On a PostgreSQL store attempts are
# claimed as they are needed, and a run that finds none free waits for those of others: it ends
# when all are made, and takes over what expires.

_MOST_AT_ONCE: Final = 8 * CLAIMED_AT_ONCE
_SHORTEST_WAIT: Final = 0.02
_LONGEST_WAIT: Final = 1.0


@dataclass(frozen=True, slots=True)
class Assigned:
    """An attempt that is to be made now, with what an earlier run stored of it."""

    job: Job
    number: int
    """The number of its problem in the store."""
    problem: Problem
    run: int
    known: KnownCalls

    @property
    def key(self) -> LeaseKey:
        """Its place in the store."""
        return self.job.registered.series, self.number, self.run


class ListedAttempts:
    """The missing attempts of a store that this run has for itself."""

    def __init__(self, jobs: Iterable[Job]) -> None:
        self._attempts = _list(jobs)

    def ready(self) -> Assigned | None:
        """Return the next attempt; None where there is none."""
        return next(self._attempts, None)

    async def next(self) -> Assigned | None:
        """Return the next attempt; None at the end."""
        return self.ready()

    def ended(self) -> None:
        """Hear that an attempt was written."""

    async def give_up(self, _assigned: Assigned) -> bool:
        """Leave a series to nobody: there are no other workers."""
        return False


def _list(jobs: Iterable[Job]) -> Iterator[Assigned]:
    for job in jobs:
        for problem, run in job.missing():
            number = job.registered.problems[problem.id]
            yield Assigned(job, number, problem, run, job.begun.pop((number, run), {}))


class ClaimedAttempts:
    """The missing attempts of a store that many workers share."""

    def __init__(self, leases: Leases, jobs: Sequence[Job], width: int = CLAIMED_AT_ONCE) -> None:
        self._leases = leases
        self._jobs = deque(jobs)
        """Series that may have free attempts, in order."""
        self._shares = {job.registered.series: job for job in jobs}
        self._ready: deque[Assigned] = deque()
        self._claiming = asyncio.Lock()
        self._ended = asyncio.Event()
        self._over = False
        self._enough = 0
        """Attempts that are left when more are claimed."""
        self._smallest = min(width, CLAIMED_AT_ONCE)
        """A claim takes no more than can be begun: a slow model would keep the rest from others."""
        self._size = self._smallest
        self._count = 0
        self._pace = (time.monotonic(), 0)
        """When it was last claimed, and how many attempts had ended then."""
        self._ahead: asyncio.Task[None] | None = None
        self._under_way: asyncio.Future[dict[AttemptKey, Claimed]] | None = None

    def ready(self) -> Assigned | None:
        """Return an attempt that is claimed and not begun; None where there is none."""
        if len(self._ready) <= self._enough and self._jobs and not self._claiming.locked():
            self._ahead = asyncio.create_task(self._claim_ahead())
        return self._ready.popleft() if self._ready else None

    async def next(self) -> Assigned | None:
        """Claim attempts and return one; None when all are made, by whomever."""
        async with self._claiming:
            if self._ahead and self._ahead.done():
                self._ahead.result()
            wait = _SHORTEST_WAIT
            while not self._ready and not self._over:
                await self._claim()
                if not self._ready and not self._over:
                    wait = await self._wait(wait)
        return self.ready()

    def ended(self) -> None:
        """Hear that an attempt was written: it may have been the last."""
        self._count += 1
        self._ended.set()

    async def close(self) -> None:
        """Wait for a claim that is under way: what it takes must be given back."""
        for task in (self._ahead, self._under_way):
            if task:
                await asyncio.gather(task, return_exceptions=True)

    async def give_up(self, assigned: Assigned) -> bool:
        """Leave an attempt and its whole series to other workers, where there are any.

        Whoever has no key would otherwise fail in no time what others could make.
        """
        job, series = assigned.job, assigned.key[0]
        if not await asyncio.to_thread(self._leases.has_others, series):
            return False
        self._shares.pop(series, None)
        self._jobs = deque(one for one in self._jobs if one is not job)
        kept = [one for one in self._ready if one.job is not job]
        left = [one.key for one in (assigned, *self._ready) if one.job is job]
        self._ready = deque(kept)
        await asyncio.to_thread(self._leases.give_back, left)
        return True

    async def _claim_ahead(self) -> None:
        """Claim some before they are needed: nobody waits for the server then."""
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
                problem = job.by_number.get(number, posed)
                self._ready.append(Assigned(job, number, problem, run, known))
            self._keep_pace(began)
            if len(found) < size and self._jobs and self._jobs[0] is job:
                self._jobs.popleft()

    def _keep_pace(self, began: float) -> None:
        """Claim early enough that nobody waits, and no earlier.

        More are claimed when twice as many are left as end in the time that a claim takes: none
        where calls take long, so that the last attempts of a grid are not all with one worker. And
        where attempts end in no time, as many are claimed at once as end in a tenth of a second.
        """
        now, (since, ended) = time.monotonic(), self._pace
        self._pace = now, self._count
        pace = (self._count - ended) / max(now - since, 0.001)
        self._enough = min(int(2 * pace * (now - began)), _MOST_AT_ONCE)
        self._size = min(max(self._smallest, int(pace / 10)), _MOST_AT_ONCE)

    async def _wait(self, seconds: float) -> float:
        """See what is left; where others have it all, wait until something ends."""
        self._ended.clear()
        shares = [job.share for job in self._shares.values()]
        left = await asyncio.to_thread(self._leases.waiting, shares)
        free = [job for job in self._shares.values() if left[job.registered.series].free]
        self._jobs.extend(free)
        self._over = not any(one.total for one in left.values())
        if free or self._over:
            return _SHORTEST_WAIT
        try:
            await asyncio.wait_for(self._ended.wait(), seconds)
        except TimeoutError:
            return min(2 * seconds, _LONGEST_WAIT)
        await asyncio.sleep(_SHORTEST_WAIT)  # others may end with it
        return _SHORTEST_WAIT


# Make the attempts that are missing, many at a time, and lose nothing.

_FOLLOW_EVERY: Final = 5.0
"""Seconds between two looks at what other workers have made."""
_FOLLOW_SHARE: Final = 50
"""How much longer than a look took the next is waited for: a large store is looked at rarely."""

_Attempts: TypeAlias = ListedAttempts | ClaimedAttempts


async def run(
    store: Store,
    jobs: Iterable[Job],
    width: int,
    counted: Callable[[], object] = lambda: None,
    lease: float = LEASE_SECONDS,
) -> None:
    """Make all missing attempts, at most ``width`` at the same time; call ``counted`` after each.

    Whatever goes wrong in an attempt fails that attempt and nothing else; only a key or a model
    that is refused before anything succeeded fails the rest of its series unasked. A spent budget,
    a refused decoding, a store that cannot be written and a stored call that no longer fits end
    the run. Where workers share the store it ends when all is made, by whomever, and what this one
    claims is its own for ``lease`` seconds after it was last seen.
    """
    several = list(jobs)
    with collecting_rarely():
        async with _handed_out(store, several, lease, width) as attempts:
            workers = [asyncio.create_task(_work(store, attempts, counted)) for _ in range(width)]
            either = [asyncio.create_task(_all(workers)), asyncio.create_task(store.watch())]
            if store.is_shared:
                either.append(asyncio.create_task(follow(store, several, counted)))
            try:
                done, _ = await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
                for ended in done:
                    ended.result()
            except asyncio.CancelledError:
                store.hasten()
                raise
            finally:
                for task in (*workers, *either):
                    task.cancel()
                await asyncio.gather(*workers, *either, return_exceptions=True)
                await asyncio.to_thread(store.flush)


@asynccontextmanager
async def _handed_out(
    store: Store, jobs: Sequence[Job], lease: float, width: int
) -> AsyncGenerator[_Attempts]:
    """Say which attempts are to be made; at the end count those of other workers too."""
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
    except (StoreError, asyncio.CancelledError):  # nobody can count, or nobody waits for it
        raise
    except BaseException:
        await recount(store, jobs)
        raise
    await recount(store, jobs)


async def follow(store: Store, jobs: Sequence[Job], counted: Callable[[], object]) -> None:
    """Count what other workers make, now and then."""
    pause = _FOLLOW_EVERY
    while True:
        await asyncio.sleep(pause)
        began = time.monotonic()
        await recount(store, jobs)
        counted()
        pause = max(_FOLLOW_EVERY, _FOLLOW_SHARE * (time.monotonic() - began))


async def recount(store: Store, jobs: Sequence[Job]) -> None:
    """Let the store count how all series stand, whoever made what."""
    for job in jobs:
        found = await asyncio.to_thread(read_standing, store, job)
        found.apply(job.tally)


async def _all(workers: list[asyncio.Task[None]]) -> None:
    await asyncio.gather(*workers)


async def _work(store: Store, attempts: _Attempts, counted: Callable[[], object]) -> None:
    """Make one attempt after the other, until none is left."""
    before: _Writing | None = None
    try:
        while True:
            assigned = attempts.ready()
            if assigned is None:
                if before:  # the end may hang on this very attempt
                    await before.done()
                before = None
                assigned = await attempts.next()
                if assigned is None:
                    return
            last, before = before, await _attempt(store, attempts, assigned)
            counted()
            if last:  # safe by now: the next attempt did not wait for the disk
                await last.done()
    finally:
        if before:
            await before.done()


async def _attempt(store: Store, attempts: _Attempts, assigned: Assigned) -> _Writing | None:
    """Make an attempt, count it, and hand it to the writer; None where it is left to others."""
    job, (series, number, run_index) = assigned.job, assigned.key
    key = {"series": series, "problem": number, "run": run_index}
    started = time.monotonic()
    if job.tally.refused:
        made = failed(Attempt(assigned.problem, job.method), job.tally.refused, Usage())
    else:
        journal = StoredJournal(store, key, assigned.known, job.prices)
        try:
            made = await judged_attempt(
                job.method, assigned.problem, job.engine, journal, job.limit, job.as_sent(run_index)
            )
        except LeaseLost:
            return None
        if job.tally.cost is not None:
            job.tally.cost += journal.cost
    if made.ends == "series" and not job.tally.made:
        if await attempts.give_up(assigned):
            job.tally.left = made.error or ""
            return None
        job.tally.refused = made.error or ""
    _count(job.tally, made, made.usage)
    row = key | {"seconds": time.monotonic() - started}
    written = store.write_attempt(row | attempt_columns(made))
    written.add_done_callback(lambda _: attempts.ended())
    return _Writing(store, job.tally, row, made, written)


def _count(tally: Tally, made: Attempt, usage: Usage) -> None:
    tally.add(made.status, made.verdict and made.verdict.verdict, usage)
    if made.error is not None:
        tally.reasons[made.error] += 1
    else:
        tally.made += 1


@dataclass(frozen=True, slots=True)
class _Writing:
    """An attempt that is being written."""

    store: Store
    tally: Tally
    row: RowValues
    made: Attempt
    written: asyncio.Future[None]

    async def done(self) -> None:
        """Wait until it is safe; one whose row is refused has failed instead."""
        try:
            await self.written
        except LeaseLost:  # the worker that has it now counts it
            self._uncount()
        except Unstorable as error:
            self._uncount()
            instead = failed(self.made, str(error), self.made.usage)
            _count(self.tally, instead, Usage())
            await self.store.write_attempt(self.row | attempt_columns(instead))

    def _uncount(self) -> None:
        verdict = self.made.verdict
        self.tally.add(self.made.status, verdict and verdict.verdict, Usage(), count=-1)
