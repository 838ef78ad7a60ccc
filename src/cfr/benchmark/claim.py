"""Reading decidable statements out of free text: "the answer is an even integer below 1000".

A claim is a predicate together with what it speaks about. The grammar is small on purpose: what it
does not know it leaves out, and the audit counts a text without claims as undecided.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, TypeAlias

from cfr.benchmark.demand import (
    above,
    at_least,
    at_most,
    below,
    between,
    congruent,
    digit_sum,
    digits_ordered,
    divides,
    divisible,
    form,
    integer,
    least_residue,
    not_whole,
    parity,
    reduced,
    square,
)
from cfr.benchmark.item import Predicate

__all__ = ["Claim", "Subject", "names_of_answer", "read_claims"]

Subject: TypeAlias = Literal["answer", "other"]
"""Whether a claim speaks about the final answer or about something else (or we cannot tell)."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A predicate that a text states, and what it states it about."""

    predicate: Predicate
    subject: Subject = "answer"


_NUMBER = r"(-?\d+(?:\.\d+|/[1-9]\d*)?)"
_NAME = r"(?:[a-z](?:\s*\+\s*[a-z])?|answer|result|remainder|probability)"
_WORDS = {"one": 1, "single": 1, "two": 2, "three": 3, "four": 4}
_UNITS = "percent|centimetres|centimeters|metres|meters|minutes|hours|grams|kilograms|dollars|cents"
_SPELLING = {"centimeters": "centimetres", "meters": "metres", "percentage": "percent"}
_PRECISION = {
    "integer": "1", "whole number": "1", "whole": "1", "unit": "1", "one": "1", "percent": "1",
    "tenth": "1/10", "hundredth": "1/100", "dollar": "1", "cent": "1/100",
}  # fmt: skip

_LATEX = (
    (r"\\(?:d|t)?frac\{([^{}]*)\}\{([^{}]*)\}", r"\1/\2"),
    (r"\\pmod\{?\s*(\w+)\s*\}?", r" (mod \1)"),
    (r"\\(?:leq?|leqslant)\b|≤", "<="),
    (r"\\(?:geq?|geqslant)\b|≥", ">="),
    (r"\\equiv|≡", " = "),
    (r"\\in\b|∈", " in "),
    (r"\\l?dots|\.\.\.", "…"),
    (r"\\(?:text|mathrm|textbf|mathbf|mathbb|boxed)\b", ""),
    (r"%", " percent "),
    (r"[–—−]", "-"),
    (r"\\([{}])", r"\1"),
    (r"\s*\+\s*", "+"),
    (r"\\[,;!]|[$\\*`]", ""),
    (r"(?<=\d),(?=\d{3}\b)(?![^\[{(]*[\]})])", ""),  # 1,000 but not the set {0,100}
)  # fmt: skip


def _plain(text: str) -> str:
    """Bring LaTeX, typography and case down to one way of writing."""
    for pattern, new in _LATEX:
        text = re.sub(pattern, new, text)
    return re.sub(r"\s+", " ", text).strip().lower()


_Build: TypeAlias = "Callable[[re.Match[str]], list[Predicate]]"


def _chain(match: re.Match[str]) -> list[Predicate]:
    low, first, second, high = match[1], match[2], match[3], match[4]
    return [
        at_least(Fraction(low)) if first == "<=" else above(Fraction(low)),
        at_most(Fraction(high)) if second == "<=" else below(Fraction(high)),
    ]


def _range(match: re.Match[str]) -> list[Predicate]:
    low, high = Fraction(match[1]), Fraction(match[2])
    return [between(low, high)] if low <= high else []


def _strictly(match: re.Match[str]) -> list[Predicate]:
    return [above(Fraction(match[1])), below(Fraction(match[2]))]


def _compare(match: re.Match[str]) -> list[Predicate]:
    value = Fraction(match[2])
    build = {"<": below, ">": above, ">=": at_least, "<=": at_most}[match[1]]
    return [build(value)]


def _digits(match: re.Match[str]) -> list[Predicate]:
    size = _WORDS.get(match[1]) or int(match[1])
    return [integer(), between(10 ** (size - 1) if size > 1 else 0, 10**size - 1)]


