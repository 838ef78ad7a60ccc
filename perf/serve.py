"""The server beside a bare aiohttp pass-through, and both beside the upstream itself.

python perf/serve.py [latency] [throughput] [stream] [memory]     (all by default)

The upstream, the bare proxy and ``cfr serve`` are processes of their own. Clients are plain sockets
that write a request and read a reply, so that what is measured is the servers.
"""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import os
import resource
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

REPLY = json.dumps(
    {
        "id": "x",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": "It is \\boxed{4}."},
                "finish_reason": "stop",
            }
        ],
        "usage": {"prompt_tokens": 40, "completion_tokens": 8, "total_tokens": 48},
    }
).encode()
RESPONSE = (
    b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(REPLY)
) + REPLY
PIECES = [*(f"w{n} " for n in range(18)), "so ", "\\boxed{4}"]
PROCESSES = multiprocessing.get_context("spawn")


def _event(value: dict[str, Any]) -> bytes:
    data = b"data: " + json.dumps(value).encode() + b"\n\n"
    return b"%x\r\n%b\r\n" % (len(data), data)


def _chunks() -> list[bytes]:
    events = [{"choices": [{"index": 0, "delta": {"content": piece}}]} for piece in PIECES]
    events.append({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
    done = b"data: [DONE]\n\n"
    return [*map(_event, events), b"%x\r\n%b\r\n0\r\n\r\n" % (len(done), done)]


HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"


class Upstream(asyncio.Protocol):
    """Sends the same reply to each request after a delay, or the same stream."""

    def __init__(self, delay: float) -> None:
        self.delay = delay
        self.buffer = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport: Any = transport

    def data_received(self, data: bytes) -> None:
        self.buffer += data
        while (end := self.buffer.find(b"\r\n\r\n")) >= 0:
            head = self.buffer[:end].lower()
            length = (
                int(head.split(b"content-length:")[1].split(b"\r\n")[0])
                if b"content-length:" in head
                else 0
            )
            if len(self.buffer) < end + 4 + length:
                return
            body = self.buffer[end + 4 : end + 4 + length]
            self.buffer = self.buffer[end + 4 + length :]
            streams = b'"stream":true' in body or b'"stream": true' in body
            reply = self._stream if streams else self._reply
            if self.delay:
                asyncio.get_running_loop().call_later(self.delay, reply)
            else:
                reply()

    def _reply(self) -> None:
        if not self.transport.is_closing():
            self.transport.write(RESPONSE)

    def _stream(self) -> None:
        self.transport.write(HEAD)
        self._send(_CHUNKS)

    def _send(self, chunks: list[bytes]) -> None:
        if not self.transport.is_closing():
            self.transport.write(chunks[0])
            if chunks[1:]:
                asyncio.get_running_loop().call_later(0.01, self._send, chunks[1:])


_CHUNKS = _chunks()


def upstream(delay: float, told: Connection) -> None:
    async def forever() -> None:
        loop = asyncio.get_running_loop()
        server = await loop.create_server(lambda: Upstream(delay), "127.0.0.1", 0, backlog=1024)
        told.send(server.sockets[0].getsockname()[1])
        await server.serve_forever()

    asyncio.run(forever())


def bare(port: int, told: Connection) -> None:
    """Take a request, send it on, send the reply back: the least that a proxy on aiohttp does."""
    import aiohttp
    from aiohttp import web

    async def forever() -> None:
        connector = aiohttp.TCPConnector(limit=1_024)
        async with aiohttp.ClientSession(connector=connector) as session:

            async def proxy(request: web.Request) -> web.StreamResponse:
                body = await request.read()
                url = f"http://127.0.0.1:{port}{request.path}"
                kind = {"Content-Type": "application/json"}
                async with session.post(url, data=body, headers=kind) as reply:
                    if reply.content_length is not None:
                        return web.Response(body=await reply.read(), headers=kind)
                    kind = {"Content-Type": reply.headers["Content-Type"]}
                    response = web.StreamResponse(headers=kind)
                    await response.prepare(request)
                    async for piece in reply.content.iter_any():
                        await response.write(piece)
                    return response

            app = web.Application()
            app.router.add_post("/v1/chat/completions", proxy)
            runner = web.AppRunner(app, access_log=None, handler_cancellation=True)
            await runner.setup()
            await web.TCPSite(runner, "127.0.0.1", 0, backlog=1_024).start()
            told.send(runner.addresses[0][1])
            await asyncio.Event().wait()

    asyncio.run(forever())


@contextmanager
def started(target: Any, argument: Any) -> Iterator[tuple[int, int]]:
    """Start a server in a process of its own, and give its port and process id."""
    receiving, sending = PROCESSES.Pipe()
    process = PROCESSES.Process(target=target, args=(argument, sending), daemon=True)
    process.start()
    try:
        yield receiving.recv(), process.pid or 0
    finally:
        process.terminate()
        process.join()


@contextmanager
def cfr(port: int, *options: str) -> Iterator[tuple[int, int]]:
    """Start ``cfr serve`` in front of an upstream, and give its port and process id."""
    command = [
        sys.executable,
        "-m",
        "constraint_first",
        "serve",
        "--base-url",
        f"http://127.0.0.1:{port}/v1",
    ]
    command += ["--model", "m", "--port", "0", "--log", "off", "--max-requests", "512", *options]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert process.stderr
    try:
        line = process.stderr.readline()
        yield int(line.split("http://127.0.0.1:")[1].split("/")[0]), process.pid
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(30)
        process.stderr.close()


def request(model: str, **more: Any) -> bytes:
    content = "What is 3 + 1? " * 8
    value = {"model": model, "messages": [{"role": "user", "content": content}], **more}
    body = json.dumps(value).encode()
    head = "POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json"
    return f"{head}\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body


async def exchange(reader: Any, writer: Any, data: bytes) -> tuple[float, float]:
    """Send a request and read its reply; seconds to the first word, and to the end."""
    began = time.perf_counter()
    writer.write(data)
    head = (await reader.readuntil(b"\r\n\r\n")).lower()
    assert b" 200 " in head.split(b"\r\n")[0], head
    if b"content-length:" in head:
        await reader.readexactly(int(head.split(b"content-length:")[1].split(b"\r\n")[0]))
        ended = time.perf_counter() - began
        return ended, ended
    first = 0.0
    while size := int(await reader.readuntil(b"\r\n"), 16):
        data = await reader.readexactly(size + 2)
        if not first and b"w0 " in data:
            first = time.perf_counter() - began
    await reader.readexactly(2)
    return first, time.perf_counter() - began


async def client(
    port: int, data: bytes, left: Iterator[int], seen: list[tuple[float, float]]
) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    for _ in left:
        seen += [await exchange(reader, writer, data)]
    writer.close()


def measure(
    port: int, data: bytes, requests: int, connections: int
) -> tuple[float, list[tuple[float, float]]]:
    """Send so many requests over so many connections; the seconds, and those of each."""
    seen: list[tuple[float, float]] = []

    async def run() -> float:
        left = iter(range(requests))
        began = time.perf_counter()
        await asyncio.gather(*(client(port, data, left, seen) for _ in range(connections)))
        return time.perf_counter() - began

    return asyncio.run(run()), seen


def p50(values: list[float]) -> float:
    return statistics.median(values) * 1_000


def latency() -> None:
    """One connection, and an upstream that answers at once; in turns, for the same noise."""
    with (
        started(upstream, 0.0) as (port, _),
        started(bare, port) as (proxy, _),
        cfr(port) as (ours, _),
    ):
        rows = {
            "upstream itself": (port, request("m")),
            "bare aiohttp proxy (floor)": (proxy, request("m")),
            "cfr, pass-through": (ours, request("m")),
            "cfr, Direct CoT": (ours, request("direct@m")),
            "cfr, Routed-CFR": (ours, request("routed-cfr@m")),
        }
        seen: dict[str, list[float]] = {name: [] for name in rows}
        for turn in range(11):
            for name, (to, data) in rows.items():
                found = measure(to, data, 200, 1)[1]
                if turn:  # the first warms up
                    seen[name] += [end for _, end in found]
        floor = p50(seen["bare aiohttp proxy (floor)"])
        print("\n2,000 requests each, one at a time")
        print(f"{'':28}{'p50 ms':>8}{'p99 ms':>8}{'over floor':>12}")
        for name, times in seen.items():
            p99 = sorted(times)[int(len(times) * 0.99)] * 1_000
            print(f"{name:28}{p50(times):8.2f}{p99:8.2f}{p50(times) - floor:+12.2f}")


def throughput() -> None:
    print("\n200 ms upstream, 256 connections, ideal 1,280 requests a second")
    print(f"{'':28}{'requests/s':>12}{'CPU ms each':>12}{'MB':>8}")
    with (
        started(upstream, 0.2) as (port, _),
        started(bare, port) as (proxy, floor),
        cfr(port) as (ours, pid),
    ):
        for name, to, server, data in (
            ("bare aiohttp proxy (floor)", proxy, floor, request("m")),
            ("cfr, pass-through", ours, pid, request("m")),
            ("cfr, Direct CoT", ours, pid, request("direct@m")),
        ):
            measure(to, data, 1_024, 256)
            used = processor_seconds(server)
            seconds, _seen = measure(to, data, 10_000, 256)
            used = (processor_seconds(server) - used) / 10
            print(f"{name:28}{10_000 / seconds:12,.0f}{used:12.2f}{resident(server):8.1f}")


def stream() -> None:
    print(f"\nstreams of {len(PIECES)} words, 10 ms apart")
    print(f"{'':28}{'first word ms':>14}{'over upstream':>15}")
    with (
        started(upstream, 0.0) as (port, _),
        started(bare, port) as (proxy, _),
        cfr(port) as (ours, _),
    ):
        rows = {
            "upstream itself": (port, request("m", stream=True)),
            "bare aiohttp proxy (floor)": (proxy, request("m", stream=True)),
            "cfr, pass-through": (ours, request("m", stream=True)),
            "cfr, Direct CoT": (ours, request("direct@m", stream=True)),
        }
        seen: dict[str, list[float]] = {name: [] for name in rows}
        for turn in range(6):
            for name, (to, data) in rows.items():
                found = measure(to, data, 20, 1)[1]
                seen[name] += [first for first, _ in found] if turn else []
        base = p50(seen["upstream itself"])
        for name, times in seen.items():
            print(f"{name:28}{p50(times):14.2f}{p50(times) - base:+15.2f}")


def processor_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def resident(pid: int) -> float:
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def memory(requests: int = 100_000) -> None:
    print(f"\nmemory over {requests:,} requests, 64 connections")
    print(f"{'requests':>12}{'MB':>8}{'requests/s':>12}  what")
    with started(upstream, 0.0) as (port, _), cfr(port) as (ours, pid):
        kinds = (("direct@m", False), ("m", False), ("direct@m", True), ("m", True))
        measure(ours, request("direct@m"), 1_000, 64)
        print(f"{1_000:12,}{resident(pid):8.1f}")
        sent, tenth = 1_000, requests // 10
        while sent < requests:
            model, streams = kinds[(sent // tenth) % len(kinds)]
            data = request(model, stream=True) if streams else request(model)
            seconds, _ = measure(ours, data, tenth, 64)
            sent += tenth
            what = f"{model}, {'stream' if streams else 'whole'}"
            print(f"{sent:12,}{resident(pid):8.1f}{tenth / seconds:12,.0f}  {what}")


def main() -> None:
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(most, 65_536), most))
    wanted = sys.argv[1:] or ["latency", "throughput", "stream", "memory"]
    for work in (latency, throughput, stream, memory):
        if work.__name__ in wanted:
            work()


if __name__ == "__main__":
    main()
