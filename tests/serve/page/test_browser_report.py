"""The report in a real browser: made, followed, opened under its own policy, downloaded."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from browsing import needs_browser, visit
from loopback import Endpoint as Server

if TYPE_CHECKING:
    from playwright.async_api import Browser

pytestmark = [needs_browser, pytest.mark.slow, pytest.mark.asyncio(loop_scope="module")]


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


@pytest.mark.long
async def test_it_is_followed_without_a_script(
    endpoint: Server, started: Browser, store: str
) -> None:
    async with visit(endpoint, started, "/report", runs=[store], script=False) as (_, at):
        await at.page.get_by_role("button", name="Make the report").click()
        await at.page.get_by_role("link", name="Open it").wait_for()
