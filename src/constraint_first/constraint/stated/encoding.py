"""Encoded answers: the sum of parts like m + n that the text says to be whole numbers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from constraint_first.constraint.predicate import code
from constraint_first.constraint.stated.reading import ASK, Reading
from constraint_first.constraint.stated.statement import Stated
from constraint_first.pattern import lazy_pattern

_TERM: Final = r"(?:\d{1,4}\s*)?[a-z]"
_ASKED: Final = lazy_pattern(
    rf"\b(?:{ASK}|how\s+much\s+is|express|write|give)\s+(?:(?:the\s+)?(?:value|sum)\s+(?:of\s+)?)?"
    rf"({_TERM}(?:\s*\+\s*{_TERM})*)(?=\s*(?:[.?!,;]|$|alone\b|if\b|where\b|when\b|given\b|as\b"
    r"|for\b))"
)
_LETTERS: Final = r"[a-z](?:\s*,\s*(?:and\s+)?[a-z]|\s+and\s+[a-z])*"
_KIND: Final = (
    r"(?:(?:all|both|distinct|relatively|mutually|pairwise|coprime|co-prime|prime|square-?free"
    r"|positive|non-?negative|nonzero|whole|natural|not\s+necessarily\s+(?:distinct|different)"
    r"|,|and|some|the|two"
    r"|three)\s*)*"
    r"(?:integers?|primes?|(?:whole|natural|prime)\s+numbers?)\b"
    r"(?!\s*-|\s+(?:multiples?|powers?|valued|linear|coefficients?|polynomials?|combinations?"
    r"|matri|vectors?|sides?|lengths?|plus|or|divided)\b)"
)
_DECLARED: Final = lazy_pattern(
    rf"(?<![a-z\\])({_LETTERS})\s*(?:,\s*)?(?:are|is|be|being|both)\s+"
    rf"(?:all\s+|both\s+|a\s+|an\s+)*({_KIND})"
)
_DECLARED_WITH: Final = lazy_pattern(rf"\bwith\s+({_LETTERS})\s+({_KIND})")
_DECLARED_BEFORE: Final = lazy_pattern(rf"\b({_KIND})\s+({_LETTERS})(?![a-z])")
_LOWEST: Final = lazy_pattern(
    r"\b(?:in|to|is|into)\s+(?:its\s+|the\s+)?(?:lowest|simplest|reduced|simplified|most\s+"
    r"simplified|fully\s+reduced)\s+(?:terms|form|fraction)"
    r"|\bno\s+common\s+(?:factor|divisor)|\bcannot\s+be\s+(?:simplified|reduced)|\bsimplest\s+"
    r"whole-number\s+form"
    r"|\bsmallest\s+possible\s+whole\s+numbers|\bsimplify\s+the\s+ratio|\bcancell?ing\s+all\s+"
    r"common\s+factors"
    r"|\bin\s+its\s+simplest|\bfully\s+(?:simplified|reduced)|\bcancell?ing\s+every\s+common\s+"
    r"factor"
    r"|\b(?:lowest|simplest)\s+(?:terms|form)\b|\birreducible\b|\breduced\s+fraction\b"
)
_FRACTION: Final = lazy_pattern(
    r"\\[dt]?frac\s*\{\s*([a-z])\s*\}\s*\{\s*([a-z])\s*\}|\b([a-z])\s*/\s*([a-z])\b"
)
_RATIO: Final = lazy_pattern(r"(?<![a-z])([a-z](?:\s*:\s*[a-z]){1,5})(?![a-z])")


def read_encoding(reading: Reading) -> Iterator[Stated]:
    """Read that a sum of named whole parts is asked for, or one of them alone."""
    if reading.question is None:
        return
    if "numerator" in reading.plain or "terms" in reading.plain:
        yield from _read_words(reading)
    if (found := reading.asked(_DENOMINATOR)) and _LOWEST.search(reading.plain):
        words = "The answer is the denominator of a fraction: an integer of at least 1."
        yield Stated("domain", code(1, whole=True, least=1), found.span(), words)
    asked = reading.asked(_ASKED) or _asked_before(reading)
    factors = _factors(asked[1]) if asked else None
    if not asked or not factors:
        return
    least, proofs = _declared(reading.plain)
    if not all(letter in least for letter in factors):
        return
    parts = [(factor, least[letter]) for letter, factor in factors.items()]
    lowest = sum(factor * low for factor, low in parts if low is not None)
    signed = any(low is None for _, low in parts)
    pairs = [
        (found[1] or found[3], found[2] or found[4]) for found in _FRACTION.finditer(reading.plain)
    ]
    named = [above for above, _ in pairs]
    # One fraction, and the sum of its own two letters.
    certain = {frozenset(pair) for pair in pairs} == {frozenset(factors)}
    predicate = code(
        *factors.values(),
        whole=True,
        least=None if signed else lowest,
        fraction=len(factors) == 2 and any(name in factors for name in named),
    )
    asked_for = "".join(asked[1].split())
    bound = "" if signed else f" of at least {lowest}"
    for span in (asked.span(), *proofs):
        words = f"The answer is {asked_for}, an integer{bound}."
        yield Stated("format", predicate, span, words, certain=certain)


_ENDS: Final = (*".?!,;:", "")


def _asked_before(reading: Reading) -> re.Match[str] | None:
    """Find a sum of letters that an earlier sentence asks for: *Find p + q, where …*"""
    if "+" not in reading.plain:
        return None
    plain = reading.plain
    for at in reading.places(("find", "what is", "compute", "determine"), 0, len(plain)):
        if plain[:at].rstrip()[-1:] in _ENDS and (found := _ASKED.match(plain, at)):
            return found
    return None


def _read_words(reading: Reading) -> Iterator[Stated]:
    """Read the same demand without letters: add numerator and denominator."""
    lowest = _LOWEST.search(reading.plain)
    for pattern, fraction in ((_NUMERATOR, True), (_TERMS, False)):
        found = pattern.search(reading.plain)
        if found and lowest:
            least = 1 if fraction and _CHANCE.search(reading.plain) else None if fraction else 0
            words = "The answer is the sum of whole parts: an integer."
            predicate = code(1, 1, whole=True, least=least, fraction=fraction)
            for span in (found.span(), lowest.span()):
                yield Stated("format", predicate, span, words, certain=fraction)


def _factors(expression: str) -> dict[str, int] | None:
    """Take a sum apart: ``100m + n`` has the factors 100 and 1; None where a letter recurs."""
    factors: dict[str, int] = {}
    for term in "".join(expression.split()).split("+"):
        if term[-1] in factors:
            return None
        factors[term[-1]] = int(term[:-1] or 1)
    return factors


# Before a letter these make it a part of what is declared: *2x is an integer*.
_OPERATORS: Final = frozenset("0123456789+-*/^_(|={}!")


def _declared(plain: str) -> tuple[dict[str, int | None], list[tuple[int, int]]]:
    """Find the letters that stand for whole numbers, each with the least value it can have."""
    least: dict[str, int | None] = {}
    proofs: list[tuple[int, int]] = []
    ways = ((_DECLARED, 1, 2), (_DECLARED_WITH, 1, 2), (_DECLARED_BEFORE, 2, 1))
    for pattern, letters, kind in ways:
        for found in pattern.finditer(plain):
            if pattern is _DECLARED and plain[: found.start()].rstrip()[-1:] in _OPERATORS:
                continue
            for letter in re.findall(r"\b[a-z]\b", found[letters]):
                least.setdefault(letter, _least(found[kind]))
            proofs.append(found.span())
    if lowest := _LOWEST.search(plain):
        for found in _FRACTION.finditer(plain):
            above, below = found[1] or found[3], found[2] or found[4]
            least.setdefault(above, 0 if _CHANCE.search(plain) else None)
            least.setdefault(below, 1)
        for found in _RATIO.finditer(plain):
            for letter in re.findall(r"[a-z]", found[1]):
                least.setdefault(letter, 0)
        proofs.append(lowest.span())
    return least, proofs


def _least(kind: str) -> int | None:
    """The least value of a part: coprime numbers, unlike primes, may be 1."""
    if re.search(r"\bprimes?$|\bprime\s+numbers?$", kind) and not re.search(
        r"relatively|mutually|pairwise|co", kind
    ):
        return 2
    if re.search(r"non-?negative|whole", kind):
        return 0
    return 1 if re.search(r"positive|natural", kind) else None


_NUMERATOR: Final = lazy_pattern(
    r"\b(?:sum\s+of|add)\s+(?:the|its)\s+numerator\s+and\s+(?:(?:the|its)\s+)?denominator\b"
)
_DENOMINATOR: Final = lazy_pattern(
    rf"\b{ASK}\s+(?:the|its)\s+denominator\b|\bwhich\s+number\s+(?:[a-z]\s+)?is\s+the\s+"
    r"denominator\b"
)
_TERMS: Final = lazy_pattern(r"\badd\s+(?:up\s+)?(?:its|the)\s+terms\b")
_CHANCE: Final = lazy_pattern(r"\bprobability\b|\bchance\b|\blikely\b")
