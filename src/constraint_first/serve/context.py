"""What all handlers of a server share, and what is known of the request that they answer."""

from __future__ import annotations

import asyncio
import importlib
import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.util import find_spec
from typing import Any, Final, TypeAlias

from aiohttp import web

from constraint_first.file.safe import one_line
from constraint_first.method.policy import Calibrated
from constraint_first.method.sound import is_held
from constraint_first.problem import Json, Problem
from constraint_first.process import Undecided
from constraint_first.protocol import (
    Call,
    Completion,
    Output,
    Usage,
)
from constraint_first.serve.reading import SHORT, Readers
from constraint_first.serve.request import ChosenMethod, MethodChoice
from constraint_first.serve.setting import RequestError, ServeSettings
from constraint_first.serve.upstream import Upstream
from constraint_first.store.journal import Traffic

Log: TypeAlias = Callable[[dict[str, Json]], None]
"""Takes the line of each request once it is over."""


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
        if not isinstance(chosen.method, Calibrated):
            return False
        if len(text) <= SHORT:
            return chosen.method.leaves_alone(Problem(text))
        return await self._decide("leaves_alone", chosen, text)

    async def holds(self, chosen: ChosenMethod, problem: Problem) -> bool:
        """Whether replies are only drafts until the method has returned."""
        if len(problem.text) <= SHORT:
            return is_held(chosen.method, problem)
        return await self._decide("holds", chosen, problem.text)

    async def _decide(self, task: str, chosen: ChosenMethod, text: str) -> bool:
        """Answer in a worker, and with yes where reading the text takes too long."""
        try:
            return bool(await self.readers.ask(task, chosen.name, text, chosen.alone))
        except Undecided:
            return True


@dataclass(slots=True, eq=False)
class Served:
    """What is known of one request, for the log and the counts."""

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
        if self.first is None:
            self.first = time.monotonic() - self.began

    @property
    def overdue(self) -> RequestError | None:
        """The error of a request that takes too long; None while it has time."""
        if self.deadline is None or not self.deadline.expired():
            return None
        if self.stopping:
            return stopped()
        said = f"the request was not done after {self.seconds:g} s"
        return RequestError(said, 504, code="request_timeout")

    @property
    def why_cancelled(self) -> str:
        return str(self.overdue or "the client went away")


def stopped() -> RequestError:
    return RequestError("the server is being stopped", 503, code="stopping", retry_after=1)


SERVICES: Final = web.AppKey("services", Services)
SERVED: Final = web.RequestKey("served", Served)


# One line a request, for programs or for people.

_LONGEST: Final = 500
_GONE: Final = "\N{REPLACEMENT CHARACTER}"


def access_line(request: web.Request, served: Served, status: int) -> dict[str, Json]:
    """List what is known of a request; of its contents, only the model's name."""
    usage = served.usage
    told: dict[str, Json] = {
        "time": datetime.now(UTC).isoformat(timespec="milliseconds"),
        "id": served.id,
        "remote": request.remote,
        "verb": request.method,
        "path": request.rel_url.raw_path[:_LONGEST],
        "status": status,
        "seconds": round(time.monotonic() - served.began, 4),
        "model": served.model,
        "method": served.method,
        "upstream": served.upstream,
        "stream": served.stream,
        "first_word_seconds": None if served.first is None else round(served.first, 4),
        "input_tokens": usage.input if usage else None,
        "output_tokens": usage.output if usage else None,
        "error": served.error,
    }
    return {
        name: value
        for name, value in told.items()
        if value is not None and value is not False and value != ""
    }


def describe_access(line: dict[str, Json]) -> str:
    """Write a line for people."""
    time_of_day = str(line["time"])[11:19]
    asked = f"{_word(line['verb'])} {_word(line['path'])}"
    said = f"{time_of_day} {line['status']} {line['seconds']} s {asked}"
    if model := line.get("model"):
        said += f" {_word(model)}"
    if "input_tokens" in line:
        said += f" {line['input_tokens']}+{line['output_tokens']} tokens"
    if "error" in line:  # without signs that a terminal obeys or that turn its text
        error = one_line(str(line["error"]))
        said += ": " + "".join(sign if sign.isprintable() else _GONE for sign in error)
    return said


