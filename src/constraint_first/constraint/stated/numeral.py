"""Whole numbers in running text: single ones, lists of them, and number words."""

from __future__ import annotations

from typing import Final

from constraint_first.pattern import lazy_pattern

_ONE: Final = lazy_pattern(r"\d+(?:,\d{3})*(?!\d)")
WORDS: Final = {
    word: value
    for value, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve".split()
    )
}
LARGE_WORDS: Final = frozenset(
    (
        "thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty thirty forty fifty"
        " sixty seventy eighty ninety hundred hundreds thousand thousands million millions billion"
        " dozen dozens"
    ).split()
)
"""Words of larger numbers: they are known to be numbers, and are not read."""
ORDINALS: Final = {
    word: value
    for value, word in enumerate(
        "first second third fourth fifth sixth seventh eighth ninth tenth".split(), 1
    )
}

# A number that is the beginning of something longer (2.5, 3!, 4^n, 5 + x, 6%) is not this number.
_DIGITS: Final = r"(?<![\d.,^_\\])(?:[1-9]\d{0,2}(?:,\d{3})+|\d{1,30})(?![\d\w]|[.,]\d)"
_NO_MORE: Final = (
    r"(?!\s*(?:[\^!+*/=%\\{_:<>-]|\((?!\s*(?:both|incl))|times\b|percent\b|per\s?cent\b"
    r"|divided\b|plus\b|minus\b"
    r"|factorial\b|squared\b|cubed\b|[b-z]\b))"
)
INTEGER: Final = f"{_DIGITS}{_NO_MORE}"
"""The pattern of a whole number that stands for itself."""
NUMBERS: Final = rf"{INTEGER}(?:\s*,\s*(?:and\s+)?{INTEGER}|\s+and\s+{INTEGER})*"
"""The pattern of one or more of them: ``10, 11 and 14``."""


def to_integer(text: str) -> int:
    return int(text.replace(",", ""))


def to_integers(text: str) -> list[int]:
    """Read the numbers of a list that NUMBERS has matched."""
    return [to_integer(one) for one in _ONE.findall(text)]
