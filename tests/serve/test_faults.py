"""The server as a process of its own, under what goes wrong: nothing hangs, nothing leaks."""

import asyncio
import json
import os
import re
import resource
import signal
import subprocess
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from loopback import Endpoint as Server
from loopback import Reply, completion, large, stream
from served import CUED, SPEC, raw

from constraint_first.store.query import SeriesName, attempt_rows, read_attempt
from constraint_first.store.store import Store

KEY = "sk-very-secret-key-0123456789"
BODY = {"model": "direct@", "messages": [{"role": "user", "content": "What is 2 + 2?"}]}


@dataclass
class Process:
    """A server in a process of its own."""

    process: asyncio.subprocess.Process
    port: int

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1/chat/completions"

    def resident(self) -> float:
        """How many megabytes it holds."""
        pages = int(Path(f"/proc/{self.process.pid}/statm").read_text().split()[1])
        return pages * resource.getpagesize() / 1e6

    def open_files(self) -> int:
        return len(list(Path(f"/proc/{self.process.pid}/fd").iterdir()))

    async def end(self, *, seconds: float = 60) -> tuple[int, str, str]:
        """Ask it to stop, and wait for what it has to say."""
        if self.process.returncode is None:
            self.process.send_signal(signal.SIGTERM)
        async with asyncio.timeout(seconds):
            out, err = await self.process.communicate()
        return self.process.returncode or 0, out.decode(), err.decode()


@asynccontextmanager
async def process(url: str, *options: str) -> AsyncGenerator[Process]:
    command = [sys.executable, "-m", "constraint_first", "serve", "--port", "0", "--base-url", url]
    started = await asyncio.create_subprocess_exec(
        *command,
        *("--model", "test-model", "--log", "json", *options),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=os.environ | {"OPENAI_API_KEY": KEY},
    )
    assert started.stderr
    line = (await started.stderr.readline()).decode()
    found = re.search(r"http://127\.0\.0\.1:(\d+)/v1", line)
    assert found, line + (await started.stderr.read()).decode()
    try:
        yield Process(started, int(found[1]))
    finally:
        if started.returncode is None:
            started.kill()
            await started.wait()


async def ask(session: aiohttp.ClientSession, server: Process, **fields: Any) -> tuple[int, bytes]:
    async with session.post(server.url, json=BODY | fields) as reply:
        return reply.status, await reply.read()


async def test_a_signal_under_load_loses_nothing(endpoint: Server, tmp_path: Path) -> None:
    """Whoever asked before it is answered, and what was answered is in the journal."""
    store = str(tmp_path / "served.db")

    def respond(body: dict[str, Any]) -> Reply:
        slow = completion(SPEC) if "response_format" in body else completion(r"So \boxed{5}.")
        slow.delay = 0.3
        return slow

    endpoint.respond = respond
    async with process(endpoint.url, "--store", store, "--grace", "60") as server:
        talk = [{"role": "user", "content": CUED}]
        async with aiohttp.ClientSession() as session:
            asking = [
                asyncio.create_task(
                    ask(session, server, model="cfr-brief@", messages=talk, stream=number % 2 == 0)
                )
                for number in range(40)
            ]
            while len(endpoint.requests) < 40:  # all have come, and some are in their second stage
                await asyncio.sleep(0.01)
            code, out, err = await server.end()
            replies = await asyncio.gather(*asking)
    assert code == 0, err
    assert [status for status, _ in replies] == [200] * 40
    assert all(b"boxed{5}" in body for _, body in replies)
    assert "stopping: 40 request(s) have 60 s to finish" in err
    with Store(store, existing=True) as opened:
        rows = list(attempt_rows(opened))
        found = read_attempt(opened, SeriesName("cfr-brief"), rows[0]["problem"], 39)
    assert sorted(row["run"] for row in rows) == [*range(40)]
    assert {row["status"] for row in rows} == {"ok"}
    assert len(found.steps) == 2
    assert len(out.splitlines()) == 40


async def test_a_signal_is_bounded_and_a_second_one_waits_for_nothing(
    endpoint: Server, tmp_path: Path
) -> None:
    store = str(tmp_path / "served.db")
    endpoint.script(Reply(endless=b": wait\n\n"))
    async with (
        process(endpoint.url, "--store", store, "--grace", "600") as server,
        aiohttp.ClientSession() as session,
    ):
        asking = [
            asyncio.create_task(ask(session, server, stream=streams)) for streams in (True, False)
        ]
        while len(endpoint.requests) < 2:
            await asyncio.sleep(0.01)
        server.process.send_signal(signal.SIGTERM)
        await asyncio.sleep(0.3)
        assert server.process.returncode is None
        code, _, err = await server.end()
        replies = await asyncio.gather(*asking)
    assert (code, "stopping at once" in err) == (0, True)
    assert [status for status, _ in replies] == [503, 503]
    with Store(store, existing=True) as opened:
        rows = list(attempt_rows(opened))
    assert [row["error"] for row in rows] == ["the server is being stopped"] * 2