def _last(match: re.Match[str]) -> list[Predicate]:
    size = _WORDS.get(match[1]) or int(match[1])
    return [least_residue(10**size)]


def _unit(match: re.Match[str]) -> list[Predicate]:
    return [{"op": "in_unit", "unit": _SPELLING.get(match[1], match[1])}]


def _always(*predicates: Predicate) -> _Build:
    return lambda _match: list(predicates)


# The order matters: a pattern takes its words away from those below it, so that the 7 of
# "remainder when divided by 7" is not read a second time as a bound.
_GRAMMAR: tuple[tuple[str, _Build], ...] = (
    (rf"\bnearest ({'|'.join(_PRECISION)})\b",
     lambda m: [{"op": "rounded", "unit": _PRECISION[m[1]]}]),
    (r"\bintegers? or (?:an? )?(?:\w+ )?(?:fraction|decimal)s?\b", _always()),  # says nothing
    (r"\bnot (?:necessarily |always )?(?:an? )?(?:integer|whole number)|\bnon-?integer",
     _always(not_whole())),
    (r"(?:remainder (?:of )?|leaves (?:a remainder of )?)(\d+)[^.;]{0,30}?"
     r"(?:divided by|division by|modulo|mod) (\d+)",
     lambda m: [congruent(int(m[1]), int(m[2]))]),
    (r"= ?(\d+) ?\(?mod(?:ulo)? ?(\d+)\)?", lambda m: [congruent(int(m[1]), int(m[2]))]),
    (r"\b(?:remainder|mod|modulo|reduced)\b[^.;]{0,60}?(?:divided by|division by|modulo|mod) (\d+)"
     r"|\b(?:mod|modulo) (\d+)",
     lambda m: [least_residue(int(m[1] or m[2]))]),
    (r"\b(?:last|final) (one|two|three|four|\d) digits?", _last),
    (r"\b(single|one|two|three|four|\d)[- ]digit\b", _digits),
    (r"\b(?:not|in)divisible by\b[^,.;]*|\bnot (?:a )?multiple of\b[^,.;]*", _always()),
    (r"\b(?:divisible by|(?:a )?multiples? of) (\d+)", lambda m: [divisible(int(m[1]))]),
    (r"\b(?:divides|divisors? of|factors? of) (\d+)", lambda m: [divides(int(m[1]))]),
    (r"\bdigits?\b[^.;]{0,40}\b(increas|decreas|ascend|descend)",
     lambda m: [digits_ordered("increasing" if m[1] in ("increas", "ascend") else "decreasing")]),
    (r"\bdigit(?:s|al)?\b[^.;]{0,12}?\b(?:sum|add up|total)[^.;\d]{0,20}(\d+)"
     r"|\bsum of (?:its |the |their )?digits[^.;\d]{0,20}(\d+)",
     lambda m: [digit_sum(int(m[1] or m[2]))]),
    (rf"{_NUMBER} ?(<=|<) ?{_NAME} ?(<=|<) ?{_NUMBER}", _chain),
    (rf"\bstrictly between {_NUMBER} and {_NUMBER}", _strictly),
    (rf"\bbetween {_NUMBER} (?:and|to) {_NUMBER}", _range),
    (rf"[\[{{(] ?{_NUMBER} ?(?:,[^\[\]{{}}()]*)?(?:,|…|to|-) ?{_NUMBER} ?[\]}})]", _range),
    (rf"\b(?:from )?{_NUMBER} ?(?:to|through|-) ?{_NUMBER}\b", _range),
    (rf"(<=|>=|<|>) ?{_NUMBER}", _compare),
    (rf"\b(?:at most|no (?:more|greater|larger) than|not exceed(?:ing)?|cannot exceed|up to"
     rf"|maximum of|(?:less|smaller) than or equal to) {_NUMBER}",
     lambda m: [at_most(Fraction(m[1]))]),
    (rf"\b(?:at least|no (?:less|smaller) than|minimum of|greater than or equal to) {_NUMBER}",
     lambda m: [at_least(Fraction(m[1]))]),
    (rf"\b(?:less|smaller|fewer|lower) than {_NUMBER}|\b(?:below|under) {_NUMBER}",
     lambda m: [below(Fraction(m[1] or m[2]))]),
    (rf"\b(?:greater|more|larger|bigger) than {_NUMBER}|\b(?:above|exceeds?|over) {_NUMBER}",
     lambda m: [above(Fraction(m[1] or m[2]))]),
    (r"\bnon-?negative\b", _always(at_least(0))),
    (r"\bpositive\b", _always(above(0))),
    (r"\b(?:integers?|whole numbers?|natural numbers?|count)\b", _always(integer())),
    (r"\b(even|odd)\b", lambda m: [parity("even" if m[1] == "even" else "odd")]),
    (r"\bperfect square\b|\bsquare of an integer\b", _always(square())),
    (r"\b(?:m ?\+ ?n|p ?\+ ?q|a ?\+ ?b(?: ?\+ ?c)?)\b", _always({"op": "encoded"})),
    (r"\b(?:lowest terms|relatively prime|coprime|simplest form|reduced|simplified|irreducible)\b",
     _always(reduced())),
    (r"\bfraction\b", _always(form("fraction"))),
    (r"\bmultiple[- ]choice\b|\bletter\b|\boptions?\b|\ba, ?b, ?c\b|\ba-e\b",
     _always(form("choice"))),
    (rf"\b({_UNITS}|percentage)\b", _unit),
)  # fmt: skip

