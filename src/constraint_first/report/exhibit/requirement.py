"""The predicates that a problem's own text states of its answer, where plain patterns can tell.

Unlike the router's cues these patterns yield numbers, and they serve to judge an answer, never to
route a problem. They are strict on purpose: a condition inside the problem ("n leaves remainder 3
when divided by 7") is no demand on its answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from constraint_first.constraint.predicate import (
    Predicate,
    above,
    at_least,
    at_most,
    below,
    between,
    code,
    least_residue,
)
from constraint_first.pattern import lazy_pattern


@lru_cache(4096)
def read_demands(text: str) -> tuple[Predicate, ...]:
    """Read what a problem's text demands of its answer: residues, codes such as m + n, ranges."""
    moduli = tuple(dict.fromkeys(m for m in _moduli(text) if m > 1))
    return (
        *(least_residue(modulus) for modulus in moduli),
        *(code(*factors) for factors in dict.fromkeys(_codes(text))),
        *(between(0, modulus - 1) for modulus in moduli),
        *_ranges(text),
    )


_WHOLE: Final = lazy_pattern(
    # Only an opening lets spaces begin again, so a long run of them is read once.
    r"\s*(?:(?:\\\(|[$({])\s*)*"
    # At most 18 digits: longer ones are no modulus or bound that a person writes out.
    r"(\d{1,3}(?:(?:,|\{,\}|\\,)\d{3}){1,5}|\d{1,15})(?:\s*\^\s*(?:\{\s*(\d{1,2})\s*\}|(\d)))?"
    # What goes on is another number: 10^9 + 7, 5!, 7k, 2.5.
    r"(?!\w|\s*[\^!+*/]|\s*\\(?:cdot|times)|[.,]\d|\{,\})"
)


def _whole(text: str, start: int) -> tuple[int, int] | None:
    """Read the whole number, or power of one, that stands at a place; and where it ends."""
    found = _WHOLE.match(text, start)
    if not found:
        return None
    base = int(re.sub(r"\D", "", found[1]))
    return base ** int(found[2] or found[3] or 1), found.end()


# What is asked for follows the verb at once; a count or a sum of such things is something else.
_ASK: Final = (
    r"\b(?:find|what\s+is|determine|compute|calculate|output|give|report|express)\b"
    r"(?:(?!\b(?:sum|product|number|many|integers?|values?|its|if|such|whose|with)\b)[^.?]){0,40}?"
)
_REMAINDER: Final = lazy_pattern(
    _ASK + r"\bremainder\b[^?]{0,300}?\bdivid(?:ed|es?|ing)\b[^?]{0,100}?\bby\b", re.IGNORECASE
)
_DIVIDED: Final = lazy_pattern(r"\bdivided\s+by\b", re.IGNORECASE)
_THEN_REMAINDER: Final = lazy_pattern(r"[^.?;]{0,20}?" + _ASK + r"\bremainder\b", re.IGNORECASE)
_MODULO: Final = lazy_pattern(r"(?:\\[pb]?mod\b|\bmod(?:ulo)?\b)", re.IGNORECASE)
_CONGRUENCE: Final = lazy_pattern(r"\\equiv|≡|\bcongruent\b|\bequivalent\b", re.IGNORECASE)
_LAST_DIGITS: Final = lazy_pattern(
    _ASK + r"\b(?:(?:last|final|rightmost)\s+(?:(two|three|four|five|six|[2-9])\s+)?digits?\b"
    r"|(?:units?|ones)(?:['’]s?)?\s+digit\b)",
    re.IGNORECASE,
)
_COUNTS: Final = {"two": 2, "three": 3, "four": 4, "five": 5, "six": 6}


def _moduli(text: str) -> Iterator[int]:
    lower = text.lower()  # most texts have none of these words, and need no pattern
    if "remainder" in lower:
        yield from _remainders(text)
    for found in _MODULO.finditer(text) if "mod" in lower else ():
        number = _whole(text, found.end())
        if number and not _CONGRUENCE.search(text, max(0, found.start() - 80), found.start()):
            yield number[0]
    for found in _LAST_DIGITS.finditer(text) if "digit" in lower else ():
        count = (found[1] or "1").lower()
        yield 10 ** (_COUNTS.get(count) or int(count))


