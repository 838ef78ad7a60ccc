"""Encoded answers: the sum of parts like m + n that the text says to be whole numbers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from constraint_first.constraint.predicate import code
from constraint_first.constraint.stated.reading import ANOTHER_BASE, ASK, Reading
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
    r"|matri|vectors?|sides?|lengths?|plus|or|of|divided)\b)"
)
_DECLARED: Final = lazy_pattern(
    rf"(?<![a-z\\])({_LETTERS})\s*(?:,\s*)?(?:are|is|be|being|both)\s+"
    rf"(?:all\s+|both\s+|a\s+|an\s+)*({_KIND})"
)
_DECLARED_WITH: Final = lazy_pattern(rf"\bwith\s+({_LETTERS})\s+({_KIND})")
_DECLARED_BEFORE: Final = lazy_pattern(rf"\b({_KIND})\s+({_LETTERS})(?![a-z])")
_LOWEST: Final = lazy_pattern(
    r"\b(?:lowest|simplest|simplified|reduced)\s+(?:terms|form|fraction)\b|\birreducible\b"
)
_FRACTION: Final = lazy_pattern(
    r"\\[dt]?frac\s*\{\s*([a-z])\s*\}\s*\{\s*([a-z])\s*\}|\b([a-z])\s*/\s*([a-z])\b"
)


def read_encoding(reading: Reading) -> Iterator[Stated]:
    """Read that a sum of named whole parts is asked for, or one of them alone."""
    asked = reading.asked(_ASKED)
    if asked is None or ANOTHER_BASE.search(reading.plain):
        return
    factors = _factors(reading.cased[slice(*asked.span(1))])
    least, proofs = _declared(reading)
    if not factors or not factors.keys() <= least.keys():
        return
    parts = [(factor, least[letter]) for letter, factor in factors.items()]
    lowest = sum(factor * low for factor, low in parts if low is not None)
    signed = any(low is None for _, low in parts)
    pairs = [*_fractions(reading)]
    # One fraction, and the sum of its own two letters.
    certain = {frozenset(pair) for pair in pairs} == {frozenset(factors)}
    predicate = code(
        *factors.values(),
        whole=True,
        least=None if signed else lowest,
        fraction=len(factors) == 2 and any(above in factors for above, _ in pairs),
    )
    asked_for = "".join(reading.cased[slice(*asked.span(1))].split())
    bound = "" if signed else f" of at least {lowest}"
    for span in (asked.span(), *proofs):
        words = f"The answer is {asked_for}, an integer{bound}."
        yield Stated("format", predicate, span, words, certain=certain)


def _fractions(reading: Reading) -> Iterator[tuple[str, str]]:
    """Find fractions of two letters: numerator and denominator."""
    for found in _FRACTION.finditer(reading.plain):
        above, below = (1, 2) if found[1] else (3, 4)
        yield reading.cased[found.start(above)], reading.cased[found.start(below)]


def _factors(expression: str) -> dict[str, int] | None:
    """Take a sum apart: ``100m + n`` has the factors 100 and 1; None where a letter recurs."""
    factors: dict[str, int] = {}
    for term in "".join(expression.split()).split("+"):
        if term[-1] in factors:
            return None
        factors[term[-1]] = int(term[:-1] or 1)
    return factors


# Before a letter these make it a part of what is declared, or the declaration a condition: *2x is
# an integer*, *the sum of a and b is prime*, *when n is an integer*.
_NO_LETTER: Final = lazy_pattern(
    r"(?:[0-9+\-*/^_(|={}!]|\b(?:of|by|times|over|plus|minus|than|or|either|neither|between|when"
    r"|whenever|unless|whether|only\s+if|not))\s*$"
)


def _declared(reading: Reading) -> tuple[dict[str, int | None], list[tuple[int, int]]]:
    """Find the letters that stand for whole numbers, each with the least value it can have."""
    plain, least = reading.plain, dict[str, int | None]()
    proofs: list[tuple[int, int]] = []
    ways = ((_DECLARED, 1, 2), (_DECLARED_WITH, 1, 2), (_DECLARED_BEFORE, 2, 1))
    for pattern, letters, kind in ways:
        for found in pattern.finditer(plain):
            before = plain[max(found.start() - 12, 0) : found.start()]
            if pattern is _DECLARED and _NO_LETTER.search(before):
                continue
            for letter in re.findall(r"\b[A-Za-z]\b", reading.cased[slice(*found.span(letters))]):
                least.setdefault(letter, _least(found[kind]))
            proofs.append(found.span())
    if lowest := _LOWEST.search(plain):
        for above, below in _fractions(reading):
            least.setdefault(above, 0 if "probability" in plain else None)
            least.setdefault(below, 1)
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
