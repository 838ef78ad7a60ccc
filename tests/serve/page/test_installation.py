import pytest
from loopback import Endpoint as Server
from paged import paged
from served import chat, served

PATHS = ["/", "/login", "/static/page.css", "/playground/example"]


@pytest.mark.parametrize("path", PATHS)
async def test_every_page_is_there(endpoint: Server, path: str) -> None:
    async with paged(endpoint.url) as pages:
        assert (await pages.get(path)).status in (200, 303)


async def test_the_api_is_what_it_was(endpoint: Server) -> None:
    async with paged(endpoint.url) as pages:
        status, told = await chat(pages.server)
    assert (status, told["choices"][0]["finish_reason"]) == (200, "stop")


async def test_without_pages_there_are_none(endpoint: Server) -> None:
    async with served(endpoint.url) as server:
        assert server.root
    async with paged(endpoint.url, install=lambda _: None) as pages:
        shown = await pages.get("/")
    assert shown.status == 404
    assert shown.headers["Content-Type"].startswith("application/json")