def _remainders(text: str) -> Iterator[int]:
    for found in _REMAINDER.finditer(text):
        if number := _whole(text, found.end()):
            yield number[0]
    for found in _DIVIDED.finditer(text):
        number = _whole(text, found.end())
        if number and _THEN_REMAINDER.match(text, number[1]):
            yield number[0]


_CODE: Final = lazy_pattern(
    r"(?<![\w\\^{}_+*/=-])"
    r"((?:\d{0,4} ?[A-Za-z] ?\+ ?){1,5}\d{0,4} ?[A-Za-z])"
    r"(?=\s*(?:\$|\\\)|[.,;?)]|\Z)|\s+[a-z]{2})"
)
_TERM: Final = lazy_pattern(r"(\d*) ?([A-Za-z])")


def _codes(text: str) -> Iterator[tuple[int, ...]]:
    for found in _CODE.finditer(text):
        terms = _TERM.findall(found[1])
        if len({letter for _, letter in terms}) == len(terms):
            yield tuple(int(factor or 1) for factor, _ in terms)


# The thing that is asked for, named so that a bound behind it can speak of nothing else.
_ASKED: Final = lazy_pattern(
    r"\b(?:find|determine|what is|compute|give)\s+(?:the\s+)?"
    r"(?:(?:smallest|largest|least|greatest|unique|only|positive|non-?negative|prime|odd|even"
    r"|perfect|possible|whole|natural|(?P<digits>two|three|four|five|six)-digit)\s+){0,5}"
    r"(?:integer|number|prime|square|cube|multiple\s+of\s+\$?\d+\$?)\b(?!\s+of\b)"
    r"(?:\s+\$?[a-z]\b\$?)?(?:,?\s+(?:that|which)\s+is)?",
    re.IGNORECASE,
)
_ANSWER_IN: Final = lazy_pattern(r"\banswer\b[^.?]{0,60}?(?=\s(?:between|from)\s)", re.IGNORECASE)
_BETWEEN: Final = lazy_pattern(r"\s+(?:between|from)\b", re.IGNORECASE)
_AND: Final = lazy_pattern(r"[$)}\\\s]*(?:and|to)\b", re.IGNORECASE)
_BELOW: Final = lazy_pattern(
    r"\s+(less than or equal to|at most|not exceeding|less than|smaller than|below)\b",
    re.IGNORECASE,
)
_ABOVE: Final = lazy_pattern(
    r"\s+(greater than or equal to|at least|not less than|greater than|larger than|above)\b",
    re.IGNORECASE,
)
_STRICT: Final = ("less than", "smaller than", "below", "greater than", "larger than", "above")
_PROBABILITY: Final = lazy_pattern(r"\b(?:what is|find|determine|compute) the probability\b", re.I)


def _ranges(text: str) -> Iterator[Predicate]:
    for found in _ASKED.finditer(text):
        if found["digits"]:
            count = _COUNTS[found["digits"].lower()]
            yield between(10 ** (count - 1), 10**count - 1)
        if bound := _between(text, found.end()) or _one_sided(text, found.end()):
            yield bound
    for found in _ANSWER_IN.finditer(text):
        if bound := _between(text, found.end()):
            yield bound
    if _PROBABILITY.search(text):
        yield between(0, 1)


def _between(text: str, start: int) -> Predicate | None:
    opening = _BETWEEN.match(text, start)
    low = _whole(text, opening.end()) if opening else None
    joint = _AND.match(text, low[1]) if low else None
    high = _whole(text, joint.end()) if joint else None
    return between(low[0], high[0]) if low and high else None


def _one_sided(text: str, start: int) -> Predicate | None:
    for pattern, strictly, included in ((_BELOW, below, at_most), (_ABOVE, above, at_least)):
        if (found := pattern.match(text, start)) and (end := _whole(text, found.end())):
            return (strictly if found[1].lower() in _STRICT else included)(end[0])
    return None
