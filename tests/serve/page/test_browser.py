"""The pages in a real browser, against a real server: they work, and nothing complains."""

from __future__ import annotations

import json
import re
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from browsing import LOOKS, Look, has_count, needs_browser, visit
from loopback import Endpoint as Server
from loopback import Reply, completion, stream
from paged_store import ITEMS, make_store
from stored import attempt

from constraint_first.benchmark.constraintbench.family import load
from constraint_first.store import database as schema
from constraint_first.store.store import Store

if TYPE_CHECKING:
    from playwright.async_api import Browser, Page

pytestmark = [needs_browser, pytest.mark.slow, pytest.mark.asyncio(loop_scope="module")]

PROBLEM = "Find the remainder when $7^{100}$ is divided by 13."
SPEC = (
    '{"raw_constraints": [{"id": "C1", "type": "modular", "description": "The answer is taken '
    'modulo $13$, so $0 \\\\le r \\\\le 12$"}, {"id": "C2", "type": "domain", "description": "an '
    'integer"}], "propagated_constraints": [{"id": "P1", "derived_from": ["C1", "C2"], '
    '"description": "one of 0, 1, …, 12"}], "answer_format": "integer"}'
)
SOLUTION = (
    "By Fermat, ",
    "$7^{12} \\equiv 1 \\pmod{13}$.\n\nSo $7^{100} = (7^{12})^8 \\cdot 7^4$ and ",
    "$$7^4 = 2401 \\equiv 9 \\pmod{13}.$$\n\n",
    "The answer is \\boxed{9}.",
)


def solve(body: dict[str, Any]) -> Reply:
    """Answer as a good model would."""
    if body.get("response_format"):
        return completion(SPEC)
    return stream(*SOLUTION)


@pytest.mark.parametrize("look", LOOKS)
async def test_the_playground_streams_two_methods(
    endpoint: Server, started: Browser, look: Look
) -> None:
    endpoint.respond = solve
    async with visit(endpoint, started, "/?left=cfr-brief&right=direct", look) as (_, at):
        page = at.page
        await page.get_by_label("Problem").fill(PROBLEM)
        await page.wait_for_selector("mark.cue-1")
        await page.keyboard.press("Control+Enter")
        for side in ("#left", "#right"):
            await page.wait_for_selector(f"{side} .result .final")
            assert await page.inner_text(f"{side} .final") == "9"
            assert await page.locator(f"{side} .sign.holds").count() == 1
        assert await page.locator("#left .step").count() == 2
        assert await page.locator("#left math").count() >= 4
        assert await page.locator(".live").count() == 0
        assert "right=direct" in page.url
        assert "problem=Find" in page.url
        await page.get_by_text("Ask it again").click()
        assert "curl" in await page.inner_text("#curl-1")
        await page.get_by_text("Ask it again").click()
        await at.picture("playground")


@pytest.mark.long
async def test_a_click_brings_a_problem_and_another_one_stops(
    endpoint: Server, started: Browser
) -> None:
    endpoint.script(
        Reply(chunks=['data: {"choices": [{"delta": {"content": "on "}}]}\n\n'] * 50_000)
    )
    async with visit(endpoint, started, "/?left=direct") as (_, at):
        page = at.page
        await page.get_by_role("button", name="One of ConstraintBench").click()
        await page.wait_for_selector("#reading .card")
        assert len(await page.input_value("#problem")) > 20
        await page.fill("#right-method", "")
        await page.get_by_role("button", name="Solve").click()
        await page.wait_for_selector("#left .raw")
        await page.get_by_role("button", name="Stop").click()
        await page.wait_for_selector("#left .fault")
        assert await page.inner_text("#left .fault") == "Stopped."
        assert await page.locator("#right").is_hidden()
        assert await page.get_by_role("button", name="Solve").is_enabled()


@pytest.mark.long
async def test_the_keyboard_reaches_everything(endpoint: Server, started: Browser) -> None:
    async with visit(endpoint, started, "/") as (_, at):
        page = at.page
        await page.keyboard.press("Tab")
        assert await page.evaluate("document.activeElement.className") == "skip"
        reached: set[str] = set()
        for _ in range(30):
            await page.keyboard.press("Tab")
            reached.add(await page.evaluate("document.activeElement.id"))
            shown = await page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
            assert shown == "solid" or not await page.evaluate("document.hasFocus()")
        assert {"problem", "left-method", "right-method", "run"} <= reached


