"""The guard of every route, its places, and the front that all routes share."""

import asyncio
import json
import socket
from contextlib import nullcontext
from typing import Any

import pytest
from aiohttp import web
from loopback import Endpoint as Server
from loopback import completion
from served import Served, chat, send, served

from constraint_first.error import InputError
from constraint_first.serve.guard import SERVED, Admission, ServeSettings, is_loopback
from constraint_first.serve.guard import Served as Request
from constraint_first.serve.request import RequestError
from constraint_first.serve.server import ADMISSION

TOKEN = "a-token-of-ours"  # noqa: S105
ANYWHERE = "0.0.0.0"  # noqa: S104
BODY = {"model": "direct@", "messages": [{"role": "user", "content": "What is 2 + 2?"}]}


async def ask(
    server: Served, path: str = "/v1/chat/completions", verb: str = "POST", **headers: str
) -> tuple[int, Any, Any]:
    status, body, back = await send(server, BODY if verb == "POST" else None, path, verb, **headers)
    return status, json.loads(body) if body else None, back


HOSTS = ["localhost", "127.0.0.1:1", "[::1]:8080", "LOCALHOST:80", "my.localhost", "127.1.2.3"]


async def test_names_of_this_machine_are_answered(server: Served) -> None:
    assert [(await ask(server, Host=host))[0] for host in HOSTS] == [200] * len(HOSTS)


FOREIGN = [
    "evil.example",
    "evil.example:8080",
    "192.168.1.7",
    "localhost.evil.example",
    "",
    "[::2]",
]


async def test_any_other_name_is_refused_on_every_route(endpoint: Server, server: Served) -> None:
    for path in ("/v1/chat/completions", "/v1/models", "/health", "/metrics", "/x"):
        for host in FOREIGN:
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
async def test_pages_of_others_may_not(endpoint: Server, origin: str, server: Served) -> None:
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


async def test_every_reply_tells_a_browser_to_be_careful(server: Served) -> None:
    for path, verb in (("/health", "GET"), ("/x", "GET"), ("/v1/chat/completions", "POST")):
        _, _, headers = await ask(server, path, verb)
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert headers["Content-Security-Policy"].startswith("default-src 'none'")
        assert headers["X-Frame-Options"] == "DENY"
        assert headers["Server"] == "cfr"


class Crowd:
    """Requests that hold their places until they are told to leave."""

    def __init__(self, most: int = 2, waiting: int = 2, seconds: float = 60) -> None:
        self.admission = Admission(most, waiting, seconds)
        self.leave: dict[str, asyncio.Event] = {}
        self.inside: list[str] = []
        self.served: dict[str, Request] = {}

    @property
    def counts(self) -> tuple[int, int]:
        return self.admission.under_way, self.admission.waiting

    def come(self, name: str) -> asyncio.Task[Any]:
        self.leave[name], self.served[name] = asyncio.Event(), Request()

        async def visit() -> None:
            async with self.admission.place(self.served[name]):
                self.inside.append(name)
                await self.leave[name].wait()

        return asyncio.create_task(visit())


async def settle() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


async def test_so_many_at_a_time_and_the_rest_in_order() -> None:
    crowd = Crowd()
    tasks = [crowd.come(name) for name in "abcd"]
    await settle()
    assert crowd.inside == ["a", "b"]
    assert crowd.counts == (2, 2)
    crowd.leave["b"].set()
    await settle()
    assert crowd.inside == ["a", "b", "c"]
    for event in crowd.leave.values():
        event.set()
    await asyncio.gather(*tasks)
    assert (crowd.inside, crowd.counts) == (["a", "b", "c", "d"], (0, 0))


async def test_whoever_gives_up_leaves_the_queue_in_order() -> None:
    crowd = Crowd(most=1)
    tasks = [crowd.come(name) for name in "abc"]
    await settle()
    tasks[1].cancel()
    await settle()
    assert crowd.counts == (1, 1)
    crowd.leave["a"].set()
    await settle()
    assert crowd.inside == ["a", "c"]
    tasks[2].cancel()
    await settle()
    assert crowd.counts == (0, 0)


async def test_a_request_has_an_end_and_waiting_counts() -> None:
    crowd = Crowd(most=1, seconds=0.05)
    tasks = [crowd.come(name) for name in "ab"]
    for task in tasks:
        with pytest.raises(RequestError, match=r"not done after 0\.05 s") as error:
            await task
        assert error.value.status == 504
    assert crowd.admission.under_way == 0


async def test_an_error_of_the_request_itself_is_its_own() -> None:
    with pytest.raises(TimeoutError, match="mine"):
        async with Crowd().admission.place(Request()):
            raise TimeoutError("mine")


