"""Errors as OpenAI's clients read them: a status, and an object that says what is wrong."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import orjson
from aiohttp import web

from constraint_first.engine.error import (
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
from constraint_first.engine.refusal import DecodingRefused
from constraint_first.engine.sandbox.sandbox import SandboxMissing
from constraint_first.error import CfrError, InputError
from constraint_first.evaluation.error import StoreError, Unstorable
from constraint_first.file.storable import storable_text
from constraint_first.method.registry import MethodError

__all__ = ["ErrorReply", "RequestError", "describe_error"]

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
