"""What anybody can send: bounded in time and memory, answered in words, never with a 500."""

import asyncio
import gzip
import json
import select
import socket
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest
from aiohttp.test_utils import make_mocked_request
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from loopback import Endpoint as Server
from loopback import completion
from served import PLAIN, Served, chat, raw, send, served

from constraint_first.file.safe import printable_json
from constraint_first.serve import guard as bodies
from constraint_first.serve import guard as connection
from constraint_first.serve.guard import Served as ServedRequest
from constraint_first.serve.guard import parse_json
from constraint_first.serve.page import install_pages
from constraint_first.serve.page.site import SiteOptions
from constraint_first.serve.request import RequestError, is_foreign, read_request
from constraint_first.serve.server import access_line, describe_access
from constraint_first.serve.upstream import RequestDecoding

ASKED = {"model": "direct@", "messages": [{"role": "user", "content": PLAIN}]}


async def healthy(server: Served) -> bool:
    return (await send(server, None, "/health", "GET"))[0] == 200


# Requests with fields of wrong types.

_JSON: Any = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=6,
)
_FIELDS = (
    "model messages stream stream_options n temperature top_p seed max_tokens "
    "max_completion_tokens stop response_format tools tool_choice parallel_tool_calls functions "
    "function_call logprobs top_logprobs modalities audio prediction guided_json user metadata"
).split()
_PARTS: dict[str, Any] = {
    **dict.fromkeys("content tool_calls name refusal audio".split(), _JSON),
    "role": st.sampled_from(["user", "assistant", "system", "tool"]) | _JSON,
}
_MESSAGE: st.SearchStrategy[Any] = st.fixed_dictionaries({}, optional=_PARTS)
_MESSAGES: Any = st.lists(_MESSAGE | _JSON, max_size=3)
_REQUEST: Any = st.fixed_dictionaries(
    {"messages": _MESSAGES | _JSON | st.just(ASKED["messages"])},
    optional={name: _JSON for name in _FIELDS if name not in ("messages", "model")},
)


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(_REQUEST)
def test_whatever_a_request_holds_is_read_or_refused_in_words(fields: dict[str, Any]) -> None:
    with suppress(RequestError):
        is_foreign(fields)
        RequestDecoding.of(read_request(fields))


def nested(levels: int) -> Any:
    value: Any = []
    for _ in range(levels):
        value = [value]
    return value


WRONG: list[tuple[bytes | dict[str, Any], str | None]] = [
    *((body, "invalid_json") for body in (b"not json", b"[]", b"\xff\xfe", b"[" * 100_000)),
    ({"modalities": {"a": 1}}, "invalid_value"),
    ({"messages": []}, "invalid_value"),
    ({"messages": [{"role": {}, "content": "2 + 2?"}]}, "invalid_value"),
    ({"messages": [{"role": "user", "content": [[["2 + 2?"]]]}]}, "invalid_value"),
    ({"metadata": nested(900)}, "invalid_value"),
    ({"n": 10**30}, "invalid_value"),
    *(({"model": odd}, None) for odd in (5, None, ["direct@"], "direct(" * 80 + "@")),
    ({"model": "cfr(reply=song)@"}, "model_not_found"),
    ({"model": "self-refine(iterations=99999999999999999999)@"}, "model_not_found"),
    ({"model": "self-refine(iterations=999999999)@"}, "method_not_allowed"),
    ({"model": "vote(samples=900)@"}, "method_not_allowed"),
    ({"model": "calibrated(policy=/etc/passwd)@"}, "model_not_found"),
    ({"model": "cfr(extractor=http://127.0.0.1:1/v1)@"}, "method_not_allowed"),
]


@pytest.mark.parametrize(("wrong", "code"), WRONG, ids=lambda one: str(one)[:60])
async def test_wrong_requests_are_refused_and_nothing_is_asked(
    endpoint: Server, server: Served, wrong: bytes | dict[str, Any], code: str | None
) -> None:
    body = wrong if isinstance(wrong, bytes) else ASKED | wrong
    status, reply, _ = await send(server, body)
    error = json.loads(reply)["error"]
    expected = (
        ("not_found_error", 404) if code == "model_not_found" else ("invalid_request_error", 400)
    )
    assert (error["type"], status, error["code"]) == (*expected, code)
    assert error["message"]
    assert "log" not in error["message"]
    assert not endpoint.requests


