"""Marking by keys in a real browser: the marks land on the disk."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from browsing import LOOKS, Look, has_count, needs_browser, visit
from loopback import Endpoint as Server

if TYPE_CHECKING:
    from playwright.async_api import Browser

pytestmark = [needs_browser, pytest.mark.slow, pytest.mark.asyncio(loop_scope="module")]


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
