"""Thinking that a model writes into its reply, ahead of what it means to say."""

from __future__ import annotations

import re
from typing import Final

__all__ = ["without_thinking"]

_BLOCK: Final = re.compile(
    # A block that never closes takes everything after it along.
    r"<(think|thinking|thought)>.*?(?:</\1>|\Z)",
    re.DOTALL | re.IGNORECASE,
)
_CLOSING: Final = re.compile(r"</(?:think|thinking|thought)>", re.IGNORECASE)


def without_thinking(text: str) -> str:
    """Drop thinking blocks, and all that stands before a closing tag whose opening is not shown."""
    return _CLOSING.split(_BLOCK.sub("", text))[-1]
