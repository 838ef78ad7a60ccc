"""Numbers that are written in words: twenty-one, two thirds, the hundred and first."""

from __future__ import annotations

from typing import Final

__all__ = ["read_number"]

_SMALL: Final = {
    word: value
    for value, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
        "fifteen sixteen seventeen eighteen nineteen".split()
    )
}
_TENS: Final = {
    word: 10 * value
    for value, word in enumerate(
        "twenty thirty forty fifty sixty seventy eighty ninety".split(), start=2
    )
}
_LARGE: Final = {"thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}
_ORDINALS: Final = {
    "first": 1, "second": 2, "third": 3, "fourth": 4, "fifth": 5, "sixth": 6, "seventh": 7,
    "eighth": 8, "ninth": 9, "tenth": 10, "eleventh": 11, "twelfth": 12, "twentieth": 20,
    "thirtieth": 30, "fortieth": 40, "fiftieth": 50, "sixtieth": 60, "seventieth": 70,
    "eightieth": 80, "ninetieth": 90, "hundredth": 100, "thousandth": 1000, "millionth": 10**6,
} | {f"{word}th": value for word, value in _SMALL.items() if value > 12}  # fmt: skip
_PARTS: Final = {word: value for word, value in _ORDINALS.items() if value > 2} | {
    "half": 2, "halve": 2, "quarter": 4,
}  # fmt: skip
_NUMBERS: Final = frozenset({*_SMALL, *_TENS, *_LARGE, "hundred", "point"})
_SIGNS: Final = frozenset({"minus", "negative"})
_MOST_WORDS: Final = 16


def read_number(text: str) -> tuple[str, str] | None:
    """Read the number that a text begins with, in digits, and the words that follow it."""
    words = text.lower().replace("-", " ").split()
    if not words or len(words) > _MOST_WORDS:
        return None
    sign = "-" if words[0] in _SIGNS else ""
    words = words[1:] if sign else words
    found = _mixed(words)
    if found is None:
        return None
    number, used = found
    if any(word in _NUMBERS or word.removesuffix("s") in _PARTS for word in words[used:]):
        return None  # "ten five" is no number of fives
    return sign + number, " ".join(words[used:])


def _mixed(words: list[str]) -> tuple[str, int] | None:
    """Read a whole number, a fraction, or both with "and" between them."""
    if (fraction := _fraction(words)) is not None:
        return fraction
    whole = _whole(words)
    if whole is None:
        return _ordinal(words, 0, 0)
    value, used = whole
    rest = words[used:]
    if rest[:1] == ["and"] and (part := _fraction(rest[1:])) is not None:
        return rf"({value}+{part[0]})", used + 1 + part[1]
    if rest[:1] == ["point"] and (digits := [_SMALL.get(word, 10) for word in rest[1:]]):
        exact = max(digits) < 10
        return (f"{value}.{''.join(map(str, digits))}", len(words)) if exact else None
    return _ordinal(rest, value, used) or (str(value), used)


def _fraction(words: list[str]) -> tuple[str, int] | None:
    over, used = (1, 1) if words[:1] in (["a"], ["an"]) else _whole(words) or (1, 0)
    part = words[used].removesuffix("s") if used < len(words) else ""
    part = "half" if part == "halve" else part
    if part not in _PARTS or (not used and part not in ("half", "quarter")):
        return None
    plural = words[used].endswith("s")
    if (over == 1) == plural or (over > 1 and not plural and part != "half"):
        return None
    return rf"\frac{{{over}}}{{{_PARTS[part]}}}", used + 1


def _ordinal(rest: list[str], value: int, used: int) -> tuple[str, int] | None:
    """Read "first" or the last word of "twenty first"; nothing may follow it."""
    if len(rest) != 1 or rest[0] not in _ORDINALS:
        return None
    last = _ORDINALS[rest[0]]
    if used and not (value % 10 == 0 and last < 10) and not (value % 100 == 0 and last < 100):
        return None
    return str(value + last), used + 1


def _whole(words: list[str]) -> tuple[int, int] | None:
    """Read a whole number: its value, and how many words it takes."""
    total = group = at = 0
    last = ""
    for at, word in enumerate([*words, ""]):
        if word in _SMALL and last != "small" and not (last == "ten" and not 0 < _SMALL[word] < 10):
            group, last = group + _SMALL[word], "small"
        elif word in _TENS and last not in ("small", "ten"):
            group, last = group + _TENS[word], "ten"
        elif word == "hundred" and 0 < (group or (last == "a")) < 10:
            group, last = (group or 1) * 100, "hundred"
        elif word in _LARGE and (group or last == "a"):
            total, group, last = total + (group or 1) * _LARGE[word], 0, "large"
        elif word == "dozen" and not total and (group or last == "a"):
            return (group or 1) * 12, at + 1
        elif word in ("a", "an") and not last:
            last = "a"
        elif word == "and" and last in ("hundred", "large") and _continues(words[at + 1 :]):
            continue
        else:
            break
    if last in ("", "a"):
        return None
    return total + group, at


def _continues(words: list[str]) -> bool:
    return bool(words) and (words[0] in _SMALL or words[0] in _TENS)
