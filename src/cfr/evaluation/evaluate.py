"""An evaluation as a library call: from a grid of series to its last attempt.

``cfr eval`` is this call with a table on the terminal. What was done before is not done again.
"""

from __future__ import annotations

import time
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
from cfr.engine.engine import Decoded, Decoding, Engine, Served, opened
from cfr.engine.limit import Limited, Limiter
from cfr.engine.presets import Price, find_preset
from cfr.engine.pull import Progress
from cfr.engine.resolve import ModelRef, resolve, runs_here
from cfr.engine.solve import run_sync
from cfr.error import InputError
from cfr.evaluation.budget import Budget, Budgeted, BudgetSpent
from cfr.evaluation.experiment import Changes, Experiment
from cfr.evaluation.runner import Job, prepare, run
from cfr.evaluation.store import Store
from cfr.evaluation.tally import SeriesResult, most_frequent_reason
from cfr.method import Method
from cfr.protocol import Usage

__all__ = ["Evaluated", "EvaluationWatcher", "RunOptions", "aevaluate", "evaluate"]

T = TypeVar("T")

_LOCAL_CONCURRENCY: Final = 4
_MOST_CONCURRENCY: Final = 256
_FIRST_CONCURRENCY: Final = 16


@dataclass(frozen=True, slots=True)
class RunOptions:
    """How a grid is run: where it is stored, how fast it may go, what it may spend."""

    store: str = "runs.db"
    """A SQLite file, or the address of a PostgreSQL database."""
    limit: int | None = None
    """Only the first so many problems of each benchmark."""
    concurrency: int | None = None
    """Most calls at the same time; without it the number grows as far as the endpoint bears."""
    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None
    max_tokens_total: int | None = None
    """Nothing is asked that could bring all calls together above so many tokens."""
    max_cost: float | None = None
    """Likewise in US dollars; needs the model's price."""


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


@dataclass(frozen=True, slots=True)
class _Source:
    """A model that is being served, how fast it may be asked, and what it costs."""

    served: Served
    limiter: Limiter
    price: Price | None


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
                jobs = [
                    job
                    for source in await self._sources(engines, engine)
                    for job in self._jobs(store, source, benchmarks)
                ]
                stopped = await self._work(store, jobs)
        series = tuple(job.result for job in jobs)
        seconds = time.monotonic() - started
        return Evaluated(self._options.store, series, seconds, stopped or _missing(series))

    def _load(self, source: str | Benchmark) -> Benchmark:
        benchmark = load(source) if isinstance(source, str) else source
        return replace(benchmark, problems=benchmark.problems[: self._options.limit])

    async def _sources(self, engines: AsyncExitStack, given: Served | None) -> list[_Source]:
        if given is None:
            return [await self._open(engines, model) for model in self._experiment.models]
        served = await engines.enter_async_context(opened(given))
        limiter = self._limiter(_MOST_CONCURRENCY, _FIRST_CONCURRENCY)
        return [_Source(served, limiter, self._price(served.model))]

    async def _open(self, engines: AsyncExitStack, model: str) -> _Source:
        ref = replace(self._ref, model=model or None)
        here = runs_here(ref)
        most = _LOCAL_CONCURRENCY if here else _MOST_CONCURRENCY
        concurrency = self._options.concurrency or most
        price = self._price(model)
        with self._watcher.fetching(model or "model") as progress:
            opening = resolve(ref, concurrency=concurrency, progress=progress)
        served = await engines.enter_async_context(opening)
        return _Source(served, self._limiter(most, None if here else _FIRST_CONCURRENCY), price)

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

    def _jobs(self, store: Store, source: _Source, benchmarks: list[Benchmark]) -> list[Job]:
        return [
            prepare(
                store,
                series,
                benchmark.problems,
                self._experiment.runs,
                self._engine(source, series.decoding),
            )
            for benchmark in benchmarks
            for series in self._experiment.series(
                benchmark.name, source.served.model, benchmark.system_prompt
            )
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

    def _engine(self, source: _Source, decoding: Decoding) -> Engine:
        limited = Limited(Decoded(source.served, decoding), source.limiter)
        if self._options.max_tokens_total is None and self._options.max_cost is None:
            return limited
        return Budgeted(limited, self._budget, source.price)

    async def _work(self, store: Store, jobs: list[Job]) -> str:
        # More attempts than calls: while one waits for the disk or the grader, another asks.
        width = 2 * sum(limiter.most for limiter in self._limiters)
        try:
            async with self._watcher.running(jobs, self._limiters):
                await run(store, jobs, width)
        except BudgetSpent as spent:
            return str(spent)
        return ""


def _several(given: T | Sequence[T], kind: UnionType) -> tuple[T, ...]:
    """Take one thing for a list of one."""
    return (cast("T", given),) if isinstance(given, kind) else tuple(cast("Sequence[T]", given))


def _told_apart(benchmarks: list[Benchmark]) -> list[Benchmark]:
    names = [benchmark.name for benchmark in benchmarks]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise InputError(f"benchmark {twice}: two have this name; rename one, or name it once")
    return benchmarks


def _missing(series: Sequence[SeriesResult]) -> str:
    failed = sum(one.tally.failed for one in series)
    if not failed:
        return ""
    total = sum(one.tally.total for one in series)
    reason, count = most_frequent_reason(series)
    said = f"{failed} of {total} attempts failed and are not scored"
    return f"{said}, {count} of them with: {reason}; run the same command again"
