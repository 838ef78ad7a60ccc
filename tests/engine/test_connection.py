"""A reply reaches the request that it belongs to, whatever a server does with its connections."""

import asyncio
import gzip
import inspect
import socket
import ssl
import subprocess
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from shutil import which

import aiohttp
import pytest
from aiohttp.client_proto import ResponseHandler
from doubling import Doubling
from loopback import completion, http

from constraint_first.model.client import OpenAI
from constraint_first.model.connection import Host
from constraint_first.model.error import EngineError, Rejected, StaleReply
from constraint_first.model.transport import COMPLETIONS, Bounds, Endpoint, Transport
from constraint_first.model.wire import SILENT, Watcher
from constraint_first.protocol import Call

GOOD = str(completion("4").body).encode()
TRUSTED = 10**6


async def ask(
    server: Doubling, calls: int = 60, at_once: int = 6, *, stream: bool = False
) -> tuple[int, list[str]]:
    """Ask for the successors of numbers; count the replies to another question, and note lines."""
    told, left, crossed = list[str](), iter(range(calls)), 0
    watcher = Watcher() if stream else SILENT
    async with OpenAI(Endpoint(server.url, "m"), connections=at_once) as engine:
        engine.report_to(told.append)

        async def work() -> None:
            nonlocal crossed
            for number in left:
                call = Call.user(f"What is {number} + 1?", stage="direct", max_tokens=9)
                text = (await engine.complete(call, watcher)).text
                crossed += f"{{{(number + 1) % server.answers}}}" not in text

        await asyncio.gather(*(work() for _ in range(at_once)))
    return crossed, told


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("ids", ["distinct", "x", None])
@pytest.mark.parametrize("again", [0, 0.001, 0.01, 0.03, 0.1])
async def test_a_reply_that_comes_twice_is_no_answer_to_the_next_request(
    again: float, ids: str | None, *, stream: bool
) -> None:
    for in_turn in (True, False):
        with Doubling(again=again, ids=ids, in_turn=in_turn) as server:
            crossed, (line,) = await ask(server, stream=stream)
        assert crossed == 0
        assert line.startswith(f"{server.url}: sends replies twice or unasked")
        assert line.isprintable()
        assert server.connections > 50  # none is kept alive any more


@pytest.mark.parametrize(
    ("server", "at_once"),
    [
        (Doubling(again=0.01, resampled=True), 6),  # a second reply of its own
        (Doubling(again=0.1, resampled=True, ids="x"), 6),
        (Doubling(again=0.01, share=0.1), 6),  # now and then
        (Doubling(again=0.1, share=0.1), 20),
        (Doubling(again=0.01), 1),
        (Doubling(again=0.1, ids="x"), 1),
        (Doubling(again=0.05, seconds=0.1), 6),  # while the next reply is being written
        (Doubling(again=0.05, seconds=0.1, ids="x"), 6),
        (Doubling(again=0.01, closes=True), 6),
        (Doubling(again=0.01, ids="x", answers=7), 6),  # with many replies that are equal
        (Doubling(again=0.4, seconds=0.5), 20),  # after the probation: its id gives it away
        (Doubling(again=0.4, seconds=0.5, ids=None), 20),  # or its body
    ],
)
async def test_whichever_way_it_comes_twice(server: Doubling, at_once: int) -> None:
    with server:
        for stream in (False, True):
            crossed, _ = await ask(server, 60, at_once, stream=stream)
            assert crossed == 0


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("at_once", [1, 8])
@pytest.mark.parametrize(
    ("ids", "answers"), [("distinct", 10**9), ("x", 10**9), ("x", 3), (None, 1), ("few", 10**9)]
)
async def test_connections_to_a_good_server_are_kept_alive(
    ids: str | None, answers: int, at_once: int, *, stream: bool
) -> None:
    with Doubling(again=None, ids=ids, answers=answers) as server:
        assert await ask(server, 60, at_once, stream=stream) == (0, [])
    assert server.connections <= at_once + 8 + 2 * (ids == "few")
    assert server.requests == 60 or ids == "few"
    assert server.requests <= 62


