"""The endpoint behind a server: its models, and the engines that call them."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import AbstractContextManager, AsyncExitStack, asynccontextmanager, nullcontext
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Final, TypeAlias

import orjson

from constraint_first.model.client import CallDone, Client, OpenAI, ServedModel
from constraint_first.model.connection import Tell
from constraint_first.model.error import EngineError, ModelNotFound
from constraint_first.model.limit import Limiter, Retry
from constraint_first.model.local import NO_PROGRESS, Local, Progress
from constraint_first.model.replicas import Balanced, Balancer
from constraint_first.model.resolve import (
    ModelRef,
    Resolved,
    price_list,
    refs_beside,
    resolve,
    runs_here,
)
from constraint_first.model.transport import Bounds, Endpoint, Transport
from constraint_first.model.wire import Decoding
from constraint_first.problem import Json
from constraint_first.protocol import Call
from constraint_first.serve.request import ChatRequest

_KEPT: Final = 256

# Settings of one request: its decoding, its own fields, its stop sequences.

_PREPARING: Final = frozenset(
    "stage1 router format feedback explore clarify program translate".split()
)
"""Stages that prepare a solution without writing one; stop sequences do not apply to them."""


@dataclass(frozen=True, slots=True)
class RequestDecoding:
    """How a request is decoded; the model's own settings are the default."""

    chosen: Mapping[str, float | int]
    extra: str = ""
    """Fields for every call, as JSON."""
    extra_solving: str = ""
    """Fields for calls that write a solution: those for every call, and the stop sequences."""

    @classmethod
    def of(cls, asked: ChatRequest) -> RequestDecoding:
        stops: dict[str, Json] = {"stop": [*asked.stop]} if asked.stop else {}
        return cls(asked.chosen, _written(asked.extra), _written({**asked.extra, **stops}))

    def over(self, usual: Decoding, call: Call) -> Decoding:
        """Override the usual decoding with the request's settings."""
        extra = self.extra if call.json or call.stage in _PREPARING else self.extra_solving
        if not self.chosen and not extra:
            return usual
        chosen: dict[str, float | int] = dict(self.chosen)
        return replace(usual, **chosen, extra=extra)  # pyright: ignore[reportArgumentType]


def _written(fields: Mapping[str, Json]) -> str:
    try:
        return orjson.dumps(fields).decode() if fields else ""
    except TypeError:  # an integer of more than 64 bits, or a lone surrogate
        return json.dumps(fields)


# The endpoint behind a server: its models, and the engines that call them over one connection
# pool.

Fetching: TypeAlias = Callable[[], AbstractContextManager[Progress]]
"""Makes a context that shows the progress of downloads."""

LOCAL: Final = "local"
"""Another name of the model that runs on this machine."""

_ATTEMPTS: Final = 3
_PATIENCE: Final = 2.0
"""Longest wait before a retry in seconds; whether to wait longer is the client's decision."""

_FRESH: Final = 10.0
"""Seconds for which a list of models is cached."""
_LISTING: Final = 10.0


def fetch_silently() -> AbstractContextManager[Progress]:
    return nullcontext(NO_PROGRESS)


@dataclass(frozen=True, slots=True)
class UpstreamOptions:
    decoding: Decoding = field(default_factory=Decoding)
    bounds: Bounds = field(default_factory=Bounds)
    connections: int = 1_024
    slots: int = 2
    """Concurrent calls of a model that runs on this machine."""
    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None

    def limiter(self) -> Limiter:
        return Limiter(
            self.connections,
            requests_per_minute=self.requests_per_minute,
            tokens_per_minute=self.tokens_per_minute,
        )


