"""Several models behind one engine: a call goes to the one that it names."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Iterable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Generic, TypeVar, cast

from constraint_first.engine.balanced import Balanced
from constraint_first.engine.engine import (
    SILENT,
    Engine,
    Relay,
    SampledCall,
    Watcher,
    most_samples,
    opened,
)
from constraint_first.engine.error import ModelNotFound, Transient
from constraint_first.engine.openai import OpenAI
from constraint_first.engine.resolve import ModelRef, Resolved, require_known, resolve, stands_alone
from constraint_first.protocol import Call, Completion

__all__ = ["Dispatch", "accompanied", "engine_beside", "opened_all", "refs_beside", "serve"]

E = TypeVar("E", bound=Engine)
E_co = TypeVar("E_co", bound=Engine, covariant=True)


@dataclass(frozen=True, slots=True)
class Dispatch(Generic[E_co]):
    """An engine of several models: those that calls name, and the main one for all other calls."""

    main: E_co
    others: Mapping[str, E_co] = field(default_factory=dict[str, E_co])
    """By the names that calls have for them."""

    async def complete(self, call: Call, watcher: Watcher = SILENT) -> Completion:
        """Have a call performed by its model, and by no other."""
        if call.model is None:
            return await self.main.complete(call, watcher)
        if call.model not in self.others:
            raise ModelNotFound(
                f"model {call.model!r}: a {call.stage} call is for it, and it is not being served; "
                "the method must list it in its other_models"
            )
        own = replace(call, model=None)  # for its engine it is the only one
        return await self.others[call.model].complete(own, _AsAsked(watcher, call))

    def most_samples(self, group: SampledCall) -> int:
        """As many as the model takes that the calls are for."""
        engine = self.main if group.model is None else self.others.get(group.model)
        return most_samples(engine, group)


class _AsAsked(Relay):
    """A watcher that hears of a call as it was before it was dispatched."""

    def __init__(self, watcher: Watcher, call: Call) -> None:
        super().__init__(watcher)
        self._call = call

    def wrote(self, call: Call, piece: str, *, reasoning: bool) -> None:  # noqa: ARG002
        super().wrote(self._call, piece, reasoning=reasoning)

    def retrying(self, call: Call, fault: Transient, seconds: float) -> None:  # noqa: ARG002
        super().retrying(self._call, fault, seconds)

    def adapted(self, call: Call, change: str) -> None:  # noqa: ARG002
        super().adapted(self._call, change)


@asynccontextmanager
async def opened_all(several: Dispatch[E]) -> AsyncGenerator[Dispatch[E]]:
    """Open all engines that are not open yet, and close those afterwards."""
    async with AsyncExitStack() as stack:
        for engine in (several.main, *several.others.values()):
            await stack.enter_async_context(opened(engine))
        yield several


def refs_beside(ref: ModelRef, names: Iterable[str]) -> dict[str, ModelRef]:
    """Find what is meant by each name that a method has for another model than ``ref``.

    One that nobody knows is refused here, before any model is fetched.
    """
    found = {name: ref.beside(name) for name in names}
    for one in (ref, *found.values()):
        require_known(one)
    return found


def serve(ref: ModelRef, names: Iterable[str], make: Callable[[ModelRef], E]) -> Dispatch[E]:
    """Make the engines of a model and of those that are named beside it, each once."""
    refs = refs_beside(ref, names)
    engines = {one: make(one) for one in dict.fromkeys((ref, *refs.values()))}
    return Dispatch(engines[ref], {name: engines[one] for name, one in refs.items()})


def accompanied(
    engine: E | Dispatch[E], names: Iterable[str]
) -> Dispatch[E] | Dispatch[E | Resolved]:
    """Put the models that methods name beside an engine that somebody made."""
    given = cast("Dispatch[E]", engine) if isinstance(engine, Dispatch) else Dispatch(engine)
    missing = [name for name in names if name not in given.others]
    found = {name: engine_beside(given.main, name) or given.main for name in missing}
    return Dispatch(given.main, {**given.others, **found})


def engine_beside(main: Engine, name: str) -> Resolved | None:
    """Make the engine of a model that is named beside a given engine; None where it is that one.

    A name that says nothing by itself is asked for at the endpoint of the engine, if it has one.
    """
    if name == getattr(main, "model", None):
        return None
    decoding = main.decoding if isinstance(main, Resolved) else None
    if isinstance(main, Balanced) and not stands_alone(name):
        return main.beside(name)
    if isinstance(main, OpenAI) and not stands_alone(name):
        endpoint = replace(main.endpoint, model=name, context=None)
        return OpenAI(endpoint, decoding, bounds=main.bounds)
    return resolve(ModelRef(name), decoding)
