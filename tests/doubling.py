"""A server on loopback that sends its replies again, unasked, as a faulty proxy does."""

from __future__ import annotations

import asyncio
import json
import random
import re
import ssl
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from loopback import InThread


@dataclass
class Doubling(InThread):
    """Answers "What is N + 1?" with N + 1, and sends each reply again after a while."""

    again: float | None = 0.01
    """Seconds after which a reply is sent again; None for a server without the fault."""
    seconds: float = 0.002
    """Seconds that a reply takes."""
    share: float = 1.0
    """How many of the replies are sent again."""
    ids: str | None = "distinct"
    """The id of a reply: "distinct", "few" for one of a hundred, or the one that all have; None for
    no id."""
    answers: int = 10**9
    """How many different answers there are."""
    resampled: bool = False
    """Whether the second reply to a request is another one, with an id of its own."""
    in_turn: bool = True
    """Whether the next request of a connection is looked at only after the second reply."""
    closes: bool = False
    """Whether replies say ``Connection: close`` without doing so."""
    tls: ssl.SSLContext | None = None
    connections: int = 0
    requests: int = 0
    _number: Any = field(default_factory=lambda: count(1))
    _random: random.Random = field(default_factory=lambda: random.Random(7))

    __post_init__ = InThread.__init__

    @property
    def url(self) -> str:
        return f"{'https' if self.tls else 'http'}://127.0.0.1:{self.port}/v1"

    async def start(self) -> None:
        self._server = await asyncio.start_server(
            self._serve, "127.0.0.1", 0, backlog=1024, ssl=self.tls
        )
        self.port = self._server.sockets[0].getsockname()[1]

    async def stop(self) -> None:
        self._server.close()
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await asyncio.sleep(0.01)  # until the connections are closed

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        repeats: list[asyncio.Task[None]] = []
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                found = re.search(rb"content-length: *(\d+)", head.lower())
                body = await reader.readexactly(int(found[1]) if found else 0)
                if head.startswith(b"GET"):
                    writer.write(self._whole({"data": [{"id": "m"}]}))
                    continue
                await self._answer(json.loads(body), writer, repeats)
        except (OSError, EOFError, asyncio.CancelledError):
            pass
        finally:
            for task in repeats:
                task.cancel()
            writer.close()

    async def _answer(
        self, body: dict[str, Any], writer: asyncio.StreamWriter, repeats: list[asyncio.Task[None]]
    ) -> None:
        self.requests += 1
        text = "".join(m["content"] for m in body["messages"])
        asked = re.search(r"What is (\d+) \+ 1", text)
        number = int(asked[1]) + 1 if asked else 0
        stream = bool(body.get("stream"))
        await asyncio.sleep(self.seconds)
        sent = self._reply(number, stream=stream)
        twice = self.again is not None and self._random.random() < self.share
        if not twice or self.again is None:
            writer.write(sent)
            return
        more = self._reply(number, stream=stream) if self.resampled else sent
        if self.again == 0:
            writer.write(sent + more)
            return
        writer.write(sent)
        if self.in_turn:
            await asyncio.sleep(self.again)
            writer.write(more)
        else:
            repeats.append(asyncio.create_task(_later(writer, more, self.again)))

    def _reply(self, number: int, *, stream: bool) -> bytes:
        number_of_reply = next(self._number)
        drawn = {"distinct": number_of_reply, "few": self._random.randrange(100)}
        shared: dict[str, Any] = {}
        if self.ids:
            shared["id"] = f"chatcmpl-{drawn.get(self.ids, self.ids)}"
        if self.ids in drawn:
            shared["created"] = number_of_reply
        text = f"It is \\boxed{{{number % self.answers}}}."
        usage = {"prompt_tokens": 5, "completion_tokens": 2}
        if not stream:
            choice = {"index": 0, "message": {"content": text}, "finish_reason": "stop"}
            return self._whole(shared | {"choices": [choice], "usage": usage})
        events: list[dict[str, Any]] = [
            {"choices": [{"index": 0, "delta": {"role": "assistant", "content": ""}}]},
            {"choices": [{"index": 0, "delta": {"content": text}}]},
            {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]},
            {"choices": [], "usage": usage},
        ]
        lines = [f"data: {json.dumps(shared | event)}\n\n" for event in events]
        chunks = [*lines, "data: [DONE]\n\n", ""]
        data = "".join(f"{len(chunk):x}\r\n{chunk}\r\n" for chunk in chunks)
        return self._head("text/event-stream", "Transfer-Encoding: chunked") + data.encode()

    def _whole(self, value: Any) -> bytes:
        data = json.dumps(value).encode()
        return self._head("application/json", f"Content-Length: {len(data)}") + data

    def _head(self, kind: str, framing: str) -> bytes:
        closing = "Connection: close\r\n" if self.closes else ""
        return f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\n{closing}{framing}\r\n\r\n".encode()


async def _later(writer: asyncio.StreamWriter, data: bytes, seconds: float) -> None:
    await asyncio.sleep(seconds)
    if not writer.is_closing():
        writer.write(data)
