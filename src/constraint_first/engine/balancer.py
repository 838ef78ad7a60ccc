"""A load balancer over endpoints that serve the same model: least busy first.

One that fails rests for a while that grows each time, and is looked at before calls go there again.
While all of them rest none of them does: what is asked fails or not as with a single endpoint.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from constraint_first.engine.connection import Tell
from constraint_first.engine.endpoint import Endpoint
from constraint_first.engine.error import EngineError, RateLimited, TimedOut, Transient
from constraint_first.engine.limit import Limiter
from constraint_first.engine.model_listing import Listing, misfit
from constraint_first.engine.openai import OpenAI
from constraint_first.engine.replica import Replica, Visit
from constraint_first.engine.retry import Retry
from constraint_first.engine.transport import Bounds

__all__ = ["Balancer", "list_models"]

_LISTING: Final = 10.0
_MOST_NAMED: Final = 2
_LONG: Final = 1.0
"""Seconds of a rest that are worth a word."""


@dataclass(frozen=True, slots=True, eq=False)
class _Waiting:
    """A call that waits for places at one of the endpoints that it may go to."""

    places: int
    tried: frozenset[Replica]
    turn: asyncio.Future[Visit | None]


@dataclass(slots=True, eq=False)
class Balancer:
    """Endpoints between ``open`` and ``close``, and the turns of calls at them."""

    replicas: tuple[Replica, ...]
    tell: Tell = lambda _line: None
    """Is told that an endpoint rests, and that it is back."""
    pauses: Retry = field(default_factory=Retry)
    """How long rests are."""
    listings: dict[Replica, Listing] = field(default_factory=dict[Replica, Listing], init=False)
    """What endpoints listed when they were last looked at."""
    _waiting: deque[_Waiting] = field(default_factory=deque[_Waiting], init=False)

    @classmethod
    def over(cls, endpoints: Iterable[Endpoint], bounds: Bounds, connections: int) -> Balancer:
        """Make one of endpoints, each with so many connections of its own."""
        return cls(tuple(Replica(one, bounds, connections) for one in endpoints))

    @property
    def is_open(self) -> bool:
        """Whether calls can be performed now."""
        return all(one.transport.is_open for one in self.replicas)

    @property
    def status(self) -> str:
        """How many endpoints are in use, and which rest, in one line."""
        resting = [one.shown for one in self.replicas if one.resting]
        said = f"{len(self.replicas) - len(resting)} of {len(self.replicas)} endpoints in use"
        if not resting:
            return said
        more = f" and {len(resting) - _MOST_NAMED} more" if len(resting) > _MOST_NAMED else ""
        named = ", ".join(resting[:_MOST_NAMED])
        return f"{said}, {named}{more} {'rests' if len(resting) == 1 else 'rest'}"

    async def open(self) -> None:
        """Make the connections; nothing is sent yet."""
        try:
            for one in self.replicas:
                one.transport.open()
        except BaseException:
            await self.close()
            raise

    async def close(self) -> None:
        """End all rests and close all connections."""
        tasks = [one.resting for one in self.replicas if one.resting]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for one in self.replicas:
            one.resting = None
            await one.transport.close()

    def limit(self, make: Callable[[], Limiter]) -> None:
        """Give every endpoint a limiter of its own."""
        for one in self.replicas:
            one.limiter = make()

    # --- Turns.

    async def turn(self, places: int, tried: frozenset[Replica]) -> Visit | None:
        """Wait for places at the least busy endpoint that was not tried yet; None for none left.

        The places are taken; ``leave`` gives them back.
        """
        if not self._waiting and (free := _with_room(self._candidates(tried), places)):
            return _take(free, places)
        waiting = _Waiting(places, tried, asyncio.get_running_loop().create_future())
        if tried:  # it has waited before
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
                self.leave(visit)  # the turn came just as we gave up: pass it on
            raise

    def has_other(self, tried: frozenset[Replica]) -> bool:
        """Say whether a call that failed may go elsewhere."""
        return bool(self._candidates(tried))

    def leave(self, visit: Visit) -> None:
        """Give a call's places back."""
        visit.replica.limiter.release(visit.places)
        self._serve()

    def _serve(self) -> None:
        """Give turns in order; nobody overtakes at an endpoint that an earlier call waits for."""
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
        """List where a call may go: where it was not yet; while all rest, anywhere, but once."""
        awake = [one for one in self.replicas if not one.resting and one not in tried]
        return awake if awake or tried else self.replicas

    # --- Rests.

    def answered(self, visit: Visit) -> None:
        """Note a reply; it ends a rest at once."""
        one = visit.replica
        if one.answer(visit) and one.resting:
            one.resting.cancel()
            self._end_rest(one)

    def failed(self, visit: Visit, fault: EngineError) -> None:
        """Note a fault, and have the endpoint rest unless it was just that call's."""
        if visit.replica.must_rest(visit, fault):
            self.rest(visit.replica, fault)

    def rest(self, one: Replica, fault: EngineError) -> None:
        """Send no calls to an endpoint for a while, and look whether it is back after that."""
        if one.resting:
            one.resting.cancel()
        pause = self._begin_rest(one, fault)
        one.resting = asyncio.create_task(self._rest(one, pause))
        self._serve()  # those that waited for it alone have nowhere to go

    def seconds_to_next(self) -> float:
        """Say in how many seconds the next endpoint may be asked."""
        now = asyncio.get_running_loop().time()
        return min(max(0.0, one.until - now) if one.resting else 0.0 for one in self.replicas)

    def _begin_rest(self, one: Replica, fault: EngineError) -> float:
        """Choose how long an endpoint rests: longer each time, or as long as it asked for."""
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
        """Look what is still wrong with an endpoint; the model of the others must be there."""
        try:
            listing = await list_models(one)
        except Transient as fault:
            return fault
        except EngineError:  # it answers, and has no list
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
            self.tell(f"{one.shown}: asked again; {self.status}")
        self._serve()


async def list_models(one: Replica) -> Listing:
    """Ask an endpoint what it serves, once and not for long."""
    asked = OpenAI(one.endpoint, transport=one.transport)
    try:
        async with asyncio.timeout(_LISTING):
            return Listing(one.endpoint, await asked.models())
    except TimeoutError:
        raise TimedOut(f"{one.shown}: did not list its models in time") from None


def _with_room(candidates: Iterable[Replica], places: int) -> list[Replica]:
    return [one for one in candidates if one.limiter.has_room(places)]


def _take(free: Sequence[Replica], places: int) -> Visit:
    """Take places where the fewest are taken; of equals, where the fewest calls went so far."""
    chosen = min(free, key=lambda one: (one.limiter.in_flight, one.asked))
    chosen.limiter.take(places)
    return chosen.visit(places)
