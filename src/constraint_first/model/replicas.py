"""One model behind several endpoints: calls go to the least busy; failing endpoints rest."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Final

from constraint_first.model.client import Asked, Entry, Listing, OpenAI
from constraint_first.model.connection import Tell
from constraint_first.model.error import (
    EngineError,
    ModelNotFound,
    RateLimited,
    Rejected,
    TimedOut,
    Transient,
    Unreachable,
)
from constraint_first.model.limit import Limiter, Retry, replies_to
from constraint_first.model.transport import Bounds, Endpoint, Transport
from constraint_first.model.wire import SILENT, Decode, Decoding, SampledCall, Watcher
from constraint_first.problem import Json
from constraint_first.protocol import Call, Completion

_REFUSALS: Final = frozenset({401, 403, 404, 405, 429})
"""HTTP statuses that concern the endpoint, not the call: wrong key or model, no credit."""


def is_its_own(fault: EngineError) -> bool:
    """Whether a fault is the endpoint's, so that another endpoint may answer the same call."""
    return isinstance(fault, Transient) or fault.status in _REFUSALS


@dataclass(frozen=True, slots=True)
class Visit:
    """A call at an endpoint, and the endpoint's counters when it arrived there."""

    replica: Replica
    places: int
    rests: int
    answered: int


class Replica:
    """An endpoint with its own connections, limits and pauses after faults (rests)."""

    def __init__(self, endpoint: Endpoint, bounds: Bounds, connections: int) -> None:
        self.transport = Transport(endpoint, bounds, connections)
        self.limiter = Limiter(connections)
        self.asked = 0
        self.resting: asyncio.Task[None] | None = None
        self.fault: EngineError | None = None
        """Why it rests, or last rested; None once a call has succeeded since."""
        self.told = False
        self.until = 0.0
        """When the rest ends, on the event loop's clock."""
        self.in_a_row = 0
        self._rests = 0
        self._answered = 0

    @property
    def endpoint(self) -> Endpoint:
        return self.transport.endpoint

    def name_model(self, model: str) -> None:
        self.transport.endpoint = replace(self.endpoint, model=model)

    def visit(self, places: int) -> Visit:
        self.asked += 1
        return Visit(self, places, self._rests, self._answered)

    def must_rest(self, visit: Visit, fault: EngineError) -> bool:
        """Whether a fault is clearly the endpoint's, or no call has succeeded there since."""
        if visit.rests != self._rests:
            return False
        own = isinstance(fault, Unreachable | RateLimited) or not isinstance(fault, Transient)
        return own or visit.answered == self._answered

    def begin_rest(self, fault: EngineError) -> None:
        self.fault = fault
        self.in_a_row += 1
        self._rests += 1

    def answer(self, visit: Visit) -> bool:
        """Note a reply; return whether a rest is over."""
        self._answered += 1
        if visit.rests != self._rests:
            return False
        self.in_a_row, self.fault = 0, None
        return self.resting is not None


# Comparison of the endpoints' model lists: all of them must serve the same model.
#
# A list may be missing, and a model may be served that is on no list: llama.cpp servers list the
# path of a file and accept any name. So only a difference between two lists shows a mismatch.


def common_name(listings: Sequence[Listing]) -> str:
    """Find the model's name, which need not be given where each endpoint serves just one."""
    (name, *_) = [one.only_name() for one in listings]
    if fault := misfit(listings, name):
        raise fault
    return name


def misfit(listings: Sequence[Listing], model: str) -> ModelNotFound | None:
    """Return an error where one endpoint lists a model and another does not."""
    has = next((one for one in listings if model in one.names), None)
    lacks = next((one for one in listings if one.names and model not in one.names), None)
    if has is None or lacks is None:
        return None
    return ModelNotFound(
        f"{lacks.endpoint.shown}: serves {lacks.shown_names}, and {has.endpoint.shown} "
        f"{has.endpoint.redaction.quote(model)}; endpoints that are given together must serve the "
        "same model: leave one out, or start it with the other's model"
    )


def other_names(listings: Sequence[Listing]) -> Iterator[str]:
    """Describe which endpoints list other models than the first, if no model was named."""
    for one in listings[1:]:
        if set(one.names) != set(listings[0].names):
            yield (
                f"{one.endpoint.shown}: serves {one.shown_names}, and {listings[0].endpoint.shown} "
                f"{listings[0].shown_names}; a request may come to either: name one with --model"
            )


def differences(
    listings: Sequence[Listing], model: str, *, with_context: bool = True
) -> Iterator[str]:
    """Describe how endpoints' metadata of a model differs from the first endpoint's."""
    for read, words in _COMPARED if with_context else _COMPARED[1:]:
        told = [(one, value) for one in listings if (value := read(one.entry(model)))]
        for one, value in told[1:]:
            first, usual = told[0]
            if value != usual:
                own = one.endpoint.redaction.quote(str(value))
                other = first.endpoint.redaction.quote(str(usual))
                said = words.format(own=own, other=other, first=first.endpoint.shown)
                yield f"{one.endpoint.shown}: {said}"


