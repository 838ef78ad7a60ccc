"""Requests over a real connection: whatever comes back is bounded, and every fault has a name."""

import gzip
import json
import subprocess
import sys
from pathlib import Path

import pytest
from loopback import Endpoint as Server
from loopback import Reply, completion, failure, gzip_bomb, http, large

from constraint_first.model.error import (
    BadReply,
    EngineError,
    Rejected,
    ServerFault,
    StreamCut,
    TimedOut,
    Unauthorized,
    Unreachable,
)
from constraint_first.model.transport import Bounds, Endpoint, Incoming, Transport, read_beginning

GOOD = str(completion("4").body).encode()
GZIP = {"Content-Encoding": "gzip"}
SMALL = Bounds(silence=5, reply_bytes=100_000)


async def ask(server: Server, bounds: Bounds = SMALL, key: str = "") -> bytes:
    transport = Transport(Endpoint(server.url, "m", key), bounds, connections=4)
    transport.open()
    try:
        async with transport.exchange("POST", "chat/completions", b"{}") as response:
            incoming = await transport.accept(response)
            return await incoming.read()
    finally:
        await transport.close()


async def lines(server: Server, bounds: Bounds = SMALL) -> list[bytes]:
    transport = Transport(Endpoint(server.url, "m"), bounds, connections=4)
    transport.open()
    try:
        async with transport.exchange("POST", "chat/completions", b"{}") as response:
            incoming = await transport.accept(response)
            assert not await incoming.is_document()
            return [line async for line in incoming.lines()]
    finally:
        await transport.close()


