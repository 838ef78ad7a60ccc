"""Patterns of English phrases, written as lists of phrases."""

from __future__ import annotations

import re

__all__ = ["either"]


def either(phrases: str) -> str:
    """The pattern of any of some phrases, given with commas between; ``(s)`` may be left out."""
    listed = (one.strip() for one in phrases.split(","))
    parts = sorted((one for one in listed if one), key=len, reverse=True)
    return f"(?:{'|'.join(map(_pattern, parts))})"


def _pattern(phrase: str) -> str:
    escaped = re.sub(r"\\\((\w+)\\\)", r"(?:\1)?", re.escape(phrase))
    return re.sub(r"(?:\\ )+", r"\\s+", escaped)