@pytest.mark.parametrize("look", LOOKS)
async def test_runs_lead_from_a_store_to_an_attempt(
    endpoint: Server, started: Browser, store: str, look: Look
) -> None:
    async with visit(endpoint, started, "/runs", look, runs=[store]) as (_, at):
        page = at.page
        await page.wait_for_selector(".uplot canvas")
        await at.picture("runs")
        await page.get_by_label("Filter").fill("always-on")
        await has_count(page, "#series tbody tr", 1)
        await page.get_by_role("link", name="CFR (always-on)").click()
        await page.wait_for_selector(".uplot canvas")
        await page.select_option("#show", "wrong")
        await has_count(page, "#problems tbody tr", 6)
        assert "show=wrong" in page.url
        await at.picture("series")
        await at.check()
        await page.locator(".run.incorrect").first.click()
        await page.wait_for_selector(".step")
        assert "is not the gold answer" in await page.inner_text(".ending")
        await at.picture("attempt")


@pytest.mark.long
async def test_a_store_is_followed_while_it_is_filled(
    endpoint: Server, started: Browser, tmp_path: Path
) -> None:
    url = make_store(tmp_path / "runs.db", ITEMS[:2], runs=1)
    with Store(url) as store, store.exclusively():
        async with visit(endpoint, started, "/runs/1", runs=[url]) as (_, at):
            page = at.page
            await page.wait_for_selector(".running")
            row = attempt(1, 1, 7)
            store.change(lambda c: c.execute(schema.attempts.insert(), row))
            await page.locator("dd", has_text=re.compile("^7$")).wait_for()
            await page.get_by_label("Filter").fill("direct")
            await has_count(page, "#series tr", 2)
            await page.wait_for_timeout(2_500)  # it is renewed as it was filtered
            assert await page.locator("#series tr").count() == 2


@pytest.mark.parametrize("look", LOOKS)
async def test_a_comparison_opens_its_cases(
    endpoint: Server, started: Browser, store: str, look: Look
) -> None:
    async with visit(endpoint, started, "/compare", look, runs=[store]) as (_, at):
        page = at.page
        assert "is better than" in await page.inner_text(".verdict")
        assert await page.locator("figure svg").count() == 1
        await page.locator(".case summary").first.click()
        await has_count(page, ".case .side", 2)
        await at.picture("compare")
        await page.select_option("#choose-method", "program")
        await page.get_by_role("button", name="Compare").click()
        await page.wait_for_url("**method=program**")
        assert "Program is better" in await page.inner_text(".verdict")


@pytest.mark.parametrize("look", LOOKS)
async def test_marks_are_made_with_keys_and_land_on_the_disk(
    endpoint: Server, started: Browser, store: str, tmp_path: Path, look: Look
) -> None:
    async with visit(endpoint, started, "/audit", look, runs=[store], marks=tmp_path) as (_, at):
        page = at.page
        await page.locator("#annotator").fill("ada")
        await page.locator("#size").fill("2")
        await page.get_by_role("button", name="Mark constraints").click()
        await page.wait_for_selector(".task.here")
        count = await page.locator(".task").count()
        for key in ("e", "n", "v", "e", "e", "e", "e")[:count]:  # faster than they are kept
            await page.keyboard.press(key)
        await has_count(page, ".mark[aria-pressed=true]", count)
        await page.keyboard.press("m")
        await page.keyboard.type("positive")
        await page.keyboard.press("Enter")
        await has_count(page, ".missing li", 1)
        await page.keyboard.press("g")
        await at.picture("marking")
        await page.keyboard.press("b")
        await page.get_by_role("link", name="Keep it").wait_for()
        await page.keyboard.press("Enter")
        await page.get_by_role("link", name="Next attempt").wait_for()
        await page.keyboard.press("Enter")
        await page.get_by_text("attempt 2 of 2").wait_for()
        await at.check()
    label = json.loads((tmp_path / "labels.jsonl").read_text().splitlines()[-1])
    assert (label["annotator"], label["missing"]) == ("ada", ["positive"])
    assert [one["mark"] for one in label["constraints"]][:2] == ["entailed", "not_entailed"]


