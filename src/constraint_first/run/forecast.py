"""Bounds on the tokens and calls of an attempt, found by running it on made-up replies.

A method is a generator, so it can be run without a model. The calls that it yields show how many
there are, how long their prompts are and how long replies may be.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from functools import reduce
from itertools import islice
from math import ceil
from typing import Final, Literal, NamedTuple

import sqlalchemy as sa

from constraint_first.benchmark.registry import Benchmark
from constraint_first.method.method import Method
from constraint_first.model.limit import PriceList
from constraint_first.model.resolve import ModelRef, known_context, price_list, served_name
from constraint_first.model.wire import Decoding
from constraint_first.problem import Json, Problem
from constraint_first.protocol import Call, Completion, Output, Usage
from constraint_first.run.grid import Changes, Experiment, RunOptions, name_in_folder
from constraint_first.store import database as schema
from constraint_first.store.database import open_database, patiently, sqlite_path
from constraint_first.store.query import EarlierUse, attempt_times, earlier_use, finished_keys
from constraint_first.store.series import Series, find_registered, play
from constraint_first.store.store import Store

_CHARACTERS_A_TOKEN: Final = 3
"""The limiter's estimate, too: few texts have fewer characters per token."""


class Span(NamedTuple):
    """Bounds of a number; ``least`` equals ``most`` if it is known exactly."""

    least: float
    most: float

    def plus(self, other: Span) -> Span:
        return Span(self.least + other.least, self.most + other.most)

    def times(self, factor: float) -> Span:
        return Span(self.least * factor, self.most * factor)

    def around(self, other: Span) -> Span:
        return Span(min(self.least, other.least), max(self.most, other.most))


_NOTHING: Final = Span(0, 0)


@dataclass(frozen=True, slots=True)
class Demand:
    """The demand of attempts: calls, tokens and money."""

    calls: Span = _NOTHING
    input: Span = _NOTHING
    output: Span = _NOTHING
    dollars: Span = _NOTHING
    complete: bool = True
    """False if a model has no price, so that its cost is missing from the dollars."""

    def plus(self, other: Demand) -> Demand:
        complete = self.complete and other.complete
        return Demand(*(one.plus(two) for one, two in self._beside(other)), complete=complete)

    def around(self, other: Demand) -> Demand:
        complete = self.complete and other.complete
        return Demand(*(one.around(two) for one, two in self._beside(other)), complete=complete)

    def times(self, factor: float) -> Demand:
        return Demand(*(one.times(factor) for one in self._spans()), complete=self.complete)

    def _spans(self) -> tuple[Span, ...]:
        return self.calls, self.input, self.output, self.dollars

    def _beside(self, other: Demand) -> Iterator[tuple[Span, Span]]:
        return zip(self._spans(), other._spans(), strict=True)


@dataclass(frozen=True, slots=True)
class CallSettings:
    decoding: Decoding = field(default_factory=Decoding)
    system: str = ""
    prices: PriceList = field(default_factory=PriceList)
    contexts: Mapping[str | None, int | None] = field(
        default_factory=dict["str | None", "int | None"]
    )
    """The known context lengths of models in tokens, by their names in calls."""

    def longest_reply(self, call: Call) -> int:
        limits = (call.max_tokens, self.decoding.max_tokens, self.contexts.get(call.model))
        return min(limit for limit in limits if limit)


_SPEC: Final = (
    '{"restrictive": "yes", "raw_constraints": [{"id": "C1", "type": "domain", "description": '
    '"an integer MARK"}], "answer_format": "integer", "final_answer": "2"}'
)
_KINDS: Final[tuple[tuple[Callable[[int], str], Output], ...]] = (
    (lambda _: _SPEC + "\nMARK \\boxed{2}", Output("2")),
    (lambda number: f"{_SPEC}\nMARK \\boxed{{{number}}}", Output("2")),
    (lambda _: "", Output("2")),
    (lambda number: f"MARK \\boxed{{-{2 * number + 1}/2}}", Output("2")),
    (lambda _: f"QUESTION: Of what? MARK\n{_SPEC}", Output("2")),
    (lambda _: "MARK\n```python\nprint(2)\n```", Output("2")),
    (lambda number: f"MARK\n```python\nprint({number})\n```", Output("", "it broke off")),
)
"""Kinds of replies: constraints and an answer, the same or a different one each time; an empty
reply; an answer that breaks a constraint; a question; a program that runs, and one that fails."""


