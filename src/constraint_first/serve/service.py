"""What all handlers of a server share, and what is known of the request that they answer."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from aiohttp import web

from constraint_first.evaluation.traffic import Traffic
from constraint_first.method.calibrated import Calibrated
from constraint_first.problem import Json, Problem
from constraint_first.protocol import Usage
from constraint_first.serve.certainty import is_held
from constraint_first.serve.error_reply import RequestError
from constraint_first.serve.method_choice import ChosenMethod, MethodChoice
from constraint_first.serve.metric import Metrics
from constraint_first.serve.reading import SHORT, Readers
from constraint_first.serve.setting import ServeSettings
from constraint_first.serve.upstream import Upstream

__all__ = ["SERVED", "SERVICES", "Log", "Served", "Services", "stopped"]

Log: TypeAlias = Callable[[dict[str, Json]], None]
"""What is told of each request once it is over."""


@dataclass(slots=True)
class Services:
    """The parts of one server."""

    settings: ServeSettings
    upstream: Upstream
    methods: MethodChoice
    metrics: Metrics
    log: Log | None = None
    traffic: Traffic | None = None
    readers: Readers = field(default_factory=Readers)
    stopping: bool = False
    """Whether the server takes no more requests."""

    async def leaves_alone(self, chosen: ChosenMethod, text: str) -> bool:
        """Say whether a policy sends a text to the model as it is.

        A text that takes too long to read is left alone.
        """
        if not isinstance(chosen.method, Calibrated):
            return False
        if len(text) <= SHORT:
            return chosen.method.leaves_alone(Problem(text))
        return await self.readers.decide("leaves_alone", chosen.name, text, alone=chosen.alone)

    async def holds(self, chosen: ChosenMethod, problem: Problem) -> bool:
        """Say whether replies are only drafts until the method has returned."""
        if len(problem.text) <= SHORT:
            return is_held(chosen.method, problem)
        return await self.readers.decide("holds", chosen.name, problem.text, alone=chosen.alone)


@dataclass(slots=True, eq=False)
class Served:
    """One request, as the log and the counts tell of it."""

    began: float = field(default_factory=time.monotonic)
    id: str = ""
    model: str = ""
    method: str = ""
    """The family of the method; empty for what passes through or asks no model."""
    upstream: str = ""
    stream: bool = False
    first: float | None = None
    """Seconds until the first word."""
    usage: Usage | None = None
    error: str = ""
    deadline: asyncio.Timeout | None = None
    seconds: float = 0.0
    """How long it may take."""
    stopping: bool = False
    """Whether its time was cut short because the server is being stopped."""

    def spoke(self) -> None:
        """Note that the first word is there."""
        if self.first is None:
            self.first = time.monotonic() - self.began

    @property
    def overdue(self) -> RequestError | None:
        """What a client is told whose request takes too long; None while it has time."""
        if self.deadline is None or not self.deadline.expired():
            return None
        if self.stopping:
            return stopped()
        said = f"the request was not done after {self.seconds:g} s"
        return RequestError(said, 504, code="request_timeout")

    @property
    def why_cancelled(self) -> str:
        """Why its handler was cancelled."""
        return str(self.overdue or "the client went away")


def stopped() -> RequestError:
    """Make the error for a request to a server that is being stopped."""
    return RequestError("the server is being stopped", 503, code="stopping", retry_after=1)


SERVICES: Final = web.AppKey("services", Services)
SERVED: Final = web.RequestKey("served", Served)
