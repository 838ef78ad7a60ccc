"""The rule for words in capital letters: how many of them a reply has."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from constraint_first.constraint.reply.bound import Amount, amounts, both_ends
from constraint_first.constraint.reply.pattern import either
from constraint_first.constraint.reply.request import Found, Sentence
from constraint_first.pattern import lazy_pattern

_CAPITALS: Final = (
    r"(?:capital\s+letters|capitals|capitali[sz]ed|capital|caps|upper[\s-]?cased?(?:\s+letters)?)\b"
)
_IN: Final = r"(?:(?!\band\b|\bwith\b|\bwords?\b)[^.;,\"]){0,60}?"
_CAPITAL_WORDS: Final = lazy_pattern(
    rf"\bwords?\b\s+(?:with\s+)?{_IN}\b{_CAPITALS}"
    rf"|\b(?:(?:all|fully|entirely)[\s-]+)?{_CAPITALS}(?:-only)?\s+words?\b"
    rf"|\b{_CAPITALS}\s+for\s+(?:the\s+|an?\s+)?(?:entire|whole|full)\s+words?\b"
)
_WORDS: Final = lazy_pattern(r"\s*(?:(?!and\b)[a-z-]+\s+){0,2}")
_OF_WORDS: Final = lazy_pattern(
    rf"(?:\s+of\s+[a-z]+)?\s+(?:should|must|may|can|be|are|in|is)\b{_IN}\b{_CAPITALS}"
)
_TIMES: Final = lazy_pattern(
    r"\s*"
    + either(
        "time(s), instances, occurrences, word(s), occasions, cases, places, of them, of those"
    )
    + r"\b"
)
_LENGTH: Final = lazy_pattern(r"\blength\b|\btotal\b|\"")
"""What may stand before an amount of something else: of all words, or of a word in quotes."""
_NUMBER_OF: Final = lazy_pattern(r"\bnumber\s+of\s+$")
_NUMBERS: Final = lazy_pattern(r"\b(?:number|stay|remain)\s*$|^\s*:\s*$")
_USE: Final = lazy_pattern(
    rf"\b{either('use, using, include, including, have, add, contain, with, put')}"
    r"\s+(?:[a-z]+\s+){0,3}$"
)
_NO: Final = lazy_pattern(r"\b(?:not|no|without|avoid)\b|n't\b")


def read_capital_words(sentence: Sentence) -> Iterator[Found]:
    plain = sentence.plain
    for found in _CAPITAL_WORDS.finditer(plain):
        if not sentence.allows(found.start()):
            continue
        counted = [one for one in amounts(plain) if _counts(plain, found, one)]
        for one in counted:
            start, end = min(one.start, found.start()), max(one.end, found.end())
            told = both_ends(plain, one.widened(plain[end:]), end)
            ends = (told if told.high != one.low else told.at_least).ends
            yield sentence.found({"op": "capital_words", **ends}, start, end)
        before = plain[: found.start()]
        if not counted and _USE.search(before) and not _NO.search(before):
            yield sentence.found({"op": "capital_words", "low": 1}, *found.span())


def _counts(plain: str, found: re.Match[str], one: Amount) -> bool:
    """Whether an amount counts the words in capitals that a sentence mentions."""
    if one.number < found.start():
        return bool(_WORDS.fullmatch(plain, one.end, found.start()))
    if one.number < found.end():
        return found.start() < one.number and bool(_OF_WORDS.match(plain, one.end))
    between = re.sub(r"\([^)]*\)", "", plain[found.end() : one.start])
    if _CAPITAL_WORDS.search(plain, found.end(), one.number) or _LENGTH.search(between):
        return False
    if one.times or _TIMES.match(plain, one.end):
        return True
    numbered = _NUMBER_OF.search(plain[: found.start()]) or _NUMBERS.search(between)
    return bool(numbered) and not one.bare


def counts_capitals(plain: str, at: int) -> bool:
    """Whether an amount that ends at a place counts words in capitals, and not all words."""
    words = _WORDS.match(plain, at)
    last = words.end() if words else at
    return any(at <= found.start() <= last for found in _CAPITAL_WORDS.finditer(plain))
