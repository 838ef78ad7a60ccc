"""The same question as lines for a shell and for Python."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

__all__ = ["CodeSample", "write_samples"]

Setting: TypeAlias = "float | int"


@dataclass(frozen=True, slots=True)
class CodeSample:
    """What one model's name stands for, in two languages."""

    model: str
    curl: str
    python: str


def write_samples(
    base_url: str, model: str, problem: str, settings: Mapping[str, Setting], *, token: bool
) -> CodeSample:
    """Write the lines; the token itself is not among them."""
    body = {"model": model, "messages": [{"role": "user", "content": problem}], **settings}
    return CodeSample(model, _curl(base_url, body, token=token), _python(base_url, body, token))


def _curl(base_url: str, body: Mapping[str, object], *, token: bool) -> str:
    key = ' -H "Authorization: Bearer $CFR_TOKEN"' if token else ""
    data = shlex.quote(json.dumps(body))
    address = shlex.quote(f"{base_url}/chat/completions")
    return f"curl {address}{key} -H 'Content-Type: application/json' -d {data}"


def _python(base_url: str, body: Mapping[str, object], token: bool) -> str:
    key = 'os.environ["CFR_TOKEN"]' if token else '"none"'
    given = "".join(f"    {name}={_literal(value)},\n" for name, value in body.items())
    return (
        f"{'import os' + chr(10) * 2 if token else ''}"
        "from openai import OpenAI\n\n"
        f"client = OpenAI(base_url={_literal(base_url)}, api_key={key})\n"
        f"reply = client.chat.completions.create(\n{given})\n"
        "print(reply.choices[0].message.content)"
    )


def _literal(value: object) -> str:
    """Write a value that Python reads as JSON does: texts, numbers, lists and objects."""
    return json.dumps(value, ensure_ascii=False)
