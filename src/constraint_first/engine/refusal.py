"""Errors for HTTP statuses that are no success, with what the person at the keyboard can do."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Final, Literal, TypeAlias
from urllib.parse import urlsplit

from constraint_first.engine.chat import error_message
from constraint_first.engine.endpoint import Endpoint
from constraint_first.engine.engine import Decoding
from constraint_first.engine.error import (
    EngineError,
    ModelNotFound,
    PromptTooLong,
    RateLimited,
    Rejected,
    ServerFault,
    Unauthorized,
)
from constraint_first.engine.retry import parse_retry_after

__all__ = ["DecodingRefused", "ParameterRefused", "Setting", "refusal"]

Setting: TypeAlias = Literal["temperature", "top_p", "seed", "max_tokens"]
"""A setting of a decoding that a model may refuse."""

_TRANSIENT: Final = frozenset({408, 409, 425, 429})

# Parameters that some endpoints do not know and that a call can do without, by how a refusal names
# them. Settings of the decoding are not among them: leaving one out changes what is compared.
_DISPENSABLE: Final = {
    "response_format": re.compile(r"response_format|json_object|json_schema|json mode", re.I),
    "stream_options": re.compile(r"stream_options|include_usage", re.I),
    "max_tokens": re.compile(r"max_completion_tokens. instead", re.I),
}
# How llama.cpp refuses several samples in one request, in some versions with a 500; how others do.
_ONE_SAMPLE: Final = re.compile(r"only one completion choice|\bn_cmpl\b", re.I)
_SAMPLES: Final = re.compile(
    r"[`'\"]n[`'\"]|\bparameter:? n\b|\bn (?:parameter|value|must|should|is not)\b|\bn ?[=>]"
    r"|multi-choice|multiple (?:choices|completions)",
    re.I,
)
_UNWANTED: Final = (
    r"\b(?:not? (?:be )?(?:support|allow|permit|accept|available)|unsupported|cannot|can't|only"
    r"|unknown|unrecogni[sz]ed|unexpected|deprecated)"
)
# Of two settings that exclude each other the first is given up.
_SAMPLING: Final[dict[Setting, str]] = {
    "top_p": r"\btop_?p\b",
    "temperature": r"\btemperature\b",
    "seed": r"\bseed\b",
}
_MOST_OUTPUT: Final = re.compile(
    r"max_(?:completion_)?tokens.{0,200}?"
    r"(?:at most|maximum\D{0,40}|less than or equal to|<=|\[ ?\d{1,9} ?,|\d >)[ `'\"]*(\d{1,9})\b",
    re.I | re.S,
)
_CONTEXT_LIMIT: Final = re.compile(r"maximum context length (?:is|of) (\d{1,9})\b", re.I)
_TOO_LONG: Final = re.compile(
    r"context.{0,10}(?:length|size|window)|too long|too many tokens", re.I
)
_TIME: Final = re.compile(r"per[ _-]?(?:second|minute|hour|day)|(?:retry|again) (?:in|after)", re.I)
_SECONDS: Final = re.compile(r"(?:retry|again) (?:in|after) (\d{1,6}(?:\.\d+)?) ?s\b", re.I)
_LOOKED_AT: Final = 2_000


class ParameterRefused(Rejected):
    """A refusal of a parameter that the call can do without."""

    def __init__(self, message: str, parameter: str) -> None:
        super().__init__(message)
        self.parameter = parameter


class DecodingRefused(Rejected):
    """A refusal of a setting of the decoding, by a model that can be asked with another."""

    def __init__(self, message: str, model: str, setting: Setting, most: int | None = None) -> None:
        super().__init__(message)
        self.model = model
        self.setting: Setting = setting
        self.most = most
        """What the setting may be at the most; None where it must be left out."""

    @property
    def change(self) -> str:
        """What is done instead, in words."""
        if self.most is None:
            return f"{self.setting} is refused by the model and not sent"
        return f"{self.setting} is lowered to {self.most}, the most that the model takes"

    def adapt(self, decoding: Decoding) -> Decoding:
        """Leave the setting out or lower it, once; a decoding that has none of it is unchanged."""
        if self.setting == "max_tokens" and decoding.max_tokens is not None:
            return decoding
        return replace(decoding, **{self.setting: self.most})


def refusal(
    endpoint: Endpoint, status: int, headers: Mapping[str, str], body: bytes
) -> EngineError:
    """Turn a refusal into the error to raise."""
    error = _named(endpoint, status, headers, body)
    error.status = status
    return error


def _named(endpoint: Endpoint, status: int, headers: Mapping[str, str], body: bytes) -> EngineError:
    said = error_message(body)[:_LOOKED_AT]
    reason = endpoint.redaction.quote(said)
    message = f"{endpoint.shown}: HTTP {status}" + (f" ({reason})" if reason else "")
    if status in (401, 403):
        key_name = endpoint.key_name or "a variable and name it with --key-env"
        return Unauthorized(f"{message}; put a valid key into {key_name}")
    if status in (404, 405):
        return ModelNotFound(f"{message}; {_where_to_look(endpoint)}")
    if 300 <= status < 400:
        return Rejected(f"{message}; it redirects elsewhere: give the final address")
    if status in (400, 500) and _ONE_SAMPLE.search(said):
        return ParameterRefused(message, "n")
    if status in _TRANSIENT or status < 200 or status >= 500:
        return _fault(message, said, status, headers.get("Retry-After"))
    return _bad_request(message, said, endpoint.model)


def _where_to_look(endpoint: Endpoint) -> str:
    if urlsplit(endpoint.base_url).path.strip("/"):
        return f"check the model name {endpoint.model!r} and the address"
    return f"most addresses end in /v1: try {endpoint.shown.rstrip('/')}/v1"


def _fault(message: str, said: str, status: int, retry_after: str | None) -> EngineError:
    pause = parse_retry_after(retry_after)
    if status == 429 and "quota" in said.lower() and pause is None and not _TIME.search(said):
        return Rejected(f"{message}; the account has nothing left to spend")
    if pause is None and (told := _SECONDS.search(said)):
        pause = float(told[1])
    kind = RateLimited if status == 429 else ServerFault
    return kind(f"{message}; try again later", pause)


def _bad_request(message: str, said: str, model: str) -> Rejected:
    for parameter, named in _DISPENSABLE.items():
        if named.search(said):
            return ParameterRefused(message, parameter)
    if limit := _CONTEXT_LIMIT.search(said):
        return PromptTooLong(f"{message}; shorten the problem", int(limit[1]))
    if (most := _MOST_OUTPUT.search(said)) and int(most[1]):
        lower = f"{message}; lower it with --max-tokens"
        return DecodingRefused(lower, model, "max_tokens", int(most[1]))
    for setting, name in _SAMPLING.items():
        if re.search(name, said, re.I):
            return _refused_setting(message, said, model, setting)
    if _TOO_LONG.search(said):
        return PromptTooLong(
            f"{message}; shorten the problem or give the model more context (--context)"
        )
    return ParameterRefused(message, "n") if _SAMPLES.search(said) else Rejected(message)


def _refused_setting(message: str, said: str, model: str, setting: Setting) -> Rejected:
    """Tell a refusal of the setting itself from one of its value."""
    option = f"--{setting.replace('_', '-')}"
    way_out = "leave --seed out" if setting == "seed" else f"choose another {option}, or none"
    name = _SAMPLING[setting]
    if re.search(f"{name}.{{0,80}}{_UNWANTED}|{_UNWANTED}.{{0,80}}{name}", said, re.I | re.S):
        return DecodingRefused(f"{message}; {way_out}", model, setting)
    return Rejected(f"{message}; {way_out}")
