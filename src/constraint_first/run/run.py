"""An evaluation as a library call: from a grid of series to its last attempt.

``cfr eval`` is this call with a table on the terminal. Stored attempts are not made again.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Coroutine, Sequence
from contextlib import AbstractContextManager, AsyncExitStack
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from pathlib import Path
from types import UnionType
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast

from constraint_first.attempt.solve import synchronous
from constraint_first.benchmark.registry import Benchmark
from constraint_first.method.method import Method
from constraint_first.method.registry import Wording
from constraint_first.model.client import Client, ServedModel
from constraint_first.model.limit import Budget, BudgetSpent, Limiter
from constraint_first.model.resolve import AUTO, ModelRef, choose_method
from constraint_first.model.transport import DecodingRefused
from constraint_first.model.wire import Served
from constraint_first.run.grid import Changes, Experiment, ModelPool, RunOptions, series_of
from constraint_first.run.job import (
    Evaluated,
    EvaluationWatcher,
    Job,
    TellEvaluationProgress,
    measure_progress,
    prepare,
    refuse_in_flight,
    result_of,
    run,
)
from constraint_first.store.query import explain_missing
from constraint_first.store.store import Store

if TYPE_CHECKING:
    from constraint_first.run.batch import Batches
    from constraint_first.run.cluster import Cluster

T = TypeVar("T")

_DEFAULTS: Final = RunOptions()
_SILENT: Final = EvaluationWatcher()


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
    """Run methods on benchmarks, with an engine or with a named model.

    ``evaluate`` is the same for synchronous code and notebooks. A whole grid (several models,
    temperatures, seeds) is an ``Experiment``. An engine that is not open yet is opened, and closed
    at the end. ``prompts`` is a folder of own prompts, ``system`` a system message for every call.
    ``progress`` is called when the run begins and after each attempt; an API key can be passed in
    a ``ModelRef``.
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


evaluate = synchronous(aevaluate)


class SingleCalls:
    """Makes attempts in this process, call by call."""

    places = ()

    def __init__(self, options: RunOptions, pool: ModelPool) -> None:
        self.limiters: Sequence[Limiter] = pool.limiters
        self._options = options
        self._pool = pool

    def hold(self, store: Store) -> AbstractContextManager[None]:
        return store.running()

    async def open(
        self, experiment: Experiment, ref: ModelRef, engine: Served | Client | None
    ) -> list[ServedModel]:
        if engine is None:
            return await self._pool.open(experiment, ref)
        return [await self._pool.open_engine(engine, experiment.other_models())]

    def make(
        self,
        store: Store,
        jobs: Sequence[Job],
        budget: Budget | None,  # noqa: ARG002
        counted: Callable[[], object],
    ) -> Coroutine[Any, Any, None]:
        # More attempts than calls: while one waits for the disk or the grader, another makes a
        # call.
        width = 2 * sum(limiter.most for limiter in self.limiters)
        return run(store, jobs, width, counted, self._options.lease)


@dataclass
class _Evaluation:
    experiment: Experiment
    ref: ModelRef
    options: RunOptions
    watcher: EvaluationWatcher
    progress: TellEvaluationProgress | None
    started: float = field(default_factory=time.monotonic)
    shared_budget: str | None = None
    """The name of the budget that the store has for all workers."""

    async def run(self, engine: Served | Client | None) -> Evaluated:
        stack = AsyncExitStack()
        executor = self._executor(stack, has_engine=engine is not None)
        benchmarks = self.experiment.load_benchmarks(self.options.limit)
        with Store(self.options.store) as store, executor.hold(store):
            async with stack:
                models = await executor.open(self.experiment, self.ref, engine)
                self.watcher.opened([model.served for model in models])
                if AUTO in self.experiment.methods:
                    for model in models:
                        name = model.served.model
                        self.watcher.chose(name, choose_method(name))
                budget = self._open_budget(store, models, benchmarks)
                if budget:
                    stack.push_async_callback(budget.close)
                while True:  # if a model refuses a setting, repeat with series that lack it
                    jobs = [
                        job for one in models for job in self._jobs(store, one, benchmarks, budget)
                    ]
                    numbers = [job.number for job in jobs]
                    forget = self.options.batch.forget_batches
                    tell = partial(self._tell, jobs)
                    try:
                        tell()
                        refuse_in_flight(store, numbers, executor.places, forget=forget)
                        async with self.watcher.running(jobs, executor.limiters):
                            stopped = await executor.make(store, jobs, budget, tell)
                    except BudgetSpent as spent:
                        stopped = str(spent)
                    except DecodingRefused as refused:
                        if not any(model.adapt(refused) for model in models):
                            raise
                        store.withdraw(numbers)
                        named = any(refused.model == model.served.model for model in models)
                        how = "its series are named accordingly"
                        if not named:
                            how = "series that ask it beside another model keep their names"
                        self.watcher.adapted(refused.model, f"{refused.change}; {how}")
                        continue
                    break
            series = tuple(result_of(store, job) for job in jobs)
        seconds = time.monotonic() - self.started
        return Evaluated(self.options.store, series, seconds, stopped or explain_missing(series))

    def _executor(
        self, stack: AsyncExitStack, *, has_engine: bool
    ) -> SingleCalls | Batches | Cluster:
        """Choose the executor of attempts, and import only that one."""
        options, watcher = self.options, self.watcher
        pool = ModelPool(options, stack, watcher.fetching, watcher.noted)
        if options.ray.wanted:
            from constraint_first.run.cluster import Cluster

            return Cluster(options, pool, self.ref, watcher, has_engine=has_engine)
        if options.batch.wanted:
            from constraint_first.run.batch import Batches

            return Batches(options, stack, pool, watcher)
        return SingleCalls(options, pool)

    def _open_budget(
        self, store: Store, models: list[ServedModel], benchmarks: list[Benchmark]
    ) -> Budget | None:
        """Open the budget of the grid, which workers elsewhere may share."""
        options = self.options
        if not store.is_shared:
            limits = (options.max_tokens_total, options.max_cost)
            return Budget(*limits) if options.is_bounded else None
        from constraint_first.run.shared import name_budget, open_budget

        grid = (series_of(one, self.experiment, each) for one in models for each in benchmarks)
        shared = open_budget(store, name_budget(chain.from_iterable(grid)), options)
        if shared:
            shared.require_prices(models)
            self.shared_budget = shared.name
        return shared

    def _jobs(
        self,
        store: Store,
        model: ServedModel,
        benchmarks: list[Benchmark],
        budget: Budget | None,
    ) -> list[Job]:
        limit, runs = self.options.attempt_limit, self.experiment.runs
        paid = None if self.options.batch.wanted else budget
        jobs = [
            prepare(store, one, benchmark.problems, runs, engine, model.prices, limit)
            for benchmark in benchmarks
            for one in series_of(model, self.experiment, benchmark)
            for engine in [Client(model, decoding=one.decoding, budget=paid)]
        ]
        if store.is_shared:
            from constraint_first.run.shared import write_settings

            write_settings(store, [job.number for job in jobs], model, self.shared_budget)
        return jobs

    def _tell(self, jobs: Sequence[Job]) -> None:
        if self.progress:
            self.progress(measure_progress(jobs, time.monotonic() - self.started))


def _several(given: T | Sequence[T], kind: UnionType) -> tuple[T, ...]:
    return (cast("T", given),) if isinstance(given, kind) else tuple(cast("Sequence[T]", given))
