"""The client: performs the calls of methods, within a budget and within each model's limits.

Every call takes the same way: choose its model, reserve its budget, and then for each try wait for
a turn and ask once. Between two tries a call holds no place, so that a pause of minutes (an
endpoint may ask for one) keeps no other call waiting; its reservation it keeps, since the money may
be spent already.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, fields, replace
from functools import partial
from itertools import chain
from typing import Final, TypeAlias, TypeVar, cast

from constraint_first.model.budget import Budget, charged, most_usage, wasted
from constraint_first.model.error import EngineError, ModelNotFound, Transient
from constraint_first.model.limit import Limiter, Tries, replies_to
from constraint_first.model.local import Local
from constraint_first.model.openai import Asked, OpenAI
from constraint_first.model.replicas import Balanced
from constraint_first.model.resolve import (
    ModelRef,
    Price,
    PriceList,
    Resolved,
    refs_beside,
    resolve,
    stands_alone,
)
from constraint_first.model.transport import DecodingRefused, Setting
from constraint_first.model.wire import (
    SILENT,
    Decode,
    Decoding,
    Engine,
    Openable,
    SampledCall,
    SampledCompletion,
    Served,
    Watcher,
    most_samples,
)
from constraint_first.protocol import Call, Completion, Usage

C = TypeVar("C", bound=Call)

_FREE: Final = Price(0.0, 0.0)

CallDone: TypeAlias = Callable[[Call, Completion, float], None]
"""Takes each call that was answered, and the seconds that it took, pauses included."""


@dataclass(frozen=True, slots=True)
class ServedModel:
    """A model that is being served, how fast it may be asked, and what it costs.

    A method may name others to be asked beside it, each of which has limits and a price of its own.
    """

    served: Served
    limiter: Limiter | None = None
    """None where it keeps to limits by itself, as several endpoints do."""
    price: Price | None = None
    refused: dict[Setting, DecodingRefused] = field(
        default_factory=dict["Setting", DecodingRefused]
    )
    """Settings that it will not be decoded with."""
    others: Mapping[str, ServedModel] = field(default_factory=dict[str, "ServedModel"])
    """Models that are asked beside it, by the names that methods have for them."""
    ref: ModelRef | None = None
    """How it was named; None for an engine that was given as an object."""

    @property
    def prices(self) -> PriceList:
        return PriceList(self.price, {name: one.price for name, one in self.others.items()})

    def adapt(self, refused: DecodingRefused) -> bool:
        """Do without a setting from now on; whether this is news and about a model of these."""
        for one in (self, *self.others.values()):
            if refused.model == one.served.model and refused.setting not in one.refused:
                one.refused[refused.setting] = refused
                return True
        return False

    def decoded(self, decoding: Decoding) -> Decoding:
        """Change a decoding as far as the model refuses it."""
        for refused in self.refused.values():
            decoding = refused.adapt(decoding)
        return decoding


@dataclass(frozen=True, slots=True)
class _Route:
    """How the calls of one client get to one model."""

    model: ServedModel
    ask: Callable[[Call, Watcher], Awaitable[Completion]]
    longest: int | None
    """The longest reply that the model can give, where that is known."""


class Client:
    """An engine of one or several models: ``Client(main, {name: other})``.

    A call goes to the model that it names, and to the main one where it names none. Without a
    ``decoding`` each model is asked with its own; one that is given is not adapted to what a model
    refuses, which is for the comparison to decide. A model in a ``ServedModel`` has limits and a
    price; ``done`` is called after each call.
    """

    def __init__(
        self,
        main: Engine | ServedModel,
        others: Mapping[str, Engine | ServedModel] | None = None,
        *,
        decoding: Decoding | Decode | None = None,
        budget: Budget | None = None,
        done: CallDone | None = None,
    ) -> None:
        model = _model(main)
        beside = model.others if others is None else {n: _model(one) for n, one in others.items()}
        self.others = {name: one.served for name, one in beside.items()}
        self._main = model
        self._decoding = decoding
        self._budget = budget
        self._done = done
        self._routes: dict[str | None, _Route] = {
            name: _route(one, decoding) for name, one in {None: model, **beside}.items()
        }
        self._opened: list[AsyncExitStack] = []

    async def __aenter__(self) -> Client:
        """Open the engines that are not open yet; they are closed again, and no others are."""
        async with AsyncExitStack() as stack:
            for engine in (self.main, *self.others.values()):
                if isinstance(engine, Openable) and not engine.is_open:
                    await stack.enter_async_context(engine)
            self._opened.append(stack.pop_all())
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._opened.pop().aclose()

    @property
    def is_open(self) -> bool:
        engines = (self.main, *self.others.values())
        return all(one.is_open for one in engines if isinstance(one, Openable))

    @property
    def main(self) -> Served:
        """The engine of the main model."""
        return self._main.served

    @property
    def model(self) -> str:
        """The name of the main model; empty for an engine without one."""
        return getattr(self.main, "model", "")

    def beside(self, more: Mapping[str, Engine]) -> Client:
        """Put more models beside those that this client asks."""
        if not more:
            return self
        known = {name: one.model for name, one in self._routes.items() if name is not None}
        return Client(
            self._main,
            {**known, **more},
            decoding=self._decoding,
            budget=self._budget,
            done=self._done,
        )

    async def complete(self, call: Call, watcher: Watcher = SILENT) -> Completion:
        """Perform a call by its model, and by no other."""
        route = self._routes.get(call.model)
        if route is None:
            raise ModelNotFound(
                f"model {call.model!r}: a {call.stage} call is for it, and it is not being served; "
                "the method must list it in its other_models"
            )
        began = time.monotonic() if self._done else 0.0
        if self._budget is None:
            completion = await self._try(route, call, watcher, None)
        else:
            completion = await self._pay(self._budget, route, call, watcher)
        if self._done:
            self._done(call, completion, time.monotonic() - began)
        return completion

    def most_samples(self, group: SampledCall) -> int:
        """Say how many of a group's samples to ask for in one request now.

        As many as the model takes and as may run at the same time; one at a time where the budget
        is short of all together.
        """
        route = self._routes.get(group.model)
        if route is None:
            return 1
        if self._budget is not None:
            most = most_usage(_lowered(group, route.longest))
            if not self._budget.has_room(most, _cost(route, most)):
                return 1
        most = most_samples(route.model.served, group)
        limiter = route.model.limiter
        return min(most, int(limiter.size)) if limiter else most

    async def _pay(self, budget: Budget, route: _Route, call: Call, watcher: Watcher) -> Completion:
        call = _lowered(call, route.longest)
        most = most_usage(call)
        reserved = _cost(route, most)
        await budget.reserve(most, reserved)
        used = most  # an interrupted call may have used it all

        def charge(fault: Transient) -> None:
            lost = wasted(fault, most)
            if not budget.spend(lost, _cost(route, lost)):
                raise fault  # the budget does not reach for another try

        try:
            completion = await self._try(route, call, watcher, charge)
            used = charged(completion, most)
        except EngineError as fault:
            used = wasted(fault, most)
            raise
        finally:
            budget.settle(most, reserved, used, _cost(route, used))
        return completion

    async def _try(
        self,
        route: _Route,
        call: Call,
        watcher: Watcher,
        charge: Callable[[Transient], None] | None,
    ) -> Completion:
        """Ask until a reply comes, once a turn; ``charge`` takes each fault before the next try."""
        served, limiter, ask = route.model.served, route.model.limiter, route.ask
        sent, heard, places = call, watcher, replies_to(call)
        tries = Tries(served.retry) if isinstance(served, Asked) else None
        if tries is None:  # asks again by itself if at all
            sent = replace(call, model=None) if call.model is not None else call
            heard = _Heard(watcher, call, limiter, charge)
        elif charge and isinstance(served, Balanced):
            # One try may go to several endpoints, one after the other.
            heard = _Heard(watcher, call, None, charge)

        def again(fault: Transient, pause: float) -> None:
            if charge:
                charge(fault)
            watcher.retrying(call, fault, pause)

        while True:
            try:
                if limiter is None:
                    completion = await ask(sent, heard)
                    break
                if not limiter.take(places):
                    await limiter.enter(places)
                try:
                    if limiter.paced:
                        await limiter.pace(call)
                    completion = await ask(sent, heard)
                except Transient as fault:
                    limiter.failed(fault, places)
                    raise
                finally:
                    limiter.release(places)
                limiter.succeeded(places)
                break
            except Transient as fault:
                if tries is None:
                    raise
                await tries.wait(fault, again)
        if tries:
            tries.succeeded()
        return completion


class _Heard(Watcher):
    """Watches an engine that asks again by itself: each of its tries is charged and counted.

    What happens is passed on with the call as it was asked, which names its model.
    """

    def __init__(
        self,
        watcher: Watcher,
        call: Call,
        limiter: Limiter | None,
        charge: Callable[[Transient], None] | None,
    ) -> None:
        self.streams = watcher.streams
        self._watcher = watcher
        self._call = call
        self._limiter = limiter
        self._charge = charge

    def wrote(self, call: Call, piece: str, *, reasoning: bool) -> None:  # noqa: ARG002
        self._watcher.wrote(self._call, piece, reasoning=reasoning)

    def retrying(self, call: Call, fault: Transient, seconds: float) -> None:
        if self._limiter:
            self._limiter.failed(fault, replies_to(call))
        if self._charge:
            self._charge(fault)
        self._watcher.retrying(self._call, fault, seconds)

    def adapted(self, call: Call, change: str) -> None:  # noqa: ARG002
        self._watcher.adapted(self._call, change)


def _model(engine: Engine | ServedModel) -> ServedModel:
    # An engine without a name and a decoding is never asked for them.
    return engine if isinstance(engine, ServedModel) else ServedModel(cast("Served", engine))


def _route(model: ServedModel, decoding: Decoding | Decode | None) -> _Route:
    served, longest = model.served, None
    if isinstance(decoding, Decoding):
        decoding = model.decoded(decoding)
        known = (decoding.max_tokens, getattr(served, "context", None))
        longest = min((limit for limit in known if limit), default=None)
    if isinstance(served, Asked):
        ask = partial(served.ask, decoding=decoding)
    elif isinstance(decoding, Decoding):
        ask = partial(served.complete, decoding=decoding)
    else:
        ask = served.complete  # any engine can do that
    return _Route(model, ask, longest)


def _lowered(call: C, longest: int | None) -> C:
    if longest is None or call.max_tokens <= longest:
        return call
    return replace(call, max_tokens=longest)


def _cost(route: _Route, usage: Usage) -> float:
    return (route.model.price or _FREE).cost(usage)


# Samples: equal calls of one round become one request, where the endpoint takes several (``n``).
#
# Samples of one prompt differ in nothing but their number. An endpoint that is asked for several
# replies at once reads the prompt once. Each sample stays a call of its own everywhere else: it has
# its own completion, its own place in the journal, its own fate.

_Result: TypeAlias = Completion | BaseException


class Sampler:
    """An engine for the calls of one round, all of which must be made before any is awaited."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._groups: dict[Call, tuple[list[Call], asyncio.Task[dict[int, _Result]]]] = {}

    async def complete(self, call: Call, watcher: Watcher = SILENT) -> Completion:
        """Perform a call, together with its equals."""
        if watcher.streams:  # several replies at once cannot be followed piece by piece
            return await self._engine.complete(call, watcher)
        alike = replace(call, sample=0)
        if alike not in self._groups:
            calls = list[Call]()
            # The task begins when all calls of the round have come: they were made before it.
            self._groups[alike] = calls, asyncio.create_task(self._perform(alike, calls, watcher))
        calls, results = self._groups[alike]
        place = len(calls)
        calls.append(call)
        result = (await results)[place]
        if isinstance(result, BaseException):
            raise result
        return result

    async def _perform(
        self, alike: Call, calls: Sequence[Call], watcher: Watcher
    ) -> dict[int, _Result]:
        del self._groups[alike]  # a call that had to wait for its tokens is in the next group
        order = sorted(range(len(calls)), key=lambda place: calls[place].sample)
        parts = list(self._parts([calls[place] for place in order]))
        results = await asyncio.gather(*(self._ask(part, watcher) for part in parts))
        return dict(zip(order, chain.from_iterable(results), strict=True))

    def _parts(self, calls: Sequence[Call]) -> Iterator[Sequence[Call]]:
        """Divide calls into requests: samples that follow on, as many as the engine takes.

        An endpoint with a seed gives the replies to a request the seeds that follow it, so that
        samples in a row are the same whether they are asked for together or one by one.
        """
        start = 0
        for place in range(1, len(calls) + 1):
            if place == len(calls) or calls[place].sample != calls[place - 1].sample + 1:
                run = calls[start:place]
                most = max(1, most_samples(self._engine, _sampled(run)))
                yield from (run[first : first + most] for first in range(0, len(run), most))
                start = place

    async def _ask(self, calls: Sequence[Call], watcher: Watcher) -> list[_Result]:
        """Ask for samples in one request, and one by one for those that it did not bring."""
        found: Sequence[_Result | None] = [None] * len(calls)
        if len(calls) > 1:
            found = await self._ask_together(calls, watcher)
        missing = [call for call, one in zip(calls, found, strict=True) if one is None]
        asked = (self._engine.complete(call, watcher) for call in missing)
        rest = iter(await asyncio.gather(*asked, return_exceptions=True))
        return [next(rest) if one is None else one for one in found]

    async def _ask_together(
        self, calls: Sequence[Call], watcher: Watcher
    ) -> Sequence[_Result | None]:
        group = _sampled(calls)
        try:
            received = await self._engine.complete(group, watcher)
        except EngineError as fault:
            # Where the engine takes no more groups that was the reason, and single calls may do.
            lost = None if most_samples(self._engine, group) == 1 else fault
            return [lost] * len(calls)
        except Exception as error:  # it fails these calls and no others of the round
            return [error] * len(calls)
        if isinstance(received, SampledCompletion):
            return received.replies
        return [received, *[None] * (len(calls) - 1)]


