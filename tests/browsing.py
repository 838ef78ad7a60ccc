"""A real browser on our pages: it keeps what the console says, what the policy forbids, pictures.

Pictures go into the folder that CFR_PICTURES names, and nowhere where it names none.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import pytest

if TYPE_CHECKING:
    from playwright.async_api import Browser, ConsoleMessage, Page

__all__ = ["LOOKS", "Browsed", "Look", "browser", "looking", "needs_browser"]

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
_WHY = "chromium is not installed" if CHROMIUM is None else "playwright is not installed"
needs_browser = pytest.mark.skipif(CHROMIUM is None or find_spec("playwright") is None, reason=_WHY)

Look = Literal["wide", "phone", "dark"]
LOOKS: tuple[Look, ...] = ("wide", "phone", "dark")
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
        assert await self.page.evaluate("violations") == []
        assert await self.page.evaluate(_OUTSIDE) == []

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
async def looking(started: Browser, address: str, look: Look = "wide") -> AsyncGenerator[Browsed]:
    """Open an address, and look at it on one kind of screen."""
    context = await started.new_context(**_VIEWS[look])
    context.set_default_timeout(60_000)  # the machine may be busy
    await context.add_init_script(_WATCH)
    page = await context.new_page()
    browsed = Browsed(page, look)
    page.on("console", browsed.note)
    page.on("pageerror", lambda error: browsed.complaints.append(str(error)))
    await page.goto(address)
    try:
        yield browsed
        await browsed.check()
    finally:
        await context.close()
