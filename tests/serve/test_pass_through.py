"""What passes through: every byte of the request and of the reply, as they come."""

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import aiohttp
import pytest
from loopback import Endpoint as Server
from loopback import Reply, completion, failure, gzip_bomb, large
from served import Served, send, served

from constraint_first.model.transport import Bounds
from constraint_first.serve.upstream import UpstreamOptions

ODD = (
    b'{ "model" : "own-model" , "big": 123456789012345678901234567890, "e": 1E5, "twice": 1,'
    b' "twice": 2, "messages": [{"role": "user", "content": "\\u00e4\\ud83d\\ude00"}], "x": [ ] }'
)


class Raw:
    """An endpoint that keeps the bytes it is sent and answers with given ones."""

    def __init__(self, answer: bytes) -> None:
        self.answer = answer
        self.head = b""
        self.body = b""

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.head = await reader.readuntil(b"\r\n\r\n")
        length = int(self.head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
        self.body = await reader.readexactly(length)
        writer.write(self.answer)
        await writer.drain()
        writer.close()


async def through(raw: Raw, body: bytes, **headers: str) -> tuple[int, bytes, Any]:
    listening = await asyncio.start_server(raw.serve, "127.0.0.1", 0)
    async with listening:
        port = listening.sockets[0].getsockname()[1]
        key = "sk-upstream-key-1234"
        async with served(f"http://127.0.0.1:{port}/v1", key=key) as server:
            return await send(server, body, **headers)


REPLY = b'{"odd": 1.50, "odd": [ 1E5 ],  "text": "\\u00e4"}\n'


async def test_a_request_and_its_reply_are_the_same_bytes() -> None:
    raw = Raw(
        b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n"
        b"X-Request-Id: r1\r\nx-ratelimit-remaining-tokens: 5\r\nSet-Cookie: a=b\r\n"
        b"Server: theirs\r\n\r\n%b" % (len(REPLY), REPLY)
    )
    status, body, headers = await through(raw, ODD, Authorization="Bearer clients-own")
    assert (raw.body, body, status) == (ODD, REPLY, 200)
    assert (headers["X-Request-Id"], headers["X-RateLimit-Remaining-Tokens"]) == ("r1", "5")
    assert headers["Server"] == "cfr"
    assert "Set-Cookie" not in headers
    assert b"Bearer sk-upstream-key-1234" in raw.head
    assert b"clients-own" not in raw.head


async def test_only_the_name_changes_where_a_method_cannot_answer() -> None:
    raw = Raw(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(REPLY), REPLY))
    body = b'{"model": "routed-cfr@own-model", "tools": [{"type": "function"}], "n": 1.0}'
    await through(raw, body)
    assert raw.body == body.replace(b"routed-cfr@own-model", b"own-model")


async def test_a_stream_is_passed_on_as_it_comes(endpoint: Server, server: Served) -> None:
    pieces = [b"data: {\n", b": odd comment\r\n\r", b"\ndata: [DONE]\n\n"]
    endpoint.script(Reply(chunks=[*pieces]), Reply(chunks=pieces[:1], endless=b": wait\n\n"))
    _, body, headers = await send(server, ODD)
    assert (body, headers["Content-Type"]) == (b"".join(pieces), "text/event-stream")
    (line,) = await server.logged(1)
    assert line["first_word_seconds"] >= 0
    assert line["stream"] is True
    async with (
        aiohttp.ClientSession() as session,
        session.post(f"{server.url}/chat/completions", data=ODD) as reply,
    ):
        assert (await reply.content.readany()).startswith(pieces[0])  # it does not end


@pytest.mark.parametrize("status", [400, 404, 429, 500, 503])
async def test_an_error_is_the_endpoints_own(endpoint: Server, status: int, server: Served) -> None:
    endpoint.script(failure(status, "says the endpoint", Retry_After="7"))
    found, body, headers = await send(server, ODD)
    assert found == status
    assert body == str(failure(status, "says the endpoint").body).encode()
    assert headers["Retry-After"] == "7"
    assert len(endpoint.requests) == 1  # whoever asks decides whether to ask again


async def test_an_error_that_repeats_the_key_is_told_without_it(endpoint: Server) -> None:
    key = "sk-very-secret-key-0123456789"
    endpoint.script(failure(401, f"Incorrect API key provided: {key}.", Retry_After="3"))
    async with served(endpoint.url, key=key) as server:
        status, body, headers = await send(server, ODD)
    assert status == 401
    assert b"[key]" in body
    assert b"very-secret" not in body
    assert headers["Retry-After"] == "3"
    assert json.loads(body)["error"]["type"] == "authentication_error"