def _meta(entry: Entry, name: str) -> Json:
    meta = entry.get("meta")
    return meta.get(name) if isinstance(meta, dict) else None


def _context(entry: Entry) -> Json:
    """Read the context size from the fields of vLLM, llama.cpp or gateways."""
    named = (entry.get(name) for name in ("max_model_len", "context_length", "context_window"))
    return next(filter(None, (*named, _meta(entry, "n_ctx"))), None)


_COMPARED: Final[tuple[tuple[Callable[[Entry], Json], str], ...]] = (
    (
        _context,
        "{own} tokens of context, and {first} has {other}; replies may be cut at one and not "
        "at the other: --context gives both the same",
    ),
    (lambda entry: entry.get("root"), "the model is {own} there, and {other} at {first}"),
    (
        lambda entry: _meta(entry, "n_params"),
        "its model has {own} parameters, and that of {first} {other}",
    ),
    (
        lambda entry: _meta(entry, "size"),
        "its model has {own} bytes, and that of {first} {other}: another quantization?",
    ),
)


# A load balancer over endpoints that serve the same model: least busy first.
#
# An endpoint that fails rests, longer each time, and is probed before it gets calls again. While
# all endpoints rest, calls go to any of them and succeed or fail as with a single endpoint.

_LISTING: Final = 10.0
_LONG: Final = 1.0
"""Rests of at least so many seconds are reported to the user."""


@dataclass(frozen=True, slots=True, eq=False)
class _Waiting:
    """A call that waits for places at one of its possible endpoints."""

    places: int
    tried: frozenset[Replica]
    turn: asyncio.Future[Visit | None]


@dataclass(slots=True, eq=False)
class Balancer:
    """The endpoints between ``open`` and ``close``, and the queue of calls to them."""

    replicas: tuple[Replica, ...]
    tell: Tell = lambda _line: None
    pauses: Retry = field(default_factory=Retry)
    listings: dict[Replica, Listing] = field(default_factory=dict[Replica, Listing], init=False)
    _waiting: deque[_Waiting] = field(default_factory=deque[_Waiting], init=False)

    @classmethod
    def over(cls, endpoints: Iterable[Endpoint], bounds: Bounds, connections: int) -> Balancer:
        return cls(tuple(Replica(one, bounds, connections) for one in endpoints))

    @property
    def is_open(self) -> bool:
        return all(one.transport.is_open for one in self.replicas)

    @property
    def status(self) -> str:
        resting = [one.endpoint.shown for one in self.replicas if one.resting]
        said = f"{len(self.replicas) - len(resting)} of {len(self.replicas)} endpoints in use"
        if not resting:
            return said
        more = f" and {len(resting) - 2} more" if len(resting) > 2 else ""
        named = ", ".join(resting[:2])
        return f"{said}, {named}{more} {'rests' if len(resting) == 1 else 'rest'}"

    async def open(self) -> None:
        try:
            for one in self.replicas:
                one.transport.open()
        except BaseException:
            await self.close()
            raise

    async def close(self) -> None:
        tasks = [one.resting for one in self.replicas if one.resting]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for one in self.replicas:
            one.resting = None
            await one.transport.close()

    def limit(self, make: Callable[[], Limiter]) -> None:
        for one in self.replicas:
            one.limiter = make()

    # --- Turns.

    async def turn(self, places: int, tried: frozenset[Replica]) -> Visit | None:
        """Wait for places at the least busy endpoint not tried yet; None where none is left."""
        if not self._waiting and (free := _with_room(self._candidates(tried), places)):
            return _take(free, places)
        waiting = _Waiting(places, tried, asyncio.get_running_loop().create_future())
        if tried:  # it is a retry, so it goes first
            self._waiting.appendleft(waiting)
        else:
            self._waiting.append(waiting)
        self._serve()
        try:
            return await waiting.turn
        except asyncio.CancelledError:
            if waiting in self._waiting:
                self._waiting.remove(waiting)
                self._serve()
            elif not waiting.turn.cancelled() and (visit := waiting.turn.result()):
                self.leave(visit)  # already granted: pass it on
            raise

    def has_other(self, tried: frozenset[Replica]) -> bool:
        return bool(self._candidates(tried))

    def leave(self, visit: Visit) -> None:
        visit.replica.limiter.release(visit.places)
        self._serve()

    def _serve(self) -> None:
        """Grant turns in order; no call overtakes another that waits for the same endpoint."""
        served: list[_Waiting] = []
        blocked: set[Replica] = set()
        for one in self._waiting:
            if len(blocked) == len(self.replicas):
                break
            candidates = self._candidates(one.tried)
            free = _with_room([r for r in candidates if r not in blocked], one.places)
            if candidates and not free:
                blocked.update(candidates)
                continue
            served.append(one)
            if not one.turn.done():
                one.turn.set_result(_take(free, one.places) if free else None)
        for one in served:
            self._waiting.remove(one)

    def _candidates(self, tried: frozenset[Replica]) -> Sequence[Replica]:
        """List endpoints not tried and not resting; where all rest, all of them, once."""
        awake = [one for one in self.replicas if not one.resting and one not in tried]
        return awake if awake or tried else self.replicas

    # --- Rests.

    def answered(self, visit: Visit) -> None:
        one = visit.replica
        if one.answer(visit) and one.resting:
            one.resting.cancel()
            self._end_rest(one)

    def failed(self, visit: Visit, fault: EngineError) -> None:
        if visit.replica.must_rest(visit, fault):
            self.rest(visit.replica, fault)

    def rest(self, one: Replica, fault: EngineError) -> None:
        """Send no calls to an endpoint for a while, then probe it."""
        if one.resting:
            one.resting.cancel()
        pause = self._begin_rest(one, fault)
        one.resting = asyncio.create_task(self._rest(one, pause))
        self._serve()  # calls that waited for this endpoint alone

    def seconds_to_next(self) -> float:
        now = asyncio.get_running_loop().time()
        return min(max(0.0, one.until - now) if one.resting else 0.0 for one in self.replicas)

    def _begin_rest(self, one: Replica, fault: EngineError) -> float:
        one.begin_rest(fault)
        pause = self.pauses.longest_pause
        if isinstance(fault, Transient):
            pause = self.pauses.pause(one.in_a_row, fault)
        one.until = asyncio.get_running_loop().time() + pause
        return pause

    async def _rest(self, one: Replica, pause: float) -> None:
        while True:
            if not one.told and (pause >= _LONG or one.in_a_row > 1):
                one.told = True
                self.tell(f"{one.fault}; {self.status}")
            await asyncio.sleep(pause)
            if isinstance(one.fault, RateLimited) or not (fault := await self._look(one)):
                break
            pause = self._begin_rest(one, fault)
        self._end_rest(one)

    async def _look(self, one: Replica) -> EngineError | None:
        """Probe an endpoint by its model list; return the fault, also where it lacks the model."""
        try:
            listing = await list_models(one)
        except Transient as fault:
            return fault
        except EngineError:  # it responds, but has no list
            return None
        others = [found for other, found in self.listings.items() if other is not one]
        if fault := misfit([*others, listing], one.endpoint.model):
            return fault
        self.listings[one] = listing
        return None

    def _end_rest(self, one: Replica) -> None:
        one.resting = None
        if one.told:
            one.told = False
            self.tell(f"{one.endpoint.shown}: asked again; {self.status}")
        self._serve()