def bound_attempt(method: Method, problem: Problem, settings: CallSettings) -> Demand:
    return reduce(Demand.around, (_play(method, problem, settings, *kind) for kind in _KINDS))


_ANY: Final = Problem("What is 1 + 1?")
_KINDEST: Final = (0, 5)
"""Kinds of replies with which a method ends soonest: all agree, and programs run."""


def needs_more_calls(method: Method, most: int) -> bool:
    """Return whether a method needs more than ``most`` calls even in the best case.

    It is run on a generic problem, so a method that makes more calls for other problems may pass;
    its driver then ends it at the limit, after it has paid for its calls.
    """
    return all(_asks_more(method, most, *_KINDS[kind]) for kind in _KINDEST)


def _asks_more(method: Method, most: int, reply: Callable[[int], str], output: Output) -> bool:
    completion = Completion(reply(1).replace("MARK", ""), usage=Usage(10, 10))
    calls = play(method, _ANY, lambda _call: completion, output, rounds=None)
    return sum(1 for _ in islice(calls, most + 1)) > most


def _play(
    method: Method,
    problem: Problem,
    settings: CallSettings,
    reply: Callable[[int], str],
    output: Output,
) -> Demand:
    """Run an attempt on made-up replies; if it raises, its demand is the sum so far."""
    taken, replies = Demand(), dict[str, int]()

    def answer(call: Call) -> Completion:
        nonlocal taken
        taken = taken.plus(_demand(call, replies, settings))
        mark = f"mark{len(replies)}x"
        replies[mark] = settings.longest_reply(call)
        return Completion(reply(len(replies)).replace("MARK", mark), usage=Usage(10, 10))

    for _ in play(method, problem, answer, output):
        pass
    return taken