def _word(value: Json) -> str:
    """Write a client's own word so that it cannot be read as more than one, nor as a new line."""
    word = str(value)[:_LONGEST]
    return word if word.isprintable() and " " not in word and '"' not in word else json.dumps(word)


# Counts and durations for Prometheus.
#
# Labels have few values: a client that makes up names must not make up time series.

CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
_SECONDS: Final = (0.005, 0.025, 0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1_800, 3_600)
_MOST_STAGES: Final = 100


class Metrics:
    """What a server counts; nothing where prometheus-client is not installed."""

    def __init__(self) -> None:
        self._stages: set[str] = set()
        found = find_spec("prometheus_client")
        self._library: Any = importlib.import_module("prometheus_client") if found else None
        if self._library is None:
            return
        self.registry = self._library.CollectorRegistry()
        self._library.ProcessCollector(registry=self.registry)
        count, time_ = self._counter, self._histogram
        self._requests = count("requests", "Requests that were answered.", "method", "status")
        self._request_seconds = time_("request_seconds", "Seconds of a request.", "method")
        first_word = "Seconds to a stream's first word."
        self._first_seconds = time_("first_token_seconds", first_word, "method")
        self._calls = count("stage_calls", "Calls that the upstream answered.", "stage")
        self._call_seconds = time_("stage_seconds", "Seconds of a call.", "stage")
        tokens = "Tokens, as the upstream counts them."
        self._tokens = count("tokens", tokens, "stage", "direction")
        self._programs = count("programs", "Programs that were run.", "outcome")

    def _counter(self, name: str, about: str, *labels: str) -> Any:
        return self._library.Counter(f"cfr_{name}", about, labels, registry=self.registry)

    def _histogram(self, name: str, about: str, *labels: str) -> Any:
        own: dict[str, Any] = {"registry": self.registry, "buckets": _SECONDS}
        return self._library.Histogram(f"cfr_{name}", about, labels, **own)

    @property
    def is_on(self) -> bool:
        return self._library is not None

    def exposed(self) -> bytes:
        return self._library.generate_latest(self.registry)

    def answered(self, method: str, status: int, seconds: float, first: float | None) -> None:
        if not self.is_on:
            return
        self._requests.labels(method, str(status)).inc()
        self._request_seconds.labels(method).observe(seconds)
        if first is not None:
            self._first_seconds.labels(method).observe(first)

    def watch(self, under_way: Callable[[], int], waiting: Callable[[], int]) -> None:
        """Read the numbers of requests whenever the counts are asked for."""
        if not self.is_on:
            return
        for name, about, count in (
            ("cfr_requests_under_way", "Requests under way.", under_way),
            ("cfr_requests_waiting", "Requests waiting for a turn.", waiting),
        ):
            self._library.Gauge(name, about, registry=self.registry).set_function(count)

    def called(self, call: Call, completion: Completion, seconds: float) -> None:
        if not self.is_on:
            return
        # A method may make up stages without end; a label must not.
        fits = call.stage in self._stages or len(self._stages) < _MOST_STAGES
        stage, usage = (call.stage if fits else "other"), completion.usage
        self._stages.add(stage)
        self._calls.labels(stage).inc()
        self._call_seconds.labels(stage).observe(seconds)
        counts = (("input", usage.input), ("output", usage.output), ("reasoning", usage.reasoning))
        for direction, tokens in counts:
            if tokens:
                self._tokens.labels(stage, direction).inc(tokens)

    def executed(self, output: Output) -> None:
        if self.is_on:
            self._programs.labels("error" if output.error else "ok").inc()
