"""The settings of a server: where it listens, who may ask, and how much at a time."""

from __future__ import annotations

import importlib
import ipaddress
import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.util import find_spec
from typing import Any, Final, NamedTuple, TypeVar

import orjson
from aiohttp import web

from constraint_first.error import CfrError, InputError
from constraint_first.file.safe import storable_text
from constraint_first.method.method import MethodError, split_name
from constraint_first.method.registry import names
from constraint_first.model.error import (
    EngineError,
    ModelNotFound,
    PromptTooLong,
    RateLimited,
    Rejected,
    TimedOut,
    TooExpensive,
    TookTooLong,
    Transient,
    Unauthorized,
)
from constraint_first.model.resolve import AUTO
from constraint_first.model.transport import DecodingRefused
from constraint_first.pattern import lazy_pattern
from constraint_first.protocol import Answer, Call, Completion, Output, Program, Run, Steps, Usage
from constraint_first.sandbox.sandbox import SandboxMissing
from constraint_first.store.database import StoreError, Unstorable

_LOCALHOST: Final = "localhost"


@dataclass(frozen=True, slots=True)
class ServeSettings:
    """What the person who starts a server decides."""

    host: str = "127.0.0.1"
    port: int = 8080
    """0 for any that is free."""
    methods: tuple[str, ...] = ("auto",)
    """Methods that are listed; the first answers requests that name no model."""
    token: str = field(default="", repr=False)
    allowed_hosts: tuple[str, ...] = ()
    """Names by which clients may call the server, beside its address."""
    allowed_origins: tuple[str, ...] = ()
    """Web pages of other servers that may ask, such as ``http://localhost:3000``."""
    most_requests: int = 256
    """Requests at the same time; as many more wait for their turn, and any beyond get a 503."""
    most_waiting: int = 256
    most_connections: int = 2_048
    """Open connections, of one address half as many; idle ones are closed for new ones."""
    most_calls: int = 256
    """Calls to the model that one request may cost, all of its attempts together."""
    most_tokens: int = 4_000_000
    """Likewise in tokens, prompts and replies together."""
    body_bytes: int = 20_000_000
    request_seconds: float = 3_600.0
    grace: float = 30.0
    """Seconds that requests under way have when the server is stopped."""
    silence: float = 15.0
    """Seconds without a word after which a stream gets a comment, so that nobody hangs up."""

    def check(self) -> None:
        """Refuse a server that anybody could use."""
        if not is_loopback(self.host) and not self.token:
            raise InputError(
                f"--host {self.host}: others could use it; give it a token (--token or CFR_TOKEN), "
                "or leave --host out so that only this machine can"
            )
        if not self.token.isascii() or not self.token.isprintable() or " " in self.token:
            raise InputError("--token: must be printable ASCII without spaces; choose another")


def is_loopback(host: str) -> bool:
    """Say whether an address can be reached from this machine alone."""
    name = host.strip("[]").lower()
    if name == _LOCALHOST or name.endswith(f".{_LOCALHOST}"):
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


# Errors as OpenAI's clients read them: a status, and an object that says what is wrong.

_KINDS: Final = {
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    429: "rate_limit_error",
}
_BROKEN: Final = "something went wrong in the server; its log says what"


class RequestError(CfrError):
    """A request that cannot be answered as it stands."""

    def __init__(
        self,
        message: str,
        status: int = 400,
        *,
        code: str | None = None,
        param: str | None = None,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.param = param
        self.retry_after = retry_after


@dataclass(frozen=True, slots=True)
class ErrorReply:
    """What a client is told."""

    status: int
    message: str
    code: str | None = None
    param: str | None = None
    retry_after: float | None = None

    @property
    def kind(self) -> str:
        """The type, as OpenAI names it."""
        usual = "server_error" if self.status >= 500 else "invalid_request_error"
        return _KINDS.get(self.status, usual)

    def body(self) -> bytes:
        """Write the object."""
        error = {
            "message": storable_text(self.message),
            "type": self.kind,
            "param": self.param,
            "code": self.code,
        }
        return orjson.dumps({"error": error})

    def response(self) -> web.Response:
        """Make the whole response."""
        headers: dict[str, str] = {}
        if self.retry_after is not None and math.isfinite(self.retry_after):
            headers["Retry-After"] = str(math.ceil(self.retry_after))
        if self.status == 401:
            headers["WWW-Authenticate"] = "Bearer"
        return web.Response(
            status=self.status,
            body=self.body(),
            content_type="application/json",
            headers=headers,
        )

    def event(self) -> bytes:
        """Write the event that ends a stream."""
        return b"data: " + self.body() + b"\n\n"


def describe_error(error: BaseException) -> ErrorReply:
    """Choose the status and the words for whatever went wrong.

    An error that we have no words of our own for is not quoted: it may hold a key.
    """
    if isinstance(error, BaseExceptionGroup):
        return describe_error(error.exceptions[0])  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType]
    if isinstance(error, RequestError):
        return ErrorReply(error.status, str(error), error.code, error.param, error.retry_after)
    if isinstance(error, EngineError):
        return _of_upstream(error)
    if isinstance(error, MethodError):
        return ErrorReply(404, str(error), "model_not_found", "model")
    if isinstance(error, StoreError | Unstorable):
        return ErrorReply(500, f"the journal: {error}", "journal")
    if isinstance(error, InputError):
        return ErrorReply(400, str(error))
    return ErrorReply(500, _BROKEN, "internal_error")


