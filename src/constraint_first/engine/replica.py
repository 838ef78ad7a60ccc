"""One of several endpoints that serve the same model: how busy it is, and whether it rests."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from typing import Final

from constraint_first.engine.endpoint import Endpoint
from constraint_first.engine.error import EngineError, RateLimited, Transient, Unreachable
from constraint_first.engine.limit import Limiter
from constraint_first.engine.transport import Bounds, Transport

__all__ = ["Replica", "Visit", "is_its_own"]

_REFUSALS: Final = frozenset({401, 403, 404, 405, 429})
"""What an endpoint says to all calls: another key, another model, an account that is empty."""


def is_its_own(fault: EngineError) -> bool:
    """Say whether a fault is one endpoint's, so that another may well answer the same call."""
    return isinstance(fault, Transient) or fault.status in _REFUSALS


@dataclass(frozen=True, slots=True)
class Visit:
    """A call's stay at an endpoint, and what was known of the endpoint when it came."""

    replica: Replica
    places: int
    rests: int
    answered: int


class Replica:
    """An endpoint with connections, limits and a rest of its own.

    A rest begins with a fault that is not just one call's: no connection, too many requests, a
    refusal, or any other while nothing got through. Calls that had come before it began tell
    nothing new.
    """

    def __init__(self, endpoint: Endpoint, bounds: Bounds, connections: int) -> None:
        self.transport = Transport(endpoint, bounds, connections)
        self.limiter = Limiter(connections)
        self.asked = 0
        self.resting: asyncio.Task[None] | None = None
        self.fault: EngineError | None = None
        """Why it rests, or why it last did before anything got through again."""
        self.told = False
        """Whether somebody was told that it rests."""
        self.until = 0.0
        """When the rest ends, on the event loop's clock."""
        self.in_a_row = 0
        """Rests since anything got through."""
        self._rests = 0
        self._answered = 0

    @property
    def endpoint(self) -> Endpoint:
        """Where it is."""
        return self.transport.endpoint

    @property
    def shown(self) -> str:
        """Its address without anything that could be a secret."""
        return self.endpoint.shown

    def name_model(self, model: str) -> None:
        """Take the name of the model that it serves."""
        self.transport.endpoint = replace(self.endpoint, model=model)

    def visit(self, places: int) -> Visit:
        """Note that a call comes, which has taken its places already."""
        self.asked += 1
        return Visit(self, places, self._rests, self._answered)

    def must_rest(self, visit: Visit, fault: EngineError) -> bool:
        """Say whether a fault begins a rest."""
        if visit.rests != self._rests:
            return False
        own = isinstance(fault, Unreachable | RateLimited) or not isinstance(fault, Transient)
        return own or visit.answered == self._answered

    def begin_rest(self, fault: EngineError) -> None:
        """Note a rest and its reason."""
        self.fault = fault
        self.in_a_row += 1
        self._rests += 1

    def answer(self, visit: Visit) -> bool:
        """Note a reply; whether it shows that a rest is over."""
        self._answered += 1
        if visit.rests != self._rests:
            return False
        self.in_a_row, self.fault = 0, None
        return self.resting is not None
