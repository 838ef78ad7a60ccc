"""Numbers in running text: *200*, *1,000*, *two hundred and fifty*, *half a dozen*, *twice*."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from constraint_first.constraint.stated.reading import ORDINALS, WORDS

_TEENS: Final = {
    word: value
    for value, word in enumerate(
        "thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split(), 13
    )
}
_TENS: Final = {
    word: 10 * value
    for value, word in enumerate("twenty thirty forty fifty sixty seventy eighty ninety".split(), 2)
}
_SMALL: Final = WORDS | _TEENS | _TENS
TIMES: Final = {"once": 1, "twice": 2, "thrice": 3}
"""Numbers that say how often."""
_DOZENS: Final = {"half a dozen": 6, "half-dozen": 6, "a dozen": 12, "two dozen": 24}


def _any(words: Iterable[str]) -> str:
    return "(?:" + "|".join(sorted(words, key=len, reverse=True)).replace(" ", r"\s+") + ")"


_BELOW_HUNDRED: Final = rf"(?:{_any(_TENS)}[\s-]{_any(list(WORDS)[1:10])}|{_any(_SMALL)})(?![a-z])"
_HUNDREDS: Final = (
    rf"(?:(?:an?|{_BELOW_HUNDRED})\s+hundred"
    rf"(?:\s+(?:and\s+)?{_BELOW_HUNDRED}(?!\s+(?:hundred|thousand)))?)"
)
_THOUSANDS: Final = rf"(?:(?:an?|{_BELOW_HUNDRED})\s+thousand(?:\s+(?:and\s+)?{_HUNDREDS})?)"
NUMBER: Final = (
    rf"(?:\d{{1,3}}(?:,\d{{3}})+|\d{{1,7}}|{_THOUSANDS}|{_HUNDREDS}|{_any(_DOZENS)}"
    rf"|{_BELOW_HUNDRED}|{_any(TIMES)})(?![\w.]*\d)(?![a-z])"
)
"""The pattern of a whole number, in digits or in words."""


def to_number(text: str) -> int:
    word = " ".join(text.split())
    if word[0].isdigit():
        return int(word.replace(",", ""))
    named = TIMES | _DOZENS
    return named[word] if word in named else _from_words(word)


def _from_words(text: str) -> int:
    """Read *two thousand one hundred and five*."""
    whole = part = 0
    for word in re.findall(r"[a-z]+", text):
        if word == "hundred":
            part *= 100
        elif word == "thousand":
            whole, part = part * 1000, 0
        elif word != "and":
            part += _SMALL.get(word, 1)  # a hundred
    return whole + part


def ordinal(text: str) -> int | None:
    """Read which of a row is meant: ``2nd``, ``second``, ``2``; 0 for the last."""
    if text in ("last", "final"):
        return 0
    if text in ORDINALS:
        return ORDINALS[text]
    if text in WORDS:
        return WORDS[text]
    digits = re.match(r"\d{1,3}", text)
    return int(digits[0]) if digits else None
