"""Connections to one host, kept alive only while every reply surely belongs to its request.

On an HTTP/1.1 connection only their order relates responses to requests. A server or proxy that
sends a response twice therefore shifts every later response of the connection by one. Four rules
guard against that, in the order in which they can detect it:

- A connection with unread bytes, or that receives some between two requests, is never reused.
- A successful response that begins before its request was sent completely is refused.
- A host is on probation until some of its connections have been silent for a while after a
  response; until then a connection is reused only after such a silence.
- A response that repeats the id of an earlier one on its connection is refused, if the host gives
  each response a unique id; so is one that repeats a whole body, if all bodies differed so far.

A host that broke a rule gets a new connection for each request from then on, and requests in
flight on reused connections are retried.
"""

from __future__ import annotations

import asyncio
import math
import os
import socket
import time
import zlib
from collections.abc import AsyncGenerator, Callable
from functools import partial
from typing import TYPE_CHECKING, Final, TypeAlias, cast

import aiohttp
from aiohttp.client_proto import ResponseHandler
from aiohttp.connector import Connection

from constraint_first.model.error import StaleReply
from constraint_first.pattern import lazy_pattern

if TYPE_CHECKING:
    from aiohttp.client_reqrep import ConnectionKey
    from aiohttp.tracing import Trace

try:
    import fcntl
    import termios
except ImportError:  # Windows
    fcntl = termios = None


Tell: TypeAlias = Callable[[str], object]
"""Shows a line of text to the user."""

_REST: Final = 0.25
"""Seconds that a connection rests after a reply while its host is on probation."""
_RESTS: Final = 8
"""The number of rests without a stray byte after which the probation ends."""
_SPARE: Final = _RESTS
"""Connections opened while others rest: as many as the probation needs."""
_LOOK: Final = 0.02
_IDLE: Final = 15.0
"""Seconds after which an idle connection is closed."""
_ALIKE: Final = 4
"""So many identical replies show a constant reply, for which a mix-up makes no difference."""
_BODIES: Final = 16
"""After so many different bodies, a repeated body is suspect."""
_REMEMBERED: Final = 4_096
_OVERLAP: Final = 256
"""Bytes of a chunk that are searched again with the next one, in case an id is split."""
_ID: Final = lazy_pattern(rb'"id"\s*:\s*"([^"\\]{1,200})"')
_CREATED: Final = lazy_pattern(rb'"created"\s*:\s*([0-9.]{1,32})')
# A server may send a response (408) when it closes an idle connection; that is no fault.
_FAREWELL: Final = lazy_pattern(rb"\s*(HTTP/1\.\d [345]|$)")
_UNREAD: Final = termios.FIONREAD if termios else 0
_UNSENT: Final = termios.TIOCOUTQ if termios else 0


class Host:
    """The evidence on one host from all replies so far, shared by its connections."""

    def __init__(self, shown: str) -> None:
        self.shown = shown
        self.tell: Tell = lambda _line: None
        self.repeats = False
        """Whether it broke a rule, so that its connections are no longer kept alive."""
        self.spare = _SPARE
        self.rests = 0
        self._lines = self._doubts = 0
        self._ids = _Marks()
        self._bodies = _Marks()

    @property
    def on_probation(self) -> bool:
        """Whether it was not observed long enough yet; identical replies need no probation."""
        return self.rests < _RESTS and not self._bodies.all_alike

    def may_use(self, rested: float) -> bool:
        """Whether a connection that was silent for so many seconds may be reused."""
        return (rested >= _REST or not self.on_probation) and self._lines > 1

    @property
    def has_own_ids(self) -> bool:
        return self._ids.distinct

    @property
    def has_own_bodies(self) -> bool:
        """Whether bodies are evidence: all different so far, or all the same."""
        return self._bodies.distinct or len(self._bodies) == 1

    def number(self) -> int:
        self._lines += 1
        return self._lines

    def catch(self) -> None:
        if not self.repeats:
            self.repeats = True
            self.tell(
                f"{self.shown}: sends replies twice or unasked, as a faulty proxy does; its "
                "connections are no longer kept alive, and replies that may be another's are "
                "asked for again"
            )

    def check_id(self, found: bytes, created: bytes | None, line: int) -> None:
        if self._ids.repeats(found, line) and len(self._ids) > 1:
            if self._ids.noted(found) == created:
                self.catch()
            else:  # Ollama draws ids at random from a few hundred, so equal ones occur by chance
                self._ids.distinct = False
            raise self.stale()
        self._ids.add(found, line, created)

    def check_body(self, body: tuple[int, int], line: int) -> None:
        if self._bodies.repeats(body, line) and len(self._bodies) >= _BODIES:
            self._doubts += 1
            if self._doubts > 1:  # one repetition may be chance
                self.catch()
            raise self.stale()
        self._bodies.add(body, line)

    def stale(self) -> StaleReply:
        return StaleReply(f"{self.shown}: its reply may belong to an earlier request")


