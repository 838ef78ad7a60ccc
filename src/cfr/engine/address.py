"""Addresses of endpoints, as they may be shown."""

from __future__ import annotations

from urllib.parse import urlsplit, urlunsplit

__all__ = ["without_secrets"]


def without_secrets(base_url: str) -> str:
    """Drop what could be a key from an address: the user's part and the query."""
    try:
        parts = urlsplit(base_url)
    except ValueError:  # not an address, and still no place for a password
        return base_url.rpartition("@")[2].partition("?")[0]
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))
