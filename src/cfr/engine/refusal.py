"""What an HTTP status other than 200 means, and what the person at the keyboard can do about it."""

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
    """The endpoint does not take a parameter that the call can do without."""

    def __init__(self, message: str, parameter: str) -> None:
        super().__init__(message)
        self.parameter = parameter


def refusal(
    where: str, model: str, key_name: str, status: int, headers: Mapping[str, str], body: bytes
) -> EngineError:
    """Turn a refusal into the error to raise."""
    said = error_message(body)
    told = f"{where}: HTTP {status}" + (f" ({said})" if said else "")
    if status in (401, 403):
        return Unauthorized(
            f"{told}; put a valid key into {key_name or 'a variable and name it with --key-env'}"
        )
    if status == 404:
        return ModelNotFound(f"{told}; check the model name {model!r} and the address")
    if 300 <= status < 400:
        return Rejected(f"{told}; it redirects elsewhere: give the final address")
    if status == 429 and "quota" in said.lower():
        return Rejected(f"{told}; the account has nothing left to spend")
    if status in _TRANSIENT or status >= 500:
        kind = RateLimited if status == 429 else ServerFault
        return kind(f"{told}; try again later", parse_retry_after(headers.get("Retry-After")))
    return _bad_request(told, said)


def _bad_request(told: str, said: str) -> Rejected:
    for parameter, named in _DISPENSABLE.items():
        if named.search(said):
            return ParameterRefused(told, parameter)
    if limit := _CONTEXT_LIMIT.search(said):
        return PromptTooLong(f"{told}; shorten the problem", int(limit[1]))
    if _TOO_LONG.search(said):
        return PromptTooLong(
            f"{told}; shorten the problem or give the model more context (--context)"
        )
    return Rejected(told)
