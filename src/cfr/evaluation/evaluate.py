"""An evaluation as a library call: from a grid of series to its last attempt.

``cfr eval`` is this call with a table on the terminal. What was done before is not done again.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from contextlib import (
    AbstractAsyncContextManager,
    AbstractContextManager,
    AsyncExitStack,
    nullcontext,
)
from dataclasses import dataclass, replace
from types import UnionType
from typing import Final, TypeVar, cast

from cfr.benchmark import Benchmark, load
from cfr.engine.engine import Served, opened
from cfr.engine.limit import Limiter
from cfr.engine.presets import Price, find_preset
from cfr.engine.pull import Progress
from cfr.engine.refusal import DecodingRefused
from cfr.engine.resolve import ModelRef, resolve, runs_here
from cfr.engine.solve import run_sync
from cfr.error import InputError
from cfr.evaluation.budget import Budget, BudgetSpent
from cfr.evaluation.experiment import Changes, Experiment
from cfr.evaluation.run_options import RunOptions
from cfr.evaluation.runner import Job, prepare, run
from cfr.evaluation.served_model import ServedModel
from cfr.evaluation.store import Store, finished_attempts
from cfr.evaluation.summary import problem_scores
from cfr.evaluation.tally import SeriesResult, most_frequent_reason
from cfr.method import Method
from cfr.protocol import Usage

__all__ = ["Evaluated", "EvaluationWatcher", "aevaluate", "evaluate"]

T = TypeVar("T")

_LOCAL_CONCURRENCY: Final = 4
_MOST_CONCURRENCY: Final = 256
_FIRST_CONCURRENCY: Final = 16


_DEFAULTS: Final = RunOptions()


class EvaluationWatcher:
    """Is told how an evaluation gets on. Override what is of interest."""

    def fetching(self, model: str) -> AbstractContextManager[Progress]:  # noqa: ARG002
        """Surround the fetching of a model file with a function that hears how far it is."""
        return nullcontext(lambda _done, _total, _doing: None)

    def running(
        self,
        jobs: Sequence[Job],  # noqa: ARG002
        limiters: Sequence[Limiter],  # noqa: ARG002
    ) -> AbstractAsyncContextManager[None]:
        """Surround the run; the tallies of ``jobs`` go on while it lasts."""
        return nullcontext()

    def adapted(self, model: str, change: str) -> None:
        """Hear that a model refused a setting, and what all its series do instead."""


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


async def aevaluate(
    benchmarks: Experiment | str | Benchmark | Sequence[str | Benchmark],
    methods: str | Method | Sequence[str | Method] | None = None,
    *,
    runs: int | None = None,
    engine: Served | None = None,
    model: ModelRef | str | None = None,
    options: RunOptions = _DEFAULTS,
    watcher: EvaluationWatcher = _SILENT,
) -> Evaluated:
    """Run methods on benchmarks, with an engine or with the model that is named.

    A whole grid (several models, temperatures, seeds) is an ``Experiment``. An engine that is not
    open yet is opened, and closed again.
    """
    ref = model if isinstance(model, ModelRef) else ModelRef(model)
    grid = isinstance(benchmarks, Experiment)
    experiment = benchmarks if grid else Experiment()
    changes = Changes(
        benchmarks=None if grid else _several(benchmarks, str | Benchmark),
        methods=None if methods is None else _several(methods, str | Method),
        models=(ref.model,) if ref.model else None,
        runs=runs,
    )
    return await _Evaluation(experiment.changed(changes), ref, options, watcher).run(engine)


def evaluate(
    benchmarks: Experiment | str | Benchmark | Sequence[str | Benchmark],
    methods: str | Method | Sequence[str | Method] | None = None,
    *,
    runs: int | None = None,
    engine: Served | None = None,
    model: ModelRef | str | None = None,
    options: RunOptions = _DEFAULTS,
) -> Evaluated:
    """Run methods on benchmarks from ordinary code, a notebook included; see ``aevaluate``."""
    return run_sync(
        aevaluate(benchmarks, methods, runs=runs, engine=engine, model=model, options=options)
    )


class _Evaluation:
    """One run of an experiment: its engines, its limits, its budget."""

    def __init__(
        self,
        experiment: Experiment,
        ref: ModelRef,
        options: RunOptions,
        watcher: EvaluationWatcher,
    ) -> None:
        self._experiment = experiment
        self._ref = ref
        self._options = options
        self._watcher = watcher
        self._budget = Budget(options.max_tokens_total, options.max_cost)
        self._limiters: list[Limiter] = []

    async def run(self, engine: Served | None) -> Evaluated:
        """Make all missing attempts."""
        started = time.monotonic()
        benchmarks = _told_apart([self._load(one) for one in self._experiment.benchmarks])
        with Store(self._options.store) as store, store.exclusively():
            async with AsyncExitStack() as engines:
                models = await self._models(engines, engine)
                jobs, stopped = await self._complete(store, models, benchmarks)
            series = tuple(_result(store, job) for job in jobs)
        seconds = time.monotonic() - started
        return Evaluated(self._options.store, series, seconds, stopped or _missing(series))

    def _load(self, source: str | Benchmark) -> Benchmark:
        benchmark = load(source) if isinstance(source, str) else source
        return replace(benchmark, problems=benchmark.problems[: self._options.limit])

    async def _models(self, engines: AsyncExitStack, given: Served | None) -> list[ServedModel]:
        if given is None:
            return [await self._open(engines, model) for model in self._experiment.models]
        served = await engines.enter_async_context(opened(given))
        limiter = self._limiter(_MOST_CONCURRENCY, _FIRST_CONCURRENCY)
        return [ServedModel(served, limiter, self._price(served.model))]

    async def _open(self, engines: AsyncExitStack, model: str) -> ServedModel:
        ref = replace(self._ref, model=model or None)
        here = runs_here(ref)
        most = _LOCAL_CONCURRENCY if here else _MOST_CONCURRENCY
        concurrency = self._options.concurrency or most
        price = self._price(model)
        with self._watcher.fetching(model or "model") as progress:
            bounds = self._options.bounds
            opening = resolve(ref, bounds=bounds, concurrency=concurrency, progress=progress)
        served = await engines.enter_async_context(opening)
        return ServedModel(served, self._limiter(most, None if here else _FIRST_CONCURRENCY), price)

    def _limiter(self, most: int, start: int | None) -> Limiter:
        # A number that somebody gave is taken at its word; otherwise the limiter starts low and
        # grows until the endpoint pushes back.
        chosen = self._options.concurrency
        limiter = Limiter(
            chosen or most,
            None if chosen else start,
            requests_per_minute=self._options.requests_per_minute,
            tokens_per_minute=self._options.tokens_per_minute,
        )
        self._limiters.append(limiter)
        return limiter

    def _jobs(self, store: Store, model: ServedModel, benchmarks: list[Benchmark]) -> list[Job]:
        runs, budget = self._experiment.runs, self._budget if self._options.is_bounded else None
        return [
            prepare(store, one, benchmark.problems, runs, model.engine(one.decoding, budget))
            for benchmark in benchmarks
            for one in model.series(self._experiment, benchmark)
        ]

    def _price(self, model: str) -> Price | None:
        preset = find_preset(model)
        price = preset.price if preset else None
        if price is None and self._options.max_cost is not None:
            raise InputError(
                f"model {model or 'without a name'}: --max-cost needs its price; write it into a "
                "models.toml of your own and name that in CFR_MODELS"
            )
        return price

    async def _complete(
        self, store: Store, models: list[ServedModel], benchmarks: list[Benchmark]
    ) -> tuple[list[Job], str]:
        """Make all attempts; where a model refuses a setting, in other series without it."""
        while True:
            jobs = [job for model in models for job in self._jobs(store, model, benchmarks)]
            try:
                await self._work(store, jobs)
            except BudgetSpent as spent:
                return jobs, str(spent)
            except DecodingRefused as refused:
                if not any(model.adapt(refused) for model in models):
                    raise
                store.withdraw([one.registered.series for one in jobs])
                self._watcher.adapted(refused.model, refused.change)
            else:
                return jobs, ""

    async def _work(self, store: Store, jobs: list[Job]) -> None:
        # More attempts than calls: while one waits for the disk or the grader, another asks.
        width = 2 * sum(limiter.most for limiter in self._limiters)
        async with self._watcher.running(jobs, self._limiters):
            await run(store, jobs, width)


def _several(given: T | Sequence[T], kind: UnionType) -> tuple[T, ...]:
    """Take one thing for a list of one."""
    return (cast("T", given),) if isinstance(given, kind) else tuple(cast("Sequence[T]", given))


def _told_apart(benchmarks: list[Benchmark]) -> list[Benchmark]:
    names = [benchmark.name for benchmark in benchmarks]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise InputError(f"benchmark {twice}: two have this name; rename one, or name it once")
    return benchmarks


def _result(store: Store, job: Job) -> SeriesResult:
    numbers = [job.registered.problems[problem.id] for problem in job.problems]
    made = finished_attempts(job.registered, numbers, job.runs)
    scores = problem_scores(store, *made).get(job.registered.series, Counter())
    return SeriesResult(job.series, job.tally, scores)


def _missing(series: Sequence[SeriesResult]) -> str:
    failed = sum(one.tally.failed for one in series)
    if not failed:
        return ""
    total = sum(one.tally.total for one in series)
    reason, count = most_frequent_reason(series)
    said = f"{failed} of {total} attempts failed and are not scored"
    return f"{said}, {count} of them with: {reason}; run the same command again"