@pytest.mark.parametrize(
    "reply",
    [
        Reply(body=GOOD),
        Reply(status=201, body=GOOD),
        Reply(status=206, body=GOOD),
        Reply(body=gzip.compress(GOOD), headers=GZIP),
        Reply(body=gzip.compress(GOOD[:9]) + gzip.compress(GOOD[9:]), headers=GZIP),
        Reply(chunks=[bytes([byte]) for byte in GOOD]),
        Reply(raw=http(GOOD, "Content-Type: application/json", version="1.0")),
        Reply(raw=http(GOOD, status="200")),
        Reply(raw=b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n" + http(GOOD)),
        Reply(raw=http(GOOD, "Content-Type: ;=;charset=klingon", f"Content-Length: {len(GOOD)}")),
    ],
)
async def test_a_reply_is_read_however_it_is_sent(endpoint: Server, reply: Reply) -> None:
    endpoint.script(reply)
    assert await ask(endpoint) == GOOD


@pytest.mark.parametrize(
    ("reply", "kind", "said"),
    [
        (Reply(raw=http(GOOD, "Content-Length: 900")), StreamCut, "cut in the middle"),
        (Reply(raw=http(GOOD, "Content-Length: 900"), cut=True), StreamCut, "cut in the middle"),
        (Reply(raw=b"HTTP/1.1 200 OK\r\nContent-Le"), StreamCut, "cut in the middle"),
        (Reply(raw=b"HTTP/1.1 200 OK\r\nContent-Le", cut=True), StreamCut, "connection was cut"),
        (Reply(raw=b"", cut=True), StreamCut, "connection was cut"),
        (
            Reply(raw=http(b"5\r\n{'a':\r\nZZ\r\n", "Transfer-Encoding: chunked")),
            BadReply,
            "read as HTTP",
        ),
        (
            Reply(raw=http(b"5\r\n{'a':\r\n50\r\n", "Transfer-Encoding: chunked")),
            StreamCut,
            "cut in the middle",
        ),
        (Reply(raw=http(GOOD, "Content-Length: -5")), BadReply, "read as HTTP"),
        (Reply(raw=http(GOOD, f"Content-Length: {10**30}")), BadReply, "read as HTTP"),
        (Reply(raw=http(GOOD, "Content-Length: 5", "Content-Length: 7")), BadReply, "read as HTTP"),
        (Reply(raw=http(GOOD, f"X: {'a' * 100_000}")), BadReply, "read as HTTP"),
        (Reply(raw=http(GOOD, *["X: y"] * 50_000)), BadReply, "read as HTTP"),
        (Reply(raw=b"\x15\x03\x01\x00\x02\x02\x46"), BadReply, "begins with http:// or https://"),
        (Reply(raw=b"HTTP/2 200 OK\r\n\r\n{}"), BadReply, "read as HTTP"),
        (Reply(raw=http(b"", status="101 Switching Protocols")), ServerFault, "HTTP 101"),
        (Reply(raw=http(GOOD, status="000 None")), ServerFault, "HTTP 0"),
        (Reply(body=b"no gzip at all" * 9, headers=GZIP), StreamCut, "damaged"),
        (Reply(status=302, headers={"Location": "/v1/chat/completions"}), Rejected, "redirects"),
        (Reply(status=401, chunks=['{"error": {"mess'], cut=True), Unauthorized, "HTTP 401"),
        (
            Reply(status=400, chunks=['{"error": {"message": "no ', 'such thing"}}']),
            Rejected,
            "HTTP 400 (no such thing)",
        ),
    ],
)
async def test_every_fault_of_a_connection_has_a_name(
    endpoint: Server, reply: Reply, kind: type[EngineError], said: str
) -> None:
    endpoint.script(reply)
    with pytest.raises(kind) as caught:
        await ask(endpoint)
    assert type(caught.value) is kind
    assert said in str(caught.value)
    assert str(caught.value).isprintable()


async def test_a_connection_that_was_closed_meanwhile_is_made_anew(endpoint: Server) -> None:
    endpoint.script(Reply(raw=http(GOOD)), Reply(body=GOOD))
    for _ in range(2):
        assert await ask(endpoint) == GOOD


async def test_a_port_that_speaks_no_tls(endpoint: Server) -> None:
    transport = Transport(Endpoint(endpoint.url.replace("http:", "https:"), "m"), SMALL, 1)
    transport.open()
    with pytest.raises(Unreachable, match="cannot be reached"):
        async with transport.exchange("GET", "models"):
            pass
    await transport.close()


@pytest.mark.parametrize(
    "reply",
    [
        large(1),
        gzip_bomb(20),
        Reply(endless=b'{"a":' * 1_000),
        Reply(raw=http(GOOD, "Content-Length: 999999999")),
    ],
)
async def test_a_reply_is_read_only_so_far(endpoint: Server, reply: Reply) -> None:
    endpoint.script(reply)
    with pytest.raises(BadReply, match=r"larger than 0\.1 MB .* --max-reply-bytes"):
        await ask(endpoint)


async def test_a_client_that_has_enough_hangs_up(endpoint: Server) -> None:
    endpoint.script(Reply(endless=b"a" * 10_000))
    with pytest.raises(BadReply):
        await ask(endpoint)
    assert endpoint.left.wait(10)


async def test_a_reply_may_be_as_large_as_is_allowed(endpoint: Server) -> None:
    endpoint.script(large(3))
    whole = await ask(endpoint, Bounds(reply_bytes=4_000_000))
    assert len(json.loads(whole)["choices"][0]["message"]["content"]) == 3_000_000


async def test_an_error_without_end_is_an_error_all_the_same(endpoint: Server) -> None:
    endpoint.script(Reply(status=400, endless=b"no " * 1_000))
    with pytest.raises(Rejected, match=r"HTTP 400 \(no no no"):
        await ask(endpoint)


async def test_silence_in_the_middle_is_a_fault(endpoint: Server) -> None:
    endpoint.script(Reply(delay=60))
    with pytest.raises(TimedOut, match="nothing came for too long"):
        await ask(endpoint, Bounds(silence=0.05))


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
async def test_lines_may_end_in_any_way(endpoint: Server, end: str) -> None:
    sent = f": hello{end}{end}data: 1{end}{end}data: é".encode()
    for pieces in ([sent], [bytes([byte]) for byte in sent], [b"\xef\xbb\xbf" + sent]):
        endpoint.script(Reply(chunks=pieces))
        found = [line.decode() for line in await lines(endpoint) if line]
        assert found == [": hello", "data: 1", "data: é"]


async def test_a_line_has_an_end_or_is_a_fault(endpoint: Server) -> None:
    endpoint.script(Reply(chunks=["data: x\n"], endless=b"a" * 10_000))
    with pytest.raises(BadReply, match="larger than"):
        await lines(endpoint)


@pytest.mark.parametrize(
    ("sent", "document"),
    [("  \n{}", True), ("<html>", True), ("[1]", True), ("data: {}", False), ("", False)],
)
async def test_a_document_in_place_of_a_stream_is_noticed(
    endpoint: Server, sent: str, *, document: bool
) -> None:
    endpoint.script(Reply(chunks=list(sent) or [""]))
    transport = Transport(Endpoint(endpoint.url, "m"), SMALL, connections=1)
    transport.open()
    async with transport.exchange("POST", "chat/completions", b"{}") as response:
        incoming = await transport.accept(response)
        assert isinstance(incoming, Incoming)
        assert await incoming.is_document() is document
        assert (await incoming.read()).decode().strip() == sent.strip()
    await transport.close()


async def test_nothing_is_sent_with_an_address_or_a_key_that_cannot_be(endpoint: Server) -> None:
    for bad in (Endpoint("127.0.0.1:80/v1", "m"), Endpoint(endpoint.url, "m", "k\n")):
        with pytest.raises(Rejected):
            Transport(bad, SMALL, connections=1).open()
    with pytest.raises(RuntimeError, match="async with"):
        async with Transport(Endpoint(endpoint.url, "m"), SMALL, 1).exchange("GET", "models"):
            pass
    assert not endpoint.headers


async def test_what_a_connection_says_about_itself_holds_no_key(endpoint: Server) -> None:
    key = "sk-0123456789abcdef"
    for reply in (
        failure(401, "x" * 165 + f" key: Bearer {key}"),
        Reply(raw=http(GOOD, f"Content-Length: {key}")),
    ):
        endpoint.script(reply)
        with pytest.raises(EngineError) as caught:
            await ask(endpoint, key=key)
        assert "[key]" in str(caught.value)
        assert not any(key[n : n + 6] in str(caught.value) for n in range(len(key) - 6))


PROGRAM = """
import asyncio, resource, sys
from constraint_first.model.wire import Watcher
from constraint_first.model.error import EngineError
from constraint_first.model.client import Endpoint, OpenAI
from constraint_first.model.limit import Retry
from constraint_first.protocol import Call

CALL = Call.user("2+2", stage="direct", max_tokens=9)

async def main():
    async with OpenAI(Endpoint(sys.argv[1], "m"), retry=Retry(attempts=1)) as engine:
        asked = [engine.complete(CALL, Watcher()), *(engine.complete(CALL) for _ in range(7))]
        for result in await asyncio.gather(*asked, return_exceptions=True):
            assert isinstance(result, EngineError), result
            assert "larger than 16 MB" in str(result), result

before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
resource.setrlimit(resource.RLIMIT_AS, (1_000_000_000, 1_000_000_000))
asyncio.run(main())
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024)
"""


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["large", "bomb"])
def test_eight_replies_of_200_mb_at_once_fit_into_little_memory(
    endpoint: Server, kind: str, tmp_path: Path
) -> None:
    endpoint.script(large(200) if kind == "large" else _text_bomb(200))
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    done = subprocess.run(
        [sys.executable, str(program), endpoint.url], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert float(done.stdout) < 100  # megabytes more than before


def _text_bomb(megabytes: int) -> Reply:
    """A proper completion of so many megabytes, compressed."""
    packed = gzip.compress(GOOD.replace(b"4", b"a" * megabytes * 10**6, 1))
    return Reply(body=packed, headers=GZIP)


async def test_another_model_of_the_endpoint_is_asked_over_the_same_connections(
    endpoint: Server,
) -> None:
    transport = Transport(Endpoint(endpoint.url, "m", "secret-key"), SMALL, connections=4)
    transport.open()
    try:
        lent = transport.lend(Endpoint(endpoint.url, "other", "secret-key"))
        assert lent.is_open
        async with lent.exchange("POST", "chat/completions", b"{}") as response:
            incoming = await lent.accept(response)
            assert await incoming.read()
        assert endpoint.headers[0]["Authorization"] == "Bearer secret-key"
        endpoint.script(failure(404, "no such model"))
        with pytest.raises(EngineError, match="'other'"):
            async with lent.exchange("POST", "chat/completions", b"{}") as response:
                await lent.accept(response)
    finally:
        await transport.close()


async def test_an_exchange_gives_whatever_comes_back(endpoint: Server) -> None:
    endpoint.script(failure(418, "a teapot", Retry_After="7"))
    transport = Transport(Endpoint(endpoint.url, "m"), SMALL, connections=4)
    with pytest.raises(RuntimeError):
        async with transport.exchange("GET", "models"):
            pass
    transport.open()
    try:
        async with transport.exchange("POST", "chat/completions", b"{}", {"X-Own": "1"}) as reply:
            assert reply.status == 418
            assert reply.headers["Retry-After"] == "7"
            assert b"a teapot" in await read_beginning(reply)
        assert endpoint.headers[0]["X-Own"] == "1"
    finally:
        await transport.close()
