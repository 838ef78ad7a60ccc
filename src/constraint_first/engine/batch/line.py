"""Lines of batch files: one request each on the way out, one result each on the way back.

The format is OpenAI's, which vLLM's ``run_batch`` and other providers read and write too. A result
has a response with its HTTP status, or an error where the request was never performed; vLLM gives
both where it refused one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import orjson

from constraint_first.problem import Json

__all__ = ["ENDPOINT", "NOT_PERFORMED", "BadResult", "Result", "read_result", "request_line"]

ENDPOINT: Final = "/v1/chat/completions"
"""What every request of a batch is for."""
NOT_PERFORMED: Final = 0
"""The status of a request that got no HTTP response: it expired, or its batch failed."""
_CANCELLED: Final = "batch_cancelled"


class BadResult(ValueError):
    """A line that is no result, and why."""


@dataclass(frozen=True, slots=True)
class Result:
    """What became of one request."""

    status: int
    """HTTP's, or ``NOT_PERFORMED``."""
    body: bytes
    """The response, or what is said in its place."""
    cancelled: bool = False
    """Whether somebody did not want it any more."""

    @property
    def succeeded(self) -> bool:
        """Whether there is a reply."""
        return 200 <= self.status < 300


def request_line(custom_id: str, body: bytes) -> bytes:
    """Write a request as a line of a batch's input file; ``body`` is its JSON text."""
    line = {
        "custom_id": custom_id,
        "method": "POST",
        "url": ENDPOINT,
        "body": orjson.Fragment(body),
    }
    return orjson.dumps(line) + b"\n"


def read_result(line: bytes) -> tuple[str, Result]:
    """Read a line of an output or error file: whose result it is, and what it is."""
    try:
        value: Json = orjson.loads(line)
    except orjson.JSONDecodeError:
        raise BadResult("not JSON") from None
    if not isinstance(value, dict):
        raise BadResult("not a JSON object")
    custom_id = value.get("custom_id")
    if not isinstance(custom_id, str):
        raise BadResult("no custom_id")
    return custom_id, _result(value.get("response"), value.get("error"))


def _result(response: Json, error: Json) -> Result:
    if isinstance(response, dict):
        status = response.get("status_code")
        if type(status) is not int or not 100 <= status < 600:
            raise BadResult("no status_code in its response")
        body = response.get("body")
        return Result(status, _said(error) if body is None else _written(body))
    if error is None:
        raise BadResult("neither a response nor an error")
    cancelled = isinstance(error, dict) and error.get("code") == _CANCELLED
    return Result(NOT_PERFORMED, _said(error), cancelled)


def _said(error: Json) -> bytes:
    """Write an error as the body that an endpoint would refuse with."""
    inner = error.get("error") if isinstance(error, dict) else None
    return orjson.dumps({"error": inner if inner is not None else error})


def _written(body: Json) -> bytes:
    return body.encode() if isinstance(body, str) else orjson.dumps(body)
