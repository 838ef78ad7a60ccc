"""The settings of a server, and errors as OpenAI's clients read them."""

from __future__ import annotations

import ipaddress
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import orjson
from aiohttp import web

from constraint_first.error import CfrError, InputError
from constraint_first.file.safe import storable_text
from constraint_first.method.method import MethodError
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
from constraint_first.model.transport import DecodingRefused
from constraint_first.sandbox.sandbox import SandboxMissing
from constraint_first.store.database import StoreError, Unstorable


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
    """Seconds without a word after which a stream gets a comment, so that no client hangs up."""

    def check(self) -> None:
        """Refuse a server that others can reach and that has no token."""
        if not is_loopback(self.host) and not self.token:
            raise InputError(
                f"--host {self.host}: others could use it; give it a token (--token or CFR_TOKEN), "
                "or leave --host out so that only this machine can"
            )
        if not self.token.isascii() or not self.token.isprintable() or " " in self.token:
            raise InputError("--token: must be printable ASCII without spaces; choose another")


def is_loopback(host: str) -> bool:
    name = host.strip("[]").lower()
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


# Errors as OpenAI's clients read them: a status, and an object that says what is wrong.

_TYPES: Final = {
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    429: "rate_limit_error",
}
_BROKEN: Final = "something went wrong in the server; its log says what"


class RequestError(CfrError):
    """A request that cannot be answered as it stands, and the reply that says so."""

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

    @property
    def type(self) -> str:
        usual = "server_error" if self.status >= 500 else "invalid_request_error"
        return _TYPES.get(self.status, usual)

    def body(self) -> bytes:
        error = {
            "message": storable_text(str(self)),
            "type": self.type,
            "param": self.param,
            "code": self.code,
        }
        return orjson.dumps({"error": error})

    def response(self) -> web.Response:
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


_UPSTREAM: Final[Sequence[tuple[type[EngineError], int, str, str | None]]] = (
    (SandboxMissing, 501, "sandbox_missing", "model"),
    (RateLimited, 429, "rate_limit_exceeded", None),
    (TooExpensive, 400, "attempt_limit_exceeded", "model"),
    (TimedOut, 504, "upstream_timeout", None),
    (TookTooLong, 504, "upstream_timeout", None),
    (Transient, 502, "upstream_failed", None),
    # The key that is wrong is the server's, not the client's.
    (Unauthorized, 502, "upstream_unauthorized", None),
    (ModelNotFound, 404, "model_not_found", "model"),
    (PromptTooLong, 400, "context_length_exceeded", "messages"),
    (DecodingRefused, 400, "unsupported_value", None),
)
"""Status, code and parameter of what went wrong behind the server; the first that fits holds."""


def request_error(error: BaseException) -> RequestError:
    """Choose the status and the words for an error.

    One that has no words of ours is not quoted: it may hold a key.
    """
    if isinstance(error, BaseExceptionGroup):
        return request_error(error.exceptions[0])  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType]
    said = str(error) if isinstance(error, CfrError) else _BROKEN
    match error:
        case RequestError():
            return error
        case EngineError():
            return _of_upstream(error, said)
        case MethodError():
            return RequestError(said, 404, code="model_not_found", param="model")
        case StoreError() | Unstorable():
            return RequestError(f"the journal: {error}", 500, code="journal")
        case InputError():
            return RequestError(said)
        case _:
            return RequestError(_BROKEN, 500, code="internal_error")


def _of_upstream(error: EngineError, said: str) -> RequestError:
    wait = error.retry_after if isinstance(error, Transient) else None
    for kind, status, code, param in _UPSTREAM:
        if isinstance(error, kind):
            status = 503 if code == "upstream_failed" and error.status == 503 else status
            param = error.setting if isinstance(error, DecodingRefused) else param
            return RequestError(said, status, code=code, param=param, retry_after=wait)
    status = error.status or 0
    if isinstance(error, Rejected) and 400 <= status < 500:
        return RequestError(said, status, code="insufficient_quota" if status == 429 else None)
    return RequestError(said, 502, code="upstream_failed")
