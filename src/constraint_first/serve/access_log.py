"""One line a request, for programs or for people."""

from __future__ import annotations

import json
import time
from datetime import UTC, datetime
from typing import Final

from aiohttp import web

from constraint_first.file.printable import one_line
from constraint_first.problem import Json
from constraint_first.serve.service import Served

__all__ = ["access_line", "describe_access"]

_LONGEST: Final = 500
_GONE: Final = "\N{REPLACEMENT CHARACTER}"


def access_line(request: web.Request, served: Served, status: int) -> dict[str, Json]:
    """Say what is known of a request; of what it holds, no more than the model's name."""
    usage = served.usage
    told: dict[str, Json] = {
        "time": datetime.now(UTC).isoformat(timespec="milliseconds"),
        "id": served.id,
        "remote": request.remote,
        "verb": request.method,
        "path": request.rel_url.raw_path[:_LONGEST],
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
    asked = f"{_word(line['verb'])} {_word(line['path'])}"
    said = f"{time_of_day} {line['status']} {line['seconds']} s {asked}"
    if model := line.get("model"):
        said += f" {_word(model)}"
    if "input_tokens" in line:
        said += f" {line['input_tokens']}+{line['output_tokens']} tokens"
    return said + (f": {_plain(str(line['error']))}" if "error" in line else "")


def _word(value: Json) -> str:
    """Write a client's own word so that it cannot be read as more than one, nor as a new line."""
    word = str(value)[:_LONGEST]
    return word if word.isprintable() and " " not in word and '"' not in word else json.dumps(word)


def _plain(text: str) -> str:
    """Write a message in one line, without signs that a terminal obeys or that turn its text."""
    return "".join(sign if sign.isprintable() else _GONE for sign in one_line(text))
