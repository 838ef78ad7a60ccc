"""An exact value with its approximation beside it: "1/6, or about 16.7%" is the answer 1/6."""

from __future__ import annotations

import re
from typing import Final

from constraint_first.answer.extraction.phrase import EQUALS, WORD

__all__ = ["without_approximation"]

_ASCII_HINTS: Final = ("approx", "about", "roughly", "around", "simeq")
_HINTS: Final = (*_ASCII_HINTS, "≈", "≃")
_LONGEST_VALUE: Final = 80
"""How far before an approximation its exact value may begin."""
_WORDS: Final = r"(?:about|approximately|approx\.?|roughly|around)(?:\s+equal\s+to)?\s"
_NUMBER: Final = (
    r"\s{0,3}\$?\s?[-−]?\d[\d,]{0,20}(?:\.\d{1,20})?(?:\.{3}|…|\s?\\?%)?"
    r"(?:\s?=\s?\d[\d.]{0,20}\s?\\?%)?\$?(?![\d%]|[.,]\d|\s?[-−+*/^=×·]|\s?\\(?:times|cdot|pi)(?![a-z]))"
)
_APPROXIMATION: Final = re.compile(
    rf"(?:\s|\\[,;:! ]|\\q?quad){{0,3}}(?:\\approx|\\simeq|≈|≃){_NUMBER}"
    rf"|\s?\((?:or\s|which\sis\s|i\.e\.,?\s)?(?:{_WORDS}|\$?(?:\\approx|\\simeq|≈|≃)){_NUMBER}"
    r"(?:\s?[a-zA-Z]{1,10}[²³]?){0,2}\)"
    rf"|,?\s(?:or|which\s(?:is|equals)|i\.e\.,?|that\sis,?)\s(?:{_WORDS}|\$?(?:\\approx|≈)){_NUMBER}",
    re.IGNORECASE,
)
# An integer beside a rough number is seldom the same thing: "40 students, or about 10 per class".
_EXACT: Final = re.compile(r"\d\s?/\s?\d|[π√∛^]|\\(?:pi|[dt]?frac|sqrt|ln|log|binom)(?![a-z])")
_CALCULATION: Final = re.compile(r"\d\.\d|[×÷≈]|\\(?:times|div|approx)(?![a-z])")
_ROUNDED: Final = re.compile(r"\bround(?:ed|ing|s)?\b|\bnearest\b|\bdecimal\b", re.IGNORECASE)
_SENTENCE_END: Final = re.compile(r"[.!?](?=\s|\Z)|\n")


def without_approximation(text: str) -> str:
    """Drop the rough numbers that follow their exact values, unless a rounded one is asked for."""
    if not any(map(text.__contains__, _ASCII_HINTS if text.isascii() else _HINTS)):
        return text
    kept, end = list[str](), 0
    for match in _APPROXIMATION.finditer(text):
        if _repeats_exact_value(text, match):
            kept.append(text[end : match.start()])
            end = match.end() - _closing_dollar(match)
    return "".join(kept) + text[end:]


def _repeats_exact_value(text: str, match: re.Match[str]) -> bool:
    before = text[max(0, match.start() - _LONGEST_VALUE) : match.start()]
    value = EQUALS.split(WORD.split(before)[-1])[-1]
    if not _EXACT.search(value) or _CALCULATION.search(value) or _is_money(match[0]):
        return False
    after = text[match.end() : match.end() + _LONGEST_VALUE]
    return not _ROUNDED.search(_SENTENCE_END.split(after, maxsplit=1)[0])


def _is_money(approximation: str) -> bool:
    """Whether a dollar sign is of a sum of money, which is rounded to cents."""
    return approximation.count("$") == 1 and not approximation.endswith("$")


def _closing_dollar(match: re.Match[str]) -> int:
    """Count the dollar sign that ends mathematics which began before the approximation."""
    return int(match[0].endswith("$") and match[0].count("$") == 1)