@pytest.mark.parametrize("look", LOOKS)
async def test_errors_are_classed_with_keys(
    endpoint: Server, started: Browser, store: str, tmp_path: Path, look: Look
) -> None:
    async with visit(endpoint, started, "/audit", look, runs=[store], marks=tmp_path) as (_, at):
        page = at.page
        await page.locator("#annotator-2").fill("ben")
        await page.get_by_role("button", name="Class errors").click()
        await page.get_by_text("error 1 of 6").wait_for()
        await page.keyboard.press("t")
        await page.keyboard.type("a slip")
        await page.keyboard.press("Enter")  # a note alone is no class
        await page.keyboard.press("r")
        await at.picture("errors")
        await page.keyboard.press("8")
        await page.get_by_text("error 2 of 6, 1 classed").wait_for()
        await page.get_by_role("link", name="Audit").first.click()
        await page.get_by_text("So far").wait_for()
        await at.picture("audit")
    (line,) = (tmp_path / "classes.jsonl").read_text().splitlines()
    assert (json.loads(line)["class"], json.loads(line)["note"]) == ("arithmetic", "a slip")


PUBLIC = load("public")


async def focused(page: Page) -> str:
    return await page.evaluate("document.activeElement.id")


@pytest.mark.parametrize("look", LOOKS)
async def test_problems_are_found_opened_and_tried(
    endpoint: Server, started: Browser, look: Look
) -> None:
    wanted = [item for item in PUBLIC if item.tier == "joint" and item.level == 2]
    family = wanted[0].family
    async with visit(endpoint, started, "/benchmark", look) as (_, at):
        page = at.page
        await has_count(page, ".item", 20)
        await at.picture("benchmark")
        await page.locator("#choose-tier").focus()
        await page.keyboard.press("ArrowDown")
        await page.select_option("#choose-tier", "joint")
        await page.get_by_text(f"{sum(i.tier == 'joint' for i in PUBLIC)} problems").wait_for()
        assert await focused(page) == "choose-tier"
        await page.select_option("#choose-level", "2")
        await page.get_by_text(f"{len(wanted)} problems").wait_for()
        await page.select_option("#choose-family", family)
        of_family = [item for item in wanted if item.family == family]
        await has_count(page, ".item", len(of_family))
        assert f"family={family}" in page.url
        await at.check()
        await page.locator(".item a").first.focus()
        await page.keyboard.press("Enter")
        await page.wait_for_selector("#gold")
        assert not await page.locator("details.gold .final").is_visible()
        await page.locator("details.gold summary").focus()
        await page.keyboard.press("Enter")
        answer = await page.inner_text("details.gold .final")
        assert answer == of_family[0].answer
        await at.picture("benchmark-problem")
        await at.check()
        await page.get_by_role("link", name="Try it in the playground").click()
        await page.wait_for_selector("#problem")
        assert await page.input_value("#problem") == of_family[0].text
        await page.get_by_role("link", name="its gold constraints").click()
        await page.wait_for_selector("#gold")


async def test_a_report_is_made_opened_and_kept(
    endpoint: Server, started: Browser, store: str, tmp_path: Path
) -> None:
    async with visit(endpoint, started, "/report", runs=[store]) as (_, at):
        page = at.page
        await at.picture("report")
        await page.get_by_role("button", name="Make the report").focus()
        await page.keyboard.press("Enter")
        await page.get_by_role("link", name="Open it").wait_for()
        await at.picture("report-made")
        await at.check()
        async with page.expect_download() as coming:
            await page.get_by_role("link", name="Download all").click()
        kept = tmp_path / (await coming.value).suggested_filename
        await (await coming.value).save_as(kept)
        with zipfile.ZipFile(kept) as packed:
            assert "report/report.html" in packed.namelist()
        await page.get_by_role("link", name="Open it").click()
        await page.get_by_role("heading", name="What the data show").wait_for()
        styled = "getComputedStyle(document.querySelector('table')).borderCollapse"
        assert await page.evaluate(styled) == "collapse"
        assert await page.evaluate("self.origin") == "null"  # no way into our own pages
        assert await page.locator("svg").count() > 2
        await at.picture("report-page")
        await at.check()