PAGES = [
    "/?problem=%00%1b&temperature=x&item=zz",
    "/runs/1?q=%ff%fe",
    "/runs/99999999999999999999",
    "/compare?on=%00&with=&problem=1e9",
    "/benchmark?family[]=1&page=-1",
    "/benchmark/%2e%2e%2fetc",
    "/login?next=//evil",
    "/audit?annotator=%0d%0aSet-Cookie:x",
    "/report/1/../../x",
    "/static/..%2f..%2fetc%2fpasswd",
    "/v1/models/%00",
]


async def test_pages_take_no_odd_address_for_an_error_of_their_own(endpoint: Server) -> None:
    async with served(
        endpoint.url, install=lambda app: install_pages(app, SiteOptions())
    ) as server:
        for path in PAGES:
            assert (await send(server, None, path, "GET"))[0] < 500, path
        for path in ("/playground/problem", "/playground/answer", "/login", "/report"):
            for sent in (b"", b"[1]", b"problem=%00%ff", b'{"problem": ["x"]}', b"\xff" * 10):
                kinds = ("application/json", "application/x-www-form-urlencoded")
                for kind in (*kinds, "text/plain; charset=nonsense"):
                    status, said, _ = await send(server, sent, path, Content_Type=kind)
                    assert status < 500, (path, sent, kind, said)


# Bodies.


@pytest.mark.parametrize(
    "text",
    [
        b'{"messages":[' + b"{}," * 300_000 + b"{}]}",
        b"[" + b"[]," * 300_000 + b"0]",
        b'["' + b'","' * 300_000 + b'"]',
        b"[" + b"1," * 300_000 + b"1]",
        b'{"a":"\\"' + b'","b\\\\":"' * 200_000 + b'"}',
    ],
    ids=["objects", "lists", "texts", "numbers", "fields"],
)
async def test_small_text_that_becomes_many_values_is_not_parsed(text: bytes) -> None:
    with pytest.raises(RequestError, match="values") as refused:
        await parse_json(text)
    assert refused.value.status == 413


@pytest.mark.parametrize(
    "content", ["a,b,{c}," * 100_000, '{"a": [1, 2], "b\\\\": "c"}, ' * 60_000, '"' * 900_000]
)
async def test_a_long_text_is_parsed_whatever_signs_it_has(content: str) -> None:
    assert await parse_json(json.dumps({"content": content}).encode()) == {"content": content}


@pytest.mark.parametrize("text", [b'"\\', b'{"a', b'["\\"' + b"," * 300_000, b'"' * 3])
async def test_a_text_that_breaks_off_is_no_json(text: bytes) -> None:
    with pytest.raises(RequestError):
        await parse_json(text)


async def test_bodies_share_one_room(endpoint: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bodies, "_AT_ONCE", 0)
    endpoint.respond = lambda _: completion("It is 4.")
    async with served(endpoint.url, body_bytes=1_000) as server:
        half = (
            b"POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 999\r\n\r\n"
        )
        held = [await asyncio.open_connection("127.0.0.1", server.port) for _ in range(4)]
        for _, writer in held:
            writer.write(half + b" " * 990)
            await writer.drain()
        await asyncio.sleep(0.2)
        assert (await chat(server))[0] == 503
        for _, writer in held:
            writer.close()
        while (await chat(server))[0] == 503:
            await asyncio.sleep(0.05)
        assert (await chat(server))[0] == 200


async def test_a_compressed_body_is_not_unpacked(server: Served) -> None:
    kind = "multipart/form-data; boundary=x"
    assert (await send(server, b"--x", Content_Type=kind))[0] == 415
    packed = gzip.compress(b'{"messages": "' + b"x" * 30_000_000 + b'"}')
    assert len(packed) < 100_000
    assert (await send(server, packed, Content_Encoding="gzip"))[0] == 415


