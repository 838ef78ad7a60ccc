"""Settings, and the checks of every route: host names, origins, token, admission, bodies.

All checks apply to clients without a token too, except that of the token.
"""

from __future__ import annotations

import asyncio
import errno
import hmac
import ipaddress
import json
import math
import socket
import struct
import time
from collections import Counter, OrderedDict
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, Final, cast
from urllib.parse import urlsplit

import orjson
from aiohttp import web

from constraint_first.error import InputError
from constraint_first.protocol import Usage
from constraint_first.serve.request import RequestError


@dataclass(frozen=True, slots=True)
class ServeSettings:
    """The options of ``cfr serve``."""

    host: str = "127.0.0.1"
    port: int = 8080
    """0 for any free port."""
    methods: tuple[str, ...] = ("auto",)
    """Methods that ``/v1/models`` lists; the first answers requests that name no model."""
    token: str = field(default="", repr=False)
    allowed_hosts: tuple[str, ...] = ()
    """Host names that clients may use, besides the server's address."""
    allowed_origins: tuple[str, ...] = ()
    """Origins of other servers' pages that may send requests, such as
    ``http://localhost:3000``."""
    most_requests: int = 256
    """Concurrent requests; ``most_waiting`` more wait in a queue, and any beyond get a 503."""
    most_waiting: int = 256
    most_connections: int = 2_048
    """Open connections, half as many from one address; idle ones are closed to admit new ones."""
    most_calls: int = 256
    """Calls to the model that one request may make, all of its attempts together."""
    most_tokens: int = 4_000_000
    """Tokens that one request may use, prompts and replies together."""
    body_bytes: int = 20_000_000
    request_seconds: float = 3_600.0
    grace: float = 30.0
    """Seconds that requests under way have to finish when the server is stopped."""
    silence: float = 15.0
    """Seconds without an event after which a comment is sent, so that clients and proxies do not
    time out."""

    def check(self) -> None:
        """Refuse a server that is reachable from other machines and has no token."""
        if not is_loopback(self.host) and not self.token:
            raise InputError(
                f"--host {self.host}: others could use it; give it a token (--token or CFR_TOKEN), "
                "or leave --host out so that only this machine can"
            )
        if not self.token.isascii() or not self.token.isprintable() or " " in self.token:
            raise InputError("--token: must be printable ASCII without spaces; choose another")


def is_loopback(host: str) -> bool:
    name = host.strip("[]").lower()
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


@dataclass(slots=True, eq=False)
class Served:
    """The state of one request, for the log and the metrics."""

    began: float = field(default_factory=time.monotonic)
    id: str = ""
    model: str = ""
    method: str = ""
    """The family of the method; empty for requests that pass through or need no model."""
    upstream: str = ""
    stream: bool = False
    first: float | None = None
    """Seconds until the first text."""
    usage: Usage | None = None
    error: str = ""
    deadline: asyncio.Timeout | None = None
    late: RequestError | None = None
    """The error after its deadline: it took too long, or the server is being stopped."""

    def spoke(self) -> None:
        if self.first is None:
            self.first = time.monotonic() - self.began

    @property
    def overdue(self) -> RequestError | None:
        return self.late if self.deadline and self.deadline.expired() else None

    @property
    def why_cancelled(self) -> str:
        return str(self.overdue or "the client went away")


def stopped() -> RequestError:
    return RequestError("the server is being stopped", 503, code="stopping", retry_after=1)


SERVED: Final = web.RequestKey("served", Served)
PUBLIC: Final = frozenset({"/health", "/login", "/static/page.css"})
"""Paths that need no token."""
TOKEN_COOKIE: Final = "cfr-token"  # noqa: S105
"""The cookie with the token that was entered on the login page."""

_HEADERS: Final = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
}
_PORTS: Final = {"http": 80, "https": 443}


