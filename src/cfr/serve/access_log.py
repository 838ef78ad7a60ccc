"""One line a request, for programs or for people."""

from __future__ import annotations

import time
from datetime import UTC, datetime

from aiohttp import web

from cfr.problem import Json
from cfr.serve.service import Served

__all__ = ["access_line", "describe_access"]


def access_line(request: web.Request, served: Served, status: int) -> dict[str, Json]:
    """Say what is known of a request; of what it holds, no more than the model's name."""
    usage = served.usage
    told: dict[str, Json] = {
        "time": datetime.now(UTC).isoformat(timespec="milliseconds"),
        "id": served.id,
        "remote": request.remote,
        "verb": request.method,
        "path": request.path,
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
    return {name: value for name, value in told.items() if _is_told(value)}


def _is_told(value: Json) -> bool:
    return value is not None and value is not False and value != ""


def describe_access(line: dict[str, Json]) -> str:
    """Write a line for people."""
    time_of_day = str(line["time"])[11:19]
    said = f"{time_of_day} {line['status']} {line['seconds']} s {line['verb']} {line['path']}"
    if model := line.get("model"):
        said += f" {model}"
    if "input_tokens" in line:
        said += f" {line['input_tokens']}+{line['output_tokens']} tokens"
    return said + (f": {line['error']}" if "error" in line else "")
