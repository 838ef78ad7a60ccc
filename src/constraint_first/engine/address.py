"""Addresses of endpoints: as they may be shown, and whether they can be asked at all."""

from __future__ import annotations

import base64
import re
from functools import lru_cache
from typing import Final
from urllib.parse import parse_qsl, unquote, urlsplit, urlunsplit

__all__ = ["fault_in", "join", "secrets_in", "without_secrets"]

_SCHEMES: Final = ("http://", "https://")
_EXAMPLE: Final = "write it as http://HOST:PORT/v1"
_UNWRITABLE: Final = re.compile(r"[\x00-\x20\x7f-\x9f\ud800-\udfff]")
_LABEL: Final = re.compile(r"(?!-)[\w-]{1,63}(?<!-)", re.ASCII)
_LONGEST_HOST: Final = 253
_SHORTEST_TOKEN: Final = 8


def without_secrets(base_url: str) -> str:
    """Drop what could be a key from an address, well-formed or not: the user's part, the query."""
    scheme, separator, rest = base_url.partition("://")
    if not separator:
        scheme, rest = "", base_url
    place = re.split(r"[?#]", rest.rpartition("@")[2])[0]
    return "".join(filter(str.isprintable, f"{scheme}{separator}{place}"))


def secrets_in(base_url: str) -> tuple[str, ...]:
    """List what an address carries that nobody else may see: a password, tokens in its query."""
    parts = urlsplit(base_url)
    user, password = (unquote(part or "") for part in (parts.username, parts.password))
    basic = base64.b64encode(f"{user}:{password}".encode()).decode()
    others = (user, *(value for _, value in parse_qsl(parts.query)))
    tokens = (value for value in others if len(value) >= _SHORTEST_TOKEN)
    return (*((password, basic) if password else ()), *tokens)


@lru_cache(maxsize=256)
def join(base_url: str, path: str) -> str:
    """Append a path, which may have a query of its own, to an address, ahead of its query."""
    parts = urlsplit(base_url)
    path, _, asked = path.partition("?")
    whole = f"{parts.path.rstrip('/')}/{path}"
    query = "&".join(filter(None, (parts.query, asked)))
    return urlunsplit((parts.scheme, parts.netloc, whole, query, ""))


def fault_in(base_url: str) -> str:
    """Say why an address cannot be one, and the way out; empty where it can."""
    if not base_url.lower().startswith(_SCHEMES):
        return f"not an address: begin with http:// or https://; {_EXAMPLE}"
    if _UNWRITABLE.search(base_url):
        return f"not an address: it holds a space or a control character; {_EXAMPLE}"
    try:
        parts = urlsplit(base_url)
        host, port = parts.hostname or "", parts.port
    except ValueError:  # what it says may quote a password
        return f"not an address: its host or its port cannot be; {_EXAMPLE}"
    if not _can_be_host(host) or port == 0:
        return f"not an address: its host or its port cannot be; {_EXAMPLE}"
    if parts.path.rstrip("/").endswith("/chat/completions"):
        return "leave /chat/completions out of the address; it is added to it"
    return ""


def _can_be_host(host: str) -> bool:
    if ":" in host:  # an IPv6 address, which urlsplit has checked
        return True
    try:
        name = host.encode("idna").decode()
    except UnicodeError:
        return False
    return len(name) <= _LONGEST_HOST and all(
        _LABEL.fullmatch(label) for label in name.removesuffix(".").split(".")
    )
