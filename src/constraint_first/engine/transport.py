"""HTTP requests to one endpoint, within bounds; whatever goes wrong becomes an error of ours.

On aiohttp, with one connection pool for all calls: the request and the reply are two small JSON
texts, and a general client spends more on its own objects than on the wire.
"""

from __future__ import annotations

import asyncio
import copy
from collections.abc import AsyncGenerator, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from types import TracebackType
from typing import Final, cast

import aiohttp

from constraint_first.engine.connection import Connections, Host, Response
from constraint_first.engine.endpoint import Endpoint
from constraint_first.engine.error import (
    BadReply,
    EngineError,
    Rejected,
    StreamCut,
    TimedOut,
    Unreachable,
)
from constraint_first.engine.redaction import Redaction
from constraint_first.engine.refusal import refusal

__all__ = [
    "CALL_SECONDS",
    "COMPLETIONS",
    "REPLY_BYTES",
    "Bounds",
    "Incoming",
    "Transport",
    "read_beginning",
]

_MEGABYTE: Final = 10**6
CALL_SECONDS: Final = 3_600.0
"""How long a call may take in all, unless told otherwise."""
REPLY_BYTES: Final = 16 * _MEGABYTE
"""How large a reply may be, unless told otherwise: a hundred times the longest that is usual."""

# Of an error's body more is not read, and of a reply more is read only one reply at a time: what
# hundreds of connections hold together stays small even if each is sent a flood.
_ERROR_BYTES: Final = 2**16
_SMALL_BYTES: Final = 2**20
_HEADERS: Final = {"Content-Type": "application/json"}
COMPLETIONS: Final = "chat/completions"
"""The path of the service that writes replies."""
_DOCUMENTS: Final = (b"{", b"[", b"<")
_BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class Bounds:
    """How long one call may take and how much may come back."""

    silence: float = 600.0
    """Seconds without a single byte."""
    seconds: float = CALL_SECONDS
    """Seconds for the whole of a reply; later than that a call is not asked again."""
    reply_bytes: int = REPLY_BYTES
    """The size of a reply after decompression; of a stream, that of its text."""


class Incoming:
    """A reply that is on its way, taken only as far as the bounds allow."""

    def __init__(self, response: Response, most: int, turn: asyncio.Lock) -> None:
        self._content = response.content
        self._took = response.took
        self._head = b""
        self._most = most
        self._turn = turn
        self._size = 0
        if (response.content_length or 0) > most:
            raise self.too_large()

    async def is_document(self) -> bool:
        """Wait for its first bytes and say whether they begin something else than a stream."""
        while not self._head.strip() and (piece := self._took(await self._content.readany())):
            self._head = piece.removeprefix(_BYTE_ORDER_MARK)
        self._size = len(self._head)
        return self._head.lstrip()[:1] in _DOCUMENTS

    async def read(self) -> bytes:
        """Take the whole reply."""
        pieces = [self._head]
        if not await self._fill(pieces, min(_SMALL_BYTES, self._most)):
            async with self._turn:
                if not await self._fill(pieces, self._most):
                    raise self.too_large()
        return b"".join(pieces)

    async def lines(self) -> AsyncGenerator[bytes]:
        """Take it line by line, whichever way the lines end; the last need not."""
        unfinished: list[bytes] = []
        piece, size = self._head or self._took(await self._content.readany()), 0
        while piece:
            first, *others = piece.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
            unfinished.append(first)
            size += len(first)
            if size > self._most:
                raise self.too_large()
            for line in others:
                yield b"".join(unfinished)
                unfinished, size = [line], len(line)
            piece = self._took(await self._content.readany())
        yield b"".join(unfinished)

    def end(self) -> None:
        """Note that all of it was taken that matters."""
        self._took(b"")

    def too_large(self) -> BadReply:
        """Build the error for a reply that is larger than allowed."""
        return BadReply(
            f"the endpoint's reply is larger than {self._most / _MEGABYTE:g} MB and was not read "
            "further; allow more with --max-reply-bytes"
        )

    async def _fill(self, pieces: list[bytes], most: int) -> bool:
        """Take pieces until the reply ends or exceeds a size; whether it ended."""
        while self._size <= most:
            piece = self._took(await self._content.readany())
            if not piece:
                return True
            pieces.append(piece)
            self._size += len(piece)
        return False