_COMPILED = tuple((re.compile(pattern), build) for pattern, build in _GRAMMAR)
_SENTENCE = re.compile(r"\.(?=\s|$)|;")
_VERB = re.compile(
    r"\b(?:is|are|must|should|shall|will|can|cannot|lies|lie|has|have|leaves|ranges?|needs?|in|equals?)"
    r"\b|<=|>=|<|>|=|:"
)
_ANSWER = re.compile(r"\b(?:final|answer|answers|result|output|solution|response)\b")
_LEADING = re.compile(r"^(?:the|a|an|this|that|it|all|every|each|any|they|value|values|of) |^\W+")


def read_claims(text: str, names: frozenset[str] = frozenset()) -> list[Claim]:
    """Read the claims of a text; ``names`` are words that mean the answer of this problem."""
    return [
        Claim(predicate, subject)
        for sentence in _SENTENCE.split(_plain(text))
        for subject in (_subject(sentence, names),)
        for predicate in _predicates(sentence)
    ]


def _predicates(sentence: str) -> Iterator[Predicate]:
    for pattern, build in _COMPILED:
        while match := pattern.search(sentence):
            yield from build(match)
            sentence = f"{sentence[: match.start()]} \x00 {sentence[match.end() :]}"


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
    inequality = re.search(rf"\d ?<=? ?({_NAME}) ?<", sentence)
    head = inequality[1] if inequality else head
    while (shorter := _LEADING.sub("", head)) != head:
        head = shorter
    return "answer" if not head.strip() or _mentions(head, names) else "other"


def _mentions(head: str, names: frozenset[str]) -> bool:
    words = set(_WORD.findall(head))
    return bool(words & names) or any(" " in name and name in head for name in names)


# --- Who the answer is: the words with which the problem asks for it.

_WORD = re.compile(r"[a-z]+(?:\+[a-z])*")
_ASKING = re.compile(
    r"\b(?:find|determine|compute|give|what|which|how (?:many|long|old|likely)|solve)\b[^?.]*"
)
_STOP = re.compile(r"\b(?:of|that|when|if|such|with|on|to|between|for|do(?:es)?|can|from|at)\b|,")
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
    asked = _ASKING.findall(_plain(text))
    if not asked:
        return frozenset()
    if asked[-1].startswith("how many"):
        # What is counted is not the answer: "the multiples are odd" does not speak of their number.
        return frozenset(("number of", "count", "total"))
    words = set(_WORD.findall(_STOP.split(asked[-1])[0])) - _IDLE
    return frozenset(words | {_ALSO[word] for word in words if word in _ALSO})
