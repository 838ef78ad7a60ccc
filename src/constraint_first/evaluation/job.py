"""A series to be completed: what it needs for that, what is missing of it, how it stands."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, NamedTuple

import sqlalchemy as sa

from constraint_first.engine.allowance import AttemptLimit
from constraint_first.engine.engine import Engine
from constraint_first.engine.price import Cost, PriceList
from constraint_first.evaluation import schema
from constraint_first.evaluation.lease import SeriesShare
from constraint_first.evaluation.selection import finished_attempts, share_of, usage_columns
from constraint_first.evaluation.series import Series
from constraint_first.evaluation.spending import cost_of, use_by_model
from constraint_first.evaluation.status import Status
from constraint_first.evaluation.store import AttemptKey, Registered, Store
from constraint_first.evaluation.stored_call import KnownCalls
from constraint_first.evaluation.summary import mean_output, problem_scores
from constraint_first.evaluation.tally import SeriesResult, Tally
from constraint_first.method import Method
from constraint_first.problem import Problem
from constraint_first.protocol import Usage

__all__ = ["Job", "Standing", "adopt", "prepare", "read_standing", "result_of"]

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
