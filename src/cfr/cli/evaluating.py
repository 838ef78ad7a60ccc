"""An evaluation from its grid to its last attempt, with what a person sees meanwhile."""

from __future__ import annotations

from contextlib import AsyncExitStack
from dataclasses import dataclass, fields, replace
from typing import Any, Final

from rich.console import Console

from cfr.benchmark import Benchmark, load
from cfr.cli.live import results, watched
from cfr.cli.progress import bytes_bar
from cfr.engine.engine import Decoded, Engine
from cfr.engine.limit import Limited, Limiter
from cfr.engine.presets import Price, find_preset
from cfr.engine.resolve import Wanted, resolve, runs_here
from cfr.error import InputError
from cfr.evaluation.budget import BudgetSpent, Frugal, Purse
from cfr.evaluation.experiment import Experiment
from cfr.evaluation.runner import Job, prepare, run
from cfr.evaluation.store import Store

__all__ = ["Evaluation", "Options"]

_LOCAL_CONCURRENCY: Final = 4
_MOST_CONCURRENCY: Final = 256
_FIRST_CONCURRENCY: Final = 16


@dataclass(frozen=True, slots=True)
class Options:
    """How a grid is run; what it consists of is the experiment's business."""

    store: str
    base_url: str | None
    key_env: str | None
    context: int | None
    limit: int | None
    concurrency: int | None
    requests_per_minute: float | None
    tokens_per_minute: float | None
    max_tokens_total: int | None
    max_cost: float | None
    quiet: bool

    @classmethod
    def read(cls, options: dict[str, Any]) -> Options:
        """Pick the options of a run out of those of the command line."""
        return cls(**{field.name: options[field.name] for field in fields(cls)})


class Evaluation:
    """Runs an experiment; what was done before is not done again."""

    def __init__(self, experiment: Experiment, options: Options) -> None:
        self._experiment = experiment
        self._options = options
        self._console = Console(stderr=True, quiet=options.quiet)
        self._purse = Purse(options.max_tokens_total, options.max_cost)
        self._limiters: list[Limiter] = []

    async def run(self) -> str:
        """Make all missing attempts; return why some are still missing, or nothing."""
        benchmarks = _told_apart([self._load(name) for name in self._experiment.benchmarks])
        with Store(self._options.store) as store, store.exclusively():
            async with AsyncExitStack() as engines:
                jobs = [
                    job
                    for model in self._experiment.models
                    for job in await self._jobs(store, engines, model, benchmarks)
                ]
                stopped = await self._work(store, jobs)
        Console().print(results(jobs))
        return stopped or _missing(jobs)

    def _load(self, name: str) -> Benchmark:
        benchmark = load(name)
        return replace(benchmark, problems=benchmark.problems[: self._options.limit])

    async def _jobs(
        self, store: Store, engines: AsyncExitStack, model: str, benchmarks: list[Benchmark]
    ) -> list[Job]:
        options = self._options
        wanted = Wanted(model or None, options.base_url, options.key_env, options.context)
        here = runs_here(wanted)
        most = _LOCAL_CONCURRENCY if here else _MOST_CONCURRENCY
        concurrency = options.concurrency or most
        with bytes_bar(model or "model", quiet=options.quiet) as report:
            opening = resolve(wanted, concurrency=concurrency, progress=report)
        served = await engines.enter_async_context(opening)
        # A number that somebody gave is taken at its word; otherwise the endpoint is felt out.
        start = None if options.concurrency or here else _FIRST_CONCURRENCY
        limiter = Limiter(
            concurrency,
            start,
            requests_per_minute=options.requests_per_minute,
            tokens_per_minute=options.tokens_per_minute,
        )
        self._limiters.append(limiter)
        price = self._price(model)
        return [
            prepare(
                store,
                series,
                benchmark.problems,
                self._experiment.runs,
                self._engine(Decoded(served, series.decoding), limiter, price),
            )
            for benchmark in benchmarks
            for series in self._experiment.series(
                benchmark.name, served.model, benchmark.system_prompt
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

    def _engine(self, decoded: Decoded, limiter: Limiter, price: Price | None) -> Engine:
        limited = Limited(decoded, limiter)
        if self._options.max_tokens_total is None and self._options.max_cost is None:
            return limited
        return Frugal(limited, self._purse, price)

    async def _work(self, store: Store, jobs: list[Job]) -> str:
        # More attempts than calls: while one waits for the disk or the grader, another asks.
        width = 2 * sum(limiter.most for limiter in self._limiters)
        try:
            async with watched(jobs, self._limiters, self._console):
                await run(store, jobs, width)
        except BudgetSpent as spent:
            return str(spent)
        return ""


def _told_apart(benchmarks: list[Benchmark]) -> list[Benchmark]:
    names = [benchmark.name for benchmark in benchmarks]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise InputError(f"benchmark {twice}: two have this name; rename one, or name it once")
    return benchmarks


def _missing(jobs: list[Job]) -> str:
    failed = sum(job.tally.failed for job in jobs)
    if not failed:
        return ""
    total = sum(job.tally.total for job in jobs)
    refused = next((f" ({job.tally.refused})" for job in jobs if job.tally.refused), "")
    said = f"{failed} of {total} attempts failed and are not scored{refused}"
    return f"{said}; run the same command again"