class Transport:
    """A connection pool for one endpoint, between ``open`` and ``close``."""

    def __init__(self, endpoint: Endpoint, bounds: Bounds, connections: int) -> None:
        self.endpoint = endpoint
        self.bounds = bounds
        self.redaction = Redaction()
        self.host = Host(endpoint.shown)
        self._connections = connections
        self._session: aiohttp.ClientSession | None = None
        self._turn = asyncio.Lock()

    @property
    def is_open(self) -> bool:
        """Whether requests can be sent now."""
        return self._session is not None

    def open(self) -> None:
        """Make the pool; nothing is sent yet."""
        self.endpoint.check()
        self.redaction = self.endpoint.redaction
        key = self.endpoint.key
        self._session = aiohttp.ClientSession(
            connector=Connections(self.host, self._connections),
            response_class=Response,
            cookie_jar=aiohttp.DummyCookieJar(),
            # A long solution is not a fault; silence is. The whole of a call has its own limit.
            timeout=aiohttp.ClientTimeout(
                total=None, sock_connect=10, sock_read=self.bounds.silence
            ),
            headers={"Authorization": f"Bearer {key}"} if key else {},
        )

    def lend(self, endpoint: Endpoint) -> Transport:
        """Make a transport for another model of the endpoint, over the same connections."""
        lent = copy.copy(self)
        lent.endpoint = endpoint
        return lent

    async def close(self) -> None:
        """Close all connections."""
        session, self._session = self._session, None
        if session:
            await session.close()

    def exchange(
        self,
        verb: str,
        path: str,
        data: bytes | aiohttp.FormData | None = None,
        headers: Mapping[str, str] = _HEADERS,
    ) -> AbstractAsyncContextManager[Response]:
        """Send a request and give whatever comes back; every fault on the way is raised."""
        if self._session is None:
            raise RuntimeError("use the engine inside `async with`")
        url = self.endpoint.url(path)
        sent = self._session.request(verb, url, data=data, headers=headers, allow_redirects=False)
        return _Exchange(self, sent, compares=path == COMPLETIONS)

    async def accept(self, response: Response) -> Incoming:
        """Take a successful reply; raise what another one refuses."""
        if not 200 <= response.status < 300:
            body = await read_beginning(response)
            raise refusal(self.endpoint, response.status, response.headers, body)
        return Incoming(response, self.bounds.reply_bytes, self._turn)

    def named(self, error: aiohttp.ClientError | TimeoutError) -> EngineError:
        """Name a fault of a request in our own words."""
        where = self.endpoint.shown
        if isinstance(error, TimeoutError):
            return TimedOut(f"{where}: nothing came for too long; try again later")
        if isinstance(error, aiohttp.InvalidURL):
            return Rejected(f"{where}: not an address; write it as http://HOST:PORT/v1")
        if isinstance(error, aiohttp.ClientPayloadError | aiohttp.ServerDisconnectedError):
            return StreamCut(
                f"{where}: the connection was cut in the middle of a reply, or damaged it"
            )
        if isinstance(error, aiohttp.ClientResponseError):
            return BadReply(
                f"{where}: its answer cannot be read as HTTP "
                f"({self.redaction.quote(error.message)}); check the address, its port and "
                "whether it begins with http:// or https://"
            )
        reason = getattr(error, "strerror", None) or type(error).__name__
        if isinstance(error, aiohttp.ClientConnectorError):
            return Unreachable(
                f"{where}: cannot be reached ({reason}); check the address and that it is running"
            )
        return StreamCut(f"{where}: the connection was cut ({reason})")


class _Exchange:
    """A request under way and its reply.

    Not an ``asynccontextmanager``: every call goes through here, and a generator costs more.
    """

    def __init__(
        self,
        transport: Transport,
        sent: AbstractAsyncContextManager[aiohttp.ClientResponse],
        *,
        compares: bool,
    ) -> None:
        self._transport = transport
        self._sent = sent
        self._compares = compares

    async def __aenter__(self) -> Response:
        try:
            response = cast("Response", await self._sent.__aenter__())
        except (aiohttp.ClientError, TimeoutError) as error:
            raise self._transport.named(error) from None
        response.compares = self._compares
        return response

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self._sent.__aexit__(kind, error, traceback)
        if isinstance(error, aiohttp.ClientError | TimeoutError):
            raise self._transport.named(error) from None


async def read_beginning(response: aiohttp.ClientResponse) -> bytes:
    """Read an error's body, in however many pieces it comes and as far as it comes."""
    body = b""
    try:
        while len(body) < _ERROR_BYTES and (piece := await response.content.readany()):
            body += piece
    except (aiohttp.ClientError, TimeoutError):  # its status says the most important
        pass
    return body[:_ERROR_BYTES]
