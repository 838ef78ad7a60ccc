"""Bodies of requests: read within a time and a size, as many at once as memory allows, and parsed.

A body is read before its request takes a place among those at work, so that slow senders keep no
other waiting.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any, Final

import orjson
from aiohttp import web

from constraint_first.serve.error_reply import RequestError

__all__ = ["Bodies", "parse_json"]

_SECONDS: Final = 60.0
_AT_ONCE: Final = 128_000_000
_LARGEST_AT_ONCE: Final = 4
"""All bodies together may be as large as so many of the largest, if that is more."""
_FORM_BYTES: Final = 1_000_000
_MOST_VALUES: Final = 200_000
"""Texts, numbers, lists and objects of a body: each takes memory, however short it is written."""
_IN_A_ROW: Final = 5_000


class Bodies:
    """Memory for the bodies of all requests that a server holds at a time."""

    def __init__(self, largest: int) -> None:
        self._largest = largest
        self._free = max(_AT_ONCE, _LARGEST_AT_ONCE * largest)

    @asynccontextmanager
    async def read(self, request: web.Request, *, form: bool) -> AsyncGenerator[None]:
        """Read the body of a request, and keep its memory until the request is over."""
        if not request.can_read_body:
            yield
            return
        packed = request.headers.get("Content-Encoding", "identity").lower() != "identity"
        if packed or request.content_type.startswith("multipart/"):
            raise RequestError(
                "bodies that are compressed, or in several parts, are not taken",
                415,
                code="unsupported_media_type",
            )
        most = min(_FORM_BYTES, self._largest) if form else self._largest
        parts: list[bytes] = []
        try:
            await self._receive(request, parts, most)
            # Where aiohttp keeps a body that was read, for read(), text() and post().
            request._read_bytes = b"".join(parts)  # pyright: ignore[reportPrivateUsage]
            parts[:] = [request._read_bytes]  # pyright: ignore[reportPrivateUsage]
            yield
        finally:
            self._free += sum(map(len, parts))

    async def _receive(self, request: web.Request, parts: list[bytes], most: int) -> None:
        if (request.content_length or 0) > most:
            raise _too_large(most)
        size = 0
        try:
            async with asyncio.timeout(_SECONDS):
                while part := await request.content.readany():
                    parts.append(part)
                    size += len(part)
                    self._free -= len(part)
                    if size > most:
                        raise _too_large(most)
                    if self._free < 0:
                        raise RequestError(
                            "too many large requests at the same time; try again later",
                            503,
                            code="overloaded",
                            retry_after=1,
                        )
        except TimeoutError:
            raise RequestError(
                f"the body was not here after {_SECONDS:g} s", 408, code="body_timeout"
            ) from None
        except web.RequestPayloadError:
            raise RequestError(
                "the body is not of the length or in the chunks that its head says",
                code="invalid_body",
            ) from None


def _too_large(most: int) -> RequestError:
    return RequestError(
        f"the body is larger than the {most:,} bytes that are taken here; --max-body-bytes of the "
        "server allows larger ones",
        413,
        code="body_too_large",
    )


async def parse_json(body: bytes) -> Any:
    """Parse a JSON text that does not become much larger as values than it is as a text."""
    await _check_values(body)
    try:
        return _loaded(body)
    except (ValueError, RecursionError) as error:
        raise RequestError(f"the body is not JSON: {error}"[:300], code="invalid_json") from None


def _loaded(body: bytes) -> Any:
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError:
        return json.loads(body)  # it takes half a surrogate pair


_MARKS: Final = (b"{", b"[", b",", b":")
_TEXT: Final = re.compile(rb'(?:[^"\\]++|\\.)*+', re.DOTALL)
_SLICE: Final = 2**20


async def _check_values(body: bytes) -> None:
    """Count the marks that begin or part values; those within texts only where there are many."""
    values = at = 0
    for start in range(0, len(body), _SLICE):
        if start:  # most bodies are one slice, and wait for nothing
            await asyncio.sleep(0)
        values += _marks(body, start, start + _SLICE)
    if values <= _MOST_VALUES:
        return
    values = 0
    while values <= _MOST_VALUES and (start := body.find(b'"', at)) >= 0:
        values += 1 + _marks(body, at, start)
        at = start + 1
        while at < len(body) and body[at : at + 1] != b'"':
            text = _TEXT.match(body, at, at + _SLICE)
            at = max(text.end() if text else 0, at + 1)
            await asyncio.sleep(0)
        at += 1
        if values % _IN_A_ROW == 0:
            await asyncio.sleep(0)
    while values <= _MOST_VALUES and at < len(body):
        values += _marks(body, at, at + _SLICE)
        at += _SLICE
        await asyncio.sleep(0)
    if values > _MOST_VALUES:
        raise RequestError(
            f"the body holds more than {_MOST_VALUES:,} values", 413, code="body_too_large"
        )


def _marks(body: bytes, start: int, end: int) -> int:
    return sum(body.count(mark, start, end) for mark in _MARKS)