def _sampled(calls: Sequence[Call]) -> SampledCall:
    values = {one.name: getattr(calls[0], one.name) for one in fields(Call)}
    return SampledCall(**values, samples=len(calls))


# The models of a client: the main one, and those that a method names beside it.


def serve(ref: ModelRef, names: Iterable[str], make: Callable[[ModelRef], Engine]) -> Client:
    """Make the engines of a model and of those that are named beside it, each once."""
    refs = refs_beside(ref, names)
    engines = {one: make(one) for one in dict.fromkeys((ref, *refs.values()))}
    return Client(engines[ref], {name: engines[one] for name, one in refs.items()})


def accompanied(engine: Engine, names: Iterable[str]) -> Client:
    """Put the models that methods name beside an engine that was given as an object."""
    given = engine if isinstance(engine, Client) else Client(engine)
    missing = [name for name in names if name not in given.others]
    return given.beside({n: engine_beside(given.main, n) or given.main for n in missing})


def engine_beside(main: Engine, name: str) -> Resolved | None:
    """Make the engine of a model that is named beside a given engine; None where it is that one.

    A name that says nothing by itself is asked for at the endpoint of the engine, if it has one.
    """
    if name == getattr(main, "model", None):
        return None
    if isinstance(main, Balanced) and not stands_alone(name):
        return main.beside(name)
    if isinstance(main, OpenAI) and not isinstance(main, Local) and not stands_alone(name):
        endpoint = replace(main.endpoint, model=name, context=None)
        return OpenAI(endpoint, main.decoding, bounds=main.bounds)
    decoding = main.decoding if isinstance(main, OpenAI | Balanced) else None
    return resolve(ModelRef(name), decoding)
