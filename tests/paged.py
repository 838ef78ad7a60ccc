"""A server with its pages on loopback, and a reader that finds whatever is alive in a page."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import aiohttp
from aiohttp import web
from served import Served, served

from constraint_first.serve.page import install_pages
from constraint_first.serve.page.site import SiteOptions

HOSTILE = (
    "<script>document.title = 'owned'</script><img src=x onerror=\"document.title = 'owned'\">"
    "<svg onload=alert(1)><style>*{display:none}</style></svg></div></details></textarea>"
    "<h1>Fake</h1> $\\href{javascript:alert(1)}{x}$ $\\style{position:fixed}{y}$ "
    "<math><maction actiontype=statusline xlink:href=javascript:alert(1)>z</maction></math> "
    "\\text{<b>bold</b>} **x** \x1b[31m \u202e {{ 7 * 7 }} \\boxed{<i>4</i>} '\" onfocus=alert(1) "
    "\ue000 \ue001 ``` [a](javascript:alert(1))"
)
"""What a model, a problem, a method or a store may be called by an enemy."""

_HTML = {
    "Accept": "text/html,application/xhtml+xml",
}
_ALIVE = {"iframe", "object", "embed", "style", "maction", "base", "foreignobject", "animate"}
_BLOCKS = {"a", "button", "dd", "dt", "h1", "h2", "h3", "li", "option", "p", "pre", "td", "th"}
_ADDRESSES = ("href", "src", "action", "formaction", "xlink:href", "hx-get", "hx-post")


@dataclass
class Shown:
    """What a browser gets."""

    status: int
    text: str
    headers: Mapping[str, str]

    @property
    def words(self) -> str:
        """The text that a person reads, white space aside."""
        return " ".join("".join(_Reader(self.text).said).split())


@dataclass
class Paged:
    """A server that is running, and a browser of sorts."""

    server: Served
    session: aiohttp.ClientSession

    async def get(self, path: str, **headers: str) -> Shown:
        return await self._ask("GET", path, headers)

    async def post(self, path: str, form: Mapping[str, str], **headers: str) -> Shown:
        return await self._ask("POST", path, headers, data=form)

    async def _ask(self, verb: str, path: str, headers: Mapping[str, str], **body: Any) -> Shown:
        sent = _HTML | {name.replace("_", "-"): value for name, value in headers.items()}
        address = self.server.root + path
        async with self.session.request(
            verb, address, headers=sent, allow_redirects=False, **body
        ) as reply:
            shown = Shown(reply.status, await reply.text(), reply.headers)
        if "text/html" in shown.headers.get("Content-Type", ""):
            check_harmless(shown)
        return shown


@asynccontextmanager
async def paged(
    base_url: str,
    *runs: str,
    install: Callable[[web.Application], None] | None = None,
    marks: Path = Path("/nowhere"),
    **options: Any,
) -> AsyncGenerator[Paged]:
    """Start a server with its pages, and stop it afterwards; marks go into a folder."""
    site = SiteOptions(runs, marks / "labels.jsonl", marks / "classes.jsonl")
    install = install or (lambda application: install_pages(application, site))
    jar = aiohttp.CookieJar(unsafe=True)  # cookies of an address, too
    async with (
        served(base_url, install=install, **options) as server,
        aiohttp.ClientSession(cookie_jar=jar) as session,
    ):
        yield Paged(server, session)


class _Reader(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str]]] = []
        self.said: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, {name: value or "" for name, value in attrs}))

    def handle_endtag(self, tag: str) -> None:
        if tag in _BLOCKS:
            self.said.append(" ")

    def handle_data(self, data: str) -> None:
        self.said.append(data)


def check_harmless(shown: Shown) -> None:
    """Find anything in a page that runs, styles itself or leads away."""
    policy = shown.headers.get("Content-Security-Policy", "")
    assert "script-src 'self'; style-src 'self'" in policy
    assert "unsafe" not in policy
    for tag, given in _Reader(shown.text).tags:
        assert tag not in _ALIVE, shown.text
        assert "style" not in given, (tag, given)
        assert not [name for name in given if name.startswith(("on", "hx-on"))], (tag, given)
        if tag == "script":
            assert given["src"].startswith("/static/")
        if tag in ("img", "svg"):
            assert given.get("src", "/static/").startswith("/static/")
        for name in _ADDRESSES:
            assert given.get(name, "/").startswith(("/", "#", "data:,", "?")), (tag, given)
            assert not given.get(name, "/").startswith("//"), (tag, given)
    assert not any(mark in shown.text for mark in "\x1b\u202e")
