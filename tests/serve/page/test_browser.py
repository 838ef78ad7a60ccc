"""The playground in a real browser, against a real server: it works, and nothing complains."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from browsing import LOOKS, Look, needs_browser, visit
from loopback import Endpoint as Server
from loopback import Reply, completion, stream
from paged import HOSTILE

if TYPE_CHECKING:
    from playwright.async_api import Browser

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


async def test_an_enemy_gets_nowhere(endpoint: Server, started: Browser) -> None:
    endpoint.script(completion(HOSTILE, reasoning_content=HOSTILE))
    async with visit(endpoint, started, "/?left=cfr&right=direct") as (_, at):
        page = at.page
        await page.fill("#problem", HOSTILE)
        await page.get_by_role("button", name="Solve").click()
        for side in ("#left", "#right"):
            await page.wait_for_selector(f"{side} .result .final")
        assert await page.title() == "Playground · constraint-first"
        assert await page.locator("h1").all_inner_texts() == ["Playground"]
        for tag in ("main script", "main img", "main svg", "main style", "maction"):
            assert await page.locator(tag).count() == 0, tag


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


async def test_a_person_logs_in_and_out(endpoint: Server, started: Browser) -> None:
    token = 'a token\'s "own" value;'.replace(" ", "-")
    path = "/?left=direct&right=&problem=2%2B2"
    async with visit(endpoint, started, path, token=token) as (_, at):
        page = at.page
        await page.get_by_label("Token").fill("wrong")
        at.complaints.clear()
        await page.get_by_role("button", name="Log in").click()
        await page.get_by_text("That is not the token").wait_for()
        at.complaints.clear()  # the browser notes the 401 itself
        await at.picture("login")
        await page.get_by_label("Token").fill(token)
        await page.get_by_role("button", name="Log in").click()
        await page.wait_for_url("**problem=2%2B2")
        await page.get_by_role("button", name="Solve").click()
        await page.wait_for_selector("#left .final")
        await page.get_by_role("button", name="Log out").click()
        await page.get_by_label("Token").wait_for()
