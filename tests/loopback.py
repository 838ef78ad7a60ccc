"""A real HTTP server on loopback that plays an OpenAI-compatible endpoint, faults included."""

from __future__ import annotations

import asyncio
import json
import socket
import struct
import threading
import zlib
from collections import deque
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

from aiohttp import web

_APART = 0.002  # seconds between two pieces, so that they are read one by one


@dataclass
class Reply:
    """What the server sends back for one request."""

    status: int = 200
    body: str | bytes = ""
    headers: dict[str, str] = field(default_factory=dict[str, str])
    chunks: Sequence[str | bytes] | None = None
    """Pieces of a body, such as server-sent events; each arrives by itself."""
    raw: bytes | None = None
    """What is written to the connection as it stands, in place of an HTTP response."""
    endless: bytes = b""
    """What is sent over and over after the chunks, until the client hangs up."""
    cut: bool = False
    """Reset the connection when all that is there has been sent, in the middle of the reply."""
    delay: float = 0.0


def completion(
    text: str | None,
    finish: str = "stop",
    usage: dict[str, Any] | None = None,
    **message: Any,
) -> Reply:
    counts = usage or {"prompt_tokens": 11, "completion_tokens": 7}
    choice = {"message": {"content": text, **message}, "finish_reason": finish}
    return answer({"choices": [choice], "usage": counts})


def choices(*texts: str, usage: dict[str, Any] | None = None) -> Reply:
    """Send several replies to one prompt, as for a request with ``n``."""
    found = [
        {"index": n, "message": {"content": text}, "finish_reason": "stop"}
        for n, text in enumerate(texts)
    ]
    counts = usage or {"prompt_tokens": 11, "completion_tokens": 7 * len(texts)}
    return answer({"choices": found, "usage": counts})


def answer(value: Any) -> Reply:
    """Send any value at all as JSON."""
    return Reply(body=json.dumps(value))


def stream(*pieces: str, finish: str | None = "stop", done: bool = True) -> Reply:
    events: list[Any] = [{"choices": [{"delta": {"content": piece}}]} for piece in pieces]
    if finish:
        events.append({"choices": [{"delta": {}, "finish_reason": finish}]})
    usage = {"prompt_tokens": 11, "completion_tokens": len(pieces)}
    lines = _lines([*events, {"choices": [], "usage": usage}])
    return Reply(chunks=[": hello\n\n", *lines, *(["data: [DONE]\n\n"] if done else [])])


def cut_stream(*pieces: str) -> Reply:
    reply = stream(*pieces, finish=None, done=False)
    reply.cut = True
    return reply


def http(body: bytes, *headers: str, status: str = "200 OK", version: str = "1.1") -> bytes:
    """Write an HTTP response by hand, with its length unless other headers are given."""
    lines = [f"HTTP/{version} {status}", *(headers or (f"Content-Length: {len(body)}",))]
    return "".join(line + "\r\n" for line in lines).encode() + b"\r\n" + body


def large(megabytes: int) -> Reply:
    """Send a proper completion whose text is so large, and never all of it in memory."""
    head, tail = str(completion("@").body).split("@")
    block = "a" * 10**6
    return Reply(
        chunks=[head, *([block] * megabytes), tail], headers={"Content-Type": "application/json"}
    )


def gzip_bomb(megabytes: int) -> Reply:
    """Send white space that is a thousand times larger than it looks."""
    packer, block = zlib.compressobj(9, wbits=31), b" " * 2**20
    packed = [packer.compress(block) for _ in range(megabytes)]
    headers = {"Content-Encoding": "gzip", "Content-Type": "application/json"}
    return Reply(body=b"".join((*packed, packer.flush())), headers=headers)


def failure(status: int, message: str, **headers: str) -> Reply:
    body = json.dumps({"error": {"message": message}})
    return Reply(status, body, {k.replace("_", "-"): v for k, v in headers.items()})


class InThread:
    """A server on an event loop in a thread of its own: ``with Server() as server``."""

    port = 0

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    async def start(self) -> None:
        raise NotImplementedError

    async def stop(self) -> None:
        raise NotImplementedError

    def perform(self, task: Coroutine[Any, Any, None]) -> None:
        asyncio.run_coroutine_threadsafe(task, self._loop).result(10)

    def __enter__(self) -> Self:
        self._thread.start()
        self.perform(self.start())
        return self

    def __exit__(self, *_: object) -> None:
        self.perform(self.stop())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()


