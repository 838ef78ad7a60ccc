"""Names of served models: ``METHOD@UPSTREAM``, or any other name for the endpoint itself."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Final, NamedTuple

import orjson

from constraint_first.engine.automatic import AUTO
from constraint_first.method import names
from constraint_first.method.name import split_name
from constraint_first.method.plugin import MethodError

__all__ = ["ModelName", "rename_model", "split_model"]

# Strings, and the marks between them; all else of a JSON text is neither.
_TOKEN: Final = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"|[{}\[\],:]', re.DOTALL)


class ModelName(NamedTuple):
    """A method, and the model at the endpoint that it is to ask; empty for the usual one."""

    method: str
    upstream: str

    def __str__(self) -> str:
        return f"{self.method}@{self.upstream}"


def split_model(name: str) -> ModelName | None:
    """Split a name at its first ``@``; None where what stands before it names no method."""
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
    """Put another name for the model into a request; every other byte stays what it is."""
    pieces, copied = list[bytes](), 0
    written = orjson.dumps(name)
    for start, end in _model_values(body):
        pieces += (body[copied:start], written)
        copied = end
    if not copied:
        return _with_model(body, written)
    return b"".join((*pieces, body[copied:]))


def _with_model(body: bytes, written: bytes) -> bytes:
    """Add the name where there is none."""
    before, brace, after = body.partition(b"{")
    comma = b"" if after.lstrip().startswith(b"}") else b","
    return b"".join((before, brace, b'"model":', written, comma, after))


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
        elif depth == 1 and key and _is_model(key):
            yield token.span()
            key = b""
        last = found


def _is_model(key: bytes) -> bool:
    return key == b'"model"' or (b"\\" in key and orjson.loads(key) == "model")
