"""One model behind several endpoints, as one engine: a call that fails at one is asked at another.

What an endpoint refuses, takes or has as its context is learned by its own engine. The model has
one name whatever serves it, so that a run goes on with more endpoints or with fewer.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Final

from constraint_first.engine.balancer import Balancer, list_models
from constraint_first.engine.connection import Tell
from constraint_first.engine.endpoint import Endpoint
from constraint_first.engine.engine import SILENT, Decoding, SampledCall, Watcher
from constraint_first.engine.error import EngineError, Rejected, Transient, Unreachable
from constraint_first.engine.limit import Limited, replies_to
from constraint_first.engine.model_listing import (
    Listing,
    common_name,
    differences,
    misfit,
    other_names,
)
from constraint_first.engine.openai import OpenAI
from constraint_first.engine.replica import Replica, Visit, is_its_own
from constraint_first.engine.retry import Retry
from constraint_first.engine.transport import Bounds
from constraint_first.problem import Json
from constraint_first.protocol import Call, Completion

__all__ = ["Balanced"]

_SHORTEST_PAUSE: Final = 0.05


@dataclass(frozen=True, slots=True)
class _Once:
    """An endpoint's engine that is asked once, with the decoding of a call."""

    engine: OpenAI
    decoding: Decoding | None

    async def complete(self, call: Call, watcher: Watcher = SILENT) -> Completion:
        return await self.engine.ask(call, watcher, self.decoding)


