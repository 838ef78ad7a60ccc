"""An evaluation as a library call: from a grid of series to its last attempt.

``cfr eval`` is this call with a table on the terminal. What was done before is not done again.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import AbstractContextManager, AsyncExitStack
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from types import UnionType
from typing import Final, TypeVar, cast

from constraint_first.attempt.solve import run_sync
from constraint_first.benchmark.registry import Benchmark
from constraint_first.method.method import Method
from constraint_first.method.rewording import Wording
from constraint_first.model.budget import Budget, BudgetSpent
from constraint_first.model.client import Client, ServedModel
from constraint_first.model.limit import Limiter
from constraint_first.model.resolve import AUTO, Cost, ModelRef, choose_method, sum_costs
from constraint_first.model.transport import DecodingRefused
from constraint_first.model.wire import Served
from constraint_first.protocol import Usage
from constraint_first.run.batch import (
    Batches,
    BatchPool,
    check_options,
    open_models,
    run_in_batches,
)
from constraint_first.run.batch_service import BatchLog, refuse_in_flight
from constraint_first.run.budget import SharedBudget, name_budget, open_budget
from constraint_first.run.cluster import RayRun, check_ray, make_order, run_on_ray
from constraint_first.run.grid import Changes, Experiment, RunOptions
from constraint_first.run.job import (
    EvaluationWatcher,
    Job,
    TellEvaluationProgress,
    measure_progress,
    prepare,
    result_of,
    run,
)
from constraint_first.run.model_pool import ModelPool, series_of, write_settings
from constraint_first.store.query import SeriesResult, explain_missing
from constraint_first.store.store import Store

T = TypeVar("T")

_DEFAULTS: Final = RunOptions()


_SILENT: Final = EvaluationWatcher()


@dataclass(frozen=True, slots=True)
class Evaluated:
    """What an evaluation came to: every series with its counts, and where all of it is stored."""

    store: str
    series: tuple[SeriesResult, ...]
    seconds: float
    stopped: str = ""
    """Why attempts are missing, where some are; the same call makes them."""

    @property
    def complete(self) -> bool:
        """Whether every attempt was made and none failed."""
        return not self.stopped

    @property
    def usage(self) -> Usage:
        """Tokens of all series together, those of earlier runs among them."""
        return sum((one.tally.usage for one in self.series), Usage())

    @property
    def cost(self) -> Cost | None:
        """What all series cost at the prices of today; None where no model has a price."""
        return sum_costs(one.tally.cost for one in self.series)


async def aevaluate(
    benchmarks: Experiment | str | Benchmark | Sequence[str | Benchmark],
    methods: str | Method | Sequence[str | Method] | None = None,
    *,
    runs: int | None = None,
    engine: Served | Client | None = None,
    model: ModelRef | str | None = None,
    prompts: str | Path | Wording | None = None,
    system: str | None = None,
    options: RunOptions = _DEFAULTS,
    watcher: EvaluationWatcher = _SILENT,
    progress: TellEvaluationProgress | None = None,
) -> Evaluated:
    """Run methods on benchmarks, with an engine or with the model that is named.

    A whole grid (several models, temperatures, seeds) is an ``Experiment``. An engine that is not
    open yet is opened, and closed again. ``prompts`` is a folder of own prompts, ``system`` a
    message ahead of every call. ``progress`` is called when the run begins and after each attempt;
    a key of your own is given in a ``ModelRef``.
    """
    ref = model if isinstance(model, ModelRef) else ModelRef(model)
    grid = isinstance(benchmarks, Experiment)
    experiment = benchmarks if grid else Experiment()
    changes = Changes(
        benchmarks=None if grid else _several(benchmarks, str | Benchmark),
        methods=None if methods is None else _several(methods, str | Method),
        models=(ref.model,) if ref.model else None,
        runs=runs,
        prompts=prompts,
        system=system,
    )
    changed = experiment.changed(changes)
    return await _Evaluation(changed, ref, options, watcher, progress).run(engine)


def evaluate(
    benchmarks: Experiment | str | Benchmark | Sequence[str | Benchmark],
    methods: str | Method | Sequence[str | Method] | None = None,
    *,
    runs: int | None = None,
    engine: Served | Client | None = None,
    model: ModelRef | str | None = None,
    prompts: str | Path | Wording | None = None,
    system: str | None = None,
    options: RunOptions = _DEFAULTS,
    progress: TellEvaluationProgress | None = None,
) -> Evaluated:
    """Run methods on benchmarks from ordinary code, a notebook included; see ``aevaluate``."""
    return run_sync(
        aevaluate(
            benchmarks,
            methods,
            runs=runs,
            engine=engine,
            model=model,
            prompts=prompts,
            system=system,
            options=options,
            progress=progress,
        )
    )


class _Evaluation:
    """One run of an experiment: its engines, its limits, its budget."""

    def __init__(
        self,
        experiment: Experiment,
        ref: ModelRef,
        options: RunOptions,
        watcher: EvaluationWatcher,
        progress: TellEvaluationProgress | None,
    ) -> None:
        self._experiment = experiment
        self._ref = ref
        self._options = options
        self._watcher = watcher
        self._progress = progress
        self._started = time.monotonic()
        self._budget: Budget | None = None
        self._limiters: list[Limiter] = []
        self._batches: BatchPool | None = None

    async def run(self, engine: Served | Client | None) -> Evaluated:
        """Make all missing attempts."""
        check_options(self._options)
        check_ray(self._options, self._ref, has_engine=engine is not None)
        benchmarks = self._experiment.load_benchmarks(self._options.limit)
        with Store(self._options.store) as store, self._held(store):
            async with AsyncExitStack() as stack:
                pool = ModelPool(self._options, stack, self._watcher.fetching, self._watcher.noted)
                self._limiters = pool.limiters
                if self._options.batch.wanted:
                    self._batches = BatchPool(self._options, stack)
                models = await self._open_models(pool, engine)
                self._watcher.opened([model.served for model in models])
                if AUTO in self._experiment.methods:
                    for model in models:
                        name = model.served.model
                        self._watcher.chose(name, choose_method(name))
                self._budget = self._open_budget(store, models, benchmarks)
                if self._budget:
                    stack.push_async_callback(self._budget.close)
                jobs, stopped = await self._complete(store, models, benchmarks)
            series = tuple(result_of(store, job) for job in jobs)
        seconds = time.monotonic() - self._started
        return Evaluated(self._options.store, series, seconds, stopped or explain_missing(series))

    async def _open_models(
        self, pool: ModelPool, engine: Served | Client | None
    ) -> list[ServedModel]:
        if self._options.ray.wanted:
            return pool.name(self._experiment, self._ref)
        return await open_models(self._experiment, self._ref, pool, engine, self._batches)

    def _held(self, store: Store) -> AbstractContextManager[None]:
        """Hold the store: batches are sent and collected by one run, calls made by many."""
        return store.exclusively() if self._options.batch.wanted else store.running()

    def _open_budget(
        self, store: Store, models: list[ServedModel], benchmarks: list[Benchmark]
    ) -> Budget | None:
        """Open the budget of the grid, which workers elsewhere may have been given."""
        grid = (series_of(one, self._experiment, each) for one in models for each in benchmarks)
        budget = open_budget(store, name_budget(chain.from_iterable(grid)), self._options)
        if isinstance(budget, SharedBudget):
            budget.require_prices(models)
        return budget

    def _jobs(self, store: Store, model: ServedModel, benchmarks: list[Benchmark]) -> list[Job]:
        # Requests of a batch are paid for all together, before it is sent.
        budget = None if self._batches else self._budget
        runs, limit = self._experiment.runs, self._options.attempt_limit
        jobs = [
            prepare(store, one, benchmark.problems, runs, engine, model.prices, limit)
            for benchmark in benchmarks
            for one in series_of(model, self._experiment, benchmark)
            for engine in [Client(model, decoding=one.decoding, budget=budget)]
        ]
        shared = self._budget.name if isinstance(self._budget, SharedBudget) else None
        write_settings(store, [job.registered.series for job in jobs], model, shared)
        return jobs

    async def _complete(
        self, store: Store, models: list[ServedModel], benchmarks: list[Benchmark]
    ) -> tuple[list[Job], str]:
        """Make all attempts; where a model refuses a setting, in other series without it."""
        while True:
            jobs = [job for model in models for job in self._jobs(store, model, benchmarks)]
            try:
                return jobs, await self._work(store, jobs)
            except BudgetSpent as spent:
                return jobs, str(spent)
            except DecodingRefused as refused:
                if not any(model.adapt(refused) for model in models):
                    raise
                store.withdraw([one.registered.series for one in jobs])
                self._watcher.adapted(refused.model, _consequence(refused, models))

    async def _work(self, store: Store, jobs: list[Job]) -> str:
        """Make what is missing, here or on a cluster; say why workers there left something."""

        def tell() -> None:
            if self._progress:
                seconds = time.monotonic() - self._started
                self._progress(measure_progress(jobs, seconds))

        tell()
        # More attempts than calls: while one waits for the disk or the grader, another asks.
        width = 2 * sum(limiter.most for limiter in self._limiters)
        forget = self._options.batch.forget_batches
        here = self._batches.places if self._batches else ()
        refuse_in_flight(store, [job.registered.series for job in jobs], here, forget=forget)
        async with self._watcher.running(jobs, self._limiters):
            if self._options.ray.wanted:
                made_there = RayRun(store, jobs, self._options.ray, self._watcher, tell)
                return await run_on_ray(made_there, make_order(self._options, self._ref, jobs))
            if self._batches:
                await run_in_batches(store, jobs, self._in_batches(store, self._batches), tell)
            else:
                await run(store, jobs, width, tell, self._options.lease)
        return ""

    def _in_batches(self, store: Store, pool: BatchPool) -> Batches:
        return Batches(
            self._options.batch,
            pool.services(BatchLog(store)),
            pool.models,
            pool.longest,
            self._budget,
            self._watcher,
        )


def _consequence(refused: DecodingRefused, models: Sequence[ServedModel]) -> str:
    """Say what is done about a refusal, and what that means for the names of series."""
    if any(refused.model == model.served.model for model in models):
        return f"{refused.change}; its series are named accordingly"
    return f"{refused.change}; series that ask it beside another model keep their names"


def _several(given: T | Sequence[T], kind: UnionType) -> tuple[T, ...]:
    """Take one thing for a list of one."""
    return (cast("T", given),) if isinstance(given, kind) else tuple(cast("Sequence[T]", given))