async def test_a_request_that_was_given_up_leaves_no_reply_to_the_next() -> None:
    with Doubling(again=None, seconds=0.1) as server:
        async with OpenAI(Endpoint(server.url, "m")) as engine:
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.03):
                    await engine.complete(Call.user("What is 1 + 1?", stage="a", max_tokens=9))
            for _ in range(3):
                call = Call.user("What is 2 + 1?", stage="a", max_tokens=9)
                assert "{3}" in (await engine.complete(call)).text


async def test_a_connection_over_tls(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    openssl = which("openssl")
    if openssl is None:
        pytest.skip("openssl is not here; it makes the certificate")
    made = "req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=x -keyout key.pem -out cert.pem"
    more = ["-addext", "subjectAltName=IP:127.0.0.1"]
    subprocess.run([openssl, *made.split(), *more], cwd=tmp_path, check=True, capture_output=True)
    serving = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    serving.load_cert_chain(tmp_path / "cert.pem", tmp_path / "key.pem")
    trusting = ssl.create_default_context(cafile=str(tmp_path / "cert.pem"))
    monkeypatch.setattr("aiohttp.connector._SSL_CONTEXT_VERIFIED", trusting)
    with Doubling(again=0.01, ids="x", tls=serving) as server:
        crossed, told = await ask(server)
    assert (crossed, len(told)) == (0, 1)
    with Doubling(again=None, tls=serving) as server:
        assert await ask(server) == (0, [])
    assert server.connections <= 14


# --- One connection, by hand.

Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@asynccontextmanager
async def connected(serve: Serve) -> AsyncGenerator[Transport]:
    """Open a transport to a server that has passed its probation."""

    async def serve_and_close(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await serve(reader, writer)
        except (EOFError, ConnectionError, asyncio.CancelledError):
            pass
        finally:
            writer.close()

    plug = socket.create_server(("127.0.0.1", 0))
    plug.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)  # a large request waits outside
    listening = await asyncio.start_server(serve_and_close, sock=plug)
    port = listening.sockets[0].getsockname()[1]
    transport = Transport(Endpoint(f"http://127.0.0.1:{port}/v1", "m"), Bounds(), connections=4)
    transport.host.rests = TRUSTED
    transport.host.number()
    transport.open()
    try:
        async with listening:
            yield transport
    finally:
        await transport.close()
        await asyncio.sleep(0.01)
        for task in asyncio.all_tasks() - {asyncio.current_task()}:
            task.cancel()
        await asyncio.sleep(0.01)


async def post(transport: Transport, data: bytes = b"{}") -> bytes:
    async with transport.exchange("POST", COMPLETIONS, data) as response:
        return await (await transport.accept(response)).read()


async def take(reader: asyncio.StreamReader) -> None:
    head = await reader.readuntil(b"\r\n\r\n")
    await reader.readexactly(int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0]))


async def test_bytes_that_nothing_has_read_yet_are_noticed() -> None:
    sent = iter((b"first", b"second", b"third"))

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            await take(reader)
            writer.write(http(text := next(sent)))
            await asyncio.sleep(0)
            writer.write(http(text))

    async with connected(serve) as transport:
        assert await post(transport) == b"first"
        time.sleep(0.05)  # the event loop reads nothing meanwhile
        assert await post(transport) == b"second"
        assert transport.host.repeats


@pytest.mark.parametrize(
    ("stray", "caught"),
    [
        (http(GOOD), True),
        (http(GOOD)[:30], True),
        (b"rest of a body that was longer than it said", True),
        (http(b"", status="408 Request Timeout"), False),
        (b"\r\n", False),
    ],
)
async def test_bytes_on_an_idle_connection_close_it(stray: bytes, *, caught: bool) -> None:
    closed = asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await take(reader)
        writer.write(http(GOOD))
        await asyncio.sleep(0.02)
        writer.write(stray)
        assert not await reader.read()
        closed.set()

    async with connected(serve) as transport:
        assert await post(transport) == GOOD
        await asyncio.wait_for(closed.wait(), 10)
        assert await post(transport) == GOOD
        assert transport.host.repeats is caught


