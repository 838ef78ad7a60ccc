"""A real server of ours on loopback, in the test's own event loop, in front of any endpoint."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import aiohttp
from aiohttp import web
from yarl import URL

from constraint_first.model.resolve import ModelRef
from constraint_first.model.transport import Bounds
from constraint_first.serve.guard import ServeSettings
from constraint_first.serve.server import Serving, serve
from constraint_first.serve.upstream import UpstreamOptions

CUED = "Find the remainder when $3^5$ is divided by 7."
PLAIN = "Compute $3^5$."
SPEC = '{"raw_constraints": [{"id": "C1", "type": "modular", "description": "taken modulo 7"}]}'


@dataclass
class Served:
    """A server that is running."""

    port: int
    stop: asyncio.Event
    task: asyncio.Task[None]
    log: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    notes: list[str] = field(default_factory=list[str])

    @property
    def root(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def url(self) -> str:
        return f"{self.root}/v1"

    async def logged(self, count: int) -> list[dict[str, Any]]:
        """Wait until so many requests are over."""
        while len(self.log) < count:
            await asyncio.sleep(0.005)
        return self.log


async def raw(port: int, data: bytes, *, ends: bool = False, seconds: float = 20) -> bytes:
    """Send bytes, and read until the server closes. It resets what it closes with bytes unread."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    said = b""
    try:
        async with asyncio.timeout(seconds):
            with suppress(OSError):
                writer.write(data)
                if ends:
                    writer.write_eof()
                while part := await reader.read(4096):
                    said += part
    finally:
        writer.close()
    return said


@asynccontextmanager
async def served(
    base_url: str | Sequence[str],
    *,
    model: str | None = "test-model",
    key: str = "",
    store: str | None = None,
    options: UpstreamOptions | None = None,
    install: Callable[[web.Application], None] | None = None,
    **settings: Any,
) -> AsyncGenerator[Served]:
    """Start a server, and stop it afterwards."""
    log: list[dict[str, Any]] = []
    notes: list[str] = []
    chosen: dict[str, Any] = {"port": 0, "grace": 2.0} | settings
    serving = Serving(
        ServeSettings(**chosen),
        ModelRef(model, base_url, key=key),
        options or UpstreamOptions(bounds=Bounds(silence=20)),
        log.append,
        notes.append,
        store,
        install=install,
    )
    stop = asyncio.Event()
    task = asyncio.create_task(serve(serving, stop))
    while not notes and not task.done():
        await asyncio.sleep(0.005)
    if task.done():
        task.result()
    port = int(notes[0].split("http://")[1].split("/v1")[0].rpartition(":")[2])
    try:
        yield Served(port, stop, task, log, notes)
    finally:
        stop.set()
        await task
        await asyncio.sleep(0.02)  # connections close a turn or two after they were told to


async def send(
    server: Served,
    body: Any = None,
    path: str = "/v1/chat/completions",
    verb: str = "POST",
    **headers: str,
) -> tuple[int, bytes, Any]:
    """Send bytes, or a value as JSON; return the status, the body and the headers."""
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    more: Any = {"data": body} if isinstance(body, bytes) else {"json": body}
    address = URL(server.root + path, encoded=True)
    async with (
        aiohttp.ClientSession() as session,
        session.request(verb, address, headers=sent, allow_redirects=False, **more) as reply,
    ):
        return reply.status, await reply.read(), reply.headers


async def chat(
    server: Served, model: str | None = "direct@", text: str = PLAIN, **fields: Any
) -> tuple[int, Any]:
    """Ask, and return the status and the body."""
    body = {"messages": [{"role": "user", "content": text}], **fields}
    if model is not None:
        body["model"] = model
    status, reply, _ = await send(server, body)
    return status, json.loads(reply)


async def events(
    server: Served, model: str = "direct@", text: str = PLAIN, **fields: Any
) -> list[Any]:
    """Ask for a stream, and return its events; comments as text."""
    body = {"model": model, "stream": True, "messages": [{"role": "user", "content": text}]}
    found: list[Any] = []
    async with (
        aiohttp.ClientSession() as session,
        session.post(f"{server.url}/chat/completions", json=body | fields) as reply,
    ):
        assert reply.status == 200, await reply.text()
        async for line in reply.content:
            told = line.decode().strip()
            if told.startswith("data: {"):
                found.append(json.loads(told[6:]))
            elif told:
                found.append(told)
    return found


def said(found: list[Any], name: str, index: int = 0) -> str:
    """Put together what a stream said under a name."""
    told: list[dict[str, Any]] = [event for event in found if isinstance(event, dict)]
    choices: list[Any] = [choice for event in told for choice in event.get("choices", ())]
    deltas = [choice["delta"] for choice in choices if choice.get("index", 0) == index]
    return "".join(delta.get(name, "") for delta in deltas)
