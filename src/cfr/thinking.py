"""Thinking that a model writes into its reply, ahead of what it means to say."""

from __future__ import annotations

from typing import Final

__all__ = ["without_thinking"]

_TAGS: Final = ("think", "thinking", "reasoning", "thought", "reasoning_content")
_MARKS: Final = (
    *((f"<{tag}>", f"</{tag}>") for tag in _TAGS),
    *((f"<{tag}>", f"</{tag}>") for tag in map(str.upper, _TAGS)),
    ("[THINK]", "[/THINK]"),
    ("◁think▷", "◁/think▷"),
)


def without_thinking(text: str) -> str:
    """Drop everything up to the last end of thinking, and thinking that never ends."""
    # One character is found far faster than several, and most replies have none of these.
    if "<" not in text and "◁" not in text and "[THINK]" not in text:
        return text
    for opening, closing in _MARKS:
        if (closed := text.rfind(closing)) >= 0:
            text = text[closed + len(closing) :]
        if (opened := text.find(opening)) >= 0:
            text = text[:opened]
    return text
