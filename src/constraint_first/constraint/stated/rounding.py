"""Rounding that is asked for: the decimals the answer may have, or what it is a multiple of."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from constraint_first.constraint.predicate import decimals, divisible
from constraint_first.constraint.stated.numeral import INTEGER, ORDINALS, WORDS, to_integer
from constraint_first.constraint.stated.reading import Reading
from constraint_first.constraint.stated.statement import Stated
from constraint_first.pattern import lazy_pattern

_PLACES: Final = {
    **dict.fromkeys(("integer", "whole number", "whole", "unit", "dollar", "percent", "degree"), 0),
    "tenth": 1,
    "hundredth": 2,
    "thousandth": 3,
    "ten-thousandth": 4,
    "cent": 2,
    "penny": 2,
}
_MULTIPLES: Final = {"ten": 10, "hundred": 100, "thousand": 1000}
_NEAREST: Final = lazy_pattern(
    r"\bto\s+the\s+nearest\s+"
    rf"({'|'.join(sorted([*_PLACES, *_MULTIPLES], key=len, reverse=True))})\b"
    r"(?!\s*-|\s+(?:of\s+an?\s+)?[a-z]*illion|\s+(?:million|thousand|hundred|cents?|dollars?"
    r"|percent))"
)
_DECIMALS: Final = lazy_pattern(
    rf"\b(?:to|correct\s+to)\s+({'|'.join(WORDS)}|\d)\s+decimal\s+(?:places?|digits?)\b"
)
_TRUNCATED: Final = lazy_pattern(
    r"\b(?:truncated?|cut|cutting)\b[^.?!;]{0,40}?\bafter\s+the\s+(?:([a-z]+)\s+)?decimal\s+"
    r"(?:place|point|digit)\b"
    r"|\bdigits?\s+after\s+the\s+(?:([a-z]+)\s+)?decimal\s+(?:place|point)"
    r"(?=\s+(?:are|is)\s+(?:deleted|dropped|cut|left)|\s+instead\s+of\s+rounding"
    r"|\s*,\s*without\s+rounding)"
)
_MULTIPLE: Final = lazy_pattern(
    rf"\b(?:to|down\s+to|up\s+to)\s+the\s+(?:nearest|next)\s+multiple\s+of\s+({INTEGER})"
)
_RESULT: Final = lazy_pattern(
    r"\b(?:which|what)\s+number\b|\bwhat\s+do\s+you\s+get\b|\bthe\s+result\b"
)
# The words that make a rounding part of a fact: what is asked for is then the exact value.
_GIVEN: Final = lazy_pattern(
    r"\bexact|\bestimat|\b(?:is|was|are|were|or)\s+\S{1,12}\s+(?:[a-z]+\s+)?(?:when|if)\s+rounded"
)
# A value that is told to the nearest unit lies between two others, and these have more decimals.
_MEASURED: Final = lazy_pattern(
    r"\b(?:least|smallest|greatest|largest|minimum|maximum|lower|upper|longest|shortest|highest"
    r"|lowest)"
    r"\s+(?:possible|bound|limit)|\bmeasured\b|\bmeasures\b|\baccura|\berror\b|\bcould\s+"
    r"(?:have\s+been|be)\b"
    r"|\bdifference\b|\bchanges?\b|\brounds\s+to\b|\bnumber\s+that\b|\b(?:smallest|largest"
    r"|least|greatest)\s+(?:integer|number|it)\b"
    r"|\btakes\s+\d|\bwhich\s+of\b|\bin\s+(?:tens|thousands|millions|billions|hundreds)\b"
)
_ANSWER: Final = lazy_pattern(
    r"\bround\s+(?:to|your|the|off|up|down|it)\b|\banswers?\b|\bexpress\b"
)


def read_rounding(reading: Reading) -> Iterator[Stated]:
    """Read to what place the answer is to be rounded or cut off."""
    if reading.question is None:
        return
    plain = reading.plain
    for found in _TRUNCATED.finditer(plain):
        word = found[1] or found[2]
        places = ORDINALS.get(word, 0) if word else 0
        if word and word not in ORDINALS:
            continue
        yield _decimals(places, found.span())
    for found in _MULTIPLE.finditer(plain):
        if _RESULT.search(plain, *reading.question) and not _GIVEN.search(plain):
            by = to_integer(found[1])
            if by:
                words = f"The answer is rounded: a multiple of {by}."
                yield Stated("modular", divisible(by), found.span(), words)
    if _GIVEN.search(plain) or _MEASURED.search(plain):
        return
    start, end = reading.question
    for found in (*_NEAREST.finditer(plain, start), *_DECIMALS.finditer(plain, start)):
        if found.start() >= end and not _ANSWER.search(plain, end):
            continue
        yield _rounded(found[1], found)


def _rounded(word: str, found: re.Match[str]) -> Stated:
    if word in _MULTIPLES:
        words = f"The answer is rounded: a multiple of {_MULTIPLES[word]}."
        return Stated("format", divisible(_MULTIPLES[word]), found.span(), words)
    places = _PLACES[word] if word in _PLACES else WORDS.get(word)
    return _decimals(int(word) if places is None else places, found.span())


def _decimals(places: int, span: tuple[int, int]) -> Stated:
    words = f"The answer has at most {places} decimals." if places else "The answer is whole."
    return Stated("format", decimals(places), span, words)
