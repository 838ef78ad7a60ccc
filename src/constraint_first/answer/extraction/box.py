"""Boxes around a final answer: ``\\boxed{…}``, ``\\fbox{…}`` and the box tokens of GLM models."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final

__all__ = ["Box", "find_box", "latex_boxes", "without_empty_boxes"]

_LONGEST_BOX: Final = 20_000
_MOST_BOXES: Final = 20
_MOST_UNFINISHED: Final = 4
_UNBRACED: Final = re.compile(r"[^\s$.,;}]+")
_JOINT: Final = re.compile(
    r"[\s$,;]*(?:\\q?quad|\\text\s*\{\s*(?:and|or)\s*\}|and|or|\\[()\[\],;])?"
    r"[\s$,;]*(?:[A-Za-z]\w?\s*=\s*)?"
)
"""Text allowed between two boxes that form one answer."""
_LONGEST_JOINT: Final = 40
_OPENED, _CLOSED = "<|begin_of_box|>", "<|end_of_box|>"
_BLANK: Final = re.compile(r"(?:\s|~|\$|\\[,;:! ]|\\q?quad|\\text\s*\{\s*\})*")
_EMPTY: Final = re.compile(r"\\?(?:boxed|fbox)[ \n]?\{\s*\}")


@dataclass(frozen=True, slots=True)
class Box:
    """What the last box of a reply holds; None where it is empty or never closed."""

    content: str | None
    closed: bool = True
    start: int = field(default=0, compare=False)
    end: int = field(default=0, compare=False)
    """Where it stands in the reply, with the boxes beside it."""


@dataclass(frozen=True, slots=True)
class _Place:
    start: int
    end: int
    content: str
    closed: bool = True


def latex_boxes(text: str, *, truncated: bool) -> str:
    """Write box tokens as LaTeX; the last one may end with the reply, unless it was cut off."""
    if _OPENED not in text:
        return text
    open_end = text.rfind(_OPENED) > text.rfind(_CLOSED)
    text = text.replace(_OPENED, r"\boxed{").replace(_CLOSED, "}")
    return text + "}" if open_end and not truncated else text


def without_empty_boxes(text: str) -> str:
    """Drop the boxes that hold nothing."""
    return _EMPTY.sub("", text)


def find_box(text: str) -> Box | None:
    """Find the last box and the boxes directly beside it.

    An empty box is skipped, and so is an unfinished one that repeats the complete box before it.
    Any other unfinished box means that there is no answer.
    """
    last = place = _box(text, len(text))
    if last is None:
        return None
    for _ in range(_MOST_UNFINISHED):
        if place is None or (place.closed and not _BLANK.fullmatch(place.content)):
            break
        place = _box(text, place.start)
    if place is None or not place.closed or _BLANK.fullmatch(place.content):
        return Box(None, closed=last.closed)
    if place is not last and not _repeats(text, last, place):
        return Box(None, closed=last.closed)
    # Where no brace ends just before it, a long text need not be searched for another box.
    beside = text.rfind("}", max(0, place.start - _LONGEST_JOINT), place.start) >= 0
    return _joined(text, place) if beside else _only(place)


def _only(place: _Place) -> Box:
    return Box(place.content, start=place.start, end=place.end)


def _repeats(text: str, last: _Place, before: _Place) -> bool:
    if last.closed:
        return True
    part_of_list = last.start - before.end <= _LONGEST_JOINT and _JOINT.fullmatch(
        text, before.end, last.start
    )
    return not part_of_list and before.content.strip().startswith(
        last.content.strip().rstrip("$.)]\\ ")
    )


def _joined(text: str, last: _Place) -> Box:
    """Join a box to those before it with nothing but "and" in between.

    Several different boxes side by side are one answer of several parts, whatever is asked for: a
    reply that hedges its answer does not have it right.
    """
    run, start = [last.content], last.start
    while len(run) < _MOST_BOXES and (before := _box(text, start)) is not None:
        near = start - before.end <= _LONGEST_JOINT
        if not (before.closed and near and _JOINT.fullmatch(text, before.end, start)):
            break
        run.append(before.content)
        start = before.start
    if len(set(run)) == 1:
        return _only(last)
    return Box(", ".join(reversed(run)), start=start, end=last.end)


def _box(text: str, end: int) -> _Place | None:
    """Read the last box that begins before a place."""
    start = _last_mark(text, end)
    if start < 0:
        return None
    at = text.index("box", start) + (3 if text.startswith("\\f", start) else 5)
    while text[at : at + 1] in (" ", "\n"):
        at += 1
    if text[at : at + 1] != "{":
        match = _UNBRACED.match(text, at)
        return _Place(start, match.end(), match[0]) if match else _Place(start, at, "", False)
    return _braced(text, start, at)


def _last_mark(text: str, end: int) -> int:
    """Find where a box begins; a backslash may be missing before a brace."""
    start = end
    while (start := text.rfind("boxed", 0, start)) >= 0:
        before = text[start - 1] if start else " "
        if before == "\\":
            return start - 1
        if text.startswith("{", start + 5) and not before.isalpha():
            return start
    return max(text.rfind(mark, 0, end) for mark in ("\\fbox", "\\framebox"))


def _braced(text: str, start: int, at: int) -> _Place:
    depth, position = 0, at
    limit = min(len(text), at + _LONGEST_BOX)
    while position < limit:
        char = text[position]
        if char == "\\":
            position += 1
        elif char == "{":
            depth += 1
        elif char == "}":
            depth -= 1
            if depth == 0:
                return _Place(start, position + 1, text[at + 1 : position])
        position += 1
    return _Place(start, limit, text[at + 1 : limit], False)