class _Marks:
    """Ids or hashes of replies, and whether they were distinct across connections so far."""

    def __init__(self) -> None:
        self.distinct = True
        self._count = 0
        self._known: dict[object, tuple[int, bytes | None]] = {}

    def __len__(self) -> int:
        return len(self._known)

    @property
    def all_alike(self) -> bool:
        return not self.distinct and len(self._known) == 1 and self._count >= _ALIKE

    def repeats(self, mark: object, line: int) -> bool:
        """Whether this connection had the mark before, and no two connections ever shared one."""
        seen = self._known.get(mark)
        if seen and seen[0] != line:
            self.distinct = False
        return self.distinct and seen is not None

    def noted(self, mark: object) -> bytes | None:
        return self._known[mark][1]

    def add(self, mark: object, line: int, noted: bytes | None = None) -> None:
        self._count += 1
        self._known[mark] = line, noted
        if len(self._known) > _REMEMBERED:
            del self._known[next(iter(self._known))]


class Line(ResponseHandler):
    """One connection; it detects bytes that arrive without a request."""

    def __init__(self, loop: asyncio.AbstractEventLoop, host: Host) -> None:
        super().__init__(loop)
        self.host = host
        self.number = host.number()
        self.uses = 0
        self.early = False
        """Whether a reply began before its request was sent completely."""
        self._asked = self._sent = self._began = False
        self._descriptor: int | None = None
        self._heard = math.inf
        """When bytes last arrived, on the loop's clock; infinity while no reply is awaited."""
        self._timer_handle: asyncio.TimerHandle | None = None
        # CPython releases the GIL during an ioctl() with a buffer of up to 1,024 bytes. Ours take
        # less than a microsecond, and acquiring the GIL again takes ten: hence one byte more.
        self._answer = bytearray(1_025)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self.begin()

    def begin(self) -> None:
        self.uses += 1
        self._asked, self._sent, self._began, self.early = True, False, False, False

    def end(self) -> None:
        self._asked = False

    def start_timeout(self) -> None:
        self._sent = True
        super().start_timeout()

    # aiohttp cancels and creates a timer for each chunk that arrives. A timer that checks, when it
    # is due, how long the connection has been silent does the same in a fraction of the time.

    def _reschedule_timeout(self) -> None:
        self._heard = self._loop.time() if self._read_timeout else math.inf
        if self._read_timeout and self._timer_handle is None:
            self._look_again(self._heard + self._read_timeout)

    def _drop_timeout(self) -> None:
        self._heard = math.inf
        if self.transport is None and self._timer_handle:
            self._timer_handle.cancel()
            self._timer_handle = None

    def connection_lost(self, exc: BaseException | None) -> None:
        super().connection_lost(exc)
        self._drop_timeout()  # only now, without a transport

    def _look_again(self, when: float) -> None:
        self._timer_handle = self._loop.call_at(when, self._look)

    def _look(self) -> None:
        self._timer_handle = None
        due = self._heard + (self._read_timeout or 0.0)
        if due <= self._loop.time():
            self._on_read_timeout()
        elif due < math.inf:
            self._look_again(due)

    def data_received(self, data: bytes) -> None:
        """Pass on bytes that a request waits for; close the connection on any others."""
        if data and not self._asked:
            self._stray(data)
            return
        if data and not self._began:
            self._began = True
            if not self._sent or self._has_unsent():
                self.early = True
                self.force_close()
        super().data_received(data)
        if len(self._buffer) <= self._asked:
            return
        # Several replies in one chunk; the request of the first may be complete already.
        replies = [entry[0].code for entry, _ in self._buffer if entry[0].code >= 200]
        if len(replies) > self._asked:
            if min(replies) < 300:
                self.host.catch()
            self.force_close()
            if not self._asked:
                self.close()

    def is_clean(self) -> bool:
        """Whether no bytes wait to be read, in the event loop's buffer or the kernel's."""
        transport = self.transport
        if transport is None or self.should_close:
            return False
        if not self._waiting(_UNREAD):
            return True
        if transport.get_extra_info("sslcontext") is None:
            self._stray(_peek(self._file(transport)))
        return False

    def _has_unsent(self) -> bool:
        """Whether the peer has not yet received all of the request.

        The TCP segments of a genuine reply acknowledge the request, so the kernel's send queue is
        empty by then.
        """
        transport = self.transport
        return transport is None or transport.get_write_buffer_size() > 0 or self._waiting(_UNSENT)

    def _waiting(self, buffer: int) -> bool:
        if fcntl is None or self.transport is None:  # Windows: cannot be seen
            return False
        try:
            fcntl.ioctl(self._file(self.transport), buffer, self._answer)
        except OSError:
            return False
        return any(self._answer[:4])

    def _file(self, transport: asyncio.Transport) -> int:
        if self._descriptor is None:
            self._descriptor = int(transport.get_extra_info("socket").fileno())
        return self._descriptor

    def _stray(self, data: bytes) -> None:
        if not _FAREWELL.match(data):
            self.host.catch()
        self.close()


