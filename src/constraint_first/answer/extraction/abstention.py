"""Replies that give no answer, and say so: in a word where an answer should be, or a sentence."""

from __future__ import annotations

import re
from typing import Final

__all__ = ["abstains", "is_none", "is_nothing"]

_NOTHING: Final = frozenset(
    {"", "n/a", "na", "none", "null", "nil", "no answer", "unknown", "not found", "?", "...", "-"}
    | {"i don't know", "i do not know", "idk", "not available", "no final answer", "undetermined"}
    | {"unclear", "not sure", "tbd", "inconclusive", "…", "—", "___", "_", "??", "???"}
)
_TYPESETTING: Final = re.compile(r"\\text\s*|[{}$*.]")
_NO_ANSWER: Final = re.compile(r"no \w+ answer(?: (?:found|exists|available|possible|given))?")
_LONGEST_WORD: Final = 60
_LAST: Final = 300
"""How much of the end of a reply is read: what was given up earlier may have been found since."""

_FAILS: Final = (
    r"(?:(?:can|could|did|do|does|was|am|have|will|would)\s?(?:not|n['’]t)|can['’]t|won['’]t|"
    r"unable|not\s+able|failed|fail|impossible|not\s+possible|no\s+way|struggl\w+)"
)
_FINDS: Final = (
    r"(?:determined?|find|found|computed?|give|given|provided?|reach(?:ed)?|arrived?|obtain(?:ed)?"
    r"|derived?|produced?|solved?|know|completed?|finish(?:ed)?|help|concluded?|answer|got|get"
    r"|come\s+up|identify|decided?|figure|say|tell|state|assist|continue)"
)
_WANTED: Final = (
    r"(?:answers?|solution|problem|question|task|result|this|that|it|you|value|computation|rest"
    r"|proof|calculation)"
)
_GAVE_UP: Final = re.compile(
    rf"\b{_FAILS}\s+(?:\w+\s+){{0,3}}?{_FINDS}\b(?:\s+\w+){{0,4}}?\s+{_WANTED}\b"
    rf"|\b(?:answer|solution|result|conclusion)\s+(?:\w+\s+){{0,4}}?{_FAILS}\s+(?:\w+\s+){{0,2}}?"
    rf"{_FINDS}\b"
    r"|\bno\s+(?:\w+\s+)?(?:answer|conclusion)\b(?!\s+choice)"
    r"|\b(?:do\s+not|don['’]t)\s+know\b|\b(?:not\s+sure|unsure|uncertain)\s+(?:\w+\s+){0,3}?"
    r"(?:answer|solution|result)\b|\bran\s+out\s+of\s+(?:time|space|tokens|room|budget)\b"
    r"|\bI\s+(?:give|gave)\s+up\b|\bstuck\b|\bI\s+(?:cannot|can['’]t|can\s+not)\s+(?:solve|answer|help)\b"
    r"|\b(?:without|before)\s+(?:\w+\s+){0,2}?(?:an?|the)\s+(?:\w+\s+)?answer\b",
    re.IGNORECASE,
)


def is_nothing(answer: str) -> bool:
    """Whether what stands in an answer's place says that there is none."""
    if len(answer) >= _LONGEST_WORD or answer.isdecimal():
        return False
    word = _TYPESETTING.sub("", answer).strip().lower()
    return word in _NOTHING or _NO_ANSWER.fullmatch(word) is not None


def is_none(answer: str) -> bool:
    """Whether a word says that none exist, which is an answer where a mark introduces it."""
    return _TYPESETTING.sub("", answer).strip() == "none"


def abstains(text: str) -> bool:
    """Whether the last words of a reply say that it has no answer; "no solution" is one."""
    last = text[-_LAST:].rstrip().rpartition("\n")[2]
    return _GAVE_UP.search(re.split(r"(?<=[.!?])\s+(?=[A-Z])", last)[-1]) is not None