class Guard:
    """Checks the host name, the origin and the token of a request.

    Only known host names are answered, because of DNS rebinding: a foreign web page can reach a
    local server through a name of its own domain that resolves to this machine.
    """

    def __init__(self, settings: ServeSettings) -> None:
        self._token = settings.token.encode()
        self._only_here = is_loopback(settings.host)
        own = () if self._only_here else (socket.gethostname(), settings.host)
        self._hosts = {name.lower() for name in (*settings.allowed_hosts, *own)}
        self._origins = {one.rstrip("/").lower() for one in settings.allowed_origins}

    def check_origin(self, request: web.Request) -> None:
        """Refuse an unknown Host header, and a cross-origin request."""
        host = request.headers.get("Host", "")
        if not self._is_ours(_name(host)):
            raise RequestError(
                f"host {host!r}: this server does not go by that name; whoever starts it can allow "
                "it with --allow-host",
                403,
                code="host_not_allowed",
            )
        origin = request.headers.get("Origin")
        if origin is not None and not self._may_ask(origin, host):
            raise RequestError(
                f"origin {origin!r}: pages from there may not ask; whoever starts the server can "
                "allow it with --allow-origin",
                403,
                code="origin_not_allowed",
            )

    def check_token(self, request: web.Request) -> None:
        if self._token and request.path not in PUBLIC and not self._has_token(request):
            said = "give the server's token, as the API key (Authorization: Bearer …)"
            raise RequestError(said, 401, code="invalid_api_key")

    def add_headers(self, request: web.BaseRequest, response: web.StreamResponse) -> None:
        """Add the headers of every response; those that its handler has set are kept."""
        headers = response.headers
        for name, value in _HEADERS.items():
            headers.setdefault(name, value)
        headers["Server"] = "cfr"
        origin = request.headers.get("Origin")
        if origin is not None and origin.lower() in self._origins:
            headers["Access-Control-Allow-Origin"] = origin
            headers["Access-Control-Allow-Headers"] = "Authorization, Content-Type"
            headers["Access-Control-Expose-Headers"] = "Retry-After"
            headers["Cross-Origin-Resource-Policy"] = "cross-origin"
            headers["Vary"] = "Origin"

    def _is_ours(self, name: str) -> bool:
        if name in self._hosts or is_loopback(name):
            return True
        with suppress(ValueError):  # DNS rebinding needs a name, not an IP address
            ipaddress.ip_address(name)
            return not self._only_here
        return False

    def _may_ask(self, origin: str, host: str) -> bool:
        if origin.lower() in self._origins:
            return True
        with suppress(ValueError):
            parts = urlsplit(origin)
            # Behind a proxy that terminates TLS, the scheme and the port differ from the server's.
            usual = _PORTS.get(parts.scheme)
            asked = (parts.hostname or "").lower(), parts.port or usual
            return bool(usual and asked[0]) and asked == (_name(host), _port(host) or usual)
        return False

    def _has_token(self, request: web.Request) -> bool:
        scheme, _, given = request.headers.get("Authorization", "").partition(" ")
        if scheme.lower() != "bearer":
            given = request.cookies.get(TOKEN_COOKIE, "")
        return hmac.compare_digest(given.strip().encode("utf-8", "replace"), self._token)


def _name(host: str) -> str:
    """Strip port and brackets from a Host header."""
    if host.startswith("["):
        return host[1:].partition("]")[0].lower()
    return host.rpartition(":")[0].lower() if host.count(":") == 1 else host.lower()


def _port(host: str) -> int | None:
    digits = host.rpartition(":")[2]
    return int(digits) if digits.isascii() and digits.isdecimal() and len(digits) < 6 else None


# Admission: a limit on concurrent requests, a bounded queue, and a time limit for each request.


class Admission:
    """Admits requests in the order of their arrival."""

    def __init__(self, most: int, waiting: int, seconds: float) -> None:
        self._places = asyncio.Semaphore(most)
        self._most_waiting = waiting
        self._seconds = seconds
        self._known: set[Served] = set()
        self._stopping = False
        self.under_way = 0
        self.waiting = 0

    @asynccontextmanager
    async def place(self, served: Served) -> AsyncGenerator[None]:
        """Hold a place for a request, and cancel it at its time limit, which includes the wait."""
        if self._stopping:
            raise stopped()
        said = f"the request was not done after {self._seconds:g} s"
        served.late = RequestError(said, 504, code="request_timeout")
        try:
            async with asyncio.timeout(self._seconds) as served.deadline:
                self._known.add(served)
                await self._enter()
                self.under_way += 1
                try:
                    yield
                finally:
                    self.under_way -= 1
                    self._places.release()
        except TimeoutError:
            if overdue := served.overdue:
                raise overdue from None
            raise
        finally:
            self._known.discard(served)

    def stop(self, grace: float) -> None:
        """Refuse new requests, and cancel those under way after ``grace`` seconds."""
        self._stopping = True
        end = asyncio.get_running_loop().time() + grace
        for served in self._known:
            if served.deadline and not served.deadline.expired():
                when = served.deadline.when()
                if when is None or end < when:
                    served.late = stopped()
                    served.deadline.reschedule(end)

    async def _enter(self) -> None:
        if self._places.locked() and self.waiting >= self._most_waiting:
            said = f"{self.under_way} requests are under way and {self.waiting} wait"
            raise RequestError(f"{said}; try again later", 503, code="overloaded", retry_after=1)
        self.waiting += 1
        try:
            await self._places.acquire()
        finally:
            self.waiting -= 1


