"""ConstraintBench in a real browser: found by filters, opened, tried, all by keyboard."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from browsing import LOOKS, Look, has_count, needs_browser, visit
from loopback import Endpoint as Server

from constraint_first.benchmark.constraintbench.item import load

if TYPE_CHECKING:
    from playwright.async_api import Browser, Page

pytestmark = [needs_browser, pytest.mark.slow, pytest.mark.asyncio(loop_scope="module")]

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


async def test_words_are_looked_for_while_they_are_written(
    endpoint: Server, started: Browser
) -> None:
    item = PUBLIC[100]
    async with visit(endpoint, started, "/benchmark") as (_, at):
        page = at.page
        await page.get_by_label("With the words").press_sequentially(item.id)
        await has_count(page, ".item", 1)
        assert await focused(page) == "words"
        assert await page.input_value("#words") == item.id
        await page.go_back()
        await has_count(page, ".item", 20)


async def test_it_works_without_a_script(endpoint: Server, started: Browser) -> None:
    async with visit(endpoint, started, "/benchmark", script=False) as (_, at):
        page = at.page
        await page.select_option("#choose-tier", "misleading")
        await page.select_option("#choose-level", "1")
        await page.get_by_role("button", name="Show").click()
        wanted = sum(item.tier == "misleading" and item.level == 1 for item in PUBLIC)
        await page.get_by_text(f"{wanted} problems of 705").wait_for()
        await page.get_by_role("link", name="Next").click()
        await page.get_by_text("21 to 40 shown").wait_for()
        assert await page.input_value("#choose-tier") == "misleading"
