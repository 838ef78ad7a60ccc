import pytest
from loopback import Endpoint as Server
from paged import HOSTILE, paged


async def test_every_page_has_the_strict_policy_and_is_not_kept(endpoint: Server) -> None:
    async with paged(endpoint.url) as pages:
        shown = await pages.get("/")
    assert shown.headers["Content-Security-Policy"] == (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
        "connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
    )
    assert shown.headers["Cache-Control"] == "no-store"
    assert shown.headers["X-Content-Type-Options"] == "nosniff"
    assert shown.headers["Referrer-Policy"] == "same-origin"
    assert 'class="skip"' in shown.text


async def test_a_person_gets_a_page_and_a_program_gets_json(endpoint: Server) -> None:
    async with paged(endpoint.url) as pages:
        page = await pages.get("/nothing")
        part = await pages.get("/nothing", HX_Request="true")
        program = await pages.get("/nothing", Accept="*/*")
        api = await pages.get("/v1/nothing")
    assert (page.status, part.status, program.status, api.status) == (404, 404, 404, 404)
    assert "<title>404" in page.text
    assert "/nothing: there is nothing here" in page.words
    assert part.text.startswith('<div class="fault"')
    for told in (program, api):
        assert told.headers["Content-Type"].startswith("application/json")


async def test_a_path_is_shown_and_not_obeyed(endpoint: Server) -> None:
    async with paged(endpoint.url) as pages:
        shown = await pages.get("/" + "".join(f"%{ord(c):02x}" for c in HOSTILE if ord(c) < 128))
    assert shown.status == 404
    assert "<script>document" not in shown.text
    assert "<script>document.title" in shown.words


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://pages.example"},
        {"Sec_Fetch_Site": "cross-site"},
        {"Sec_Fetch_Site": "same-site"},
    ],
)
@pytest.mark.parametrize("path", ["/playground/problem", "/playground/answer", "/login", "/logout"])
async def test_forms_are_taken_from_our_own_pages_alone(
    endpoint: Server, path: str, headers: dict[str, str]
) -> None:
    async with paged(endpoint.url, allowed_origins=("http://pages.example",)) as pages:
        shown = await pages.post(path, {"problem": "2 + 2"}, **headers)
    assert shown.status == 403
    assert endpoint.requests == []


async def test_our_own_page_may_send_forms(endpoint: Server) -> None:
    async with paged(endpoint.url) as pages:
        own = {"Origin": pages.server.root, "Sec_Fetch_Site": "same-origin"}
        shown = await pages.post("/playground/problem", {"problem": "How many?"}, **own)
    assert shown.status == 200
