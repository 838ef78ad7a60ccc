"""Chat requests: the named model and method, the problem and decoding, and errors."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache
from itertools import chain
from typing import Any, Final, Literal, NamedTuple, TypeAlias, cast

import orjson
from aiohttp import web

from constraint_first.error import CfrError, InputError
from constraint_first.file.safe import storable_text
from constraint_first.method.method import Method, MethodError, models_of, split_name
from constraint_first.method.policy import Calibrated, in_conversation
from constraint_first.method.registry import make, names
from constraint_first.model import error as model_error
from constraint_first.model.resolve import AUTO, choose_method
from constraint_first.model.transport import DecodingRefused
from constraint_first.pattern import lazy_pattern
from constraint_first.problem import Json
from constraint_first.protocol import Message
from constraint_first.run.forecast import needs_more_calls
from constraint_first.sandbox.interpreter import SandboxMissing
from constraint_first.store.database import StoreError, Unstorable

# Errors in OpenAI's format: an HTTP status, and an object that describes the error.

_TYPES: Final = {
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    429: "rate_limit_error",
}


class RequestError(CfrError):
    """A request that cannot be answered, and its error response."""

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

    def body(self) -> bytes:
        usual = "server_error" if self.status >= 500 else "invalid_request_error"
        kind, said = _TYPES.get(self.status, usual), storable_text(str(self))
        error = {"message": said, "type": kind, "param": self.param, "code": self.code}
        return orjson.dumps({"error": error})

    def response(self) -> web.Response:
        headers: dict[str, str] = {}
        if self.retry_after is not None and math.isfinite(self.retry_after):
            headers["Retry-After"] = str(math.ceil(self.retry_after))
        if self.status == 401:
            headers["WWW-Authenticate"] = "Bearer"
        headers["Content-Type"] = "application/json"
        return web.Response(status=self.status, body=self.body(), headers=headers)


_UPSTREAM: Final[Sequence[tuple[type[model_error.EngineError], int, str, str | None]]] = (
    (SandboxMissing, 501, "sandbox_missing", "model"),
    (model_error.RateLimited, 429, "rate_limit_exceeded", None),
    (model_error.TooExpensive, 400, "attempt_limit_exceeded", "model"),
    (model_error.TimedOut, 504, "upstream_timeout", None),
    (model_error.TookTooLong, 504, "upstream_timeout", None),
    (model_error.Transient, 502, "upstream_failed", None),
    # 502 and not 401: the wrong API key is the server's, not the client's.
    (model_error.Unauthorized, 502, "upstream_unauthorized", None),
    (model_error.ModelNotFound, 404, "model_not_found", "model"),
    (model_error.PromptTooLong, 400, "context_length_exceeded", "messages"),
    (DecodingRefused, 400, "unsupported_value", None),
)
"""Status, code and parameter of errors of the endpoint; the first matching class applies."""


def request_error(error: BaseException) -> RequestError:
    """Choose status and message of an error. Only our own are quoted: others may hold keys."""
    said = str(error) if isinstance(error, CfrError) else ""
    match error:
        case RequestError():
            return error
        case BaseExceptionGroup():
            return request_error(cast("list[BaseException]", error.exceptions)[0])
        case model_error.EngineError():
            return _of_upstream(error, said)
        case MethodError():
            return RequestError(said, 404, code="model_not_found", param="model")
        case StoreError() | Unstorable():
            return RequestError(f"the journal: {error}", 500, code="journal")
        case InputError():
            return RequestError(said)
        case _:
            broken = "something went wrong in the server; its log says what"
            return RequestError(broken, 500, code="internal_error")


def _of_upstream(error: model_error.EngineError, said: str) -> RequestError:
    for kind, status, code, param in _UPSTREAM:
        if isinstance(error, kind):
            return RequestError(
                said,
                503 if code == "upstream_failed" and error.status == 503 else status,
                code=code,
                param=error.setting if isinstance(error, DecodingRefused) else param,
                retry_after=error.retry_after if isinstance(error, model_error.Transient) else None,
            )
    status = error.status or 0
    if isinstance(error, model_error.Rejected) and 400 <= status < 500:
        return RequestError(said, status, code="insufficient_quota" if status == 429 else None)
    return RequestError(said, 502, code="upstream_failed")


# Names of served models: ``METHOD@UPSTREAM``, or any other name for the endpoint itself.

# JSON strings and punctuation; numbers, literals and whitespace are skipped.
_TOKEN: Final = lazy_pattern(rb'"[^"\\]*(?:\\.[^"\\]*)*"|[{}\[\],:]', re.DOTALL)


class ModelName(NamedTuple):
    """A method, and the endpoint's model that it calls; empty for the default model."""

    method: str
    upstream: str

    def __str__(self) -> str:
        return f"{self.method}@{self.upstream}"


