"""The guard of every route: who asks, from which page, and by which name for this server.

A name that leads here although it is not ours is how a web page elsewhere gets at a server on
somebody's own machine (DNS rebinding), so only names that we know are answered.
"""

from __future__ import annotations

import hmac
import ipaddress
import socket
from typing import Final
from urllib.parse import urlsplit

from aiohttp import web

from constraint_first.serve.error_reply import RequestError
from constraint_first.serve.setting import ServeSettings, is_loopback

__all__ = ["PUBLIC", "TOKEN_COOKIE", "Guard", "add_headers"]

PUBLIC: Final = frozenset({"/health", "/login", "/static/page.css"})
"""Paths that need no token."""
TOKEN_COOKIE: Final = "cfr-token"  # noqa: S105
"""Where a browser keeps the token that a person gave to a page of ours."""

_HEADERS: Final = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
}
_MOST_KNOWN: Final = 100
_PORTS: Final = {"http": 80, "https": 443}


class Guard:
    """Refuses requests that are not for this server, or not from somebody who may ask."""

    def __init__(self, settings: ServeSettings) -> None:
        self._token = settings.token.encode()
        self._only_here = is_loopback(settings.host)
        own = () if self._only_here else (socket.gethostname(), settings.host)
        self._hosts = {name.lower() for name in (*settings.allowed_hosts, *own)}
        self._known: set[str] = set()
        """Host headers that were found to be ours."""
        self._origins = {one.rstrip("/").lower() for one in settings.allowed_origins}

    def check_origin(self, request: web.Request) -> None:
        """Refuse a request that was not meant for this server, or that another one's page makes."""
        host = request.headers.get("Host", "")
        if host not in self._known and not self._is_ours(_name(host)):
            raise RequestError(
                f"host {host!r}: this server does not go by that name; whoever starts it can allow "
                "it with --allow-host",
                403,
                code="host_not_allowed",
            )
        if len(self._known) < _MOST_KNOWN:
            self._known.add(host)
        origin = request.headers.get("Origin")
        if origin is not None and not self._may_ask(origin, host):
            raise RequestError(
                f"origin {origin!r}: pages from there may not ask; whoever starts the server can "
                "allow it with --allow-origin",
                403,
                code="origin_not_allowed",
            )

    def check_token(self, request: web.Request) -> None:
        """Refuse whoever does not have the token, where there is one."""
        if self._token and request.path not in PUBLIC and not self._has_token(request):
            raise RequestError(
                "give the server's token, as the API key (Authorization: Bearer …)",
                401,
                code="invalid_api_key",
            )

    def is_foreign(self, origin: str) -> bool:
        """Say whether an origin is another server's that was allowed by name."""
        return origin.lower() in self._origins

    def _is_ours(self, name: str) -> bool:
        if name in self._hosts or is_loopback(name):
            return True
        # A number cannot have been rebound; only a server that others can reach is called by one.
        return not self._only_here and _is_address(name)

    def _may_ask(self, origin: str, host: str) -> bool:
        if origin.lower() in self._origins:
            return True
        try:
            parts = urlsplit(origin)
            port = parts.port
        except ValueError:
            return False
        if parts.scheme not in _PORTS or not parts.hostname:
            return False
        # Behind a proxy that speaks TLS the scheme is not ours, and neither is the usual port.
        usual = _PORTS[parts.scheme]
        there = (parts.hostname.lower(), port or usual)
        return there in {(_name(host), _port(host) or usual)}

    def _has_token(self, request: web.Request) -> bool:
        scheme, _, given = request.headers.get("Authorization", "").partition(" ")
        if scheme.lower() != "bearer":
            given = request.cookies.get(TOKEN_COOKIE, "")
        return hmac.compare_digest(given.strip().encode("utf-8", "replace"), self._token)


def _name(host: str) -> str:
    """Take the name out of a Host header, without a port and brackets."""
    if host.startswith("["):
        return host[1:].partition("]")[0].lower()
    return host.rpartition(":")[0].lower() if host.count(":") == 1 else host.lower()


def _port(host: str) -> int | None:
    digits = host.rpartition(":")[2]
    return int(digits) if digits.isascii() and digits.isdecimal() and len(digits) < 6 else None


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def add_headers(guard: Guard, request: web.BaseRequest, response: web.StreamResponse) -> None:
    """Add what every reply tells a browser, unless its handler has said otherwise."""
    headers = response.headers
    for name, value in _HEADERS.items():
        headers.setdefault(name, value)
    headers["Server"] = "cfr"
    origin = request.headers.get("Origin")
    if origin is not None and guard.is_foreign(origin):
        headers["Access-Control-Allow-Origin"] = origin
        headers["Access-Control-Allow-Headers"] = "Authorization, Content-Type"
        headers["Access-Control-Expose-Headers"] = "Retry-After"
        headers["Cross-Origin-Resource-Policy"] = "cross-origin"
        headers["Vary"] = "Origin"
