import html
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

import pytest
from loopback import Endpoint as Server
from loopback import completion
from paged import HOSTILE, paged
from served import CUED

from constraint_first.benchmark.constraintbench.item import load
from constraint_first.method.registry import names

ITEM = load("public")[0]


async def test_the_form_begins_with_the_servers_method(endpoint: Server) -> None:
    async with paged(endpoint.url, methods=("routed-cfr", "vote(samples=3)")) as pages:
        shown = await pages.get("/")
    assert 'name="left" list="methods" value="routed-cfr"' in shown.text
    assert 'name="right" list="methods" value="direct"' in shown.text
    assert 'placeholder="test-model"' in shown.text
    for name in ("vote(samples=3)", *names()):
        assert f'<option value="{html.escape(name)}">' in shown.text
    assert "<h3>What the text demands" not in shown.text


async def test_an_address_fills_the_form(endpoint: Server) -> None:
    asked = {"problem": CUED, "left": "cfr", "right": "program", "seed": "7", "model": "m"}
    async with paged(endpoint.url) as pages:
        shown = await pages.get(f"/?{urlencode(asked)}")
        item = await pages.get(f"/?item={ITEM.id}")
    assert f">{CUED}</textarea>" in shown.text
    assert 'name="seed" inputmode="numeric" value="7"' in shown.text
    assert "The answer is a remainder: an integer from 0 to 6." in shown.words
    assert ITEM.text in html.unescape(item.text)
    assert endpoint.requests == []  # a link alone asks no model


async def test_a_text_is_read_before_any_model_is_asked(endpoint: Server) -> None:
    asked = {"problem": CUED, "left": "cfr", "right": "cfr", "temperature": "0.5"}
    async with paged(endpoint.url) as pages:
        shown = await pages.post("/playground/problem", asked)
        root = pages.server.root
    assert '<mark class="cue cue-1' in shown.text
    assert "modular remainder remainder" in shown.words
    assert shown.text.count("curl ") == 1
    assert '"temperature": 0.5' in shown.words
    link = urlsplit(next(word for word in shown.words.split() if word.startswith(f"{root}/?")))
    assert dict(parse_qsl(link.query)) == asked
    assert endpoint.requests == []


async def test_a_problem_of_constraintbench_comes_by_a_click(endpoint: Server) -> None:
    texts = {item.text for item in load("public")}
    async with paged(endpoint.url) as pages:
        shown = await pages.get("/playground/example?left=cfr&right=direct")
    text = html.unescape(shown.text.split(">", 1)[1].split("</textarea>")[0])
    assert text in texts
    assert 'id="reading" class="waits" hx-swap-oob="true"' in shown.text
    assert "problem of ConstraintBench" in shown.words


async def test_the_answer_to_such_a_problem_is_judged(endpoint: Server) -> None:
    for said, sign in ((ITEM.answer, "✓ right"), ("987654", "✗ wrong")):
        endpoint.script(completion(rf"It is \boxed{{{said}}}."))
        async with paged(endpoint.url) as pages:
            body = {"problem": ITEM.text, "method": "direct"}
            address = f"{pages.server.root}/playground/answer"
            async with pages.session.post(address, json=body) as reply:
                assert sign in await reply.text()


async def test_settings_reach_the_model(endpoint: Server) -> None:
    body = {"problem": "x", "method": "direct", "model": "other", "seed": "7", "max_tokens": "9"}
    async with paged(endpoint.url) as pages:
        address = f"{pages.server.root}/playground/answer"
        async with pages.session.post(address, json=body | {"temperature": "0.25"}) as reply:
            await reply.text()
        logged = (await pages.server.logged(1))[0]
    (asked,) = endpoint.requests
    assert (asked["model"], asked["temperature"], asked["max_tokens"]) == ("other", 0.25, 9)
    assert (logged["model"], logged["method"]) == ("direct@other", "direct")
    assert logged["input_tokens"] == 11


@pytest.mark.parametrize(
    ("more", "status", "said"),
    [
        ({"method": "nonsense"}, 404, "nonsense"),
        ({"problem": " "}, 400, "empty"),
        ({"seed": "1.5"}, 400, "'1.5' is no whole number"),
        ({"temperature": "warm"}, 400, "'warm' is no number"),
        ({"temperature": "9"}, 400, "from 0 to 2"),
        ({"method": "calibrated(policy=/etc/passwd.toml)"}, 400, "policy files"),
        ({"method": "vote(samples=1000)"}, 400, "more than the 256 calls"),
    ],
)
async def test_what_cannot_be_asked_is_refused(
    endpoint: Server, more: dict[str, str], status: int, said: str
) -> None:
    async with paged(endpoint.url) as pages:
        body = {"problem": "x", "method": "direct"} | more
        address = f"{pages.server.root}/playground/answer"
        async with pages.session.post(address, json=body) as reply:
            told = await reply.json()
        async with pages.session.post(address, data=b"[1") as reply:
            assert reply.status == 400
    assert told["error"]["message"].count(said) == 1
    assert endpoint.requests == []


async def test_whatever_is_asked_is_shown_and_not_obeyed(endpoint: Server) -> None:
    fields = ("problem", "left", "right", "model", "seed", "temperature")
    asked: dict[str, str] = dict.fromkeys(fields, HOSTILE)
    endpoint.served = [{"id": HOSTILE}]
    async with paged(endpoint.url, model=None) as pages:
        page = await pages.get(f"/?{urlencode(asked)}")
        part = await pages.post("/playground/problem", asked)
        unknown = await pages.get(f"/?item={quote(HOSTILE)}")
    assert page.status == part.status == unknown.status == 200
    assert "{{ 7 * 7 }}" in page.text
    assert "{{ 7 * 7 }}" in part.text


async def test_an_endpoint_that_is_away_does_not_keep_the_page(endpoint: Server) -> None:
    async with paged("http://127.0.0.1:9/v1", model=None) as pages:
        shown = await pages.get("/")
    assert shown.status == 200
    assert "the server&#39;s own" in shown.text