def split_model(name: str) -> ModelName | None:
    """Split a name at its first ``@``; None if no method is named before it."""
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
    """Replace the model's name in a request body; every other byte stays unchanged."""
    pieces, copied = list[bytes](), 0
    written = orjson.dumps(name)
    for start, end in _model_values(body):
        pieces += (body[copied:start], written)
        copied = end
    if not copied:  # the field is missing
        before, brace, after = body.partition(b"{")
        comma = b"" if after.lstrip().startswith(b"}") else b","
        return b"".join((before, brace, b'"model":', written, comma, after))
    return b"".join((*pieces, body[copied:]))


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
        elif depth == 1 and key:
            if key == b'"model"' or (b"\\" in key and orjson.loads(key) == "model"):
                yield token.span()
            key = b""
        last = found


# Methods by the names in requests, within the server's limits.

_KEPT: Final = 256
"""Cached names of each kind: a client may invent any number of them."""


@dataclass(frozen=True, slots=True)
class ChosenMethod:
    name: str
    """As on the command line; ``auto`` is resolved."""
    method: Method
    family: str
    """Its name without options: one of a few, so that it can label a metric."""
    others: tuple[str, ...]
    """Other models that it calls."""

    def after(self, ahead: Sequence[Message]) -> ChosenMethod:
        return replace(self, method=in_conversation(self.method, ahead))

    @property
    def alone(self) -> bool:
        """Whether the model receives only the text of the problem."""
        return not isinstance(self.method, Calibrated) or self.method.alone


class MethodChoice:
    """Builds methods within the server's limits, and caches the last ones."""

    def __init__(self, own: Sequence[str], most_calls: int) -> None:
        self.own = tuple(own)
        """The methods that the server was started with; unlike a client's they may use other
        models and policy files."""
        self._most_calls = most_calls
        self._make = lru_cache(_KEPT)(_made)
        self._is_too_costly = lru_cache(_KEPT)(self._needs_too_many)
        self._automatic = lru_cache(_KEPT)(choose_method)

    def check(self) -> None:
        """Build the server's own methods once, so that errors appear before the first request."""
        for name in self.own:
            if name != AUTO:
                self.choose(name, "")

    @property
    def other_models(self) -> tuple[str, ...]:
        made = [self._make(name) for name in self.own if name != AUTO]
        return tuple(dict.fromkeys(name for one in made for name in one.others))

    def choose(self, name: str, upstream: str, attempts: int = 1) -> ChosenMethod:
        """Build or look up a method; refuse one with files or models that a client may not use."""
        is_own = name in self.own
        if name == AUTO:
            name = self._automatic(upstream).method
        if not is_own and ".toml" in name.lower():
            raise _refused(
                "policy files can only be named when the server is started, with --method"
            )
        chosen = self._make(name)
        if self._is_too_costly(name):
            raise self._too_many(f"method {name!r}")
        if not is_own and chosen.others:
            raise _refused(
                "other models can only be named when the server is started, with --method"
            )
        if attempts > self._most_calls:
            raise self._too_many(f"n={attempts}")
        return chosen

    def _needs_too_many(self, name: str) -> bool:
        return needs_more_calls(self._make(name).method, self._most_calls)

    def _too_many(self, what: str) -> RequestError:
        return _refused(
            f"{what} needs more than the {self._most_calls:,} calls that one request may cost; "
            "--max-calls of the server allows more"
        )


