"""The same tricks on every page, wherever a text can come from: they stay text."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlencode

import pytest
from browsing import Browsed, needs_browser, visit
from loopback import Endpoint as Server
from loopback import Reply, completion
from paged import Paged, Shown, paged
from paged_store import ITEMS, make_store
from stored import attempt
from tricks import LONG, NAME, TRICK, check_elements

from constraint_first.store import database as schema
from constraint_first.store.store import Store

if TYPE_CHECKING:
    from playwright.async_api import Browser

STORED = TRICK.replace("\0", "")
"""A store refuses problems with NUL; replies with it are taken."""
PERSON = "an annotator's <b owned>name</b>"
PROGRAM = f"```python\nprint({TRICK!r})\nprint({LONG[:2_000]!r})\n```"
PART = "/runs/1/series"
"""Of a page, not a page."""
OWNED = """() => [...document.querySelectorAll("*")].filter((one) =>
  one.getAttributeNames().some((name) => name.includes("owned") || name.startsWith("on"))
  || /owned/.test(one.className.baseVal ?? one.className) || one.tagName.includes("OWNED")
).map((one) => one.outerHTML.slice(0, 200))"""


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A store in which every text is a trick."""
    gold = [replace(one, description=TRICK) for one in ITEMS[0].constraints]
    items = [
        replace(ITEMS[0], text=f"{text}\n{n}", answer=answer, constraints=tuple(gold), index=n)
        for n, (text, answer) in enumerate(
            [(STORED, STORED), (STORED, "4"), (LONG, "5"), (STORED, LONG[:3_000])] * 2
        )
    ]
    folder = tmp_path_factory.mktemp("hostile")
    url = make_store(folder / "<img owned>.db", items, runs=1, model=NAME, text=TRICK + LONG)
    with Store(url) as store:
        ended = {"status": "failed", "verdict": None, "tier": None, "answer": None}
        row = attempt(1, 1, 9, **ended, error=TRICK)
        store.change(lambda c: c.execute(schema.attempts.insert(), row))
        label = schema.series.update().values(label=schema.series.c.id.concat(NAME))
        store.change(lambda c: c.execute(label))
    return url


@pytest.fixture
def marks(tmp_path: Path) -> Path:
    """A folder of marks that an enemy has begun."""
    error = {"benchmark": NAME, "problem": NAME, "method": "cfr", "model": NAME, "note": TRICK}
    line = {"annotator": PERSON, "class": "other"} | error
    (tmp_path / "classes.jsonl").write_text(json.dumps(line) + "\n")
    return tmp_path


def reply(body: dict[str, Any]) -> Reply:
    """Answer as an enemy would."""
    spec = {"raw_constraints": [{"id": TRICK, "type": TRICK, "description": TRICK}]}
    spec |= {"propagated_constraints": [{"id": NAME, "derived_from": [NAME], "description": LONG}]}
    asked = json.dumps(body["messages"])
    if "python" in asked.casefold():
        return completion(PROGRAM)
    if body.get("response_format"):
        return completion(json.dumps(spec))
    return completion(TRICK + LONG, reasoning_content=TRICK)


def paths() -> Iterator[str]:
    """List all pages but those that a page must lead to."""
    yield from ("/runs", "/runs/1", PART, f"/runs/1?q={quote(NAME)}")
    for series in (1, 2, 3):
        yield f"/runs/1/{series}"
        yield f"/runs/1/{series}?q={quote(TRICK)}&show={quote(NAME)}"
        yield from (f"/runs/1/{series}/attempt?problem={n}" for n in (1, 2, 3, 4))
    yield f"/runs/1/1/attempt?problem={quote(TRICK)}"
    yield from ("/runs/1/1/attempt?problem=1&run=9", f"/runs/1/1/attempt?run={quote(NAME)}")
    yield from ("/compare", f"/compare?method={quote(NAME)}", f"/compare?runs={quote(NAME)}")
    yield from ("/compare?baseline=direct&method=program", f"/compare/case?problem={quote(TRICK)}")
    yield from ("/audit", f"/audit?annotator={quote(TRICK)}", "/audit/mark?annotator=ada")
    yield from (f"/audit/mark?annotator={quote(NAME)}", "/audit/errors?annotator=ada")
    yield f"/audit/errors?annotator=ada&baseline={quote(NAME)}"
    odd = urlencode(dict.fromkeys(("split", "tier", "family", "level", "kind", "q"), TRICK))
    yield from (f"/benchmark?{odd}", f"/benchmark?at={quote(NAME)}")
    yield from (f"/benchmark/{quote(NAME, safe='')}", f"/benchmark/{ITEMS[0].id}?{odd}")
    yield from ("/report", f"/report?runs={quote(NAME)}", f"/report/{quote(NAME, safe='')}")
    names = ("problem", "left", "right", "model", "seed", "temperature")
    asked: dict[str, str] = dict.fromkeys(names, TRICK)
    yield from (f"/?{urlencode(asked)}", f"/?item={quote(TRICK)}", f"/login?next={quote(TRICK)}")
    yield f"/{quote(NAME, safe='')}"


PATHS = [*paths()]


@pytest.mark.parametrize("path", PATHS, ids=range(len(PATHS)))
async def test_every_page_shows_tricks_as_text(
    endpoint: Server, hostile: str, marks: Path, path: str
) -> None:
    async with paged(endpoint.url, hostile, marks=marks) as pages:
        for headers in ({}, {"HX_Request": "true"}):
            shown = await pages.get(path, **headers)
            assert shown.status in (200, 303, 400, 404)
            assert shown.text.count("<h1") <= 1
            check_elements(shown.text)