class Balanced:
    """An engine for one model behind several endpoints: ``async with Balanced(endpoints)``.

    Over a balancer that is open already it is open too, and whoever opened that closes it.
    """

    def __init__(
        self,
        endpoints: Sequence[Endpoint],
        decoding: Decoding | None = None,
        retry: Retry | None = None,
        *,
        bounds: Bounds | None = None,
        connections: int = 256,
        balancer: Balancer | None = None,
    ) -> None:
        self.bounds = bounds or Bounds()
        self.retry = retry or Retry(seconds=self.bounds.seconds)
        self.balancer = balancer or Balancer.over(endpoints, self.bounds, connections)
        self.notes: tuple[str, ...] = ()
        """What a person should know of endpoints that are not alike, once the engine is open."""
        self._endpoints = tuple(endpoints)
        self._decoding = decoding or Decoding()
        self._engines: dict[Replica, OpenAI] = {}
        if balancer:
            self._make_engines()

    async def __aenter__(self) -> Balanced:
        await self.balancer.open()
        try:
            await self._agree()
            self._make_engines()
        except BaseException:
            await self.balancer.close()
            raise
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.balancer.close()

    @property
    def is_open(self) -> bool:
        """Whether calls can be performed now."""
        return self.balancer.is_open

    @property
    def model(self) -> str:
        """The name of the model that is asked."""
        return self._endpoints[0].model

    @property
    def endpoints(self) -> tuple[Endpoint, ...]:
        """Where it is served."""
        return self._endpoints

    @property
    def context(self) -> int | None:
        """Tokens that a prompt and its reply have together at most, where all endpoints tell."""
        known = [engine.context for engine in self._engines.values()]
        return max(filter(None, known)) if known and all(known) else None

    @property
    def decoding(self) -> Decoding:
        """How replies are sampled; what an endpoint refuses its own engine leaves out."""
        return self._decoding

    @decoding.setter
    def decoding(self, decoding: Decoding) -> None:
        self._decoding = decoding
        for engine in self._engines.values():
            engine.decoding = decoding

    def report_to(self, tell: Tell) -> None:
        """Say to whom it is told that an endpoint's connections are no longer kept alive."""
        for one in self.balancer.replicas:
            one.transport.host.tell = tell

    def beside(self, model: str) -> Balanced:
        """Make the engine of another model of the same endpoints."""
        endpoints = [replace(one, model=model, context=None) for one in self._endpoints]
        return Balanced(endpoints, self._decoding, bounds=self.bounds)

    async def complete(
        self, call: Call, watcher: Watcher = SILENT, decoding: Decoding | None = None
    ) -> Completion:
        """Perform a call, with another decoding than the engine's own if one is given."""
        return await self.retry.run(
            lambda: self.ask(call, watcher, decoding),
            lambda fault, pause: watcher.retrying(call, fault, pause),
        )

    async def ask(
        self, call: Call, watcher: Watcher = SILENT, decoding: Decoding | None = None
    ) -> Completion:
        """Perform a call, at each endpoint once at the most until one answers."""
        began, failed = time.monotonic(), dict[Visit, EngineError]()
        while visit := await self._turn(call, frozenset(one.replica for one in failed)):
            if failed:
                watcher.retrying(call, _as_transient([*failed.values()][-1]), 0.0)
            try:
                completion = await self._ask_there(visit, call, watcher, decoding)
            except EngineError as fault:
                failed[visit] = fault
                if not is_its_own(fault) or time.monotonic() - began > self.bounds.seconds:
                    raise
            else:
                for one, fault in failed.items():  # a refusal, too, was that endpoint's own
                    self.balancer.failed(one, fault)
                return completion
        raise self._last([*failed.values()])

    async def models(self) -> list[dict[str, Json]]:
        """List what an endpoint serves that can be asked now."""
        order = sorted(self._engines, key=lambda one: one.resting is not None)
        for one in order[:-1]:
            with suppress(EngineError):
                return await self._engines[one].models()
        return await self._engines[order[-1]].models()

    def most_samples(self, group: SampledCall) -> int:
        """As many as an endpoint takes and as may run there at the same time."""
        awake = [one for one in self._engines if not one.resting] or self._engines
        return max(self._most_samples(one, group) for one in awake)

    # --- Endpoints.

    async def _turn(self, call: Call, tried: frozenset[Replica]) -> Visit | None:
        """Wait for a turn; samples that belong together go where they are taken together."""
        places = replies_to(call)
        if isinstance(call, SampledCall):
            fewer = {one for one in self._engines if self._most_samples(one, call) < places}
            if fewer and (visit := await self.balancer.turn(places, tried | fewer)):
                return visit
        return await self.balancer.turn(places, tried)

    async def _ask_there(
        self, visit: Visit, call: Call, watcher: Watcher, decoding: Decoding | None
    ) -> Completion:
        """Ask the endpoint where a call has its turn, and note what comes of it."""
        asked = _Once(self._engines[visit.replica], decoding)
        limited = Limited(asked, visit.replica.limiter)
        try:
            completion = await limited.perform(call, watcher)
        except EngineError as fault:
            if isinstance(fault, Transient):
                self.balancer.failed(visit, fault)
            elif not is_its_own(fault) and isinstance(fault, Rejected):  # a no is an answer
                self.balancer.answered(visit)
            raise
        else:
            limited.succeeded(call)
            self.balancer.answered(visit)
            return completion
        finally:
            self.balancer.leave(visit)

    def _last(self, faults: Sequence[EngineError]) -> EngineError:
        """Name the fault that is left when no endpoint is, and when the next may be asked."""
        fault = next((one for one in faults if isinstance(one, Transient)), faults[-1])
        if isinstance(fault, Transient) and fault.retry_after is not None:
            soon = max(_SHORTEST_PAUSE, self.balancer.seconds_to_next())
            fault.retry_after = min(fault.retry_after, soon)
        return fault

    def _most_samples(self, one: Replica, group: SampledCall) -> int:
        return min(self._engines[one].most_samples(group), int(one.limiter.size))

    # --- Opening.

    def _make_engines(self) -> None:
        pairs = zip(self.balancer.replicas, self._endpoints, strict=True)
        self._engines = {
            one: OpenAI(endpoint, self._decoding, bounds=self.bounds, transport=one.transport)
            for one, endpoint in pairs
        }

    async def _agree(self) -> None:
        """Find out that all endpoints serve the same model, and its name where none is given."""
        # Another Retry: a list of models does not show that a model answers.
        listings = await replace(self.retry).run(
            lambda: self._look(needed=not self.model), lambda _fault, _pause: None
        )
        model = self.model or common_name(listings)
        if fault := misfit(listings, model):
            raise fault
        self.notes = self._differences(listings, model)
        self._endpoints = tuple(replace(one, model=model) for one in self._endpoints)
        for one in self.balancer.replicas:
            one.name_model(model)

    async def survey(self) -> tuple[str, ...]:
        """Say in lines what is odd about the endpoints; whoever is away or serves another rests."""
        listings = await self._look(needed=True)
        fault = misfit(listings, self.model)
        for one, listing in self.balancer.listings.items():
            if fault and listing.names and self.model not in listing.names:
                self.balancer.rest(one, fault)
        others = () if self.model else other_names(listings)
        return (*others, *self._differences(listings, self.model))

    def _differences(self, listings: Sequence[Listing], model: str) -> tuple[str, ...]:
        given = any(one.context for one in self._endpoints)
        return tuple(differences(listings, model, with_context=not given))

    async def _look(self, *, needed: bool) -> list[Listing]:
        """Ask all endpoints what they serve; those that are away rest, unless all are."""
        replicas = self.balancer.replicas
        found = await asyncio.gather(*map(list_models, replicas), return_exceptions=True)
        pairs = list(zip(replicas, found, strict=True))
        self.balancer.listings = {one: got for one, got in pairs if isinstance(got, Listing)}
        faults = [got for got in found if isinstance(got, BaseException)]
        for fault in faults:
            if not isinstance(fault, EngineError):
                raise fault
        if needed and not self.balancer.listings:
            raise faults[0]
        for one, got in pairs:
            if isinstance(got, Transient) and self.balancer.listings:
                self.balancer.rest(one, got)
        return list(self.balancer.listings.values())


def _as_transient(fault: EngineError) -> Transient:
    """Write a refusal as the fault that it is while others serve the model; it cost nothing."""
    return fault if isinstance(fault, Transient) else Unreachable(str(fault))