def _made(name: str) -> ChosenMethod:
    method = make(name)
    return ChosenMethod(name, method, split_name(name)[0], models_of(method))


def _refused(why: str) -> RequestError:
    return RequestError(f"model: {why}", param="model", code="method_not_allowed")


# A chat request: the problem, the messages before it, and its decoding.

Fields: TypeAlias = Mapping[str, Any]
"""A request's JSON object."""

_Role: TypeAlias = Literal["system", "user", "assistant"]
_ROLES: Final[dict[str, _Role]] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "assistant",
}
_KNOWN: Final = frozenset(
    "model messages stream stream_options n temperature top_p seed max_tokens "
    "max_completion_tokens stop response_format tools tool_choice parallel_tool_calls functions "
    "function_call logprobs top_logprobs modalities audio".split()
)
# Fields that request more than a text, or a format of the reply that would also apply to every
# stage of a method.
_FOREIGN: Final = frozenset(
    "tools functions audio prediction web_search_options logprobs top_logprobs grammar json_schema "
    "structured_outputs continue_final_message".split()
)
_MOST_STOPS: Final = 16
_LONGEST: Final = 200_000
"""Characters of a problem: a method searches all of it for cues before any call."""
_DEEPEST: Final = 64
_SEED: Final = 2**62


@dataclass(frozen=True, slots=True)
class ChatRequest:
    problem: str
    """The last user message."""
    context: tuple[Message, ...] = ()
    """All messages before it."""
    chosen: Mapping[str, float | int] = field(default_factory=dict[str, float])
    """The client's own settings of the decoding."""
    stop: tuple[str, ...] = ()
    extra: Mapping[str, Json] = field(default_factory=dict[str, Json])
    """Unknown fields, for the endpoint."""
    max_tokens: int | None = None
    n: int = 1
    stream: bool = False
    include_usage: bool = False


def is_foreign(fields: Fields) -> bool:
    """Whether a request needs features that no method has, so that it passes through."""
    sent = _objects(fields.get("messages"))
    parts = [part for one in sent for part in _objects(one.get("content"))]
    form, modes = _objects([fields.get("response_format")]), fields.get("modalities")
    return (
        any(fields.get(name) for name in _FOREIGN)
        or any(name.startswith("guided_") and fields[name] for name in fields)
        or any(one.get("type") != "text" for one in (*form, *parts))
        or (isinstance(modes, list) and any(mode != "text" for mode in cast("list[Any]", modes)))
        or any(one.get("role") in ("tool", "function") or one.get("tool_calls") for one in sent)
        or (bool(sent) and sent[-1].get("role") in ("assistant", "system", "developer"))
    )


def _objects(value: Any) -> list[Fields]:
    """List the objects of a JSON list; other values are refused when the list is parsed."""
    listed = cast("list[Any]", value) if isinstance(value, list) else []
    return [cast("Fields", one) for one in listed if isinstance(one, dict)]


def read_request(fields: Fields) -> ChatRequest:
    """Parse a request; an error names the wrong field."""
    messages = _messages(fields.get("messages"))
    problem = messages[-1].content
    if not problem.strip():
        raise _bad("messages", "the last message is empty; it must hold the problem")
    chosen = {
        name: value
        for name, value in (
            ("temperature", _number(fields, "temperature", 0, 2)),
            ("top_p", _number(fields, "top_p", 0, 1)),
            ("seed", _whole(fields, "seed", -_SEED, _SEED)),
        )
        if value is not None
    }
    if not isinstance(fields.get("modalities") or [], list):
        raise _bad("modalities", "must be a list")
    extra = {name: value for name, value in fields.items() if name not in _KNOWN}
    for name, value in extra.items():
        _check_depth(name, value)
    budgets = [_whole(fields, name, 1) for name in ("max_completion_tokens", "max_tokens")]
    stream = _truth(fields, "stream")
    options = _objects([fields.get("stream_options")])
    return ChatRequest(
        problem=problem,
        context=tuple(messages[:-1]),
        chosen=chosen,
        stop=_stops(fields.get("stop")),
        extra=extra,
        max_tokens=budgets[0] or budgets[1],
        n=_whole(fields, "n", 1, 128) or 1,
        stream=stream,
        include_usage=stream and any(_truth(one, "include_usage") for one in options),
    )


