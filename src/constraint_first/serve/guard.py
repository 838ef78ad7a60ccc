"""The guard of every route: who asks, from which page, and by which name for this server.

A name that leads here although it is not ours is how a web page elsewhere gets at a server on
somebody's own machine (DNS rebinding), so only names that we know are answered.
"""

from __future__ import annotations

import asyncio
import errno
import hmac
import ipaddress
import json
import re
import socket
import struct
import time
from collections import Counter, OrderedDict, deque
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime
from typing import Any, Final, cast
from urllib.parse import urlsplit

import orjson
from aiohttp import web

from constraint_first.file.safe import one_line
from constraint_first.pattern import lazy_pattern
from constraint_first.problem import Json
from constraint_first.serve.service import Served, stopped
from constraint_first.serve.setting import RequestError, ServeSettings, is_loopback

PUBLIC: Final = frozenset({"/health", "/login", "/static/page.css"})
"""Paths that need no token."""
TOKEN_COOKIE: Final = "cfr-token"  # noqa: S105
"""Where a browser keeps the token that a person gave to a page of ours."""

_HEADERS: Final = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
}
_MOST_KNOWN: Final = 100
_PORTS: Final = {"http": 80, "https": 443}


class Guard:
    """Refuses requests that are not for this server, or not from somebody who may ask."""

    def __init__(self, settings: ServeSettings) -> None:
        self._token = settings.token.encode()
        self._only_here = is_loopback(settings.host)
        own = () if self._only_here else (socket.gethostname(), settings.host)
        self._hosts = {name.lower() for name in (*settings.allowed_hosts, *own)}
        self._known: set[str] = set()
        """Host headers that were found to be ours."""
        self._origins = {one.rstrip("/").lower() for one in settings.allowed_origins}

    def check_origin(self, request: web.Request) -> None:
        """Refuse a request that was not meant for this server, or that another one's page makes."""
        host = request.headers.get("Host", "")
        if host not in self._known and not self._is_ours(_name(host)):
            raise RequestError(
                f"host {host!r}: this server does not go by that name; whoever starts it can allow "
                "it with --allow-host",
                403,
                code="host_not_allowed",
            )
        if len(self._known) < _MOST_KNOWN:
            self._known.add(host)
        origin = request.headers.get("Origin")
        if origin is not None and not self._may_ask(origin, host):
            raise RequestError(
                f"origin {origin!r}: pages from there may not ask; whoever starts the server can "
                "allow it with --allow-origin",
                403,
                code="origin_not_allowed",
            )

    def check_token(self, request: web.Request) -> None:
        """Refuse whoever does not have the token, where there is one."""
        if self._token and request.path not in PUBLIC and not self._has_token(request):
            raise RequestError(
                "give the server's token, as the API key (Authorization: Bearer …)",
                401,
                code="invalid_api_key",
            )

    def is_foreign(self, origin: str) -> bool:
        """Say whether an origin is another server's that was allowed by name."""
        return origin.lower() in self._origins

    def _is_ours(self, name: str) -> bool:
        if name in self._hosts or is_loopback(name):
            return True
        # A number cannot have been rebound; only a server that others can reach is called by one.
        return not self._only_here and _is_address(name)

    def _may_ask(self, origin: str, host: str) -> bool:
        if origin.lower() in self._origins:
            return True
        try:
            parts = urlsplit(origin)
            port = parts.port
        except ValueError:
            return False
        if parts.scheme not in _PORTS or not parts.hostname:
            return False
        # Behind a proxy that speaks TLS the scheme is not ours, and neither is the usual port.
        usual = _PORTS[parts.scheme]
        there = (parts.hostname.lower(), port or usual)
        return there in {(_name(host), _port(host) or usual)}

    def _has_token(self, request: web.Request) -> bool:
        scheme, _, given = request.headers.get("Authorization", "").partition(" ")
        if scheme.lower() != "bearer":
            given = request.cookies.get(TOKEN_COOKIE, "")
        return hmac.compare_digest(given.strip().encode("utf-8", "replace"), self._token)


def _name(host: str) -> str:
    """Take the name out of a Host header, without a port and brackets."""
    if host.startswith("["):
        return host[1:].partition("]")[0].lower()
    return host.rpartition(":")[0].lower() if host.count(":") == 1 else host.lower()


def _port(host: str) -> int | None:
    digits = host.rpartition(":")[2]
    return int(digits) if digits.isascii() and digits.isdecimal() and len(digits) < 6 else None


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def add_headers(guard: Guard, request: web.BaseRequest, response: web.StreamResponse) -> None:
    """Add what every reply tells a browser, unless its handler has said otherwise."""
    headers = response.headers
    for name, value in _HEADERS.items():
        headers.setdefault(name, value)
    headers["Server"] = "cfr"
    origin = request.headers.get("Origin")
    if origin is not None and guard.is_foreign(origin):
        headers["Access-Control-Allow-Origin"] = origin
        headers["Access-Control-Allow-Headers"] = "Authorization, Content-Type"
        headers["Access-Control-Expose-Headers"] = "Retry-After"
        headers["Cross-Origin-Resource-Policy"] = "cross-origin"
        headers["Vary"] = "Origin"


