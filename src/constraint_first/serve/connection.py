"""Connections of clients: how many there may be, and how long each may keep the server waiting.

None of this needs a token, so all of it holds before one is asked for. A connection that is not at
work for an admitted request (it sends its head or its body, or idles) may be closed for a new one:
a flood of half-open connections then takes places from itself and not from others.
"""

from __future__ import annotations

import asyncio
import errno
import socket
import struct
from collections import Counter, OrderedDict
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final, cast

from aiohttp import web

__all__ = ["Connection", "Connections", "LimitedSite", "allow_many_files"]

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