def _of_upstream(error: EngineError) -> ErrorReply:
    said = str(error)
    if isinstance(error, SandboxMissing):
        return ErrorReply(501, said, "sandbox_missing", "model")
    if isinstance(error, RateLimited):
        return ErrorReply(429, said, "rate_limit_exceeded", retry_after=error.retry_after)
    if isinstance(error, TooExpensive):
        return ErrorReply(400, said, "attempt_limit_exceeded", "model")
    if isinstance(error, TimedOut | TookTooLong):
        return ErrorReply(504, said, "upstream_timeout")
    if isinstance(error, Transient):
        status = 503 if error.status == 503 else 502
        return ErrorReply(status, said, "upstream_failed", retry_after=error.retry_after)
    if isinstance(error, Unauthorized):  # it is the server's key that is wrong, not the client's
        return ErrorReply(502, said, "upstream_unauthorized")
    if isinstance(error, ModelNotFound):
        return ErrorReply(404, said, "model_not_found", "model")
    if isinstance(error, PromptTooLong):
        return ErrorReply(400, said, "context_length_exceeded", "messages")
    if isinstance(error, DecodingRefused):
        return ErrorReply(400, said, "unsupported_value", error.setting)
    return _refused(error, said)


def _refused(error: EngineError, said: str) -> ErrorReply:
    status = error.status or 0
    if isinstance(error, Rejected) and 400 <= status < 500:
        return ErrorReply(status, said, "insufficient_quota" if status == 429 else None)
    return ErrorReply(502, said, "upstream_failed")


# Names of served models: ``METHOD@UPSTREAM``, or any other name for the endpoint itself.

# Strings, and the marks between them; all else of a JSON text is neither.
_TOKEN: Final = lazy_pattern(rb'"[^"\\]*(?:\\.[^"\\]*)*"|[{}\[\],:]', re.DOTALL)


class ModelName(NamedTuple):
    """A method, and the model at the endpoint that it is to ask; empty for the usual one."""

    method: str
    upstream: str

    def __str__(self) -> str:
        return f"{self.method}@{self.upstream}"


def split_model(name: str) -> ModelName | None:
    """Split a name at its first ``@``; None where what stands before it names no method."""
    method, at, upstream = name.partition("@")
    if not at:
        return None
    try:
        known = split_name(method)[0] in _methods()
    except MethodError:
        return None
    return ModelName(method.strip(), upstream) if known else None


@cache
def _methods() -> frozenset[str]:
    return frozenset((AUTO, *names()))


def rename_model(body: bytes, name: str) -> bytes:
    """Put another name for the model into a request; every other byte stays what it is."""
    pieces, copied = list[bytes](), 0
    written = orjson.dumps(name)
    for start, end in _model_values(body):
        pieces += (body[copied:start], written)
        copied = end
    if not copied:
        return _with_model(body, written)
    return b"".join((*pieces, body[copied:]))


def _with_model(body: bytes, written: bytes) -> bytes:
    """Add the name where there is none."""
    before, brace, after = body.partition(b"{")
    comma = b"" if after.lstrip().startswith(b"}") else b","
    return b"".join((before, brace, b'"model":', written, comma, after))


def _model_values(body: bytes) -> Iterator[tuple[int, int]]:
    """Find the value of each ``model`` of the outermost object of a JSON text."""
    depth, key, last = 0, b"", b""
    for token in _TOKEN.finditer(body):
        found = token[0]
        if found in b"{[":
            depth += 1
        elif found in b"}]":
            depth -= 1
        elif found == b":" and depth == 1:
            key = last
        elif found == b",":
            key = b"" if depth == 1 else key
        elif depth == 1 and key and _is_model(key):
            yield token.span()
            key = b""
        last = found


def _is_model(key: bytes) -> bool:
    return key == b'"model"' or (b"\\" in key and orjson.loads(key) == "model")


# Counts and durations for Prometheus.
#
# Labels have few values: a client that makes up names must not make up time series.

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


# One budget of output tokens for all stages of an attempt.

T = TypeVar("T")

_SHORT: Final = frozenset("stage1 router format explore clarify".split())
"""Stages that are short beside the solution that they prepare."""
_SHARE: Final = 4
_NOTHING_LEFT: Final = Completion("", "length", usage=Usage())


def within(steps: Steps[T], most: int) -> Steps[T]:
    """Keep a method within a budget, from its first round to its last.

    A short stage gets a quarter of what is left at most, any other call all of it. Calls of one
    round are alternatives: each has what is left. Where nothing is left a call is not asked, and
    its reply is an empty one that was cut.
    """
    run, left = Run(steps), most
    while run.round:
        if left > 0:
            answers = yield tuple(
                _lowered(step, left) if isinstance(step, Call) else step for step in run.round
            )
        elif programs := tuple(step for step in run.round if isinstance(step, Program)):
            ran = iter((yield programs))
            answers = tuple(
                next(ran) if isinstance(step, Program) else _NOTHING_LEFT for step in run.round
            )
        else:
            answers = tuple(_NOTHING_LEFT for _ in run.round)
        left -= max(map(_written, answers))
        run.advance(answers)
    return run.result


def _lowered(call: Call, left: int) -> Call:
    share = max(1, left // _SHARE) if call.stage in _SHORT else left
    return replace(call, max_tokens=min(call.max_tokens, share))


def _written(answer: Answer) -> int:
    return answer.usage.output if isinstance(answer, Completion) else 0
