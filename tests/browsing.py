"""A real browser on our pages: it keeps what the console says, what the policy forbids, pictures.

Pictures go into the folder that CFR_PICTURES names, and nowhere where it names none.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import pytest
from paged import Paged, paged

if TYPE_CHECKING:
    from loopback import Endpoint as Server
    from playwright.async_api import Browser, ConsoleMessage, Dialog, Page


CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
_WHY = "chromium is not installed" if CHROMIUM is None else "playwright is not installed"
needs_browser = pytest.mark.skipif(CHROMIUM is None or find_spec("playwright") is None, reason=_WHY)
Look = Literal["wide", "phone", "dark"]
# The dark has other colours alone: something to look at.
_OTHERS: tuple[Look, ...] = ("phone", *(("dark",) if "CFR_PICTURES" in os.environ else ()))
LOOKS: list[Any] = ["wide", *(pytest.param(one, marks=pytest.mark.long) for one in _OTHERS)]
_VIEWS: dict[Look, dict[str, Any]] = {
    "wide": {"viewport": {"width": 1280, "height": 900}},
    "phone": {"viewport": {"width": 390, "height": 844}, "has_touch": True},
    "dark": {"viewport": {"width": 1280, "height": 900}, "color_scheme": "dark"},
}
_WATCH = """
window.violations = [];
document.addEventListener("securitypolicyviolation",
  (event) => violations.push(event.violatedDirective + " " + event.blockedURI));
"""
_OUTSIDE = """() => {
  const wide = document.documentElement.clientWidth;
  const scrolls = (one) => one && one !== document.body
    && (["auto", "scroll", "hidden"].includes(getComputedStyle(one).overflowX)
        || scrolls(one.parentElement));
  return [...document.querySelectorAll("body *")].filter((one) => {
    const box = one.getBoundingClientRect();
    return box.width && box.right > wide + 1 && !scrolls(one.parentElement);
  }).map((one) => one.tagName + " " + one.className + " " + one.textContent.slice(0, 40));
}"""


@dataclass
class Browsed:
    """A page that is open."""

    page: Page
    look: Look
    complaints: list[str] = field(default_factory=list[str])

    async def picture(self, name: str) -> None:
        """Keep a picture, where somebody wants to look at it."""
        if folder := os.environ.get("CFR_PICTURES"):
            path = Path(folder) / f"{name}-{self.look}.png"
            # Its driver would hide the caret with a style, which the policy forbids.
            await self.page.screenshot(path=path, full_page=True, caret="initial")

    async def check(self) -> None:
        """See that nothing complained, and that nothing is wider than the screen."""
        assert self.complaints == []
        assert await self.page.evaluate("window.violations ?? []") == []
        assert await self.page.evaluate(_OUTSIDE) == []

    async def refuse(self, dialog: Dialog) -> None:
        self.complaints.append(f"a dialog: {dialog.message}")
        await dialog.dismiss()

    def note(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.complaints.append(message.text)


@asynccontextmanager
async def browser() -> AsyncGenerator[Browser]:
    """Start a browser."""
    from playwright.async_api import async_playwright

    async with async_playwright() as playwright:
        started = await playwright.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"]
        )
        yield started
        await started.close()


@asynccontextmanager
async def looking(
    started: Browser, address: str, look: Look = "wide", *, script: bool = True
) -> AsyncGenerator[Browsed]:
    """Open an address, and look at it on one kind of screen; scripts may be off."""
    context = await started.new_context(**_VIEWS[look], java_script_enabled=script)
    context.set_default_timeout(60_000)  # the machine may be busy
    await context.add_init_script(_WATCH)
    page = await context.new_page()
    browsed = Browsed(page, look)
    page.on("console", browsed.note)
    page.on("dialog", browsed.refuse)
    page.on("pageerror", lambda error: browsed.complaints.append(str(error)))
    await page.goto(address)
    try:
        yield browsed
        await browsed.check()
    finally:
        await context.close()


@asynccontextmanager
async def visit(
    endpoint: Server,
    started: Browser,
    path: str = "/",
    look: Look = "wide",
    *,
    runs: Sequence[str] = (),
    marks: Path = Path("/nowhere"),
    script: bool = True,
    **options: Any,
) -> AsyncGenerator[tuple[Paged, Browsed]]:
    """Start a server, and open one of its pages."""
    async with (
        paged(endpoint.url, *runs, marks=marks, **options) as pages,
        looking(started, pages.server.root + path, look, script=script) as at,
    ):
        yield pages, at


async def has_count(page: Page, selector: str, count: int) -> None:
    """Wait until a page has so many of something."""
    from playwright.async_api import expect

    await expect(page.locator(selector)).to_have_count(count, timeout=60_000)
