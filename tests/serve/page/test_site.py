"""What all pages share: policy, files, forms, the login, marked texts."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from loopback import Endpoint as Server
from paged import HOSTILE, Paged, paged

from constraint_first.constraint.router import route
from constraint_first.constraint.stated.read import read_stated
from constraint_first.serve.page.site import (
    TextMark,
    asset_url,
    cue_marks,
    mark_text,
    quote_words,
    read_number,
    stated_marks,
)
from constraint_first.serve.request import RequestError


async def test_every_page_has_the_strict_policy_and_is_not_kept(bare: Paged) -> None:
    shown = await bare.get("/")
    assert shown.headers["Content-Security-Policy"] == (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
        "connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
    )
    assert shown.headers["Cache-Control"] == "no-store"
    assert shown.headers["X-Content-Type-Options"] == "nosniff"
    assert shown.headers["Referrer-Policy"] == "same-origin"
    assert 'class="skip"' in shown.text


async def test_a_person_gets_a_page_and_a_program_gets_json(bare: Paged) -> None:
    page = await bare.get("/nothing")
    part = await bare.get("/nothing", HX_Request="true")
    program = await bare.get("/nothing", Accept="*/*")
    api = await bare.get("/v1/nothing")
    assert (page.status, part.status, program.status, api.status) == (404, 404, 404, 404)
    assert "<title>404" in page.text
    assert "/nothing: there is nothing here" in page.words
    assert part.text.startswith('<div class="fault"')
    for told in (program, api):
        assert told.headers["Content-Type"].startswith("application/json")


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


async def test_files_carry_their_type_and_may_be_kept_for_good(bare: Paged) -> None:
    style = await bare.get(asset_url("page.css"))
    script = await bare.get(asset_url("htmx.min.js"))
    icon = await bare.get(asset_url("icon.svg"))
    without = await bare.get("/static/page.css")
    assert style.headers["Content-Type"].startswith("text/css")
    assert script.headers["Content-Type"].startswith("text/javascript")
    assert icon.headers["Content-Type"].startswith("image/svg+xml")
    assert "immutable" in style.headers["Cache-Control"]
    assert without.headers["Cache-Control"] == "no-cache"
    assert "math .boxed" in style.text  # what formulas need


@pytest.mark.parametrize(
    "name",
    [
        "../site.py",
        "..%2fsite.py",
        "%2e%2e/%2e%2e/api.py",
        "page.css/",
        "page.css%00.js",
        "content.css",
        "",
        "/etc/passwd",
        "....//page.css",
    ],
)
async def test_nothing_else_is_sent(name: str, bare: Paged) -> None:
    shown = await bare.get(f"/static/{name}")
    assert shown.status == 404
    assert "import" not in shown.text


@pytest.mark.parametrize("written", ["0", "-1", "1.5", "٣", "9" * 30, "100001", "x"])
def test_a_number_is_a_number(written: str) -> None:
    with pytest.raises(RequestError, match="is no whole number from 1 to 100,000"):
        read_number({"n": written}, "n", 1, most=100_000)
    assert read_number({}, "n", 7) == 7
    assert read_number({"n": ""}, "n", 7) == 7
    assert read_number({"n": "0"}, "n", 7, least=0) == 0


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


TEXT = "Find the remainder when $3^5$ is divided by 7."


def test_cues_and_demands_are_marked_and_formulas_drawn() -> None:
    marks = (*cue_marks(route(TEXT)), *stated_marks(read_stated(TEXT)))
    html = mark_text(TEXT, marks)
    cue = '<mark class="cue cue-1 stated" title="cue: modular remainder; The answer is a remainder'
    assert cue in html
    assert "<math>" in html
    assert html.count("<mark") == html.count("</mark>") == 3


def test_a_mark_takes_in_the_whole_of_a_formula() -> None:
    inside = TEXT.index("^")
    html = mark_text(TEXT, [TextMark(inside, inside + 1, "a", "b")])
    assert re.search(r'<mark class="a" title="b"><math>.*</math></mark> is divided', html)


def test_a_mark_beyond_its_paragraph_or_its_text_is_left_out() -> None:
    text = "One.\n\nTwo."
    out = [TextMark(0, 9, "a", ""), TextMark(3, 99, "b", ""), TextMark(2, 2, "c", "")]
    assert mark_text(text, out) == "<p>One.</p>\n<p>Two.</p>\n"


def test_what_a_text_or_a_title_says_is_not_obeyed() -> None:
    html = mark_text(HOSTILE, [TextMark(0, 8, '"><script>', '"><script>alert(1)</script>')])
    assert "<script" not in html
    assert html.count("<mark") == html.count("</mark>") == 1


@given(
    st.text(alphabet="ab $\\`*\n\ue000\ue001<&", max_size=40),
    st.lists(st.tuples(st.integers(-2, 45), st.integers(-2, 45)), max_size=5),
)
def test_every_mark_that_opens_closes(text: str, spans: list[tuple[int, int]]) -> None:
    html = mark_text(text, [TextMark(*span, "m", "t") for span in spans])
    assert html.count("<mark") == html.count("</mark>")
    depth = 0
    for found in re.findall("<mark|</mark>", html):
        depth += 1 if found == "<mark" else -1
        assert depth in (0, 1)
    assert not re.search("[\ue000\ue001]", html)


def test_words_are_quoted_with_whole_formulas() -> None:
    inside = TEXT.index("^")
    assert quote_words(TEXT, (inside, inside + 1)) == "$3^5$"
    assert quote_words(TEXT, (4, inside)) == "the remainder when $3^5$"
    assert quote_words(TEXT, (4, 8)) == "the"


def test_what_is_not_shown_of_a_long_text_is_not_marked() -> None:
    text = TEXT * 2_000
    html = mark_text(text, cue_marks(route(text)))
    assert 100 < html.count("<mark") == html.count("</mark>") < 1_000
    assert "characters left out" in html