def _demand(call: Call, replies: Mapping[str, int], settings: CallSettings) -> Demand:
    said = settings.system + "".join(message.content for message in call.messages)
    prompt = -(-len(said) // _CHARACTERS_A_TOKEN)
    longest = prompt + sum(most for mark, most in replies.items() if mark in said)
    output = settings.longest_reply(call)
    least = settings.prices.cost(Usage(prompt), call.model)
    most = settings.prices.cost(Usage(longest, output), call.model)
    counts = (Span(1, 1), Span(prompt, longest), Span(0, output))
    return Demand(*counts, Span(least.dollars, most.dollars), most.complete)


# Earlier runs of a model in a store: the demand of their attempts, by method and benchmark.


@dataclass(frozen=True, slots=True)
class EarlierRuns:
    uses: Sequence[EarlierUse] = ()
    at_a_time: float = 1.0
    """How many attempts were under way at the same time, on average."""

    def find(self, method: str, benchmark: str | None, prices: PriceList) -> Mean | None:
        """Average a method's attempts on a benchmark, or on all of them; None without attempts."""
        uses = [
            one
            for one in self.uses
            if one.series.method == method and benchmark in (None, one.series.benchmark)
        ]
        if not uses:
            return None
        demand, attempts = Demand(), sum(one.attempts for one in uses)
        for name, used in (pair for one in uses for pair in one.by_model.items()):
            cost = prices.cost(used.usage, name)
            counts = (used.calls, used.usage.input, used.usage.output, cost.dollars)
            spans = (Span(count, count) for count in counts)
            demand = demand.plus(Demand(*spans, complete=cost.complete))
        seconds = sum(one.seconds for one in uses) / attempts / self.at_a_time
        return Mean(demand.times(1 / attempts), seconds)


class Mean(NamedTuple):
    demand: Demand
    seconds: float


def read_earlier_runs(store: Store, model: str) -> EarlierRuns:
    """Read the demand of finished attempts, without series whose tokens were not all counted."""
    return EarlierRuns(tuple(earlier_use(store, model)), _at_a_time(attempt_times(store, model)))


def _at_a_time(spans: Iterable[tuple[float, float]]) -> float:
    """Divide the time of all attempts by the time in which any was under way."""
    total = busy = 0.0
    until = float("-inf")
    for start, end in sorted(spans):
        total += end - start
        busy += max(0.0, end - max(start, until))
        until = max(until, end)
    return total / busy if busy else 1.0


# A forecast of an evaluation: the missing attempts and their demand, before any call.
#
# It is based on earlier runs of the same model, or on bounds if there are none. It makes no call,
# and neither creates nor changes a store.

Basis = Literal["same set", "other sets", "bounds"]
"""The basis of a forecast: earlier attempts on the same set or on others, or bounds from calls."""

_MOST_PLAYED: Final = 100
"""Problems of a benchmark from which bounds are computed."""
_SERIES_FIELDS: Final = ("calls", "input_tokens", "output_tokens")


@dataclass(frozen=True, slots=True)
class SeriesForecast:
    series: Series
    problems: int
    runs: int
    missing: int
    demand: Demand
    basis: Basis
    has_prices: bool
    seconds: float | None = None
    """The duration of this series alone, if earlier runs show it."""

    def to_json(self) -> dict[str, Json]:
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
    series: tuple[SeriesForecast, ...]

    @property
    def missing(self) -> int:
        return sum(one.missing for one in self.series)

    @property
    def demand(self) -> Demand:
        return reduce(Demand.plus, (one.demand for one in self.series), Demand())

    @property
    def has_prices(self) -> bool:
        return any(one.has_prices for one in self.series)

    @property
    def seconds(self) -> float | None:
        """The duration of all series; None if it is unknown for one of them."""
        known = [one.seconds for one in self.series if one.missing]
        told = [seconds for seconds in known if seconds is not None]
        return sum(told) if len(told) == len(known) else None

    def to_json(self) -> dict[str, Json]:
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
    """Forecast the demand of a grid with the models that it or ``ref`` names."""
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
    """Open the store if it exists, without a write."""
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
        self._earlier = read_earlier_runs(store, self._name) if store else EarlierRuns()

    def all(self, benchmarks: Sequence[Benchmark]) -> Iterator[SeriesForecast]:
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
            if mean := self._earlier.find(series.method, benchmark, self._prices):
                demand = mean.demand.times(missing)
                # The duration of a batch does not depend on the model's speed.
                seconds = None if self._batch.wanted else missing * mean.seconds
                return SeriesForecast(*sized, demand, basis, self._prices.has_prices, seconds)
        demand = self._bounds(series, problems, wanted)
        return SeriesForecast(*sized, demand, "bounds", self._prices.has_prices)

    def _missing(self, series: Series, problems: Sequence[Problem]) -> list[int]:
        runs, store = self._experiment.runs, self._store
        if store is None:
            return [runs] * len(problems)
        with store.reading(), store.database.connect() as connection:
            registered = find_registered(connection, store.url, series, problems)
        if registered is None:
            return [runs] * len(problems)
        finished, numbers = finished_keys(store, registered.series), registered.problems
        return [
            sum((numbers.get(problem.id, 0), run) not in finished for run in range(runs))
            for problem in problems
        ]

    def _bounds(self, series: Series, problems: Sequence[Problem], wanted: Sequence[int]) -> Demand:
        settings = CallSettings(series.decoding, series.system, self._prices, self._contexts)
        asked = [(p, runs) for p, runs in zip(problems, wanted, strict=True) if runs]
        played = asked[:: ceil(len(asked) / _MOST_PLAYED)] if asked else []
        method = series.build()
        bounds = (bound_attempt(method, one, settings).times(runs) for one, runs in played)
        share = sum(wanted) / sum(runs for _, runs in played) if played else 0.0
        return reduce(Demand.plus, bounds, Demand()).times(share)