def _check_depth(name: str, value: Any) -> None:
    """Refuse a field that is nested too deeply to be serialized again."""
    level: list[Any] = [value]
    for _ in range(_DEEPEST):
        objects = [cast("Fields", one).values() for one in level if isinstance(one, dict)]
        lists = [cast("list[Any]", one) for one in level if isinstance(one, list)]
        level = list(chain(*objects, *lists))
        if not level:
            return
    raise _bad(name, f"nests deeper than {_DEEPEST} levels")


def check_length(asked: ChatRequest) -> None:
    """Refuse a text that is longer than methods accept."""
    if len(asked.problem) > _LONGEST:
        raise RequestError(
            f"messages: the last message has {len(asked.problem):,} characters; methods take "
            f"{_LONGEST:,} at most, a plain model's name passes more on",
            code="context_length_exceeded",
            param="messages",
        )


def _messages(value: Any) -> list[Message]:
    if not isinstance(value, list) or not value:
        raise _bad("messages", "must be a list of messages, the problem last")
    messages: list[Message] = []
    for number, one in enumerate(cast("list[Any]", value)):
        where = f"messages[{number}]"
        if not isinstance(one, dict):
            raise _bad(where, "must be an object with a role and a content")
        fields = cast("Fields", one)
        named = fields.get("role")
        role = _ROLES.get(named) if isinstance(named, str) else None
        if role is None:
            raise _bad(f"{where}.role", f"must be one of {', '.join(_ROLES)}")
        messages.append(Message(role, _text(f"{where}.content", fields.get("content"))))
    return messages


def _text(where: str, content: Any) -> str:
    if isinstance(content, str):
        return content
    if content is None:
        return ""
    parts = cast("list[Any]", content) if isinstance(content, list) else [None]
    texts = [cast("Fields", part).get("text") if isinstance(part, dict) else None for part in parts]
    if not all(isinstance(text, str) for text in texts):
        raise _bad(where, "must be a text, or a list of texts")
    return "\n".join(cast("list[str]", texts))


def _stops(value: Any) -> tuple[str, ...]:
    stops = cast("list[Any]", [value] if isinstance(value, str) else value or [])
    fits = isinstance(stops, list) and len(stops) <= _MOST_STOPS  # pyright: ignore[reportUnnecessaryIsInstance]
    if not fits or not all(isinstance(one, str) and one for one in stops):
        raise _bad("stop", f"must be a text, or a list of at most {_MOST_STOPS} texts")
    return tuple(stops)


def _number(fields: Fields, name: str, least: float, most: float) -> float | None:
    value = fields.get(name)
    if value is None:
        return None
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not math.isfinite(value) or not least <= value <= most:
        raise _bad(name, f"must be a number from {least:g} to {most:g}")
    return value


def _whole(fields: Fields, name: str, least: int, most: int = 2**31 - 1) -> int | None:
    value = fields.get(name)
    if value is None:
        return None
    if type(value) is not int or not least <= value <= most:
        raise _bad(name, f"must be a whole number from {least} to {most}")
    return value


def _truth(fields: Fields, name: str) -> bool:
    value = fields.get(name)
    if value is not None and not isinstance(value, bool):
        raise _bad(name, "must be true or false")
    return bool(value)


def _bad(param: str, must: str) -> RequestError:
    return RequestError(f"{param}: {must}", param=param, code="invalid_value")
