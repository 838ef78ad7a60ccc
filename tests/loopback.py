"""A real HTTP server on loopback that plays an OpenAI-compatible endpoint, faults included."""

from __future__ import annotations

import asyncio
import json
import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

__all__ = ["Endpoint", "Reply", "completion", "cut_stream", "failure", "stream"]


@dataclass
class Reply:
    """What the server sends back for one request."""

    status: int = 200
    body: str | bytes = ""
    headers: dict[str, str] = field(default_factory=dict[str, str])
    chunks: list[str] | None = None
    """Server-sent events, sent one by one."""
    cut: bool = False
    """Close the connection after the chunks, in the middle of the reply."""
    delay: float = 0.0


def completion(
    text: str | None,
    finish: str = "stop",
    usage: dict[str, Any] | None = None,
    **message: Any,
) -> Reply:
    counts = usage or {"prompt_tokens": 11, "completion_tokens": 7}
    choice = {"message": {"content": text, **message}, "finish_reason": finish}
    return Reply(body=json.dumps({"choices": [choice], "usage": counts}))


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


def failure(status: int, message: str, **headers: str) -> Reply:
    body = json.dumps({"error": {"message": message}})
    return Reply(status, body, {k.replace("_", "-"): v for k, v in headers.items()})


class Endpoint:
    """Answers requests with the replies it was given, in order; the last one repeats.

    A request that asks for a stream gets a whole completion as a stream of one piece.
    """

    def __init__(self) -> None:
        self.replies: deque[Reply] = deque([completion("the answer is \\boxed{4}")])
        self.respond: Callable[[dict[str, Any]], Reply] | None = None
        self.served: list[dict[str, Any]] = [{"id": "test-model"}]
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._runner: web.AppRunner | None = None
        self.port = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def script(self, *replies: Reply) -> None:
        self.replies = deque(replies)

    def __enter__(self) -> Endpoint:
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self._start(), self._loop).result(10)
        return self

    def __exit__(self, *_: object) -> None:
        asyncio.run_coroutine_threadsafe(self._stop(), self._loop).result(10)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()

    async def _start(self) -> None:
        app = web.Application(client_max_size=2**26)
        app.router.add_post("/v1/chat/completions", self._chat)
        app.router.add_get("/v1/models", self._models)
        self._runner = web.AppRunner(app, shutdown_timeout=0.1, handler_cancellation=True)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        self.port = self._runner.addresses[0][1]

    async def _stop(self) -> None:
        if self._runner:
            await self._runner.cleanup()

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
        if reply.chunks is None:
            data = reply.body.encode() if isinstance(reply.body, str) else reply.body
            return web.Response(status=reply.status, body=data, headers=reply.headers)
        return await self._send_chunks(request, reply)

    def _next(self) -> Reply:
        return self.replies.popleft() if len(self.replies) > 1 else self.replies[0]

    async def _send_chunks(self, request: web.Request, reply: Reply) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        for chunk in reply.chunks or []:
            await response.write(chunk.encode())
        if reply.cut and request.transport:
            request.transport.abort()
        else:
            await response.write_eof()
        return response


def _as_stream(reply: Reply) -> Reply:
    try:
        whole = json.loads(reply.body)
        choice = whole["choices"][0]
    except (ValueError, KeyError, IndexError, TypeError):
        return reply
    events: list[Any] = [
        {"choices": [{"delta": choice["message"], "finish_reason": choice["finish_reason"]}]},
        {"choices": [], "usage": whole.get("usage")},
    ]
    return Reply(chunks=[*_lines(events), "data: [DONE]\n\n"])


def _lines(events: list[Any]) -> list[str]:
    return [f"data: {json.dumps(event)}\n\n" for event in events]