async def list_models(one: Replica) -> Listing:
    asked = OpenAI(one.endpoint, transport=one.transport)
    try:
        async with asyncio.timeout(_LISTING):
            return Listing(one.endpoint, await asked.models())
    except TimeoutError:
        raise TimedOut(f"{one.endpoint.shown}: did not list its models in time") from None


def _with_room(candidates: Iterable[Replica], places: int) -> list[Replica]:
    return [one for one in candidates if one.limiter.has_room(places)]


def _take(free: Sequence[Replica], places: int) -> Visit:
    """Take places at the least busy endpoint; of equals, the one with fewest calls so far."""
    chosen = min(free, key=lambda one: (one.limiter.in_flight, one.asked))
    chosen.limiter.take(places)
    return chosen.visit(places)


# One model behind several endpoints, as one engine: a call that fails is retried at another.
#
# Each endpoint has an engine of its own, which learns its context and the parameters it refuses.
# The model's name does not depend on the endpoints, so a run may be resumed with more or fewer.

_SHORTEST_PAUSE: Final = 0.05


class Balanced(Asked):
    """An engine for one model behind several endpoints: ``async with Balanced(endpoints)``."""

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
        """Differences between the endpoints, as lines for the user, once the engine is open."""
        self.endpoints = tuple(endpoints)
        self.decoding = decoding or Decoding()
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

    async def __aexit__(self, *_: object) -> None:
        await self.balancer.close()

    @property
    def is_open(self) -> bool:
        return self.balancer.is_open

    @property
    def model(self) -> str:
        return self.endpoints[0].model

    @property
    def context(self) -> int | None:
        known = [engine.context for engine in self._engines.values()]
        return max(filter(None, known)) if known and all(known) else None

    def report_to(self, tell: Tell) -> None:
        for one in self.balancer.replicas:
            one.transport.host.tell = tell

    def beside(self, model: str) -> Balanced:
        endpoints = [replace(one, model=model, context=None) for one in self.endpoints]
        return Balanced(endpoints, self.decoding, bounds=self.bounds)

    async def ask(
        self, call: Call, watcher: Watcher = SILENT, decoding: Decoding | Decode | None = None
    ) -> Completion:
        """Try a call at each endpoint at most once, until one answers."""
        began, failed = time.monotonic(), dict[Visit, EngineError]()
        while visit := await self._turn(call, frozenset(one.replica for one in failed)):
            if failed:
                last = [*failed.values()][-1]  # even a refusal may be one endpoint's fault
                shown = last if isinstance(last, Transient) else Unreachable(str(last))
                watcher.retrying(call, shown, 0.0)
            try:
                completion = await self._ask_there(visit, call, watcher, decoding)
            except EngineError as fault:
                failed[visit] = fault
                if not is_its_own(fault) or time.monotonic() - began > self.bounds.seconds:
                    raise
            else:
                for one, fault in failed.items():  # refusals were their own, too
                    self.balancer.failed(one, fault)
                return completion
        raise self._last([*failed.values()])

    async def models(self) -> list[dict[str, Json]]:
        order = sorted(self._engines, key=lambda one: one.resting is not None)
        for one in order[:-1]:
            with suppress(EngineError):
                return await self._engines[one].models()
        return await self._engines[order[-1]].models()

    def most_samples(self, group: SampledCall) -> int:
        """The most that an endpoint accepts in one request and allows at the same time."""
        awake = [one for one in self._engines if not one.resting] or self._engines
        return max(self._most_samples(one, group) for one in awake)

    # --- Endpoints.

    async def _turn(self, call: Call, tried: frozenset[Replica]) -> Visit | None:
        places = replies_to(call)
        if isinstance(call, SampledCall):
            fewer = {one for one in self._engines if self._most_samples(one, call) < places}
            if fewer and (visit := await self.balancer.turn(places, tried | fewer)):
                return visit
        return await self.balancer.turn(places, tried)

    async def _ask_there(
        self, visit: Visit, call: Call, watcher: Watcher, decoding: Decoding | Decode | None
    ) -> Completion:
        limiter = visit.replica.limiter
        try:
            await limiter.pace(call)
            completion = await self._engines[visit.replica].ask(call, watcher, decoding)
        except EngineError as fault:
            if isinstance(fault, Transient):
                limiter.failed(fault, visit.places)
                self.balancer.failed(visit, fault)
            elif not is_its_own(fault) and isinstance(fault, Rejected):  # the endpoint works
                self.balancer.answered(visit)
            raise
        else:
            limiter.succeeded(visit.places)
            self.balancer.answered(visit)
            return completion
        finally:
            self.balancer.leave(visit)

    def _last(self, faults: Sequence[EngineError]) -> EngineError:
        """Return the fault to raise when no endpoint is left, with the pause before a retry."""
        fault = next((one for one in faults if isinstance(one, Transient)), faults[-1])
        if isinstance(fault, Transient) and fault.retry_after is not None:
            soon = max(_SHORTEST_PAUSE, self.balancer.seconds_to_next())
            fault.retry_after = min(fault.retry_after, soon)
        return fault

    def _most_samples(self, one: Replica, group: SampledCall) -> int:
        return min(self._engines[one].most_samples(group), int(one.limiter.size))

    # --- Opening.

    def _make_engines(self) -> None:
        pairs = zip(self.balancer.replicas, self.endpoints, strict=True)
        self._engines = {
            one: OpenAI(endpoint, self.decoding, bounds=self.bounds, transport=one.transport)
            for one, endpoint in pairs
        }

    async def _agree(self) -> None:
        # A separate Retry: a list of models is no evidence that a model answers calls.
        listings = await replace(self.retry).run(lambda: self._look(needed=not self.model))
        model = self.model or common_name(listings)
        if fault := misfit(listings, model):
            raise fault
        self.notes = self._differences(listings, model)
        self.endpoints = tuple(replace(one, model=model) for one in self.endpoints)
        for one in self.balancer.replicas:
            one.name_model(model)

    async def survey(self) -> tuple[str, ...]:
        """Describe how the endpoints differ; rest any that is unreachable or has another model."""
        listings = await self._look(needed=True)
        fault = misfit(listings, self.model)
        for one, listing in self.balancer.listings.items():
            if fault and listing.names and self.model not in listing.names:
                self.balancer.rest(one, fault)
        others = () if self.model else other_names(listings)
        return (*others, *self._differences(listings, self.model))

    def _differences(self, listings: Sequence[Listing], model: str) -> tuple[str, ...]:
        given = any(one.context for one in self.endpoints)
        return tuple(differences(listings, model, with_context=not given))

    async def _look(self, *, needed: bool) -> list[Listing]:
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
