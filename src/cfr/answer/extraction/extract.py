"""The final answer out of a completion.

Rules are tried from the most to the least explicit, each from the end of the text, so that a long
reply costs no more than a short one. What an unfinished reply says earlier is never its answer.
What a mark encloses is read in its turn, so that an answer is never a sentence that holds one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from cfr.answer.extraction.json_field import find_content, find_field
from cfr.answer.extraction.latex import restore_commands
from cfr.answer.extraction.prose import bare, from_choice, from_end, from_marker, unmarked
from cfr.thinking import without_thinking

__all__ = ["Extracted", "extract"]


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
_MOST_LAYERS = 8
"""How often what was found is read in its turn: \\boxed{**2 + 3 = 5**} has three layers."""

_FINAL_CHANNEL = "<|channel|>final<|message|>"
_TURN_ENDS = ("<|im_end|>", "<|im_start|>", "<|endoftext|>", "<|eot_id|>", "</s>", "<|end|>")
_NOTHING = frozenset(
    {"", "n/a", "na", "none", "null", "nil", "no answer", "unknown", "not found", "?", "...", "-"}
    | {"i don't know", "i do not know", "idk", "not available", "no final answer", "undetermined"}
)
_UNBRACED = re.compile(r"[^\s$.,;}]+")
_TYPESETTING = re.compile(r"\\text\s*|[{}$*.]")
# Most answers are numbers, names or simple fractions, with nothing in them to be read again.
_PLAIN = re.compile(r"[-−]?\w+(?:[.,/^]\w+)*|-?\\[dt]?frac\{\w+\}\{\w+\}", re.ASCII)
_JOINT = re.compile(
    r"[\s$,;]*(?:\\q?quad|\\text\s*\{\s*(?:and|or)\s*\}|and|or|\\[()\[\],;])?[\s$,;]*"
)
"""What may stand between two boxes that together are one answer."""
_LONGEST_JOINT = 40


def extract(text: str, *, truncated: bool = False) -> Extracted:
    """Read the final answer out of a reply; of a truncated one, only what is explicit counts.

    An answer that was extracted stays as it is when it is extracted again; or it has no answer in
    it (words in a box, say), and is the answer for its mark alone.
    """
    found = _read(text, truncated=truncated)
    for _ in range(_MOST_LAYERS):
        if found.answer is None or found.answer == text or _PLAIN.fullmatch(found.answer):
            break
        text = found.answer
        inner = _read(text, truncated=False).answer
        found = found if inner is None else Extracted(inner, found.how)
    return found


def _read(text: str, *, truncated: bool) -> Extracted:
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
    if place is None:
        return Extracted(None, "unterminated box")
    # Where no brace ends just before it, a long text need not be searched for another box.
    beside = text.rfind("}", max(0, start - _LONGEST_JOINT), start) >= 0
    return _found(_joined(text, start, place[1]) if beside else place[1], "boxed")


def _joined(text: str, start: int, last: str) -> str:
    """Join the box that starts here to those before it with nothing but "and" in between.

    Several different boxes side by side are one answer of several parts, whatever is asked for: a
    reply that hedges its answer does not have it right.
    """
    run = [last]
    while len(run) < _MOST_BOXES and (before := _last_box(text, start)) >= 0:
        place = _box(text, before)
        if place is None or not _JOINT.fullmatch(text, place[0], start):
            break
        run.append(place[1])
        start = before
    return last if len(set(run)) == 1 else ", ".join(reversed(run))


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
