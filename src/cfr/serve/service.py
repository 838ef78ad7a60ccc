"""What all handlers of a server share, and what is known of the request that they answer."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from aiohttp import web

from cfr.evaluation.traffic import Traffic
from cfr.problem import Json
from cfr.protocol import Usage
from cfr.serve.method_choice import MethodChoice
from cfr.serve.metric import Metrics
from cfr.serve.setting import ServeSettings
from cfr.serve.upstream import Upstream

__all__ = ["SERVED", "SERVICES", "Log", "Served", "Services"]

Log: TypeAlias = Callable[[dict[str, Json]], None]
"""What is told of each request once it is over."""


@dataclass(slots=True)
class Services:
    """The parts of one server."""

    settings: ServeSettings
    upstream: Upstream
    methods: MethodChoice
    metrics: Metrics
    log: Log
    traffic: Traffic | None = None
    stopping: bool = False
    """Whether the server takes no more requests."""


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
    stopping: bool = False

    def spoke(self) -> None:
        """Note that the first word is there."""
        if self.first is None:
            self.first = time.monotonic() - self.began

    @property
    def why_cancelled(self) -> str:
        """Why its handler was cancelled."""
        if self.deadline is None or not self.deadline.expired():
            return "the client went away"
        return "the server was stopped" if self.stopping else "the time of the request was over"


SERVICES: Final = web.AppKey("services", Services)
SERVED: Final = web.RequestKey("served", Served)
