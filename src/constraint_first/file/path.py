"""Paths as people write them."""

from __future__ import annotations

from pathlib import Path

__all__ = ["expand_user"]


def expand_user(path: str) -> Path:
    """Put a home folder in the place of ``~``; that of a user who is not known stays as it is."""
    try:
        return Path(path).expanduser()
    except RuntimeError:
        return Path(path)