def _peek(handle: int) -> bytes:
    try:
        with socket.socket(fileno=os.dup(handle)) as copy:
            return copy.recv(64, socket.MSG_PEEK)
    except OSError:
        return b""


class Connections(aiohttp.TCPConnector):
    """The connection pool of a host; it reuses the connection that has been idle longest."""

    def __init__(self, host: Host, limit: int) -> None:
        super().__init__(limit=limit, keepalive_timeout=_IDLE)  # pyright: ignore[reportUnknownMemberType]
        self._host = host
        self._factory = partial(Line, loop=self._loop, host=host)

    async def _get(self, key: ConnectionKey, traces: list[Trace]) -> Connection | None:
        host = self._host
        while idle := self._conns.get(key):
            line, since = cast("tuple[Line, float]", idle[0])
            rested = time.monotonic() - since
            if host.repeats or rested > _IDLE or not line.is_clean():
                idle.popleft()
                line.close()
            elif host.may_use(rested):
                host.rests += rested >= _REST
                line.begin()
                idle.popleft()
                self._acquired.add(line)
                return Connection(self, key, line, self._loop)
            elif host.spare or rested >= _REST:
                host.spare = max(0, host.spare - 1)
                return None
            else:
                await asyncio.sleep(min(_REST - rested, _LOOK))
        return await super()._get(key, traces)

    def _release(
        self, key: ConnectionKey, protocol: ResponseHandler, *, should_close: bool = False
    ) -> None:
        cast("Line", protocol).end()
        super()._release(key, protocol, should_close=should_close or self._host.repeats)


class Response(aiohttp.ClientResponse):
    """An HTTP response whose chunks are compared with earlier responses of its connection."""

    compares = False
    """Whether it is a completion still being read; only these have ids or bodies of their own."""
    _line: Line
    _used = False
    _tail: bytes | None = b""
    _sum = 0
    _size = 0

    async def start(self, connection: Connection) -> Response:
        """Wait for the response's headers; refuse a response that began too early."""
        line = self._line = cast("Line", connection.protocol)
        self._used = line.uses > 1
        await super().start(connection)
        if line.early and 200 <= self.status < 300:
            if self._used:
                line.host.catch()
            raise line.host.stale()
        return self

    def took(self, found: bytes) -> bytes:
        """Return a chunk (empty at the end); raise StaleReply if it may be another request's."""
        if self.compares or self._used:
            try:
                self._check(found)
            except StaleReply:
                # The true reply may still arrive, when the connection would be idle and reused.
                self._line.close()
                raise
        return found

    def end(self) -> None:
        self.took(b"")

    async def pieces(self) -> AsyncGenerator[bytes]:
        while found := self.took(await self.content.readany()):
            yield found

    def _check(self, found: bytes) -> None:
        host, line = self._line.host, self._line.number
        if self._used and host.repeats:
            raise host.stale()
        if not self.compares:
            return
        if not found:
            self.compares = False
            if host.has_own_bodies:
                host.check_body((self._size, self._sum), line)
            return
        self._size += len(found)
        if host.has_own_bodies:
            self._sum = zlib.crc32(found, self._sum)
        if self._tail is None or not host.has_own_ids:
            return
        text = self._tail + found
        if match := _ID.search(text):
            created = _CREATED.search(text)
            self._tail = None
            host.check_id(match[1], created and created[1], line)
        else:
            self._tail = text[-_OVERLAP:]
