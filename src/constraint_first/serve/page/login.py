"""Login: a person gives the server's token once, and the browser keeps it in a cookie."""

from __future__ import annotations

import asyncio
import hmac
from typing import Final

from aiohttp import web

from constraint_first.serve.guard import TOKEN_COOKIE
from constraint_first.serve.page.site import check_same_origin, read_form, render
from constraint_first.serve.service import SERVICES

__all__ = ["ROUTES"]

ROUTES: Final = web.RouteTableDef()
_PAUSE: Final = 0.5
"""Seconds that a wrong token costs, so that nobody guesses fast."""


@ROUTES.get("/login")
async def ask_token(request: web.Request) -> web.Response:
    """Show the form."""
    after = _local(request.query.get("next", "/"))
    if not request.app[SERVICES].settings.token:
        return _go(after)
    return render(request, "login.html", after=after, wrong=False)


@ROUTES.post("/login")
async def take_token(request: web.Request) -> web.Response:
    """Keep a token that is right."""
    check_same_origin(request)
    form = await read_form(request)
    token, after = form.get("token", "").strip(), _local(form.get("next", "/"))
    own = request.app[SERVICES].settings.token
    if not hmac.compare_digest(token.encode("utf-8", "replace"), own.encode()):
        await asyncio.sleep(_PAUSE)
        return render(request, "login.html", status=401, after=after, wrong=True)
    answer = _go(after)
    answer.set_cookie(
        TOKEN_COOKIE, own, httponly=True, samesite="Strict", secure=request.secure, path="/"
    )
    return answer


@ROUTES.post("/logout")
async def forget_token(request: web.Request) -> web.Response:
    """Forget the token."""
    check_same_origin(request)
    answer = _go("/login")
    answer.del_cookie(TOKEN_COOKIE, path="/")
    return answer


def _go(path: str) -> web.Response:
    return web.Response(status=303, headers={"Location": path})


def _local(path: str) -> str:
    """Keep to this server: a path that could name another is not followed."""
    plain = path.isascii() and path.isprintable()
    safe = plain and path.startswith("/") and not path.startswith(("//", "/\\"))
    return path if safe else "/"
