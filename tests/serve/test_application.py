"""One front for every route, whoever adds it."""

import asyncio

import aiohttp
import pytest
from aiohttp import web
from loopback import Endpoint as Server
from loopback import completion
from served import chat, served
from yarl import URL

from constraint_first.model.resolve import ModelRef
from constraint_first.serve.context import SERVED, Metrics, Services
from constraint_first.serve.request import MethodChoice
from constraint_first.serve.server import ADMISSION, make_application
from constraint_first.serve.service import UpstreamOptions, opened_upstream
from constraint_first.serve.setting import ServeSettings

PAGE = web.RouteTableDef()
TOKEN = "a-token"  # noqa: S105


@PAGE.get("/page")
async def show(request: web.Request) -> web.Response:
    """Show a page that has a policy of its own."""
    assert request.app[ADMISSION].under_way == 1
    assert request[SERVED].deadline
    policy = {"Content-Security-Policy": "default-src 'self'"}
    return web.Response(text="hello", content_type="text/html", headers=policy)


@PAGE.get("/moved")
async def move(request: web.Request) -> web.Response:
    """Send a browser elsewhere."""
    raise web.HTTPSeeOther("/page")


@PAGE.get("/broken")
async def break_down(request: web.Request) -> web.Response:
    """Break down with a secret in the words."""
    raise KeyError("sk-secret")


async def get(path: str, **headers: str) -> tuple[int, str, dict[str, str], list[str]]:
    log: list[str] = []
    ref = ModelRef("m", "http://127.0.0.1:9/v1")
    async with opened_upstream(ref, UpstreamOptions()) as upstream:
        services = Services(
            ServeSettings(token=TOKEN),
            upstream,
            MethodChoice(("auto",), 8),
            Metrics(),
            lambda line: log.append(str(line)),
        )
        runner = web.AppRunner(make_application(services, PAGE), access_log=None)
        await runner.setup()
        try:
            await web.TCPSite(runner, "127.0.0.1", 0).start()
            address = f"http://127.0.0.1:{runner.addresses[0][1]}{path}"
            async with (
                aiohttp.ClientSession() as session,
                session.get(address, headers=headers, allow_redirects=False) as reply,
            ):
                return reply.status, await reply.text(), dict(reply.headers), log
        finally:
            await runner.cleanup()


async def test_a_table_of_somebody_elses_is_behind_the_same_front() -> None:
    assert (await get("/page"))[0] == 401
    assert (await get("/page", Host="evil.example"))[0] == 403
    status, text, headers, log = await get("/page", Authorization=f"Bearer {TOKEN}")
    assert (status, text) == (200, "hello")
    assert headers["Content-Security-Policy"] == "default-src 'self'"
    assert headers["X-Frame-Options"] == "DENY"
    assert "/page" in log[0]


async def test_redirects_are_no_errors() -> None:
    status, _, headers, _ = await get("/moved", Authorization=f"Bearer {TOKEN}")
    assert (status, headers["Location"]) == (303, "/page")


async def test_a_mistake_of_ours_is_logged_by_its_place_and_told_to_nobody() -> None:
    status, text, _, log = await get("/broken", Authorization=f"Bearer {TOKEN}")
    assert status == 500
    assert "KeyError in" in log[0]
    assert "test_application, line" in log[0]
    assert "sk-secret" not in text + log[0]


@pytest.mark.parametrize(
    "path", ["/", "/v2/chat", "/v1/../etc/passwd", "/v1/%2e%2e/%2e%2e/etc/passwd", "//etc/passwd"]
)
async def test_there_is_nothing_else(endpoint: Server, path: str) -> None:
    async with (
        served(endpoint.url) as server,
        aiohttp.ClientSession() as session,
        session.get(URL(server.root + path, encoded=True)) as reply,
    ):
        assert reply.status == 404
        assert (await reply.json())["error"]["type"] == "not_found_error"


async def test_a_verb_that_a_route_does_not_have(endpoint: Server) -> None:
    async with (
        served(endpoint.url) as server,
        aiohttp.ClientSession() as session,
        session.get(f"{server.url}/chat/completions") as reply,
    ):
        assert reply.status == 405


async def test_too_many_at_a_time_are_told_to_come_back(endpoint: Server) -> None:
    slow = completion("4")
    slow.delay = 0.3
    endpoint.script(slow)
    async with served(endpoint.url, most_requests=1, most_waiting=1) as server:
        replies = await asyncio.gather(*(chat(server) for _ in range(4)))
        statuses = sorted(status for status, _ in replies)
        assert statuses == [200, 200, 503, 503]
        async with (
            aiohttp.ClientSession() as session,
            session.get(f"{server.root}/health") as reply,
        ):
            assert reply.status == 200


async def test_a_request_has_an_end(endpoint: Server) -> None:
    slow = completion("4")
    slow.delay = 30
    endpoint.script(slow)
    async with served(endpoint.url, request_seconds=0.2) as server:
        status, body = await chat(server)
        assert (status, body["error"]["code"]) == (504, "request_timeout")
        assert "not done after 0.2 s" in server.log[0]["error"]