async def test_an_endpoint_that_is_away(endpoint: Server) -> None:
    async with served("http://127.0.0.1:9/v1") as server:
        status, body, _ = await send(server, ODD)
        assert (status, json.loads(body)["error"]["code"]) == (502, "upstream_failed")
        assert "requests are tried all the same" in server.notes[1]


async def test_a_stream_that_is_cut_is_cut_for_the_client_too(
    endpoint: Server, server: Served
) -> None:
    endpoint.script(Reply(chunks=["data: {}\n\n"] * 3, cut=True), completion("4"))
    with pytest.raises(aiohttp.ClientPayloadError):
        await send(server, ODD)
    (line,) = await server.logged(1)
    assert "cut" in line["error"]
    assert (await send(server, ODD))[0] == 200


async def test_a_reply_is_passed_on_only_so_far(endpoint: Server) -> None:
    options = UpstreamOptions(bounds=Bounds(silence=20, reply_bytes=2_000_000))
    async with served(endpoint.url, options=options) as server:
        endpoint.script(large(1))
        assert (await send(server, ODD))[0] == 200
        endpoint.script(large(3))
        with pytest.raises(aiohttp.ClientPayloadError):
            await send(server, ODD)
        endpoint.script(Reply(body=b"a" * 3_000_000))
        status, body, _ = await send(server, ODD)
        assert (status, b"larger than 2 MB" in body) == (502, True)
        endpoint.script(gzip_bomb(30))
        with pytest.raises(aiohttp.ClientPayloadError):
            await send(server, ODD)


async def test_a_pace_holds_for_what_passes_through(endpoint: Server) -> None:
    options = UpstreamOptions(requests_per_minute=600)
    async with served(endpoint.url, options=options) as server:
        began = asyncio.get_running_loop().time()
        for _ in range(3):
            await send(server, ODD)
        assert asyncio.get_running_loop().time() - began >= 0.2


@pytest.fixture
def other() -> Iterator[Server]:
    with Server() as server:
        yield server


async def test_of_several_endpoints_the_least_busy_is_asked(
    endpoint: Server, other: Server
) -> None:
    async with served([endpoint.url, other.url]) as server:
        assert f"test-model at {endpoint.url}, {other.url}" in server.notes[0]
        found = await asyncio.gather(*(send(server, ODD) for _ in range(8)))
        assert {status for status, _, _ in found} == {200}
    assert len(endpoint.requests) + len(other.requests) == 8
    assert min(len(endpoint.requests), len(other.requests)) > 1


@pytest.mark.parametrize("fault", [failure(503, "busy"), failure(429, "slow", Retry_After="60")])
async def test_an_error_of_one_is_not_passed_on_while_another_answers(
    endpoint: Server, other: Server, fault: Reply
) -> None:
    endpoint.script(fault)
    async with served([endpoint.url, other.url]) as server:
        for _ in range(3):
            assert (await send(server, ODD))[0] == 200
        other.script(failure(503, "busy too"))
        statuses = [(await send(server, ODD))[0] for _ in range(3)]
    assert set(statuses) <= {503, 429}


async def test_of_several_endpoints_all_may_be_away_or_just_one(endpoint: Server) -> None:
    away = "http://127.0.0.1:9/v1"
    async with served([away, endpoint.url]) as server:
        assert [(await send(server, ODD))[0] for _ in range(4)] == [200] * 4
        while not any(f"1 of 2 endpoints in use, {away} rests" in note for note in server.notes):
            await asyncio.sleep(0.005)
    async with served([away, "http://127.0.0.1:9/v2"]) as server:
        status, body, _ = await send(server, ODD)
        assert (status, json.loads(body)["error"]["code"]) == (502, "upstream_failed")
        assert "requests are tried all the same" in server.notes[1]


async def test_a_clients_own_mistake_is_asked_once(endpoint: Server, other: Server) -> None:
    for one in (endpoint, other):
        one.script(failure(404, "no such model"))
    async with served([endpoint.url, other.url]) as server:
        assert (await send(server, ODD))[0] == 404
    assert len(endpoint.requests) + len(other.requests) == 1
