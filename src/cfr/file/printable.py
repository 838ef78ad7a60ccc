"""Text that somebody else wrote, made harmless to whatever shows it."""

from __future__ import annotations

import re
from typing import Final

__all__ = ["printable"]

_UNPRINTABLE: Final = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]"
)


def printable(text: str) -> str:
    """Show control characters instead of obeying them, and whatever UTF-8 or XML cannot hold."""
    return _UNPRINTABLE.sub("\N{REPLACEMENT CHARACTER}", text)