class Endpoint(InThread):
    """Answers requests with the replies it was given, in order; the last one repeats.

    A request that asks for a stream gets a whole completion as a stream of one piece.
    """

    def __init__(self) -> None:
        super().__init__()
        self.replies: deque[Reply] = deque([completion("the answer is \\boxed{4}")])
        self.respond: Callable[[dict[str, Any]], Reply] | None = None
        self.served: list[dict[str, Any]] = [{"id": "test-model"}]
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.left = threading.Event()
        """Set once a client has hung up on an endless reply."""
        self._server: LoopbackServer | None = None

    def script(self, *replies: Reply) -> None:
        self.replies = deque(replies)

    def die(self) -> None:
        """Cut all connections and take no more."""
        self.perform(self.stop())

    def revive(self) -> None:
        """Listen again, where it did before."""
        self.perform(self.start())

    async def start(self) -> None:
        app = web.Application(client_max_size=2**26)
        app.router.add_post("/v1/chat/completions", self._chat)
        app.router.add_get("/v1/models", self._models)
        self._server = await LoopbackServer.start(app, self.port)
        self.port = self._server.port

    async def stop(self) -> None:
        server, self._server = self._server, None
        if server:
            await server.stop()

    async def _models(self, request: web.Request) -> web.Response:
        self.headers.append(dict(request.headers))
        return web.json_response({"data": self.served})

    async def _chat(self, request: web.Request) -> web.StreamResponse:
        body: dict[str, Any] = await request.json()
        self.requests.append(body)
        self.headers.append(dict(request.headers))
        reply = self.respond(body) if self.respond else self._next()
        await asyncio.sleep(reply.delay)
        if reply.status == 200 and reply.chunks is None and body.get("stream"):
            reply = _as_stream(reply)
        if reply.raw is not None:
            return await self._send_raw(request, reply.raw, reset=reply.cut)
        if reply.chunks is None and not reply.endless:
            data = reply.body.encode() if isinstance(reply.body, str) else reply.body
            return web.Response(status=reply.status, body=data, headers=reply.headers)
        return await self._send_chunks(request, reply)

    def _next(self) -> Reply:
        return self.replies.popleft() if len(self.replies) > 1 else self.replies[0]

    async def _send_raw(self, request: web.Request, data: bytes, *, reset: bool) -> web.Response:
        transport = request.transport
        assert isinstance(transport, asyncio.Transport)
        transport.write(data)
        await asyncio.sleep(_APART)
        if reset:
            _reset(transport)
        else:
            transport.close()
        return web.Response()

    async def _send_chunks(self, request: web.Request, reply: Reply) -> web.StreamResponse:
        headers = {"Content-Type": "text/event-stream"} | reply.headers
        response = web.StreamResponse(status=reply.status, headers=headers)
        await response.prepare(request)
        for number, chunk in enumerate(reply.chunks or ()):
            await asyncio.sleep(_APART if number else 0)
            await response.write(chunk.encode() if isinstance(chunk, str) else chunk)
        try:
            while reply.endless:
                await response.write(reply.endless)
                await asyncio.sleep(0)
        except (ConnectionError, asyncio.CancelledError):
            self.left.set()
            raise
        if reply.cut and request.transport:
            request.transport.abort()
        else:
            await response.write_eof()
        return response


@dataclass
class LoopbackServer:
    """An application on a port of loopback, with an event loop to itself."""

    runner: web.AppRunner
    listening: socket.socket

    @classmethod
    async def start(cls, app: web.Application, port: int = 0) -> LoopbackServer:
        """Listen at a port, or at one that is free."""
        runner = web.AppRunner(app, shutdown_timeout=0.1, handler_cancellation=True)
        await runner.setup()
        listening = socket.create_server(("127.0.0.1", port))
        await web.SockSite(runner, listening).start()
        return cls(runner, listening)

    @property
    def port(self) -> int:
        return self.listening.getsockname()[1]

    async def stop(self) -> None:
        """Cut all connections; whoever is just coming in is let go as well."""
        # Python 3.11 never closes a connection that it accepts while its server is being closed.
        asyncio.get_running_loop().remove_reader(self.listening)
        await asyncio.sleep(_APART)
        server = self.runner.server
        await self.runner.cleanup()
        for _ in range(3):
            await asyncio.sleep(_APART)
            if coming := asyncio.all_tasks() - {asyncio.current_task()}:
                await asyncio.wait(coming, timeout=1)
            if server:
                await server.shutdown(0)
        await asyncio.sleep(_APART)


def _reset(transport: asyncio.Transport) -> None:
    """End a connection with a reset in place of an end."""
    plug: socket.socket = transport.get_extra_info("socket")
    plug.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    transport.abort()


def _as_stream(reply: Reply) -> Reply:
    try:
        whole = json.loads(reply.body)
        choice = whole["choices"][0]
    except (ValueError, LookupError, TypeError, RecursionError):
        return reply
    delta = {"delta": choice["message"]} | {k: v for k, v in choice.items() if k != "message"}
    rest = {name: value for name, value in whole.items() if name not in ("choices", "usage")}
    events: list[Any] = [
        {"choices": [delta]} | rest,
        {"choices": [], "usage": whole.get("usage")},
    ]
    return Reply(chunks=[*_lines(events), "data: [DONE]\n\n"])


def _lines(events: list[Any]) -> list[str]:
    return [f"data: {json.dumps(event)}\n\n" for event in events]
