"""The report in a real browser: made, followed, opened under its own policy, downloaded."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from browsing import LOOKS, Look, needs_browser, visit
from loopback import Endpoint as Server

if TYPE_CHECKING:
    from playwright.async_api import Browser

pytestmark = [needs_browser, pytest.mark.slow, pytest.mark.asyncio(loop_scope="module")]


@pytest.mark.parametrize("look", LOOKS)
async def test_a_report_is_made_opened_and_kept(
    endpoint: Server, started: Browser, store: str, tmp_path: Path, look: Look
) -> None:
    async with visit(endpoint, started, "/report", look, runs=[store]) as (pages, at):
        page = at.page
        await at.picture("report")
        await page.get_by_role("button", name="Make the report").focus()
        await page.keyboard.press("Enter")
        await page.wait_for_selector("#job progress")
        await at.picture("report-wait")
        await page.get_by_role("link", name="Open it").wait_for()
        assert "is better than" in await page.inner_text("#job .verdict")
        await page.get_by_text("All files").click()
        await at.picture("report-made")
        await at.check()
        async with page.expect_download() as coming:
            await page.get_by_role("link", name="Download all").click()
        kept = tmp_path / (await coming.value).suggested_filename
        await (await coming.value).save_as(kept)
        assert kept.name == "report.zip"
        with zipfile.ZipFile(kept) as packed:
            assert "report/report.html" in packed.namelist()
        await page.get_by_role("link", name="Open it").click()
        await page.get_by_role("heading", name="What the data show").wait_for()
        styled = "getComputedStyle(document.querySelector('table')).borderCollapse"
        assert await page.evaluate(styled) == "collapse"
        assert await page.evaluate("self.origin") == "null"  # no way into our own pages
        assert await page.locator("svg").count() > 2
        await page.get_by_role("link", name="Paired statistics").click()
        await at.picture("report-page")
        await at.check()
        await page.goto(pages.server.root + "/report")
        await at.picture("report-list")


async def test_a_report_can_be_stopped(endpoint: Server, started: Browser, silent: str) -> None:
    async with visit(endpoint, started, "/benchmark", runs=[silent]) as (pages, at):
        page = at.page
        sent = await pages.post("/report", {"runs": "1"})
        await page.goto(pages.server.root + sent.headers["Location"])
        await page.get_by_text("Reading the runs …").wait_for()
        await page.get_by_role("button", name="Stop").click()
        await page.get_by_role("alert").get_by_text("stopped").wait_for()


async def test_it_is_followed_without_a_script(
    endpoint: Server, started: Browser, store: str
) -> None:
    async with visit(endpoint, started, "/report", runs=[store], script=False) as (_, at):
        page = at.page
        await page.get_by_label("Figures").uncheck()
        await page.get_by_role("button", name="Make the report").click()
        await page.get_by_role("link", name="Open it").wait_for()