# Admission of requests: so many at a time, so many more that wait, and an end to each.


class Admission:
    """Places for requests. Who waits longest goes first."""

    def __init__(self, most: int, waiting: int, seconds: float) -> None:
        self._most = most
        self._most_waiting = waiting
        self._seconds = seconds
        self._queue: deque[asyncio.Future[None]] = deque()
        self._under_way: set[Served] = set()
        self._places = 0
        self._stopping: float | None = None

    @property
    def under_way(self) -> int:
        """How many requests hold a place."""
        return self._places

    @property
    def waiting(self) -> int:
        """How many wait for one."""
        return len(self._queue)

    @asynccontextmanager
    async def place(self, served: Served) -> AsyncGenerator[None]:
        """Hold a place for a request, and end it when its time is over; waiting counts."""
        if self._stopping is not None:
            raise stopped()
        served.seconds = self._seconds
        try:
            async with asyncio.timeout(self._seconds) as served.deadline:
                self._under_way.add(served)
                await self._enter()
                try:
                    yield
                finally:
                    self._leave()
        except TimeoutError:
            if overdue := served.overdue:
                raise overdue from None
            raise
        finally:
            self._under_way.discard(served)

    def stop(self, grace: float) -> None:
        """Take no more requests, and give those under way so many seconds."""
        end = asyncio.get_running_loop().time() + grace
        self._stopping = end
        for served in self._under_way:
            if served.deadline and not served.deadline.expired():
                when = served.deadline.when()
                served.stopping = when is None or end < when
                served.deadline.reschedule(end if when is None else min(end, when))

    async def _enter(self) -> None:
        if self._places < self._most and not self._queue:
            self._places += 1
            return
        if len(self._queue) >= self._most_waiting:
            raise RequestError(
                f"{self._places} requests are under way and {len(self._queue)} wait; try again "
                "later",
                503,
                code="overloaded",
                retry_after=1,
            )
        turn = asyncio.get_running_loop().create_future()
        self._queue.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():  # the turn came just as it was given up
                self._leave()
            else:
                with suppress(ValueError):  # or it was passed over already
                    self._queue.remove(turn)
            raise

    def _leave(self) -> None:
        """Give a place to whoever is next."""
        while self._queue:
            turn = self._queue.popleft()
            if not turn.done():
                turn.set_result(None)
                return
        self._places -= 1


# One line a request, for programs or for people.

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


# Connections of clients: how many there may be, and how long each may keep the server waiting.
#
# None of this needs a token, so all of it holds before one is asked for. A connection that is not
# at work for an admitted request (it sends its head or its body, or idles) may be closed for a
# new one: a flood of half-open connections then takes places from itself and not from others.

_BACKLOG: Final = 1_024
_ACCEPTED_AT_ONCE: Final = 64
"""Connections accepted before the event loop does anything else."""
_HEAD_SECONDS: Final = 10.0
_IDLE_SECONDS: Final = 75.0
"""Longer than reverse proxies keep a connection that is not in use."""
_UNREAD_SECONDS: Final = 30.0
_UNREAD_BYTES: Final = 2**14
"""Least that a client must read of what waits for it in that time."""
_LINGER_SECONDS: Final = 2.0
_TOLD_EVERY: Final = 60.0
_MOST_FILES: Final = 65_536
_OTHER_FILES: Final = 128
_NO_FILES: Final = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM})
_FULL: Final = (
    b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nConnection: close\r\n"
    b"Content-Length: 0\r\n\r\n"
)