@pytest.mark.long
async def test_a_thousand_connections_that_say_nothing(endpoint: Server) -> None:
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 4_096), hard))
    async with process(endpoint.url) as server:
        before = server.resident()
        opened = [await asyncio.open_connection("127.0.0.1", server.port) for _ in range(1_000)]
        async with aiohttp.ClientSession() as session:
            for _ in range(20):
                assert (await ask(session, server))[0] == 200
        assert server.resident() - before < 60
        held = server.open_files()
        for _, writer in opened:
            writer.close()
        while server.open_files() > held - 990:
            await asyncio.sleep(0.05)
        code, _, err = await server.end()
    assert code == 0, err


@pytest.mark.long
async def test_a_flood_from_the_endpoint_is_not_held(endpoint: Server) -> None:
    """Replies of 200 MB, whole and as a stream, to methods and passed through."""
    event = next(iter((stream("a" * 1_000_000).chunks or ())[1:]))
    flood = Reply(chunks=[event] * 200)
    async with process(endpoint.url) as server, aiohttp.ClientSession() as session:
        await ask(session, server)
        before = server.resident()
        for model in ("direct@", "test-model"):
            for streams in (False, True):
                endpoint.script(flood if streams else large(200))
                try:
                    status, body = await ask(session, server, model=model, stream=streams)
                    assert status == 502 or b'"error"' in body[-500:]
                except aiohttp.ClientPayloadError:
                    assert model == "test-model"  # what has begun to pass can only be cut
        grown = server.resident() - before
        endpoint.script(completion(r"\boxed{4}"))
        assert (await ask(session, server))[0] == 200
        code, out, _ = await server.end()
    assert code == 0
    assert grown < 150
    errors = [json.loads(line).get("error", "") for line in out.splitlines()]
    assert sum("larger than 16 MB" in error for error in errors) == 4


@pytest.mark.long
@pytest.mark.parametrize("model", ["direct@", "test-model"])
async def test_a_client_that_reads_nothing_is_left_in_the_end(endpoint: Server, model: str) -> None:
    event = next(iter((stream("a" * 100_000).chunks or ())[1:]))
    data = event.encode() if isinstance(event, str) else event
    # A method takes it all and keeps it; what passes through is taken only as it is read.
    kept = Reply(chunks=[data] * 100, endless=b": wait\n\n")
    endpoint.script(kept if model == "direct@" else Reply(endless=data))
    async with process(endpoint.url, "--request-timeout", "1") as server:
        _, writer = await asyncio.open_connection("127.0.0.1", server.port)
        try:
            body = json.dumps(BODY | {"model": model, "stream": True}).encode()
            head = "POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Length:"
            writer.write(f"{head} {len(body)}\r\n\r\n".encode() + body)
            assert await asyncio.to_thread(endpoint.left.wait, 20)
            code, out, _ = await server.end()
        finally:
            writer.close()
    assert code == 0
    assert "not done after 1 s" in out


_POST = b"POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\n"
NONSENSE = [
    b"garbage\r\n\r\n",
    b"\x16\x03\x01\x02\x00\x01\x00",  # the beginning of TLS
    b"GET / HTTP/9.9\r\n\r\n",
    b"GET /\x00 HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"GET /" + b"a" * 20_000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: localhost\r\n" + b"X: y\r\n" * 20_000 + b"\r\n",
    _POST + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    _POST + b"Content-Length: 100\r\n\r\nabc",
    _POST + b"Content-Encoding: gzip\r\nContent-Length: 3\r\n\r\nabc",
    _POST + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n",
]


async def test_nonsense_on_a_connection_is_nobody_elses_business(endpoint: Server) -> None:
    async with process(endpoint.url) as server, aiohttp.ClientSession() as session:
        for nonsense in NONSENSE:
            said = await raw(server.port, nonsense, ends=True)
            assert b" 200 " not in said[:20]
            assert b"Traceback" not in said
        assert (await ask(session, server))[0] == 200
        code, out, err = await server.end()
    assert code == 0
    assert "Traceback" not in err
    assert all(json.loads(line) for line in out.splitlines())


async def test_no_key_and_no_token_is_told_to_anybody(endpoint: Server, tmp_path: Path) -> None:
    def respond(body: dict[str, Any]) -> Reply:
        return Reply(400, json.dumps({"error": {"message": f"bad key {KEY} in {body['model']}"}}))

    endpoint.respond = respond
    token, told = "a-token-of-ours", list[bytes]()
    store = str(tmp_path / "served.db")
    async with process(endpoint.url, "--store", store, "--token", token) as server:
        headers = {"Authorization": f"Bearer {token}"}
        async with aiohttp.ClientSession(headers=headers) as session:
            for model in ("direct@", "m"):
                for streams in (True, False):
                    told.append((await ask(session, server, model=model, stream=streams))[1])
            for path in ("/metrics", "/health", "/v1/models"):
                async with session.get(f"http://127.0.0.1:{server.port}{path}") as reply:
                    told.append(await reply.read())
        _, out, err = await server.end()
    assert [sent["Authorization"] for sent in endpoint.headers[1:]] == [f"Bearer {KEY}"] * 4
    assert b"[key]" in b"".join(told)
    files = b"".join(file.read_bytes() for file in tmp_path.iterdir())
    everything = b"".join(told) + out.encode() + err.encode() + files
    assert b"very-secret" not in everything
    assert token.encode() not in everything