# Connections.


async def test_a_head_that_does_not_end_is_cut_off(
    monkeypatch: pytest.MonkeyPatch, server: Served
) -> None:
    monkeypatch.setattr(connection, "_HEAD_SECONDS", 0.1)
    for beginning in (b"", b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\nX: "):
        assert await raw(server.port, beginning) == b""
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    writer.write(b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
    assert (await reader.readuntil(b'ok"}')).startswith(b"HTTP/1.1 200")
    writer.write(b"GET /hea")
    async with asyncio.timeout(10):
        assert await reader.read() == b""
    writer.close()


async def test_half_open_connections_give_way_to_others(endpoint: Server) -> None:
    endpoint.respond = lambda _: completion("It is 4.")
    async with served(endpoint.url, most_connections=16) as server:
        held = [await asyncio.open_connection("127.0.0.1", server.port) for _ in range(60)]
        for _, writer in held:
            writer.write(b"POST /v1/chat/completions HTTP/1.1\r\nHost: ")
        assert await healthy(server)
        assert (await chat(server))[0] == 200
        closed = [reader.at_eof() or reader.exception() for reader, _ in held]
        assert sum(map(bool, closed)) >= 60 - 8  # half of the places are for one address
        for _, writer in held:
            writer.close()


async def test_a_request_at_work_keeps_its_connection(endpoint: Server) -> None:
    endpoint.respond = lambda _: replace(completion("It is 4."), delay=1.0)
    async with served(endpoint.url, most_connections=4) as server:
        working = [asyncio.create_task(chat(server)) for _ in range(2)]
        while len(endpoint.requests) < 2:
            await asyncio.sleep(0.01)
        assert (await raw(server.port, b"")).startswith(b"HTTP/1.1 503")
        assert [status for status, _ in await asyncio.gather(*working)] == [200, 200]
        assert await healthy(server)


async def test_a_client_that_reads_nothing_is_cut_off(
    endpoint: Server, monkeypatch: pytest.MonkeyPatch, server: Served
) -> None:
    monkeypatch.setattr(connection, "_UNREAD_SECONDS", 0.1)
    endpoint.respond = lambda _: completion("x" * 12_000_000)
    body = json.dumps(ASKED | {"model": "plain@"}).encode()
    head = b"POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: %d\r\n\r\n"
    with socket.create_connection(("127.0.0.1", server.port)) as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
        client.sendall(head % len(body) + body)
        await server.logged(1)
        end = select.poll()
        end.register(client, 0)
        while not end.poll(0):
            await asyncio.sleep(0.02)


# The log.

FORGED = "m\n12:00:00 200 0.1 s GET /admin\r\x1b[31mred\u2028next\u2029\u202eback\u200f\x85\x9b"


def test_nothing_that_a_client_sends_makes_a_line_of_its_own() -> None:
    request = make_mocked_request("GET", "/v1/%0A12:00:00%20200%20GET%20/admin%1b[31m")
    line = access_line(request, ServedRequest(model=FORGED, error=f"host {FORGED}: unknown"), 404)
    said = describe_access(line)
    assert said.isprintable()
    assert len(said.splitlines()) == 1
    assert " /v1/%0A12:00:00%20200%20GET%20/admin" in said
    assert json.dumps(FORGED) in said
    written = printable_json(line)
    assert written.isprintable()
    assert len(written.splitlines()) == 1
    assert json.loads(written)["model"] == FORGED


async def test_a_flood_of_refusals_is_told_once(capsys: pytest.CaptureFixture[str]) -> None:
    notes: list[str] = []
    handle = connection.note_rarely(notes.append)
    loop = asyncio.get_running_loop()
    for _ in range(1_000):
        handle(loop, {"message": "socket.accept() out", "exception": OSError(24, "too many")})
    assert len(notes) == 1
    assert capsys.readouterr() == ("", "")