async def test_tricks_are_shown_and_not_dropped(
    endpoint: Server, hostile: str, tmp_path: Path
) -> None:
    asked = "baseline=direct&method=cfr"
    async with paged(endpoint.url, hostile, marks=tmp_path) as pages:
        for path in (
            *("/runs/1", "/runs/1/1", "/runs/1/1/attempt?problem=1", f"/compare?{asked}"),
            *("/audit", "/audit/mark?annotator=ada", f"/audit/errors?annotator=ada&{asked}"),
        ):
            shown = await pages.get(path)
            assert shown.status == 200
            assert "<script owned>document.title" in shown.words, path
            assert "{{ 7 * 7 }}" in shown.words, path


async def test_what_opens_in_a_page(endpoint: Server, hostile: str, marks: Path) -> None:
    async with paged(endpoint.url, hostile, marks=marks) as pages:
        shown = await pages.get("/compare?baseline=direct&method=cfr")
        cases = re.findall(r'hx-get="(/compare/case[^"]+)"', shown.text)
        assert cases
        for path in cases:
            opened = await pages.get(html.unescape(path), HX_Request="true")
            assert opened.status == 200
            check_elements(opened.text)


async def test_what_is_written_into_forms(endpoint: Server, hostile: str, marks: Path) -> None:
    sitting = {"annotator": "ada", "n": "1", "at": "1"}
    async with paged(endpoint.url, hostile, marks=marks) as pages:
        shown: list[Shown] = [
            await pages.post("/audit/mark", sitting | form, HX_Request="true")
            for form in (
                {"missing": TRICK},
                {"note": TRICK},
                {"mark": NAME},
                {"annotator": NAME},
                {"method": NAME},
                {"mark": "vague"},
            )
        ]
        error = {"annotator": "ada", "n": "1"}
        shown += [
            await pages.post("/audit/errors", error | form, HX_Request="true")
            for form in ({"class": "other", "note": TRICK}, {"class": NAME}, {"method": NAME})
        ]
        shown += [await pages.get("/audit/errors?annotator=ada&n=1"), await pages.get("/audit")]
        names = ("problem", "left", "right", "model", "temperature")
        asked: dict[str, str] = dict.fromkeys(names, TRICK)
        shown.append(await pages.post("/playground/problem", asked))
        shown.append(await pages.post("/playground/problem", asked | {"problem": LONG}))
    for one in shown:
        assert one.status in (200, 400)
        check_elements(one.text)
    assert any("<script owned>" in one.words for one in shown)


@pytest.mark.parametrize("method", ["cfr", "program", "vote(samples=2)", "checked(base=direct)"])
async def test_what_a_model_streams(endpoint: Server, method: str, bare: Paged) -> None:
    endpoint.respond = reply
    for problem in (TRICK, LONG):
        body = {"problem": problem, "method": method}
        address = f"{bare.server.root}/playground/answer"
        async with bare.session.post(address, json=body) as answer:
            assert answer.status == 200, await answer.text()
            told = (await answer.text()).split("\n\n")
        events = [json.loads(event[6:]) for event in told if event.startswith("data: ")]
        assert events[-1]["kind"] == "end"
        for event in events:
            if event["kind"] in ("html", "end"):
                check_elements(event["text"])


async def report(pages: Paged) -> None:
    """Make a report of the enemy's runs."""
    sent = await pages.post("/report", {"runs": "1"})
    while 'aria-busy="true"' in (await pages.get(sent.headers["Location"])).text:
        pass


async def test_the_report(endpoint: Server, hostile: str, tmp_path: Path) -> None:
    async with paged(endpoint.url, hostile, marks=tmp_path) as pages:
        await report(pages)
        shown = await pages.get("/report")
        async with pages.session.get(f"{pages.server.root}/report/1/view") as reply:
            assert reply.status == 200, shown.words
            page = await reply.text()
    check_elements(shown.text)
    check_elements(page)
    assert page.count("<style>") == 1
    assert page.count("<h1") == 1


@needs_browser
@pytest.mark.long
@pytest.mark.asyncio(loop_scope="module")
async def test_a_browser_finds_nothing_to_obey(
    endpoint: Server, started: Browser, hostile: str, tmp_path: Path
) -> None:
    endpoint.respond = reply
    async with visit(endpoint, started, "/", runs=[hostile], marks=tmp_path) as (pages, at):
        await report(pages)
        whole = [path for path in PATHS if path != PART]
        for path in (*whole, "/report/1/view"):
            await at.page.goto(pages.server.root + path)
            await unmoved(at)
        await at.page.goto(pages.server.root + "/compare?baseline=direct&method=cfr")
        await at.page.locator(".case summary").first.click()
        await at.page.wait_for_selector(".case .side")
        await unmoved(at)
        for problem in (TRICK, LONG):
            await at.page.goto(pages.server.root + "/?left=cfr&right=program")
            await at.page.fill("#problem", problem)
            await at.page.get_by_role("button", name="Solve").click()
            for side in ("#left", "#right"):
                await at.page.wait_for_selector(f"{side} .result .final")
            await unmoved(at)


async def unmoved(at: Browsed) -> None:
    """See that a page is what its template made of it, and that nobody spoke up."""
    at.complaints[:] = [one for one in at.complaints if "status of 40" not in one]
    await at.check()
    assert await at.page.evaluate(OWNED) == []
    assert "owned" not in (await at.page.title())[:5]
    assert await at.page.locator("main script, main style, iframe, maction").count() == 0
