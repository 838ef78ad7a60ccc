"""Stored runs and comparisons in a real browser, against a real server and a real store."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from browsing import LOOKS, Look, has_count, needs_browser, visit
from loopback import Endpoint as Server
from paged_store import ITEMS, make_store
from stored import attempt

from constraint_first.store import schema
from constraint_first.store.store import Store

if TYPE_CHECKING:
    from playwright.async_api import Browser

pytestmark = [needs_browser, pytest.mark.slow, pytest.mark.asyncio(loop_scope="module")]


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
