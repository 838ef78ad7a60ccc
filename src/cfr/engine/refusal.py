"""Errors for HTTP statuses other than 200, with what the person at the keyboard can do."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from cfr.engine.chat import error_message
from cfr.engine.error import (
    EngineError,
    ModelNotFound,
    PromptTooLong,
    RateLimited,
    Rejected,
    ServerFault,
    Unauthorized,
)
from cfr.engine.retry import parse_retry_after

__all__ = ["ParameterRefused", "refusal"]

_TRANSIENT: Final = frozenset({408, 409, 425, 429})

# Parameters that some endpoints do not know and that a call can do without, by how a refusal names
# them. Sampling parameters are not among them: leaving one out would decode a comparison unequally.
_DISPENSABLE: Final = {
    "response_format": re.compile(r"response_format|json_object|json_schema|json mode", re.I),
    "stream_options": re.compile(r"stream_options|include_usage", re.I),
    "max_tokens": re.compile(r"max_completion_tokens. instead", re.I),
}
_CONTEXT_LIMIT: Final = re.compile(r"maximum context length (?:is|of) (\d+)", re.I)
_TOO_LONG: Final = re.compile(
    r"context.{0,10}(?:length|size|window)|too long|too many tokens", re.I
)


class ParameterRefused(Rejected):
    """A refusal of a parameter that the call can do without."""

    def __init__(self, message: str, parameter: str) -> None:
        super().__init__(message)
        self.parameter = parameter


def refusal(
    where: str, model: str, key_name: str, status: int, headers: Mapping[str, str], body: bytes
) -> EngineError:
    """Turn a refusal into the error to raise."""
    reason = error_message(body)
    message = f"{where}: HTTP {status}" + (f" ({reason})" if reason else "")
    if status in (401, 403):
        return Unauthorized(
            f"{message}; put a valid key into {key_name or 'a variable and name it with --key-env'}"
        )
    if status == 404:
        return ModelNotFound(f"{message}; check the model name {model!r} and the address")
    if 300 <= status < 400:
        return Rejected(f"{message}; it redirects elsewhere: give the final address")
    if status == 429 and "quota" in reason.lower():
        return Rejected(f"{message}; the account has nothing left to spend")
    if status in _TRANSIENT or status >= 500:
        kind = RateLimited if status == 429 else ServerFault
        return kind(f"{message}; try again later", parse_retry_after(headers.get("Retry-After")))
    return _bad_request(message, reason)


def _bad_request(message: str, reason: str) -> Rejected:
    for parameter, named in _DISPENSABLE.items():
        if named.search(reason):
            return ParameterRefused(message, parameter)
    if limit := _CONTEXT_LIMIT.search(reason):
        return PromptTooLong(f"{message}; shorten the problem", int(limit[1]))
    if _TOO_LONG.search(reason):
        return PromptTooLong(
            f"{message}; shorten the problem or give the model more context (--context)"
        )
    return Rejected(message)
