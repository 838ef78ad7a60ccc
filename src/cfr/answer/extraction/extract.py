"""The final answer out of a completion.

Rules are tried from the most to the least explicit, each from the end of the text, so that a long
reply costs no more than a short one. What an unfinished reply says earlier is never its answer.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from cfr.answer.extraction.json_field import find_content, find_field
from cfr.answer.extraction.latex import restore_commands
from cfr.answer.extraction.prose import bare, from_choice, from_end, from_marker, unmarked
from cfr.thinking import without_thinking

__all__ = ["Extracted", "boxes", "extract"]


@dataclass(frozen=True, slots=True)
class Extracted:
    """A final answer and where in the reply it stood."""

    answer: str | None
    """The answer as the model wrote it; None where there is none."""
    how: str
    """The rule that found it, or why there is none."""


_TAIL = 3000
"""How much of the end of a reply the rules for prose look at."""
_LONGEST_BOX = 20_000
_MOST_BOXES = 20

_FINAL_CHANNEL = "<|channel|>final<|message|>"
_TURN_ENDS = ("<|im_end|>", "<|im_start|>", "<|endoftext|>", "<|eot_id|>", "</s>", "<|end|>")
_NOTHING = frozenset(
    {"", "n/a", "na", "none", "null", "nil", "no answer", "unknown", "not found", "?", "...", "-"}
    | {"i don't know", "i do not know", "idk", "not available", "no final answer", "undetermined"}
)
_UNBRACED = re.compile(r"[^\s$.,;}]+")
_TYPESETTING = re.compile(r"\\text\s*|[{}$*.]")


def extract(text: str, *, truncated: bool = False) -> Extracted:
    """Read the final answer out of a reply; of a truncated one, only what is explicit counts."""
    text = _reply(text)
    if not text:
        return Extracted(None, "empty")
    for rule in (_from_json, _from_box, _from_tag):
        if (found := rule(text)) is not None:
            return found
    if not truncated and (whole := bare(text)) is not None:
        return _found(whole, "bare")
    tail = text[-_TAIL:]
    for rule in (from_marker,) if truncated else (from_marker, from_choice, from_end):
        if (found := rule(tail)) is not None:
            return _found(*found)
    return Extracted(None, "none")


def _found(answer: str, how: str) -> Extracted:
    answer = restore_commands(answer).strip()
    if len(answer) < 60 and _TYPESETTING.sub("", answer).strip().lower() in _NOTHING:
        return Extracted(None, "no answer")
    return Extracted(answer, how)


def _reply(text: str) -> str:
    """Drop the thinking before the reply and the turns after it."""
    text = without_thinking(text)
    if "<" in text and ("<|" in text or "</s>" in text):
        text = text.rpartition(_FINAL_CHANNEL)[2]
        for mark in _TURN_ENDS:
            if (end := text.find(mark)) > 0:
                text = text[:end]
    if text[:1] == "{" and '"reasoning_content"' in text:
        text = find_content(text)  # an endpoint's message, whole
    return text.strip()


def _from_json(text: str) -> Extracted | None:
    field = find_field(text)
    if field is None:
        started = text[:200].lstrip("`json \n").startswith("{") and "certificate_type" in text[:200]
        return Extracted(None, "no final_answer") if started else None
    if field.value is None:
        return Extracted(None, "json, unfinished" if not field.whole else "json, no value")
    return _finish(restore_commands(field.value), "json")


def _finish(value: str, how: str) -> Extracted:
    """Unwrap a value that repeats the marks of an answer inside itself."""
    if (box := _from_box(value)) is not None:
        return Extracted(box.answer, how)
    return _found(unmarked(value), how)


def _from_tag(text: str) -> Extracted | None:
    closed = text.rfind("</answer>")
    opened = text.rfind("<answer>", 0, closed) if closed >= 0 else -1
    return _finish(text[opened + 8 : closed], "tag") if opened >= 0 else None


def _from_box(text: str) -> Extracted | None:
    start = _last_box(text, len(text))
    if start < 0:
        return None
    place = _box(text, start)
    return _found(place[1], "boxed") if place else Extracted(None, "unterminated box")


def boxes(text: str) -> list[tuple[int, int, str]]:
    """List the complete boxes at the end of a text, the last first: start, end, content."""
    found: list[tuple[int, int, str]] = []
    end = len(text)
    while len(found) < _MOST_BOXES and (start := _last_box(text, end)) >= 0:
        place = _box(text, start)
        if place is None:
            break
        found.append((start, *place))
        end = start
    return found


def _last_box(text: str, end: int) -> int:
    start = text.rfind("\\boxed", 0, end)
    return start if start >= 0 else text.rfind("\\fbox", 0, end)


def _box(text: str, start: int) -> tuple[int, str] | None:
    """Read the box that begins here; None where it is never closed."""
    at = start + (6 if text.startswith("\\boxed", start) else 5)
    while text[at : at + 1] in (" ", "\n"):
        at += 1
    if text[at : at + 1] != "{":
        match = _UNBRACED.match(text, at)
        return (match.end(), match[0]) if match else None
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
                return position + 1, text[at + 1 : position]
        position += 1
    return None
