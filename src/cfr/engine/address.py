"""Addresses of endpoints, as they may be shown."""

from __future__ import annotations

from urllib.parse import urlsplit, urlunsplit

__all__ = ["without_secrets"]


def without_secrets(base_url: str) -> str:
    """Drop what could be a key from an address: the user's part and the query."""
    parts = urlsplit(base_url)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))
