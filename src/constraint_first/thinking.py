"""Thinking that a model writes into its reply, before the reply proper.

Endpoints with a parser for their model return its thinking in a separate field. Others leave it in
the reply between two marks, without the first where the chat template contains it, or without the
last where the budget ran out. The driver of methods removes it from every reply; methods remove it
again, because stores contain replies from versions in which the driver did not.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

_TAGS: Final = ("think", "thinking", "reasoning", "thought", "reasoning_content")
_MARKS: Final = (
    *((f"<{tag}>", f"</{tag}>") for tag in _TAGS),
    *((f"<{tag}>", f"</{tag}>") for tag in map(str.upper, _TAGS)),
    ("[THINK]", "[/THINK]"),
    ("◁think▷", "◁/think▷"),
)


def without_thinking(text: str) -> str:
    """Drop the text up to the last end mark of thinking, and thinking that is never closed."""
    start, end = _said(text)
    return text[start:end]


def split_thinking(text: str) -> tuple[str, str]:
    """Split a reply into its thinking and the rest; JSON objects are never split."""
    start, end = _said(text)
    if (start, end) == (0, len(text)) or text.lstrip()[:1] == "{":
        return "", text
    thinking = text[:start] + text[end:]
    for mark in (mark for pair in _MARKS for mark in pair):
        thinking = thinking.replace(mark, "")
    return thinking.strip(), text[start:end].lstrip()


def _said(text: str) -> tuple[int, int]:
    start, end = 0, len(text)
    # Searching one character is far faster than several, and most replies have none of these.
    if "<" not in text and "◁" not in text and "[THINK]" not in text:
        return start, end
    for opening, closing in _MARKS:
        if (closed := text.rfind(closing, start, end)) >= 0:
            start = closed + len(closing)
        if (opened := text.find(opening, start, end)) >= 0:
            end = opened
    return start, end


class ThinkingStream:
    """Splits a reply into thinking and the rest while it is streamed."""

    def __init__(self) -> None:
        self._held = ""
        self._closing = ""
        self._is_json: bool | None = None

    def add(self, piece: str) -> Iterator[tuple[str, bool]]:
        """Yield the parts of a piece that can be shown, and whether each is thinking."""
        text, self._held = self._held + piece, ""
        if self._is_json is None and text.strip():
            self._is_json = text.lstrip()[0] == "{"
        # All marks begin with one of these, and most pieces have none.
        if "<" not in text and "[" not in text and "◁" not in text:
            yield from _part(text, self._closing)
            return
        while mark := self._next_mark(text):
            before, _, text = text.partition(mark)
            yield from _part(before, self._closing)
            self._closing = "" if self._closing else dict(_MARKS)[mark]
        # How many characters at the end could be the beginning of a mark?
        starts = (mark[:n] for mark in self._awaited() for n in range(1, len(mark)))
        sure = len(text) - max((len(start) for start in starts if text.endswith(start)), default=0)
        self._held = text[sure:]
        yield from _part(text[:sure], self._closing)

    def end(self) -> Iterator[tuple[str, bool]]:
        yield from _part(self._held, self._closing)
        self._held = ""

    def _awaited(self) -> tuple[str, ...]:
        if self._is_json:
            return ()
        return (self._closing,) if self._closing else tuple(opening for opening, _ in _MARKS)

    def _next_mark(self, text: str) -> str:
        return min(filter(text.__contains__, self._awaited()), key=text.find, default="")


def _part(text: str, closing: str) -> Iterator[tuple[str, bool]]:
    if text:
        yield text, bool(closing)