def allow_many_files() -> int:
    """Raise the limit on open files; return how many connections leave enough of them for us."""
    try:
        import resource
    except ImportError:  # a system without these limits
        return _MOST_FILES
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with suppress(ValueError, OSError):
        wanted = _MOST_FILES if hard == resource.RLIM_INFINITY else min(hard, _MOST_FILES)
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, wanted), hard))
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    # A request takes a file of its own and one to the endpoint; the store and pages take some.
    return max(1, (soft - _OTHER_FILES) // 2) if soft > 0 else _MOST_FILES


class Connections:
    """All connections of a server."""

    def __init__(self, most: int, most_an_address: int) -> None:
        self._most = most
        self._most_an_address = most_an_address
        self._open: set[Connection] = set()
        self._addresses: Counter[str] = Counter()
        self._loose: OrderedDict[Connection, None] = OrderedDict()
        """Those that may be closed for others, the first to go first."""

    def __len__(self) -> int:
        return len(self._open)

    def enter(self, one: Connection) -> bool:
        """Make room for a connection; False where all others are at work."""
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
        found = next(filter(fits, self._loose), None)
        if found is None:
            return False
        self.leave(found)
        found.abort()
        return True

    def leave(self, one: Connection) -> None:
        """Forget a connection."""
        self._loose.pop(one, None)
        if one in self._open:
            self._open.remove(one)
            self._addresses[one.address] -= 1
            if not self._addresses[one.address]:
                del self._addresses[one.address]

    def hold(self, one: Connection) -> None:
        """Keep a connection for as long as its request is at work."""
        self._loose.pop(one, None)

    def release(self, one: Connection) -> None:
        """Let a connection go whose request is done, if a place is needed."""
        if one in self._open:
            self._loose[one] = None


class Connection(web.RequestHandler):
    """One connection; aiohttp speaks HTTP on it, and this class ends it when it takes too long."""

    def __init__(self, connections: Connections, server: web.Server, **options: Any) -> None:
        super().__init__(
            server,
            keepalive_timeout=_IDLE_SECONDS,
            lingering_time=_LINGER_SECONDS,
            auto_decompress=False,  # a small body may unpack to any size
            **options,
        )
        self.address = ""
        self._connections = connections
        self._heading: asyncio.TimerHandle | None = None
        self._unread: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Take a place, or say that there is none."""
        peer: Any = transport.get_extra_info("peername")
        self.address = str(peer[0]) if peer else ""
        super().connection_made(transport)
        if self._connections.enter(self):
            self._heading = self._loop.call_later(_HEAD_SECONDS, self._end_slow_head)
        else:
            cast("asyncio.Transport", transport).write(_FULL)
            self.force_close()

    def data_received(self, data: bytes) -> None:
        """Read on; a head that has begun must end soon."""
        super().data_received(data)
        self._await_head()

    def connection_lost(self, exc: BaseException | None) -> None:
        """Give the place back."""
        self._connections.leave(self)
        for timer in (self._heading, self._unread):
            if timer:
                timer.cancel()
        self._heading = self._unread = None
        super().connection_lost(exc)

    def hold(self) -> None:
        """Keep it while its request is at work."""
        self._connections.hold(self)

    def release(self) -> None:
        """Let it go where another needs the place."""
        self._connections.release(self)

    def abort(self) -> None:
        """Close it at once, and drop what still waits to be sent, in the system's memory too."""
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

    def _await_head(self) -> None:
        if not self._lacks_head:
            if self._heading:
                self._heading.cancel()
                self._heading = None
        elif self._heading is None and self.transport is not None:
            self._heading = self._loop.call_later(_HEAD_SECONDS, self._end_slow_head)

    def _end_slow_head(self) -> None:
        self._heading = None
        if self._lacks_head:
            self.abort()

    def pause_writing(self) -> None:
        """Begin to count how long the client leaves unread what was sent."""
        super().pause_writing()
        self._await_reader()

    def resume_writing(self) -> None:
        """Stop counting: it has read on."""
        super().resume_writing()
        if self._unread:
            self._unread.cancel()
            self._unread = None

    def _await_reader(self) -> None:
        if self.transport is not None:
            size = self.transport.get_write_buffer_size()
            self._unread = self._loop.call_later(_UNREAD_SECONDS, self._end_slow_reader, size)

    def _end_slow_reader(self, before: int) -> None:
        self._unread = None
        if self.transport is None:
            return
        if self.transport.get_write_buffer_size() > before - _UNREAD_BYTES:
            self.abort()
        else:
            self._await_reader()


class LimitedSite(web.SockSite):
    """A socket whose connections are limited."""

    def __init__(
        self,
        runner: web.AppRunner,
        taken: socket.socket,
        connections: Connections,
        note: Callable[[str], None],
        **options: Any,
    ) -> None:
        super().__init__(runner, taken)
        self._taken = taken
        self._limited = connections
        self._note = note
        self._options = options

    async def start(self) -> None:
        """Begin to listen."""
        await web.BaseSite.start(self)
        loop, server = asyncio.get_running_loop(), self._runner.server
        if server is None:
            raise RuntimeError("the runner has no server yet")
        loop.set_exception_handler(_rarely(self._note))
        self._server = await loop.create_server(
            lambda: Connection(self._limited, server, loop=loop, **self._options),
            sock=self._taken,
            backlog=_ACCEPTED_AT_ONCE,
        )
        self._taken.listen(_BACKLOG)


def _rarely(
    note: Callable[[str], None],
) -> Callable[[asyncio.AbstractEventLoop, dict[str, Any]], None]:
    """Tell of connections that cannot be accepted now and then; asyncio tells of each try."""
    told = -_TOLD_EVERY

    def handle(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        nonlocal told
        error = context.get("exception")
        if not (isinstance(error, OSError) and error.errno in _NO_FILES):
            loop.default_exception_handler(context)
        elif loop.time() - told >= _TOLD_EVERY:
            told = loop.time()
            note("no connection can be accepted now: too many files are open")

    return handle


# Bodies of requests: read within a time and a size, as many at once as memory allows, and parsed.
#
# A body is read before its request takes a place among those at work, so that slow senders keep no
# other waiting.

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
_TEXT: Final = lazy_pattern(rb'(?:[^"\\]++|\\.)*+', re.DOTALL)
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