class Upstream:
    """An open endpoint, or several that serve the same model."""

    def __init__(
        self,
        way: Transport | Balancer,
        options: UpstreamOptions,
        *,
        is_local: bool = False,
        others: Mapping[str, OpenAI | Balanced] | None = None,
    ) -> None:
        self.balancer = way if isinstance(way, Balancer) else None
        """Distributes requests, if several endpoints serve the same model."""
        self.transport = way.replicas[0].transport if isinstance(way, Balancer) else way
        self.is_local = is_local
        self._options = options
        self._others = others or {}
        self._named = self.endpoint.model
        # A bounded cache, since a client may invent any number of names.
        self.engine = lru_cache(_KEPT)(self._engine)
        self.prices = lru_cache(_KEPT)(price_list)
        self._listed: tuple[float, list[dict[str, Json]]] = (-_FRESH, [])
        self._turn = asyncio.Lock()
        self.limiter = options.limiter()

    @property
    def endpoint(self) -> Endpoint:
        return self.transport.endpoint

    @property
    def decoding(self) -> Decoding:
        return self._options.decoding

    @property
    def shown(self) -> str:
        places = [one.shown for one in self._endpoints]
        where = "on this machine" if self.is_local else f"at {', '.join(places)}"
        return f"{self._named or 'its models'} {where}"

    @property
    def _endpoints(self) -> list[Endpoint]:
        replicas = self.balancer.replicas if self.balancer else ()
        return [one.endpoint for one in replicas] or [self.endpoint]

    async def survey(self, tell: Tell) -> None:
        """Query it once, and report unexpected properties, now and later."""
        engine = self.engine(self._named)
        for one in (engine, *self._others.values()):
            one.report_to(tell)
        if self.balancer and isinstance(engine, Balanced):
            self.balancer.tell = tell
            for line in await engine.survey():
                tell(line)
        else:
            await engine.models()

    async def models(self) -> list[dict[str, Json]]:
        """List the chosen model, else the endpoint's current or last known list."""
        if self._named:
            return [{"id": self._named, "object": "model", "owned_by": "upstream"}]
        async with self._turn:
            asked, known = self._listed
            if time.monotonic() - asked < _FRESH:
                return known
            try:
                async with asyncio.timeout(_LISTING):
                    known = await self.engine("").models() or known
            except (EngineError, TimeoutError) as error:
                if not known:
                    late = (
                        f"{self.endpoint.shown}: did not list its models in time; try again later"
                    )
                    raise (
                        error if isinstance(error, EngineError) else ModelNotFound(late)
                    ) from None
            self._listed = (time.monotonic(), known)
            return known

    async def find(self, name: str) -> str:
        """Resolve a model's name: its own, an empty one for the default, or ``local``."""
        if self.is_local:
            if name in ("", LOCAL, self._named):
                return self._named
            raise ModelNotFound(f"model {name!r}: only {self._named!r} runs on this machine")
        if name or self._named:
            return name or self._named
        names = [one.get("id") for one in await self.models()]
        if len(names) == 1 and isinstance(names[0], str):
            return names[0]
        raise ModelNotFound("model: name one, as METHOD@MODEL; GET /v1/models lists what there is")

    def _engine(self, name: str) -> OpenAI | Balanced:
        context = self.endpoint.context if name == self._named else None
        endpoints = [replace(one, model=name, context=context) for one in self._endpoints]
        return _lent(endpoints, self._options, self.balancer or self.transport)

    def client(
        self, name: str, others: Sequence[str], decoding: RequestDecoding, done: CallDone
    ) -> Client:
        """Make the client of one request, for a model and the other models of its method."""
        # If several endpoints serve the model, each has its own limiter.
        limiter = None if self.balancer else self.limiter
        beside = {
            one: ServedModel(self._others[one])
            if one in self._others
            else ServedModel(self.engine(one), limiter)
            for one in others
        }
        main = ServedModel(self.engine(name), limiter)
        return Client(main, beside, decoding=decoding.over, done=done)


def _lent(
    endpoints: Sequence[Endpoint], options: UpstreamOptions, way: Transport | Balancer
) -> OpenAI | Balanced:
    decoding, bounds = options.decoding, options.bounds
    retry = Retry(attempts=_ATTEMPTS, patience=_PATIENCE, seconds=bounds.seconds)
    if isinstance(way, Balancer):
        return Balanced(endpoints, decoding, retry, bounds=bounds, balancer=way)
    return OpenAI(endpoints[0], decoding, retry, bounds=bounds, transport=way)


@asynccontextmanager
async def opened_upstream(
    ref: ModelRef,
    options: UpstreamOptions,
    others: Sequence[str] = (),
    fetching: Fetching = fetch_silently,
) -> AsyncGenerator[Upstream]:
    """Open an endpoint, or the model on this machine; no request is sent to an endpoint yet."""
    async with AsyncExitStack() as stack:
        beside = refs_beside(ref, others)
        bounds, slots = options.bounds, options.slots
        with fetching() as progress:
            found = {
                one: resolve(
                    one, options.decoding, bounds=bounds, concurrency=slots, progress=progress
                )
                for one in dict.fromkeys((ref, *beside.values()))
            }
        opened = {one: await _open(stack, engine, options) for one, engine in found.items()}
        engines = {
            name: _lent(_endpoints(found[one]), options, opened[one])
            for name, one in beside.items()
        }
        yield Upstream(opened[ref], options, is_local=runs_here(ref), others=engines)


def _endpoints(found: Resolved) -> Sequence[Endpoint]:
    return found.endpoints if isinstance(found, Balanced) else [found.endpoint]


async def _open(
    stack: AsyncExitStack, found: Resolved, options: UpstreamOptions
) -> Transport | Balancer:
    """Open the connections to a model, and the model itself if it runs on this machine."""
    if isinstance(found, Balanced):
        balancer = Balancer.over(found.endpoints, options.bounds, options.connections)
        balancer.limit(options.limiter)
        await balancer.open()
        stack.push_async_callback(balancer.close)
        return balancer
    if isinstance(found, Local):
        await stack.enter_async_context(found)
    transport = Transport(found.endpoint, options.bounds, options.connections)
    transport.open()
    stack.push_async_callback(transport.close)
    return transport
