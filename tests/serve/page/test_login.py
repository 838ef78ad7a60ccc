import pytest
from loopback import Endpoint as Server
from paged import paged

TOKEN = 'a;"odd",token=\\1'  # noqa: S105


async def test_a_browser_is_asked_for_the_token_and_keeps_it(endpoint: Server) -> None:
    async with paged(endpoint.url, token=TOKEN) as pages:
        first = await pages.get("/?problem=a%26b&left=cfr")
        form = await pages.get(first.headers["Location"])
        taken = await pages.post(
            "/login", {"token": f" {TOKEN} ", "next": "/?problem=a%26b&left=cfr"}
        )
        cookie = taken.headers["Set-Cookie"]
        inside = await pages.get(taken.headers["Location"])
        left = await pages.post("/logout", {})
        again = await pages.get("/")
    assert first.status == 303
    assert first.headers["Location"] == "/login?next=%2F%3Fproblem%3Da%2526b%26left%3Dcfr"
    assert 'value="/?problem=a%26b&amp;left=cfr"' in form.text
    assert taken.status == 303
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie
    assert inside.status == 200
    assert "a&amp;b</textarea>" in inside.text
    assert "Log out" in inside.text
    assert TOKEN not in inside.text
    assert (left.headers["Location"], again.status) == ("/login", 303)


async def test_a_wrong_token_is_refused(endpoint: Server) -> None:
    async with paged(endpoint.url, token=TOKEN) as pages:
        wrong = await pages.post("/login", {"token": "☃"})
        still = await pages.get("/")
    assert wrong.status == 401
    assert "not the token" in wrong.words
    assert "Set-Cookie" not in wrong.headers
    assert still.status == 303


async def test_parts_of_a_page_send_the_whole_page_to_the_form(endpoint: Server) -> None:
    async with paged(endpoint.url, token=TOKEN) as pages:
        part = await pages.post("/playground/problem", {"problem": "x"}, HX_Request="true")
        style = await pages.get("/static/page.css")
        script = await pages.get("/static/page.js")
    assert (part.status, part.headers["HX-Redirect"]) == (401, "/login")
    assert (style.status, script.status) == (200, 303)


@pytest.mark.parametrize(
    "after",
    [
        "//evil.example",
        "/\\evil.example",
        "https://evil.example/",
        "javascript:alert(1)",
        "",
        "/a\nb",
        "/é",
        "evil",
    ],
)
async def test_it_leads_to_no_other_server(endpoint: Server, after: str) -> None:
    async with paged(endpoint.url, token=TOKEN) as pages:
        taken = await pages.post("/login", {"token": TOKEN, "next": after})
    assert (taken.status, taken.headers["Location"]) == (303, "/")


async def test_without_a_token_there_is_nothing_to_ask_for(endpoint: Server) -> None:
    async with paged(endpoint.url) as pages:
        shown = await pages.get("/login")
    assert (shown.status, shown.headers["Location"]) == (303, "/")
