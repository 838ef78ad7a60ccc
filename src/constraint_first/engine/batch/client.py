"""The client of a batch API: files up, batches made and looked at, results down.

Whatever may be lost on the way can be done again. A file that was uploaded twice costs nothing. A
batch is paid for, so before one is made a second time it is looked for among those that are there,
by the name that it was given or by its input file.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Final, TypeVar
from urllib.parse import quote, urlencode

import aiohttp
import orjson

from constraint_first.engine.batch.line import ENDPOINT
from constraint_first.engine.batch.status import BatchStatus, read_status
from constraint_first.engine.connection import Response
from constraint_first.engine.endpoint import Endpoint
from constraint_first.engine.error import BadReply, ModelNotFound, StreamCut
from constraint_first.engine.refusal import refusal
from constraint_first.engine.retry import Retry
from constraint_first.engine.transport import Bounds, Transport, read_beginning
from constraint_first.error import OutputError
from constraint_first.problem import Json

__all__ = ["BatchClient", "CannotList"]

T = TypeVar("T")

_TAG: Final = "cfr"
"""The key of a batch's metadata that our own name for it stands under."""
_WINDOW: Final = "24h"
_PAGE: Final = 100
_MOST_PAGES: Final = 10_000
_CONNECTIONS: Final = 4
_JSON: Final = {"Content-Type": "application/json"}
_CLOCKS_APART: Final = 86_400.0


class CannotList(ModelNotFound):
    """An endpoint that does not list its batches."""


@dataclass
class BatchClient:
    """The batch API of one endpoint: ``async with BatchClient(endpoint) as client``."""

    endpoint: Endpoint
    bounds: Bounds
    retry: Retry

    def __post_init__(self) -> None:
        self._transport = Transport(self.endpoint, self.bounds, _CONNECTIONS)

    async def __aenter__(self) -> BatchClient:
        self._transport.open()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self._transport.close()

    async def upload(self, path: Path, name: str) -> str:
        """Upload an input file and return its id."""

        async def send() -> str:
            with path.open("rb") as file:
                form = aiohttp.FormData()
                form.add_field("purpose", "batch")
                form.add_field("file", file, filename=name, content_type="application/jsonl")
                return self._file_id(await self._json("POST", "files", form, {}))

        return await self._again(send)

    async def create(
        self, input_file: str, tag: str, since: float, *, made_before: bool
    ) -> BatchStatus:
        """Make a batch of an uploaded file, or find it where it was made before.

        ``made_before`` says that this may have been asked for already. A try whose reply was lost
        is such a case too.
        """
        body = {
            "input_file_id": input_file,
            "endpoint": ENDPOINT,
            "completion_window": _WINDOW,
            "metadata": {_TAG: tag},
        }
        headers = {**_JSON, "Idempotency-Key": tag}
        unsure = made_before

        async def make() -> BatchStatus:
            nonlocal unsure
            if unsure and (found := await self.find(input_file, tag, since)):
                return found
            unsure = True
            return self._status(await self._json("POST", "batches", orjson.dumps(body), headers))

        return await self._again(make)

    async def find(self, input_file: str, tag: str, since: float) -> BatchStatus | None:
        """Look a batch up among those that the endpoint lists, the newest first.

        Where there are two, as when a try that seemed lost came through late, the younger is
        cancelled. ``since`` is when it can have been made at the earliest.
        """
        found = [
            one
            async for one in self._listed(since - _CLOCKS_APART)
            if one.tag == tag or (one.input_file and one.input_file == input_file)
        ]
        found.sort(key=lambda one: (one.status == "cancelled", one.created_at))
        for extra in found[1:]:
            if not extra.has_ended and extra.status != "cancelling":
                await self._json("POST", f"batches/{_in_path(extra.id)}/cancel", b"", _JSON)
        return found[0] if found else None

    async def look(self, batch: str) -> BatchStatus:
        """Ask how a batch gets on; just once, so that whoever waits can say what is wrong."""
        return self._status(await self._json("GET", f"batches/{_in_path(batch)}"))

    async def download(self, file: str, path: Path) -> None:
        """Write the content of a file to the disk."""

        async def fetch() -> None:
            async with self._exchange("GET", f"files/{_in_path(file)}/content") as response:
                await self._save(response, path)

        await self._again(fetch)

    async def _save(self, response: Response, path: Path) -> None:
        """Write a body to the disk as it comes: all of it, or an error."""
        size = 0
        with path.open("wb") as file:
            async for piece in response.pieces():
                size += len(piece)
                await asyncio.to_thread(_write, file, piece)
        packed = "Content-Encoding" in response.headers
        if not packed and response.content_length not in (None, size):
            raise StreamCut(f"{self.endpoint.shown}: a file of results was cut")

    async def _listed(self, since: float) -> AsyncGenerator[BatchStatus]:
        after = ""
        for _ in range(_MOST_PAGES):
            query = urlencode({"limit": _PAGE} | ({"after": after} if after else {}))
            try:
                page = await self._json("GET", f"batches?{query}")
            except ModelNotFound as error:
                raise CannotList(str(error)) from None
            entries = page.get("data")
            if not isinstance(entries, list):
                raise BadReply(f"{self.endpoint.shown}: its list of batches cannot be read")
            listed = [self._status(entry) for entry in entries]
            for one in listed:
                yield one
            last = listed[-1].id if listed else ""
            old = bool(listed) and 0 < listed[-1].created_at < since
            if page.get("has_more") is not True or not last or last == after or old:
                return
            after = last

    def _status(self, value: Json) -> BatchStatus:
        return read_status(value, _TAG, self._transport.redaction)

    def _file_id(self, value: dict[str, Json]) -> str:
        found = value.get("id")
        if not isinstance(found, str) or not found or not found.isprintable():
            raise BadReply(f"{self.endpoint.shown}: its reply to an upload has no id")
        return found

    async def _again(self, operation: Callable[[], Awaitable[T]]) -> T:
        return await replace(self.retry).run(operation, lambda _fault, _pause: None)

    async def _json(
        self,
        verb: str,
        path: str,
        data: bytes | aiohttp.FormData | None = None,
        headers: Mapping[str, str] = _JSON,
    ) -> dict[str, Json]:
        async with self._exchange(verb, path, data, headers) as response:
            body = await self._body(response)
        try:
            value: Json = orjson.loads(body)
        except orjson.JSONDecodeError:
            value = None
        if not isinstance(value, dict):
            said = self._transport.redaction.quote(body[:200].decode("utf-8", "replace"))
            raise BadReply(f"{self.endpoint.shown}: its reply is not a JSON object: {said!r}")
        return value

    async def _body(self, response: Response) -> bytes:
        body = b""
        async for piece in response.pieces():
            body += piece
            if len(body) > self.bounds.reply_bytes:
                raise BadReply(f"{self.endpoint.shown}: its reply is far too large")
        return body

    @asynccontextmanager
    async def _exchange(
        self,
        verb: str,
        path: str,
        data: bytes | aiohttp.FormData | None = None,
        headers: Mapping[str, str] = _JSON,
    ) -> AsyncGenerator[Response]:
        async with self._transport.exchange(verb, path, data, headers) as response:
            if not 200 <= response.status < 300:
                body = await read_beginning(response)
                raise refusal(self.endpoint, response.status, response.headers, body)
            yield response


def _write(file: BinaryIO, piece: bytes) -> None:
    try:
        file.write(piece)
    except OSError as error:
        raise OutputError(
            f"{file.name}: cannot be written ({error.strerror}); make room there"
        ) from None


def _in_path(name: str) -> str:
    return quote(name, safe="")
