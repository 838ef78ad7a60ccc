"""A forecast of an evaluation: what is missing, and what that would take, before anything is asked.

What earlier runs of the same model took tells it; where there are none, bounds do. Nothing is asked
and no store is made or changed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from math import ceil
from typing import Final, Literal

import sqlalchemy as sa

from constraint_first.benchmark import Benchmark
from constraint_first.engine.presets import price_list
from constraint_first.engine.resolve import ModelRef, known_context, served_name
from constraint_first.evaluation import schema
from constraint_first.evaluation.batch.pool import name_in_folder
from constraint_first.evaluation.call_bound import CallSettings, Demand, bound_attempt
from constraint_first.evaluation.database import open_database, patiently, sqlite_path
from constraint_first.evaluation.earlier_run import EarlierRuns, read_earlier_runs
from constraint_first.evaluation.experiment import Changes, Experiment
from constraint_first.evaluation.registration import find_registered
from constraint_first.evaluation.run_options import RunOptions
from constraint_first.evaluation.series import Series
from constraint_first.evaluation.store import Store
from constraint_first.problem import Json, Problem

__all__ = ["Basis", "Forecast", "SeriesForecast", "forecast"]

Basis = Literal["same set", "other sets", "bounds"]
"""What a forecast rests on: earlier attempts at the same set or at others, or what calls allow."""

_MOST_PLAYED: Final = 100
"""Problems of a benchmark that bounds are worked out from."""
_SERIES_FIELDS: Final = ("calls", "input_tokens", "output_tokens")


@dataclass(frozen=True, slots=True)
class SeriesForecast:
    """What is missing of a series, and what that would take."""

    series: Series
    problems: int
    runs: int
    missing: int
    demand: Demand
    basis: Basis
    has_prices: bool
    seconds: float | None = None
    """How long it would take by itself, where earlier runs tell it."""

    def to_json(self) -> dict[str, Json]:
        """Describe it for programs."""
        return {
            "benchmark": self.series.benchmark,
            "method": self.series.method,
            "model": self.series.model,
            "decoding": self.series.settings,
            "problems": self.problems,
            "runs": self.runs,
            "stored": self.problems * self.runs - self.missing,
            "attempts": self.missing,
            "basis": self.basis,
            **_amounts(self.demand, self.seconds, has_prices=self.has_prices),
        }


@dataclass(frozen=True, slots=True)
class Forecast:
    """What an evaluation would take, series by series."""

    series: tuple[SeriesForecast, ...]

    @property
    def missing(self) -> int:
        """Attempts that would be made."""
        return sum(one.missing for one in self.series)

    @property
    def demand(self) -> Demand:
        """What all of them would take."""
        found = Demand()
        for one in self.series:
            found = found.plus(one.demand)
        return found

    @property
    def has_prices(self) -> bool:
        """Whether any of the models has a price."""
        return any(one.has_prices for one in self.series)

    @property
    def seconds(self) -> float | None:
        """How long it would take; None where nothing earlier tells it of some series."""
        known = [one.seconds for one in self.series if one.missing]
        told = [seconds for seconds in known if seconds is not None]
        return sum(told) if len(told) == len(known) else None

    def to_json(self) -> dict[str, Json]:
        """Describe it for programs."""
        total = _amounts(self.demand, self.seconds, has_prices=self.has_prices)
        return {
            "series": [one.to_json() for one in self.series],
            "total": {"attempts": self.missing, **total},
        }


def _amounts(demand: Demand, seconds: float | None, *, has_prices: bool) -> dict[str, Json]:
    counts = (demand.calls, demand.input, demand.output)
    found: dict[str, Json] = {
        name: {"least": ceil(span.least), "most": ceil(span.most)}
        for name, span in zip(_SERIES_FIELDS, counts, strict=True)
    }
    if has_prices:
        found["dollars"] = {"least": demand.dollars.least, "most": demand.dollars.most}
        found["dollars_complete"] = demand.complete
    return found | {"seconds": seconds}


def forecast(experiment: Experiment, ref: ModelRef, options: RunOptions) -> Forecast:
    """Say what a grid would take with the models that it or ``ref`` names."""
    grid = experiment.changed(Changes(models=(ref.model,) if ref.model else None))
    benchmarks = grid.load_benchmarks(options.limit)
    with _existing_store(options.store) or nullcontext() as store:
        found = (
            one
            for model in grid.models
            for made in [_Forecasting(grid, replace(ref, model=model or None), store, options)]
            for one in made.all(benchmarks)
        )
        return Forecast(tuple(found))


def _existing_store(url: str) -> Store | None:
    """Open the store if it is there, and leave it as it is."""
    path = sqlite_path(url)
    if path is not None:
        return Store(url, existing=True) if path.exists() else None
    database = open_database(url, existing=True)
    try:
        there = patiently(url, "opened", lambda: sa.inspect(database).has_table(schema.store.name))
    finally:
        database.dispose()
    return Store(url, existing=True) if there else None


class _Forecasting:
    """The forecast of one model."""

    def __init__(
        self, experiment: Experiment, ref: ModelRef, store: Store | None, options: RunOptions
    ) -> None:
        self._experiment = experiment
        self._store = store
        self._batch = options.batch
        self._name = served_name(ref) if self._batch.folder is None else name_in_folder(ref.model)
        others = experiment.other_models()
        factor = self._batch.price_factor if self._batch.wanted else 1.0
        self._prices = price_list(ref.model or self._name, others).scaled(factor)
        self._contexts = {None: known_context(ref)} | {
            name: known_context(ref.beside(name)) for name in others
        }
        earlier = read_earlier_runs(store, self._name) if store else EarlierRuns()
        self._earlier: EarlierRuns = earlier

    def all(self, benchmarks: Sequence[Benchmark]) -> Iterator[SeriesForecast]:
        """Forecast every series on these benchmarks."""
        for benchmark in benchmarks:
            named = self._experiment.series(benchmark, self._name)
            for series in dict.fromkeys(named):
                yield self._one(series, benchmark.problems)

    def _one(self, series: Series, problems: Sequence[Problem]) -> SeriesForecast:
        wanted = self._missing(series, problems)
        missing = sum(wanted)
        sized = (series, len(problems), self._experiment.runs, missing)
        tried: tuple[tuple[Basis, str | None], ...]
        tried = (("same set", series.benchmark), ("other sets", None))
        for basis, benchmark in tried:
            if (use := self._earlier.find(series.method, benchmark)) is not None:
                demand = use.demand(self._prices).times(missing)
                seconds = missing * use.seconds / use.attempts / self._earlier.at_a_time
                seconds = None if self._batch.wanted else seconds  # a provider takes its day
                return SeriesForecast(*sized, demand, basis, self._prices.has_prices, seconds)
        demand = self._bounds(series, problems, wanted)
        return SeriesForecast(*sized, demand, "bounds", self._prices.has_prices)

    def _missing(self, series: Series, problems: Sequence[Problem]) -> list[int]:
        """Count the runs that are missing of each problem."""
        runs, store = self._experiment.runs, self._store
        if store is None:
            return [runs] * len(problems)
        with store.reading(), store.database.connect() as connection:
            registered = find_registered(connection, store.url, series, problems)
        if registered is None:
            return [runs] * len(problems)
        finished, numbers = store.finished(registered.series), registered.problems
        return [
            sum((numbers.get(problem.id, 0), run) not in finished for run in range(runs))
            for problem in problems
        ]

    def _bounds(self, series: Series, problems: Sequence[Problem], wanted: Sequence[int]) -> Demand:
        settings = CallSettings(series.decoding, series.system, self._prices, self._contexts)
        asked = [(p, runs) for p, runs in zip(problems, wanted, strict=True) if runs]
        played = asked[:: ceil(len(asked) / _MOST_PLAYED)] if asked else []
        method, found = series.build(), Demand()
        for problem, runs in played:
            found = found.plus(bound_attempt(method, problem, settings).times(runs))
        share = sum(wanted) / sum(runs for _, runs in played) if played else 0.0
        return found.times(share)
