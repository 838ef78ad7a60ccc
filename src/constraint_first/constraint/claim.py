"""Reading decidable statements out of free text: "the answer is an even integer below 1000".

A claim is a predicate together with what it speaks about. The grammar is small on purpose: what it
does not know it leaves out, and the audit counts a text without claims as undecided.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, TypeAlias

from constraint_first.constraint.grammar import NAME, plain, read_predicates
from constraint_first.constraint.predicate import Predicate

__all__ = ["Claim", "Subject", "names_of_answer", "read_claims"]

Subject: TypeAlias = Literal["answer", "other"]
"""Whether a claim speaks about the final answer or about something else (or we cannot tell)."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A predicate that a text states, and what it states it about."""

    predicate: Predicate
    subject: Subject = "answer"


_SENTENCE = re.compile(r"\.(?=\s|$)|;")
_VERB = re.compile(
    r"\b(?:is|are|must|should|shall|will|can|cannot|lies|lie|has|have|leaves|ranges?|needs?|in|equals?)"
    r"\b|<=|>=|<|>|=|:"
)
_ANSWER = re.compile(r"\b(?:final|answer|answers|result|output|solution|response)\b")
_LEADING = re.compile(r"^(?:the|a|an|this|that|it|they|value|of) |^\W+")
_REASON = re.compile(r"\((?:since|because|as|when|if)\b[^()]*\)")
_EACH = re.compile(r"^\W*(?:each|every|all|any|both)\b")


def read_claims(text: str, names: frozenset[str] = frozenset()) -> list[Claim]:
    """Read the claims of a text; ``names`` are words that mean the answer of this problem."""
    return [
        Claim(predicate, subject)
        for sentence in _SENTENCE.split(_REASON.sub("", plain(text)))
        for subject in (_subject(sentence, names),)
        for predicate in read_predicates(sentence)
    ]


def _subject(sentence: str, names: frozenset[str]) -> Subject:
    """Tell what a sentence speaks about from the words before its first verb.

    A sentence that names no subject ("positive integer", "at most 999") answers the question it was
    asked, which is what the final answer must satisfy. A sentence about a letter or a thing that
    the problem does not ask for speaks about something else.
    """
    if _ANSWER.search(sentence):
        return "answer"
    verb = _VERB.search(sentence)
    head = sentence[: verb.start()] if verb else ""
    inequality = re.search(rf"\d ?<=? ?({NAME}) ?<", sentence)
    head = inequality[1] if inequality else head
    while (shorter := _LEADING.sub("", head)) != head:
        head = shorter
    if _EACH.match(sentence):  # the answer is one thing
        return "other"
    return "answer" if not head.strip() or _mentions(head, names) else "other"


def _mentions(head: str, names: frozenset[str]) -> bool:
    # "The digit sum of the number" is not the number.
    words = set(_WORD.findall(re.split(r" (?:of|when) ", head)[0]))
    return bool(words & names) or any(" " in name and name in head for name in names)


# --- Who the answer is: the words with which the problem asks for it.

_WORD = re.compile(r"\b[a-z]+(?:\+[a-z])*\b")
_ASKING = re.compile(
    r"\b(?:find|determine|compute|give(?! (?:the exact|the number|them))|what|which|solve"
    r"|how (?:many|long|old|likely))\b[^?.]*"
)
_STOP = re.compile(r"\b(?:of|that|when|if|such|with|on|to|between|for|do(?:es)?|can|from|at)\b|,")
_COUNT = re.compile(r"^(?:how many|find the number of) ")
_IDLE = frozenset(
    word
    for words in (
        "find determine compute give what which how solve",
        "the a an is are was it its this their there in be all one exact",
    )
    for word in words.split()
)
_ALSO = {
    "likely": "probability", "chance": "probability", "old": "age", "long": "length",
    "mean": "average", "average": "mean", "integer": "number", "number": "integer",
    "percent": "percentage", "modulo": "remainder",
}  # fmt: skip


def names_of_answer(text: str) -> frozenset[str]:
    """Collect the words that mean the answer of a problem: "remainder", "m+n", "width", …"""
    asked = _ASKING.findall(plain(text))
    if not asked:
        return frozenset()
    words = set(_WORD.findall(_STOP.split(_COUNT.sub("", asked[-1]))[0])) - _IDLE
    if _COUNT.match(asked[-1]):
        # What is counted is not the answer: "the multiples are odd" does not speak of their number.
        left = (
            {"remaining"} if re.search(r"\b(?:left|remains?|unsold)\b", asked[-1]) else set[str]()
        )
        return frozenset({"count"} | left | {f"number of {word}" for word in words})
    return frozenset(words | {_ALSO[word] for word in words if word in _ALSO})
