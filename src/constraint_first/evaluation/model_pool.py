"""The models of an evaluation: each opened once, with limits and a price of its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, AsyncExitStack
from dataclasses import replace
from typing import Final

from constraint_first.engine.balanced import Balanced
from constraint_first.engine.connection import Tell
from constraint_first.engine.dispatch import Dispatch, accompanied, opened_all
from constraint_first.engine.engine import SILENT, Decoding, Served, Watcher
from constraint_first.engine.limit import Limiter
from constraint_first.engine.openai import OpenAI
from constraint_first.engine.presets import find_price
from constraint_first.engine.price import Price
from constraint_first.engine.pull import Progress
from constraint_first.engine.resolve import ModelRef, require_known, resolve, runs_here, served_name
from constraint_first.error import InputError
from constraint_first.evaluation.experiment import Experiment
from constraint_first.evaluation.run_options import RunOptions
from constraint_first.evaluation.served_model import ServedModel, no_price
from constraint_first.protocol import Call, Completion

__all__ = ["ModelPool"]

_LOCAL_CONCURRENCY: Final = 4
_MOST_CONCURRENCY: Final = 256
_FIRST_CONCURRENCY: Final = 16


class ModelPool:
    """Opens the models of a grid, and those that its methods name beside them.

    ``stack`` closes them; ``fetching`` surrounds the fetching of a model file; ``tell`` is told
    what a person should know of an endpoint.
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
        grid = _Grid(experiment, ref)
        for one in grid.refs:  # before any is fetched
            require_known(one)
        return grid.join({one: await self._open(one) for one in grid.refs})

    def name(self, experiment: Experiment, ref: ModelRef) -> list[ServedModel]:
        """Name the models of a grid and open none: workers elsewhere do."""
        grid = _Grid(experiment, ref)
        return grid.join({one: self._named(one) for one in grid.refs})

    async def open_given(
        self, experiment: Experiment, engine: Served | Dispatch[Served]
    ) -> list[ServedModel]:
        """Open an engine that somebody made, and what methods name beside it."""
        return [await self.open_engine(engine, experiment.other_models())]

    async def open_engine(
        self, engine: Served | Dispatch[Served], names: Sequence[str]
    ) -> ServedModel:
        """Open an engine that somebody made, and those of some names beside it."""
        given: Dispatch[Served] = accompanied(engine, names)
        await self._stack.enter_async_context(opened_all(given))
        main = self._given(given.main, given.main.model)
        others = {
            name: main if one is given.main else self._given(one, name)
            for name, one in given.others.items()
        }
        return replace(main, others=others)

    async def open_one(self, ref: ModelRef, beside: Mapping[str, ModelRef]) -> ServedModel:
        """Open a model and those that methods name beside it, each as it is told."""
        served = {one: await self._open(one) for one in dict.fromkeys((ref, *beside.values()))}
        return replace(served[ref], others={name: served[one] for name, one in beside.items()})

    def _named(self, ref: ModelRef) -> ServedModel:
        name = served_name(ref)
        if not name:
            raise InputError(
                "the endpoint's model has no name here, and workers elsewhere must know what they "
                "ask; name it with --model"
            )
        return ServedModel(AskedElsewhere(name), None, self._price(ref.model or name), ref=ref)

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
        # A number that somebody gave is taken at its word; otherwise the limiter starts low and
        # grows until the endpoint pushes back.
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


class AskedElsewhere:
    """A model that is not asked in this process, which knows its name alone."""

    def __init__(self, model: str) -> None:
        self.model = model

    async def complete(
        self,
        call: Call,  # noqa: ARG002
        watcher: Watcher = SILENT,  # noqa: ARG002
        decoding: Decoding | None = None,  # noqa: ARG002
    ) -> Completion:
        """Perform no call."""
        raise RuntimeError(f"{self.model} is asked elsewhere")


class _Grid:
    """How the models of a grid are named, and those that its methods name beside each."""

    def __init__(self, experiment: Experiment, ref: ModelRef) -> None:
        if ref.key and not ref.base_url and len(experiment.models) > 1:
            raise InputError(
                f"models {', '.join(experiment.models)}: one key is given and no address; name the "
                "endpoint that the key is for, or put each model's key into its own variable"
            )
        names = experiment.other_models()
        mains = {model: replace(ref, model=model or None) for model in experiment.models}
        listed = {name: mains[name] for name in names if name in mains}
        self._beside = {
            main: {name: main.beside(name) for name in names} | listed for main in mains.values()
        }
        others = (one for found in self._beside.values() for one in found.values())
        self.refs = tuple(dict.fromkeys((*self._beside, *others)))

    def join(self, served: Mapping[ModelRef, ServedModel]) -> list[ServedModel]:
        """Put beside each model those that its methods name."""
        return [
            replace(served[main], others={name: served[one] for name, one in found.items()})
            for main, found in self._beside.items()
        ]
