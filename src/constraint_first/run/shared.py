"""A worker: makes the missing attempts of a shared store, beside any number of others.

``cfr work`` is this call, and so is an actor of a cluster. All settings of a series are in the
store; keys, prices and model files are those of the machine that it runs on.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Sequence
from contextlib import AsyncExitStack
from typing import Final

from constraint_first.attempt.solve import run_sync
from constraint_first.error import CfrError, InputError
from constraint_first.method.method import models_of
from constraint_first.model.client import Client, ServedModel
from constraint_first.model.limit import BudgetSpent, Limiter
from constraint_first.model.resolve import ModelRef
from constraint_first.model.transport import DecodingRefused
from constraint_first.model.wire import Served
from constraint_first.run.batch_service import refuse_in_flight
from constraint_first.run.budget import SharedBudget, find_budget
from constraint_first.run.grid import RunOptions
from constraint_first.run.job import (
    EvaluationWatcher,
    Job,
    TellEvaluationProgress,
    adopt,
    measure_progress,
    result_of,
    run,
)
from constraint_first.run.model_pool import (
    ModelPool,
    PendingSeries,
    SeriesModels,
    Unrunnable,
    pending_series,
)
from constraint_first.run.run import Evaluated
from constraint_first.store.database import StoreError, sqlite_path
from constraint_first.store.query import explain_missing
from constraint_first.store.store import Store
from constraint_first.store.writer import EVERY_RUN, SeriesShare, name_owner, requeue_failed

_SILENT: Final = EvaluationWatcher()
_AS_STORED: Final = ModelRef()


class NothingRunnable(CfrError):
    """Attempts are missing, and none of them can be made on this machine."""

    exit_code = 3


async def awork(
    options: RunOptions,
    *,
    instead: ModelRef = _AS_STORED,
    engine: Served | None = None,
    series: Collection[int] | None = None,
    crew: str = "",
    watcher: EvaluationWatcher = _SILENT,
    progress: TellEvaluationProgress | None = None,
) -> Evaluated:
    """Make missing attempts of a shared store until none is left, with all other workers.

    Models are named and found as the store says; an address or the name of a key's variable in
    ``instead`` replaces the stored one. With an ``engine`` only series of its model are taken. With
    the numbers of some ``series`` only those are taken, and failed attempts are not queued again:
    the run that starts the worker has queued them. Limits on speed in ``options`` are this worker's
    own; budgets are those of the store.
    """
    if sqlite_path(options.store):
        raise StoreError(
            f"{options.store}: a file has one run at a time, and 'cfr eval' is that; workers share "
            "a PostgreSQL database (--store postgresql://…)"
        )
    async with AsyncExitStack() as stack:
        store = stack.enter_context(Store(options.store))
        store.owner = name_owner(crew)
        stack.enter_context(store.running())
        pool = ModelPool(options, stack, watcher.fetching, watcher.noted)
        return await _Worker(store, options, pool, instead, engine, watcher, progress).run(series)


def work(
    options: RunOptions,
    *,
    instead: ModelRef = _AS_STORED,
    engine: Served | None = None,
    progress: TellEvaluationProgress | None = None,
) -> Evaluated:
    """Be a worker from ordinary code; see ``awork``."""
    return run_sync(awork(options, instead=instead, engine=engine, progress=progress))


class _Worker:
    """One worker: the models that it has opened, and the series that it cannot run."""

    def __init__(
        self,
        store: Store,
        options: RunOptions,
        pool: ModelPool,
        instead: ModelRef,
        engine: Served | None,
        watcher: EvaluationWatcher,
        progress: TellEvaluationProgress | None,
    ) -> None:
        self._store = store
        self._options = options
        self._pool = pool
        self._instead = instead
        self._engine = engine
        self._watcher = watcher
        self._progress = progress
        self._started = time.monotonic()
        self._models: dict[SeriesModels, ServedModel | CfrError] = {}
        self._given: dict[tuple[str, ...], ServedModel] = {}
        self._budgets: dict[str, SharedBudget | None] = {}
        self._skipped: dict[int, str] = {}
        self._pending: dict[int, PendingSeries] = {}
        self._done: dict[int, Job] = {}

    async def run(self, series: Collection[int] | None) -> Evaluated:
        """Go on until no attempt is left that can be made here."""
        if series is None:
            self._store.change(requeue_failed)
        while jobs := await self._find_jobs(series):
            self._done |= {job.number: job for job in jobs}
            try:
                await self._make(jobs)
            except BudgetSpent as spent:
                self._leave(jobs, str(spent), budget=spent.budget)
            except DecodingRefused as refused:
                self._watcher.refused(refused)
                self._leave(jobs, str(refused), model=refused.model)
            finally:
                for budget in filter(None, self._budgets.values()):
                    await budget.close()
            for job in jobs:
                if job.tally.left:
                    self._skipped[job.number] = job.tally.left
        if self._skipped and not self._done:
            raise NothingRunnable(f"{self._store.url}: {next(iter(self._skipped.values()))}")
        results = tuple(result_of(self._store, job) for job in self._done.values())
        stopped = next(iter(self._skipped.values()), "") or explain_missing(results)
        seconds = time.monotonic() - self._started
        return Evaluated(self._options.store, results, seconds, stopped)

    async def _find_jobs(self, series: Collection[int] | None) -> list[Job]:
        """Find series with missing attempts; report once those that cannot be run here."""
        jobs: list[Job] = []
        for one in pending_series(self._store):
            if one.number in self._skipped or (series is not None and one.number not in series):
                continue
            self._pending[one.number] = one
            try:
                jobs.append(await self._job(one))
            except InputError as error:
                self._skip(one, str(error))
        return jobs

    async def _job(self, one: PendingSeries) -> Job:
        refuse_in_flight(self._store, [one.number], forget=False)
        series = one.build()
        model = await self._open(one, models_of(series.given))
        if model.served.model != one.model:
            raise Unrunnable(f"the model is served here as {model.served.model}")
        budget = self._budget(one.budget)
        if budget:
            budget.require_prices([model])
        engine = Client(model, decoding=series.decoding, budget=budget)
        share, limit = SeriesShare(one.number, EVERY_RUN), self._options.attempt_limit
        return adopt(self._store, series, share, engine, model.prices, limit)

    async def _open(self, one: PendingSeries, others: tuple[str, ...]) -> ServedModel:
        if self._engine is not None:
            if others not in self._given:
                self._given[others] = await self._pool.open_engine(self._engine, others)
            return self._given[others]
        models = one.find_models(self._instead)
        if models not in self._models:
            try:
                self._models[models] = await self._pool.open_one(models.main, dict(models.beside))
            except CfrError as error:  # a key that is not set, a file that is not here
                self._models[models] = error
        found = self._models[models]
        if isinstance(found, CfrError):
            raise Unrunnable(str(found))
        return found

    def _budget(self, name: str | None) -> SharedBudget | None:
        if name is None:
            return None
        if name not in self._budgets:
            self._budgets[name] = find_budget(self._store, name, self._options.lease)
        return self._budgets[name]

    async def _make(self, jobs: list[Job]) -> None:
        def tell() -> None:
            if self._progress:
                seconds = time.monotonic() - self._started
                self._progress(measure_progress(jobs, seconds))

        tell()
        limiters: list[Limiter] = self._pool.limiters
        width = 2 * sum(limiter.most for limiter in limiters)
        async with self._watcher.running(jobs, limiters):
            await run(self._store, jobs, width, tell, self._options.lease)

    def _leave(self, jobs: Sequence[Job], why: str, *, budget: str = "", model: str = "") -> None:
        """Leave series alone whose budget is spent, or whose model refuses how they are decoded."""
        for job in jobs:
            one = self._pending[job.number]
            if (budget and one.budget == budget) or (model and one.model == model):
                self._skip(one, why)

    def _skip(self, one: PendingSeries, why: str) -> None:
        self._skipped[one.number] = f"{one} cannot be run here: {why}"
        self._watcher.skipped(str(one), why)