@pytest.mark.parametrize("status", ["200 OK", "413 Too Large"])
async def test_a_reply_before_its_request_is_an_error_or_a_fault(status: str) -> None:
    connections = 0

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal connections
        connections += 1
        await reader.readuntil(b"\r\n\r\n")
        writer.write(http(GOOD, status=status))
        await asyncio.sleep(0.1)
        while await reader.read(2**16):
            pass

    async with connected(serve) as transport:
        for _ in range(2):
            with pytest.raises(EngineError) as caught:
                await post(transport, b"a" * 1_000_000)
            assert type(caught.value) is (StaleReply if status == "200 OK" else Rejected)
        assert connections == 2
        assert not transport.host.repeats  # on a connection of its own it cannot be another's


async def test_replies_under_way_when_a_host_is_caught_are_asked_for_again() -> None:
    go_on = asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await take(reader)
        writer.write(http(GOOD))
        await take(reader)
        await go_on.wait()
        writer.write(http(GOOD))
        await reader.read()

    async with connected(serve) as transport:
        assert await post(transport) == GOOD
        asked = asyncio.create_task(post(transport))
        await asyncio.sleep(0.02)
        transport.host.catch()
        go_on.set()
        with pytest.raises(StaleReply, match="may belong to an earlier request"):
            await asked


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
async def test_an_id_is_found_wherever_it_stands(pack: Callable[[bytes], bytes]) -> None:
    def reply(number: int) -> bytes:
        text = '{"choices": [{"message": {"content": "%s"}}], "id" : "n-%d"}'
        data = pack((text % ("a" * 9_000, number)).encode())
        encoded = ["Content-Encoding: gzip"] if pack is gzip.compress else []
        return http(data, f"Content-Length: {len(data)}", *encoded)

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for number in (1, 2, 1):
            await take(reader)
            sent = reply(number)
            for start in range(0, len(sent), 4_000):
                writer.write(sent[start : start + 4_000])
                await asyncio.sleep(0.002)

    async with connected(serve) as transport:
        await post(transport)
        await post(transport)
        with pytest.raises(StaleReply):
            await post(transport)
        assert transport.host.repeats


def test_ids_that_come_on_several_connections_are_no_sign() -> None:
    host = Host("h")
    for line in (1, 2, 1, 2, 2, 1, 1):
        host.check_id(b"chatcmpl-0", None, line)
    host.check_id(b"other", None, 1)
    host.check_id(b"other", None, 1)
    assert not host.repeats


def test_a_body_that_comes_again_is_suspect_only_where_none_did_before() -> None:
    host, equal = Host("h"), Host("h")
    for number in range(20):
        host.check_body((number, 0), number % 2)
        equal.check_body((number % 3, 0), number % 2)
    with pytest.raises(StaleReply):
        host.check_body((18, 0), 0)
    host.check_body((18, 0), 1)  # as another connection shows, they are alike now and then
    host.check_body((17, 0), 1)
    assert not host.repeats


async def test_a_pool_of_aiohttp_is_what_we_take_it_for() -> None:
    """These names are not aiohttp's public interface, and everything here rests on them."""
    pool = aiohttp.TCPConnector()
    line = ResponseHandler(asyncio.get_running_loop())
    assert all(
        hasattr(pool, name)
        for name in ("_factory", "_conns", "_acquired", "_get", "_release", "_loop")
    )
    assert all(hasattr(line, name) for name in ("_buffer", "force_close", "start_timeout"))
    assert inspect.iscoroutinefunction(vars(aiohttp.BaseConnector)["_get"])
    assert inspect.iscoroutinefunction(aiohttp.ClientResponse.start)
    await pool.close()
