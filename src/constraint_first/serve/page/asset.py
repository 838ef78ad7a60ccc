"""Files that pages load beside their HTML: style, scripts and an icon, each with its hash.

A browser keeps a file for good, under an address that changes with its content.
"""

from __future__ import annotations

import hashlib
from functools import cache
from importlib.resources import files
from typing import Final, NamedTuple

from aiohttp import web

from constraint_first.analysis.report.formula import STYLE
from constraint_first.serve.error_reply import RequestError

__all__ = ["ROUTES", "asset_url"]

ROUTES: Final = web.RouteTableDef()

_TYPES: Final = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
_PARTS: Final = {
    "page.css": ("page.css", "content.css"),
    **{
        name: (name,)
        for name in (
            *("chart.js", "htmx.min.js", "icon.svg", "keys.js", "page.js", "playground.js"),
            *("uplot.min.css", "uplot.min.js"),
        )
    },
}
"""All files there are, by the name that a browser asks for."""


class _Asset(NamedTuple):
    content: bytes
    version: str


@cache
def _asset(name: str) -> _Asset:
    folder = files("constraint_first.serve.page").joinpath("static")
    content = b"".join(folder.joinpath(part).read_bytes() for part in _PARTS[name])
    if name == "page.css":
        content += STYLE.encode()
    return _Asset(content, hashlib.sha256(content).hexdigest()[:12])


def asset_url(name: str) -> str:
    """Say where a browser finds a file."""
    return f"/static/{name}?v={_asset(name).version}"


@ROUTES.get("/static/{name}")
async def send_asset(request: web.Request) -> web.Response:
    """Send a file; there are no others than those above, whatever the name."""
    name = request.match_info["name"]
    if name not in _PARTS:
        raise RequestError(f"{request.path}: there is no such file", 404)
    kept = "max-age=31536000, immutable" if "v" in request.query else "no-cache"
    return web.Response(
        body=_asset(name).content,
        content_type=_TYPES[name[name.rindex(".") :]],
        charset="utf-8",
        headers={"Cache-Control": kept},
    )