# Connections: a limit on their number, and timeouts for slow clients.
#
# A connection without an admitted request (it sends its head or its body, or is idle) may be
# closed to admit a new one, so that a flood of half-open connections displaces only itself.

_HEAD_SECONDS: Final = 10.0
_IDLE_SECONDS: Final = 75.0
"""Longer than the idle timeout of common reverse proxies: otherwise a proxy could send a request
on a connection that the server is closing."""
_UNREAD_SECONDS: Final = 30.0
_UNREAD_BYTES: Final = 2**14
"""The least that a slow client must read in that time."""
_LINGER_SECONDS: Final = 2.0
_NOTE_EVERY: Final = 60.0
_MOST_FILES: Final = 65_536
_OTHER_FILES: Final = 128
_NO_FILES: Final = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM})
_FULL: Final = (
    b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nConnection: close\r\n"
    b"Content-Length: 0\r\n\r\n"
)


def allow_many_files() -> int:
    """Raise the limit on open files; return how many connections it allows."""
    try:
        import resource
    except ImportError:  # Windows
        return _MOST_FILES
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with suppress(ValueError, OSError):
        wanted = _MOST_FILES if hard == resource.RLIM_INFINITY else min(hard, _MOST_FILES)
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, wanted), hard))
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    # Each request uses two descriptors, its own connection and one to the endpoint; the store and
    # pages use a few more.
    return max(1, (soft - _OTHER_FILES) // 2) if soft > 0 else _MOST_FILES


class Connections:
    """All connections of a server, and those that may be closed to admit others."""

    def __init__(self, most: int, most_an_address: int) -> None:
        self._most = most
        self._most_an_address = most_an_address
        self._open: set[Connection] = set()
        self._addresses: Counter[str] = Counter()
        self._loose: OrderedDict[Connection, None] = OrderedDict()
        """Connections without an admitted request, oldest first, which is closed first."""

    def enter(self, one: Connection) -> bool:
        """Make room for a connection; return False if all others have admitted requests."""
        if self._addresses[one.address] >= self._most_an_address:
            room = self._close_first(lambda other: other.address == one.address)
        else:
            room = len(self._open) < self._most or self._close_first(lambda _: True)
        if room:
            self._open.add(one)
            self._addresses[one.address] += 1
            self._loose[one] = None
        return room

    def _close_first(self, fits: Callable[[Connection], bool]) -> bool:
        if found := next(filter(fits, self._loose), None):
            self.leave(found)
            found.abort()
        return found is not None

    def leave(self, one: Connection) -> None:
        self._loose.pop(one, None)
        if one in self._open:
            self._open.remove(one)
            self._addresses[one.address] -= 1
            if not self._addresses[one.address]:
                del self._addresses[one.address]

    def hold(self, one: Connection) -> None:
        self._loose.pop(one, None)

    def release(self, one: Connection) -> None:
        if one in self._open:
            self._loose[one] = None


class Connection(web.RequestHandler):
    """One connection: aiohttp's HTTP, closed when the client is too slow."""

    def __init__(self, connections: Connections, server: web.Server, **options: Any) -> None:
        super().__init__(
            server,
            keepalive_timeout=_IDLE_SECONDS,
            lingering_time=_LINGER_SECONDS,
            auto_decompress=False,  # a small body may decompress to any size
            **options,
        )
        self.address = ""
        self.connections = connections
        self._heading: asyncio.TimerHandle | None = None
        self._unread: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        peer: Any = transport.get_extra_info("peername")
        self.address = str(peer[0]) if peer else ""
        super().connection_made(transport)
        if self.connections.enter(self):
            self._heading = self._loop.call_later(_HEAD_SECONDS, self._end_slow_head)
        else:
            cast("asyncio.Transport", transport).write(_FULL)
            self.force_close()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if not self._lacks_head:
            if self._heading:
                self._heading.cancel()
                self._heading = None
        elif self._heading is None and self.transport is not None:
            self._heading = self._loop.call_later(_HEAD_SECONDS, self._end_slow_head)

    def connection_lost(self, exc: BaseException | None) -> None:
        self.connections.leave(self)
        for timer in (self._heading, self._unread):
            if timer:
                timer.cancel()
        self._heading = self._unread = None
        super().connection_lost(exc)

    def abort(self) -> None:
        """Close it at once, and drop unsent data, including that in the socket's buffer."""
        transport = self.transport
        if transport is None:
            return
        if transport.get_write_buffer_size():
            with suppress(OSError, AttributeError):
                taken = transport.get_extra_info("socket")
                taken.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            transport.abort()
        self.force_close()

    @property
    def _lacks_head(self) -> bool:
        return self._waiter is not None and not self._waiter.done()

    def _end_slow_head(self) -> None:
        self._heading = None
        if self._lacks_head:
            self.abort()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._await_reader()

    def resume_writing(self) -> None:
        super().resume_writing()
        if self._unread:
            self._unread.cancel()
            self._unread = None

    def _await_reader(self, before: float = math.inf) -> None:
        """Abort if the client has read too little since the last check, else check again later."""
        self._unread = None
        if self.transport is None:
            return
        size = self.transport.get_write_buffer_size()
        if size > before - _UNREAD_BYTES:
            self.abort()
        else:
            self._unread = self._loop.call_later(_UNREAD_SECONDS, self._await_reader, size)


def note_rarely(
    note: Callable[[str], None],
) -> Callable[[asyncio.AbstractEventLoop, dict[str, Any]], None]:
    """Report at most once a minute that file descriptors have run out."""
    noted = -_NOTE_EVERY

    def handle(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        nonlocal noted
        error = context.get("exception")
        if not (isinstance(error, OSError) and error.errno in _NO_FILES):
            loop.default_exception_handler(context)
        elif loop.time() - noted >= _NOTE_EVERY:
            noted = loop.time()
            note("no connection can be accepted now: too many files are open")

    return handle


# Request bodies: read within limits of time, size and the memory of all of them, and parsed. A
# body is read before its request is admitted, so that slow senders occupy no place.

_SECONDS: Final = 60.0
_AT_ONCE: Final = 128_000_000
_LARGEST_AT_ONCE: Final = 4
"""At least this many bodies of the largest size fit into the memory."""
_FORM_BYTES: Final = 1_000_000
_MOST_VALUES: Final = 200_000
"""Values in a body: each becomes a Python object, whose memory exceeds that of its text."""
_IN_A_ROW: Final = 101
"""The loop yields when the count is a multiple of this prime, which equal increments cannot
skip."""


class Bodies:
    """The memory for the bodies of all requests."""

    def __init__(self, largest: int) -> None:
        self._largest = largest
        self._free = max(_AT_ONCE, _LARGEST_AT_ONCE * largest)

    @asynccontextmanager
    async def read(self, request: web.Request, *, form: bool) -> AsyncGenerator[None]:
        """Read the body of a request, and count its memory until the request is over."""
        if not request.can_read_body:
            yield
            return
        packed = request.headers.get("Content-Encoding", "identity").lower() != "identity"
        if packed or request.content_type.startswith("multipart/"):
            said = "bodies that are compressed, or in several parts, are not taken"
            raise RequestError(said, 415, code="unsupported_media_type")
        most = min(_FORM_BYTES, self._largest) if form else self._largest
        parts: list[bytes] = []
        try:
            await self._receive(request, parts, most)
            # aiohttp caches a body in this attribute for read(), text() and post().
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
                        full = "too many large requests at the same time; try again later"
                        raise RequestError(full, 503, code="overloaded", retry_after=1)
        except TimeoutError:
            late = f"the body was not here after {_SECONDS:g} s"
            raise RequestError(late, 408, code="body_timeout") from None
        except web.RequestPayloadError:
            odd = "the body is not of the length or in the chunks that its head says"
            raise RequestError(odd, code="invalid_body") from None


def _too_large(most: int) -> RequestError:
    said = f"the body is larger than the {most:,} bytes that are taken here"
    more = "--max-body-bytes of the server allows larger ones"
    return RequestError(f"{said}; {more}", 413, code="body_too_large")


async def parse_json(body: bytes) -> Any:
    """Parse a JSON text, unless it holds too many values."""
    await _check_values(body)
    with suppress(orjson.JSONDecodeError):
        return orjson.loads(body)
    try:
        return json.loads(body)  # unlike orjson it accepts a lone surrogate
    except (ValueError, RecursionError) as error:
        raise RequestError(f"the body is not JSON: {error}"[:300], code="invalid_json") from None


async def _check_values(body: bytes) -> None:
    """Count characters that start or separate values: all, then those outside of strings."""
    if _marks(body, 0, len(body)) <= _MOST_VALUES:
        return
    body = body.replace(rb"\\", b"").replace(rb"\"", b"")  # now each quote begins or ends a string
    values = at = 0
    while values <= _MOST_VALUES and (start := body.find(b'"', at)) >= 0:
        values += 1 + _marks(body, at, start)
        at = body.find(b'"', start + 1) + 1 or len(body)
        if values % _IN_A_ROW == 0:
            await asyncio.sleep(0)
    if values + _marks(body, at, len(body)) > _MOST_VALUES:
        said = f"the body holds more than {_MOST_VALUES:,} values"
        raise RequestError(said, 413, code="body_too_large")


def _marks(body: bytes, start: int, end: int) -> int:
    return sum(body.count(mark, start, end) for mark in (b"{", b"[", b",", b":"))
