"""The final answer out of a completion.

Rules are tried from the most to the least explicit, each from the end of the text, so that a long
reply costs no more than a short one. What an unfinished reply says earlier is never its answer.
What a mark encloses is read in its turn, so that an answer is never a sentence that holds one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from constraint_first.answer.extraction.abstention import abstains, is_none, is_nothing
from constraint_first.answer.extraction.approximation import without_approximation
from constraint_first.answer.extraction.assertion import bounds, is_rejected, is_supposed
from constraint_first.answer.extraction.box import find_box, latex_boxes, without_empty_boxes
from constraint_first.answer.extraction.check import without_check
from constraint_first.answer.extraction.choice import from_choice
from constraint_first.answer.extraction.json_field import find_content, find_field
from constraint_first.answer.extraction.json_object import find_object_answer
from constraint_first.answer.extraction.latex import restore_commands
from constraint_first.answer.extraction.marker import from_marker, unmarked
from constraint_first.answer.extraction.phrase import LONGEST_ANSWER
from constraint_first.answer.extraction.prose import bare, concluded, corrected, from_end
from constraint_first.answer.extraction.sign import with_decimal_points, with_plain_signs
from constraint_first.thinking import without_thinking

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
_ORNAMENT = re.compile(
    r"</?(?:b|strong|em|i|u|code|p|div|span|center)>|[\U0001f300-\U0001faff✅✓✔☑✨]\ufe0f?",
    re.IGNORECASE,
)
_SPACES = re.compile(r"\s{4,}")
_LONGEST_TAG = 200
_MOST_DENIED = 4
_STATES = re.compile(
    r"(?:\b(?:is|are|be|was|were|equals)(?:\s+[a-z]+){2,4}|[<>=≤≥⩽⩾≠]|\\(?:[lg]eq?(?:slant)?|neq?|gt|lt))\Z",
    re.IGNORECASE,
)
_MOST_LAYERS = 8
"""How often what was found is read in its turn: \\boxed{**2 + 3 = 5**} has three layers."""

_FINAL_CHANNEL = "<|channel|>final<|message|>"
_TURN_ENDS = (
    "<|im_end|>", "<|im_start|>", "<|endoftext|>", "<|eot_id|>", "</s>", "<|end|>", "<|user|>",
    "<|observation|>", "<|return|>", "<|eom_id|>", "<|END_OF_TURN_TOKEN|>", "<end_of_turn>",
    "<｜end▁of▁sentence｜>",
)  # fmt: skip
_TURN_MARKS = ("<|", "</s>", "<end_of_turn>", "<｜")
_TAG = re.compile(r"(?<![<\[])[<\[](/?)(final[_ -]?answer|answer|ans|result)[>\]]", re.IGNORECASE)
# Most answers are numbers, names or simple fractions, with nothing in them to be read again.
_PLAIN = re.compile(r"[-−]?[^\W_]\w*(?:[.,/^]\w+)*|-?\\[dt]?frac\{\w+\}\{\w+\}", re.ASCII)


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
    text = _reply(text, truncated=truncated)
    if not text:
        return Extracted(None, "empty")
    for rule in (_from_json, _from_box):
        if (found := rule(text)) is not None:
            return found
    if (tag := _from_tag(text, truncated=truncated)) is not None:
        return tag
    text = without_empty_boxes(text).strip() if "box" in text else text
    end = _closed_up(text[-LONGEST_ANSWER:])
    end = without_approximation(with_plain_signs(with_decimal_points(end)))
    if not truncated:
        whole = bare(end if len(text) <= LONGEST_ANSWER else text)
        if whole is not None:
            return _found(whole, "bare")
    return _from_prose(end[-_TAIL:], truncated=truncated)


def _closed_up(text: str) -> str:
    """Drop ornaments, and shorten long gaps, in which the rules would try every place."""
    text = text if text.isascii() and "<" not in text else _ORNAMENT.sub("", text)
    return _SPACES.sub(lambda run: "\n\n" if "\n" in run[0] else " ", text)


def _from_prose(tail: str, *, truncated: bool) -> Extracted:
    marked = from_marker(tail)
    if marked is not None and marked[0]:
        return _found(*((not truncated and corrected(tail, marked[0])) or marked))
    if truncated or marked is not None:
        return Extracted(None, "none" if marked is None else "no answer")
    if abstains(tail):
        return Extracted(None, "no answer")
    found = _from_last_words(tail)
    return Extracted(None, "none") if found is None else _found(*found)


def _from_last_words(tail: str) -> tuple[str, str] | None:
    before = without_check(tail)
    checked = (from_choice(before) or from_end(before)) if len(before) < len(tail) else None
    return checked or from_choice(tail) or from_end(tail)


def _found(answer: str, how: str) -> Extracted:
    answer = restore_commands(answer).strip()
    if is_nothing(answer) and not (how in ("marker", "boxed") and is_none(answer)):
        return Extracted(None, "no answer")
    return Extracted(answer, how)


def _reply(text: str, *, truncated: bool) -> str:
    """Drop the thinking before the reply and the turns after it."""
    text = without_thinking(text)
    if "<" in text and any(mark in text for mark in _TURN_MARKS):
        text = latex_boxes(text.rpartition(_FINAL_CHANNEL)[2], truncated=truncated)
        for mark in _TURN_ENDS:
            if (end := text.find(mark)) > 0:
                text = text[:end]
    if text[:1] == "{" and '"reasoning_content"' in text:
        text = find_content(text)  # an endpoint's message, whole
    if "\b" in text:
        text = text.replace("\boxed", "\\boxed")  # a command that a decoder has eaten
    return text.strip()


def _from_json(text: str) -> Extracted | None:
    field = find_field(text)
    if field is None:
        started = text[:200].lstrip("`json \n").startswith("{") and "certificate_type" in text[:200]
        if started:
            return Extracted(None, "no final_answer")
        value = find_object_answer(text) if text[-1] in "}`" else None
        return None if value is None else _finish(restore_commands(value), "json")
    if field.value is None:
        return Extracted(None, "json, unfinished" if not field.whole else "json, no value")
    return _finish(restore_commands(field.value), "json")


def _finish(value: str, how: str) -> Extracted:
    """Unwrap a value that repeats the marks of an answer inside itself."""
    if (box := find_box(value)) is not None and box.content is not None:
        return _found(box.content, how)
    return _found(unmarked(value), how)


def _from_box(text: str) -> Extracted | None:
    """Read the last box that the reply does not deny."""
    denied = 0
    while (box := find_box(text)) is not None and denied < _MOST_DENIED:
        if box.content is None:
            # An empty box says no more than none.
            return None if box.closed else Extracted(None, "unterminated box")
        if not (is_rejected(text, box.start, box.end) or is_supposed(text[: box.start])):
            return _found(_with_bounds(text, box.content, box.start, box.end), "boxed")
        if (instead := _instead(text[box.end :])) is not None:
            return instead
        text, denied = text[: box.start], denied + 1
    if not denied:
        return None
    stated = from_marker(text[-_TAIL:])
    return _found(*stated) if stated and stated[0] else Extracted(None, "no answer")


def _with_bounds(text: str, content: str, start: int, end: int) -> str:
    """Take a box for a bound where the bound is the claim: "x is at least" before the box.

    A box in "we need at least \\boxed{5} coins" is the number that was asked for.
    """
    before, behind = bounds(text, start, end)
    stated = (
        _STATES.search(text[max(0, start - _LONGEST_TAG) : start].rstrip(" $*(\\"))
        if before
        else None
    )
    return content.join((before if stated else "", behind))


def _instead(rest: str) -> Extracted | None:
    """Read the answer that a reply gives in place of the box before it, which it denies."""
    rest = with_plain_signs(rest[-_TAIL:])
    marked = from_marker(rest)
    found = marked if marked and marked[0] else concluded(rest)
    return None if found is None else _found(*found)


def _from_tag(text: str, *, truncated: bool) -> Extracted | None:
    """Read what the last pair of tags encloses, or the last tag opens near the end of the reply."""
    if "<" not in text and "[" not in text:
        return None
    tags = list(_TAG.finditer(text))
    for at in range(len(tags) - 1, -1, -1):
        if tags[at][1] and at and not tags[at - 1][1]:
            return _finish(text[tags[at - 1].end() : tags[at].start()], "tag")
    if tags and not tags[-1][1] and not truncated:
        rest = text[tags[-1].end() :]
        return _finish(rest, "tag") if len(rest) < _LONGEST_TAG else None
    return None
