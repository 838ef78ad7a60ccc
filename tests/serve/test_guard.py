"""Who may ask, from which page, and by which name for the server: over real sockets."""

import socket
from typing import Any

import aiohttp
import pytest
from loopback import Endpoint as Server
from served import Served, served

TOKEN = "a-token-of-ours"  # noqa: S105
ANYWHERE = "0.0.0.0"  # noqa: S104
BODY = {"model": "direct@", "messages": [{"role": "user", "content": "What is 2 + 2?"}]}


async def ask(
    server: Served, path: str = "/v1/chat/completions", verb: str = "POST", **headers: str
) -> tuple[int, Any, Any]:
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    async with aiohttp.ClientSession() as session:
        body = BODY if verb == "POST" else None
        async with session.request(verb, server.root + path, json=body, headers=sent) as reply:
            told = await reply.json(content_type=None) if reply.status != 204 else None
            return reply.status, told, reply.headers


HOSTS = ["localhost", "127.0.0.1:1", "[::1]:8080", "LOCALHOST:80", "my.localhost", "127.1.2.3"]


@pytest.mark.parametrize("host", HOSTS)
async def test_names_of_this_machine_are_answered(endpoint: Server, host: str) -> None:
    async with served(endpoint.url) as server:
        assert (await ask(server, Host=host))[0] == 200


FOREIGN = [
    "evil.example",
    "evil.example:8080",
    "192.168.1.7",
    "localhost.evil.example",
    "",
    "[::2]",
]


@pytest.mark.parametrize("host", FOREIGN)
@pytest.mark.parametrize(
    "path", ["/v1/chat/completions", "/v1/models", "/health", "/metrics", "/x"]
)
async def test_any_other_name_is_refused_on_every_route(
    endpoint: Server, host: str, path: str
) -> None:
    async with served(endpoint.url) as server:
        verb = "POST" if "chat" in path else "GET"
        status, told, _ = await ask(server, path, verb, Host=host)
    assert (status, told["error"]["code"]) == (403, "host_not_allowed")
    assert endpoint.requests == []


async def test_a_name_that_was_allowed(endpoint: Server) -> None:
    async with served(endpoint.url, allowed_hosts=("llm.example.org",)) as server:
        assert (await ask(server, Host="LLM.example.org:443"))[0] == 200
        assert (await ask(server, Host="other.example.org"))[0] == 403


async def test_a_server_that_others_can_reach_is_called_by_its_numbers(endpoint: Server) -> None:
    async with served(endpoint.url, host=ANYWHERE, token=TOKEN) as server:
        key = f"Bearer {TOKEN}"
        for host in ("192.168.1.7:8080", "[fe80::1]", socket.gethostname(), "localhost"):
            assert (await ask(server, Host=host, Authorization=key))[0] == 200
        assert (await ask(server, Host="evil.example", Authorization=key))[0] == 403


@pytest.mark.parametrize(
    ("origin", "host"),
    [
        ("http://localhost:8080", "localhost:8080"),
        ("http://localhost", "localhost"),
        ("http://localhost", "localhost:80"),
        ("https://llm.example.org", "llm.example.org"),
        ("http://[::1]:8080", "[::1]:8080"),
    ],
)
async def test_pages_of_ours_may_ask(endpoint: Server, origin: str, host: str) -> None:
    async with served(endpoint.url, allowed_hosts=("llm.example.org",)) as server:
        status, _, headers = await ask(server, Host=host, Origin=origin)
    assert status == 200
    assert "Access-Control-Allow-Origin" not in headers


@pytest.mark.parametrize(
    "origin",
    ["http://evil.example", "http://localhost:3000", "null", "file://", "http://localhost:x", "x"],
)
async def test_pages_of_others_may_not(endpoint: Server, origin: str) -> None:
    async with served(endpoint.url) as server:
        for verb in ("POST", "OPTIONS"):
            status, told, _ = await ask(server, verb=verb, Host="localhost:8080", Origin=origin)
            assert (status, told["error"]["code"]) == (403, "origin_not_allowed")
    assert endpoint.requests == []


async def test_a_page_that_was_allowed_is_told_so(endpoint: Server) -> None:
    origin = "http://localhost:3000"
    async with served(endpoint.url, allowed_origins=(f"{origin}/",), token=TOKEN) as server:
        status, _, headers = await ask(server, verb="OPTIONS", Origin=origin)
        assert (status, headers["Access-Control-Allow-Origin"]) == (204, origin)
        assert "Authorization" in headers["Access-Control-Allow-Headers"]
        status, _, headers = await ask(server, Origin=origin, Authorization=f"Bearer {TOKEN}")
        assert (status, headers["Access-Control-Allow-Origin"]) == (200, origin)
        assert (await ask(server, Origin=origin))[0] == 401


async def test_without_the_token_nothing_is_told(endpoint: Server) -> None:
    async with served(endpoint.url, host=ANYWHERE, token=TOKEN) as server:
        for headers in (
            {},
            {"Authorization": "Bearer "},
            {"Authorization": f"Bearer {TOKEN}x"},
            {"Authorization": f"Bearer {TOKEN[:-1]}"},
            {"Authorization": f"Basic {TOKEN}"},
            {"Authorization": TOKEN},
            {"Cookie": "cfr-token=wrong"},
        ):
            for path in ("/v1/chat/completions", "/v1/models", "/metrics", "/", "/x"):
                verb = "POST" if "chat" in path else "GET"
                status, told, back = await ask(server, path, verb, **headers)
                assert (status, told["error"]["type"]) == (401, "authentication_error")
                assert back["WWW-Authenticate"] == "Bearer"
        assert (await ask(server, "/health", "GET"))[0] == 200
        assert TOKEN not in str(server.log) + str(server.notes)
    assert endpoint.requests == []


async def test_with_the_token_as_a_key_or_as_a_cookie(endpoint: Server) -> None:
    async with served(endpoint.url, host=ANYWHERE, token=TOKEN) as server:
        assert (await ask(server, Authorization=f"bearer {TOKEN}"))[0] == 200
        assert (await ask(server, Cookie=f"cfr-token={TOKEN}"))[0] == 200
    assert all(TOKEN not in str(headers) for headers in endpoint.headers)


async def test_every_reply_tells_a_browser_to_be_careful(endpoint: Server) -> None:
    async with served(endpoint.url) as server:
        for path, verb in (("/health", "GET"), ("/x", "GET"), ("/v1/chat/completions", "POST")):
            _, _, headers = await ask(server, path, verb)
            assert headers["X-Content-Type-Options"] == "nosniff"
            assert headers["Content-Security-Policy"].startswith("default-src 'none'")
            assert headers["X-Frame-Options"] == "DENY"
            assert headers["Server"] == "cfr"
