"""The models of an evaluation: each opened once, with limits and a price of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, AsyncExitStack
from dataclasses import dataclass, replace
from typing import Any, Final

import orjson
import sqlalchemy as sa

from constraint_first.benchmark.registry import Benchmark
from constraint_first.error import CfrError, InputError
from constraint_first.file.safe import expand_user, storable_json
from constraint_first.method.registry import Wording, make, plain_name, reword
from constraint_first.model.client import Client, OpenAI, ServedModel
from constraint_first.model.connection import Tell
from constraint_first.model.limit import Limiter, Price
from constraint_first.model.local import Progress
from constraint_first.model.replicas import Balanced
from constraint_first.model.resolve import (
    ModelRef,
    accompanied,
    endpoint_addresses,
    find_price,
    require_known,
    resolve,
    runs_here,
    served_name,
)
from constraint_first.model.transport import Endpoint, without_secrets
from constraint_first.model.wire import Decoding, Served
from constraint_first.problem import Json, Prompt
from constraint_first.run.budget import no_price
from constraint_first.run.grid import Experiment, RunOptions
from constraint_first.store.series import Series, fingerprint, read_prompts
from constraint_first.store.store import Store

_LOCAL_CONCURRENCY: Final = 4
_MOST_CONCURRENCY: Final = 256
_FIRST_CONCURRENCY: Final = 16


def series_of(model: ServedModel, experiment: Experiment, benchmark: Benchmark) -> list[Series]:
    """List the series of a benchmark, all decoded alike and in a way that the model takes.

    A series is named after the decoding that it really has. Where a whole sweep comes down to
    the same one it is run once.
    """
    named = experiment.series(benchmark, model.served.model)
    return list(dict.fromkeys(replace(one, decoding=model.decoded(one.decoding)) for one in named))


class ModelPool:
    """Opens the models of a grid, and those that its methods name beside them.

    ``stack`` closes them; ``fetching`` surrounds the fetching of a model file; ``tell`` takes lines
    about an endpoint for the user.
    """

    def __init__(
        self,
        options: RunOptions,
        stack: AsyncExitStack,
        fetching: Callable[[str], AbstractContextManager[Progress]],
        tell: Tell = lambda _line: None,
    ) -> None:
        self._options = options
        self._stack = stack
        self._fetching = fetching
        self._tell = tell
        self.limiters: list[Limiter] = []

    async def open(self, experiment: Experiment, ref: ModelRef) -> list[ServedModel]:
        """Open the models of a grid, which are served as ``ref`` says."""
        grid = _grid(experiment, ref)
        for one in _refs(grid):  # before any is fetched
            require_known(one)
        return await self._open_all(grid)

    async def open_one(self, ref: ModelRef, beside: Mapping[str, ModelRef]) -> ServedModel:
        return (await self._open_all({ref: beside}))[0]

    def name(self, experiment: Experiment, ref: ModelRef) -> list[ServedModel]:
        """Name the models of a grid and open none: workers elsewhere do."""
        grid = _grid(experiment, ref)
        return _join(grid, {one: self._named(one) for one in _refs(grid)})

    async def open_engine(self, engine: Served | Client, names: Sequence[str]) -> ServedModel:
        """Open an engine that was given as an object, and those of some names beside it."""
        given = await self._stack.enter_async_context(accompanied(engine, names))
        main = self._given(given.main, given.model)
        others = {
            name: main if one is given.main else self._given(one, name)
            for name, one in given.others.items()
        }
        return replace(main, others=others)

    async def _open_all(self, grid: _Grid) -> list[ServedModel]:
        return _join(grid, {one: await self._open(one) for one in _refs(grid)})

    def _named(self, ref: ModelRef) -> ServedModel:
        name = served_name(ref)
        if not name:
            raise InputError(
                "the endpoint's model has no name here, and workers elsewhere must know what they "
                "ask; name it with --model"
            )
        never_open = OpenAI(Endpoint("", name))
        return ServedModel(never_open, None, self._price(ref.model or name), ref=ref)

    def _given(self, served: Served, name: str) -> ServedModel:
        limiter = self._limit(served, _MOST_CONCURRENCY, _FIRST_CONCURRENCY)
        return ServedModel(served, limiter, self._price(name))

    async def _open(self, ref: ModelRef) -> ServedModel:
        here = runs_here(ref)
        most = _LOCAL_CONCURRENCY if here else _MOST_CONCURRENCY
        concurrency = self._options.concurrency or most
        name = ref.model or served_name(ref)
        price = self._price(name) if name else None
        with self._fetching(ref.model or "model") as progress:
            bounds = self._options.bounds
            opening = resolve(ref, bounds=bounds, concurrency=concurrency, progress=progress)
        served = await self._stack.enter_async_context(opening)
        if not name:  # the endpoint has said meanwhile what it serves
            price = self._price(served.model)
        limiter = self._limit(served, most, None if here else _FIRST_CONCURRENCY)
        return ServedModel(served, limiter, price, ref=ref)

    def _limit(self, served: Served, most: int, start: int | None) -> Limiter | None:
        """Make the limiter of a model; None for one whose endpoints have one each."""
        if isinstance(served, OpenAI | Balanced):
            served.report_to(self._tell)
        if not isinstance(served, Balanced):
            return self._limiter(most, start)
        served.balancer.limit(lambda: self._limiter(most, start))
        return None

    def _limiter(self, most: int, start: int | None) -> Limiter:
        # A chosen number is the size from the start; otherwise the limiter starts low and grows
        # until the endpoint pushes back.
        chosen = self._options.concurrency
        limiter = Limiter(
            chosen or most,
            None if chosen else start,
            requests_per_minute=self._options.requests_per_minute,
            tokens_per_minute=self._options.tokens_per_minute,
        )
        self.limiters.append(limiter)
        return limiter

    def _price(self, model: str) -> Price | None:
        price = find_price(model)
        if price is None and self._options.max_cost is not None:
            raise no_price(model)
        return price


_Grid = Mapping[ModelRef, Mapping[str, ModelRef]]
"""The models of a grid, and those that its methods name beside each."""


def _grid(experiment: Experiment, ref: ModelRef) -> _Grid:
    if ref.key and not ref.base_url and len(experiment.models) > 1:
        raise InputError(
            f"models {', '.join(experiment.models)}: one key is given and no address; name the "
            "endpoint that the key is for, or put each model's key into its own variable"
        )
    names = experiment.other_models()
    mains = {model: replace(ref, model=model or None) for model in experiment.models}
    listed = {name: mains[name] for name in names if name in mains}
    return {main: {name: main.beside(name) for name in names} | listed for main in mains.values()}


def _refs(grid: _Grid) -> list[ModelRef]:
    others = (one for beside in grid.values() for one in beside.values())
    return list(dict.fromkeys((*grid, *others)))


def _join(grid: _Grid, served: Mapping[ModelRef, ServedModel]) -> list[ServedModel]:
    return [
        replace(served[main], others={name: served[one] for name, one in beside.items()})
        for main, beside in grid.items()
    ]


# How a series is run, kept in a shared store, so that a worker elsewhere can run it too.
#
# The store has the method's name, own prompts, problems, decoding and system prompt already.
# Beside them it keeps how the models are named and where they are served. Keys it never has: they
# come from the environment and the presets of each machine, and so do prices.


class Unrunnable(InputError):
    """A series that cannot be run on this machine; its words say what is missing."""


@dataclass(frozen=True, slots=True)
class SeriesModels:
    """The models of a series: its own, and those that its method names beside it."""

    main: ModelRef
    beside: tuple[tuple[str, ModelRef], ...] = ()


@dataclass(frozen=True, slots=True)
class PendingSeries:
    """A series of which attempts are to be made, as a store describes it."""

    number: int
    benchmark: str
    method: str
    model: str
    decoding: Mapping[str, Any]
    fingerprint: str
    prompts: Mapping[str, str]
    models: Mapping[str, Any] | None
    budget: str | None

    def __str__(self) -> str:
        return f"series {self.number} ({self.method} on {self.benchmark} with {self.model})"

    def build(self) -> Series:
        try:
            method = make(plain_name(self.method))
        except CfrError as error:
            raise Unrunnable(
                f"{error}; a method or policy of one's own must be on this machine too, and one "
                "that was given as an object runs only where it was made"
            ) from None
        own = tuple(Prompt(name, text, replaced=True) for name, text in self.prompts.items())
        method = reword(method, Wording("", own)) if own else method
        if fingerprint(method) != self.fingerprint:
            raise Unrunnable(
                "its method asks otherwise here than where it was entered; install the same "
                "version of cfr and of what it uses"
            )
        settings = dict(self.decoding)
        system = settings.pop("system", "")
        return Series(self.benchmark, self.method, self.model, Decoding(**settings), system, method)

    def find_models(self, instead: ModelRef) -> SeriesModels:
        """Say how its models are to be named here; an address that is given stands instead."""
        if self.models is None:
            raise Unrunnable("its engine was given as an object; it runs only where it was made")
        main = _read_ref(self.models["main"], instead)
        beside = {name: _read_ref(one, instead) for name, one in self.models["beside"].items()}
        return SeriesModels(main, tuple(beside.items()))


def write_settings(
    store: Store, series: Sequence[int], model: ServedModel, budget: str | None
) -> None:
    """Keep how some series are run, as the last command said it; a file has no need for it."""
    if not store.is_shared or not series:
        return
    described = None if model.ref is None else storable_json(_describe(model))
    rows = [{"series": number, "models": described, "budget": budget} for number in series]
    store.change(lambda connection: connection.execute(_PUT, rows))


def pending_series(store: Store) -> list[PendingSeries]:

    def read(connection: sa.Connection) -> Iterator[PendingSeries]:
        for row in connection.execute(_PENDING).mappings():
            series = Series.read(row)
            yield PendingSeries(
                series.number,
                series.benchmark,
                series.method,
                series.model,
                series.settings,
                series.fingerprint,
                read_prompts(connection, series.number),
                None if row["models"] is None else orjson.loads(row["models"]),
                row["budget"],
            )

    with store.reading():
        return store.change(lambda connection: list(read(connection)), "read")


def _describe(model: ServedModel) -> dict[str, Json]:
    beside: dict[str, Json] = {n: _describe_ref(one) for n, one in model.others.items()}
    return {"main": _describe_ref(model), "beside": beside}


def _describe_ref(model: ServedModel) -> dict[str, Json]:
    ref = model.ref or ModelRef(model.served.model)
    name, addresses = ref.model or model.served.model, endpoint_addresses(ref)
    if not addresses and name.lower().endswith(".gguf"):
        name = str(expand_user(name).absolute())
    shown = tuple(map(without_secrets, addresses))
    return {
        "model": name,
        "base_url": list(shown),
        "withheld": shown != addresses,
        "key_name": ref.key_name,
        "context": ref.context,
    }


def _read_ref(described: Mapping[str, Any], instead: ModelRef) -> ModelRef:
    given = dict(described)
    withheld = given.pop("withheld", False)
    if given["base_url"] and instead.base_url:
        given["base_url"] = instead.base_url
    elif withheld:
        raise Unrunnable(
            f"the address of its endpoint ({', '.join(given['base_url'])}) carries a secret, "
            "which is not stored; give the address with --base-url"
        )
    given["key_name"] = instead.key_name or given["key_name"]
    return ModelRef(**given)


_PENDING = sa.text(
    "SELECT series.*, models, budget FROM series LEFT JOIN run_settings"
    " ON run_settings.series = series.id"
    " WHERE EXISTS (SELECT FROM leases WHERE leases.series = series.id) ORDER BY id"
)
_PUT = sa.text(
    "INSERT INTO run_settings (series, models, budget) VALUES (:series, :models, :budget)"
    " ON CONFLICT (series) DO UPDATE SET budget = excluded.budget,"
    " models = coalesce(excluded.models, run_settings.models)"
)