TABLE = web.RouteTableDef()
KEY = "a-token"


@TABLE.get("/page")
async def show(request: web.Request) -> web.Response:
    """Show a page that has a policy of its own."""
    assert request.app[ADMISSION].under_way == 1
    assert request[SERVED].deadline
    policy = {"Content-Security-Policy": "default-src 'self'"}
    return web.Response(text="hello", content_type="text/html", headers=policy)


@TABLE.get("/moved")
async def move(request: web.Request) -> web.Response:
    """Send a browser elsewhere."""
    raise web.HTTPSeeOther("/page")


@TABLE.get("/broken")
async def break_down(request: web.Request) -> web.Response:
    """Break down with a secret in the words."""
    raise KeyError("sk-secret")


async def get_page(
    endpoint: Server, path: str, **headers: str
) -> tuple[int, str, dict[str, str], str]:
    def install(application: web.Application) -> None:
        application.add_routes(TABLE)

    async with served(endpoint.url, install=install, token=KEY) as server:
        status, body, back = await send(server, None, path, "GET", **headers)
        return status, body.decode(), dict(back), str(await server.logged(1))


async def test_other_tables_of_routes_are_behind_the_same_front(endpoint: Server) -> None:
    assert (await get_page(endpoint, "/page"))[0] == 401
    assert (await get_page(endpoint, "/page", Host="evil.example"))[0] == 403
    key = f"Bearer {KEY}"
    status, text, headers, log = await get_page(endpoint, "/page", Authorization=key)
    assert (status, text) == (200, "hello")
    assert headers["Content-Security-Policy"] == "default-src 'self'"
    assert headers["X-Frame-Options"] == "DENY"
    assert "/page" in log
    status, _, headers, _ = await get_page(endpoint, "/moved", Authorization=key)
    assert (status, headers["Location"]) == (303, "/page")


async def test_a_mistake_of_ours_is_logged_by_its_place_and_told_to_nobody(
    endpoint: Server,
) -> None:
    status, text, _, log = await get_page(endpoint, "/broken", Authorization=f"Bearer {KEY}")
    assert status == 500
    assert "KeyError in" in log
    assert "test_guard, line" in log
    assert "sk-secret" not in text + log


@pytest.mark.parametrize(
    "path", ["/", "/v2/chat", "/v1/../etc/passwd", "/v1/%2e%2e/%2e%2e/etc/passwd", "//etc/passwd"]
)
async def test_there_is_nothing_else(path: str, server: Served) -> None:
    status, told, _ = await ask(server, path, "GET")
    assert (status, told["error"]["type"]) == (404, "not_found_error")


async def test_too_many_at_a_time_are_told_to_come_back(endpoint: Server) -> None:
    slow = completion("4")
    slow.delay = 0.3
    endpoint.script(slow)
    async with served(endpoint.url, most_requests=1, most_waiting=1) as server:
        replies = await asyncio.gather(*(ask(server) for _ in range(4)))
        assert sorted(status for status, _, _ in replies) == [200, 200, 503, 503]
        refused = [(told["error"], back) for status, told, back in replies if status == 503]
        assert {back["Retry-After"] for _, back in refused} == {"1"}
        assert {error["code"] for error, _ in refused} == {"overloaded"}
        assert (await ask(server, "/health", "GET"))[0] == 200


async def test_a_request_has_an_end(endpoint: Server) -> None:
    slow = completion("4")
    slow.delay = 30
    endpoint.script(slow)
    async with served(endpoint.url, request_seconds=0.2) as server:
        status, body = await chat(server)
        assert (status, body["error"]["code"]) == (504, "request_timeout")
        assert "not done after 0.2 s" in server.log[0]["error"]


@pytest.mark.parametrize(
    ("host", "loopback"),
    [
        *((host, True) for host in ("127.0.0.1", "127.8.8.8", "::1", "[::1]", "localhost")),
        *((host, False) for host in (ANYWHERE, "::", "192.168.1.2", "", "localhost.evil")),
    ],
)
def test_an_address_that_others_can_reach_needs_a_token(host: str, *, loopback: bool) -> None:
    assert is_loopback(host) is loopback
    ServeSettings(host=host, token=KEY).check()
    with nullcontext() if loopback else pytest.raises(InputError, match="CFR_TOKEN"):
        ServeSettings(host=host).check()


@pytest.mark.parametrize("token", ["two words", "tab\t", "schlüssel"])
def test_a_token_that_no_header_can_carry_is_refused(token: str) -> None:
    with pytest.raises(InputError, match="choose another") as error:
        ServeSettings(token=token).check()
    assert token not in str(error.value)


def test_the_token_is_shown_nowhere() -> None:
    assert KEY not in repr(ServeSettings(token=KEY))
