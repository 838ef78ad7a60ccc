"""Counts and durations for Prometheus.

Labels have few values: a client that makes up names must not make up time series.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any, Final

from constraint_first.protocol import Call, Completion, Output

__all__ = ["CONTENT_TYPE", "Metrics"]

CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
_SECONDS: Final = (0.005, 0.025, 0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1_800, 3_600)
_MOST_STAGES: Final = 100


class Metrics:
    """What a server counts; nothing where prometheus-client is not installed."""

    def __init__(self) -> None:
        self._library: Any = _library()
        self._stages: set[str] = set()
        if self._library is None:
            return
        made: Any = self._library
        self.registry = made.CollectorRegistry()
        made.ProcessCollector(registry=self.registry)
        own: dict[str, Any] = {"registry": self.registry}
        timed = own | {"buckets": _SECONDS}
        self._requests = made.Counter(
            "cfr_requests", "Requests that were answered.", ["method", "status"], **own
        )
        self._request_seconds = made.Histogram(
            "cfr_request_seconds", "Seconds of a request.", ["method"], **timed
        )
        self._first_seconds = made.Histogram(
            "cfr_first_token_seconds", "Seconds to a stream's first word.", ["method"], **timed
        )
        self._calls = made.Counter(
            "cfr_stage_calls", "Calls that the upstream answered.", ["stage"], **own
        )
        self._call_seconds = made.Histogram(
            "cfr_stage_seconds", "Seconds of a call.", ["stage"], **timed
        )
        self._tokens = made.Counter(
            "cfr_tokens", "Tokens, as the upstream counts them.", ["stage", "direction"], **own
        )
        self._programs = made.Counter("cfr_programs", "Programs that were run.", ["outcome"], **own)

    @property
    def is_on(self) -> bool:
        """Whether anything is counted."""
        return self._library is not None

    def exposed(self) -> bytes:
        """Write all counts as Prometheus reads them."""
        return self._library.generate_latest(self.registry)

    def answered(self, method: str, status: int, seconds: float, first: float | None) -> None:
        """Count a request."""
        if not self.is_on:
            return
        self._requests.labels(method, str(status)).inc()
        self._request_seconds.labels(method).observe(seconds)
        if first is not None:
            self._first_seconds.labels(method).observe(first)

    def watch(self, under_way: Callable[[], int], waiting: Callable[[], int]) -> None:
        """Show how many requests there are whenever somebody looks."""
        if not self.is_on:
            return
        for name, about, count in (
            ("cfr_requests_under_way", "Requests under way.", under_way),
            ("cfr_requests_waiting", "Requests waiting for a turn.", waiting),
        ):
            self._library.Gauge(name, about, registry=self.registry).set_function(count)

    def called(self, call: Call, completion: Completion, seconds: float) -> None:
        """Count a call that was answered."""
        if not self.is_on:
            return
        stage, usage = self._stage(call.stage), completion.usage
        self._calls.labels(stage).inc()
        self._call_seconds.labels(stage).observe(seconds)
        counts = (("input", usage.input), ("output", usage.output), ("reasoning", usage.reasoning))
        for direction, tokens in counts:
            if tokens:
                self._tokens.labels(stage, direction).inc(tokens)

    def executed(self, output: Output) -> None:
        """Count a program that was run."""
        if self.is_on:
            self._programs.labels("error" if output.error else "ok").inc()

    def _stage(self, stage: str) -> str:
        """Name a stage; those of a method that makes them up are one."""
        if stage not in self._stages and len(self._stages) >= _MOST_STAGES:
            return "other"
        self._stages.add(stage)
        return stage


def _library() -> Any:
    return importlib.import_module("prometheus_client") if find_spec("prometheus_client") else None
