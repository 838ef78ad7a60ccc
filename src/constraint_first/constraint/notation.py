"""Answers that are no numbers: times of day, dates, names of days and months, ordered lists.

Each check reads an answer as it is written and says True, False, or None where it cannot be read.
"""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from itertools import pairwise
from typing import Final, TypeAlias, cast

from constraint_first.answer.expression.normal import clean
from constraint_first.answer.expression.value import read_answer
from constraint_first.answer.expression.words import choice_letter, plain_words
from constraint_first.problem import Json

__all__ = ["MONTHS", "WEEKDAYS", "WRITTEN"]

MONTHS: Final[tuple[str, ...]] = tuple(
    "january february march april may june july august september october november december".split()
)
"""The months by name, in their order."""
WEEKDAYS: Final[tuple[str, ...]] = tuple(
    "monday tuesday wednesday thursday friday saturday sunday".split()
)
"""The days of the week by name."""

_LONGEST: Final = 1_000
_Args: TypeAlias = Mapping[str, Json]
_Check: TypeAlias = Callable[[_Args, str], "bool | None"]


def _of_text(check: _Check) -> _Check:
    """A check on words that no option letter stands for, and that are not too long to be read."""

    def checked(args: _Args, answer: str) -> bool | None:
        return None if len(answer) > _LONGEST or choice_letter(answer) else check(args, answer)

    return checked


def _number(answer: str) -> Fraction | None:
    value = read_answer(answer)
    return value.number if value and not re.search(r"[A-Za-z:]", answer) else None


# --- A time of day.

_CLOCK: Final = re.compile(
    r"(?<![\d:])(\d{1,3})\s*:\s*(\d{1,3})(?:\s*:\s*(\d{1,3}))?(?![\d:])(?:\s*([ap])\s?\.?\s?m\b)?"
)
_NAMELESS: Final = range(25, 100)
"""Whole numbers that no hour and no time like 1540 is written with."""


def _is_clock(args: _Args, answer: str) -> bool | None:
    times = [*_CLOCK.finditer(plain_words(answer))]
    if len(times) == 1:
        return _is_time(args.get("hours"), times[0])
    number = None if times else _number(answer)
    if number is None:
        return None
    return False if number < 0 or number in _NAMELESS else None


def _is_time(clock: Json, found: re.Match[str]) -> bool:
    hour, minute, second = (int(one or 0) for one in found.groups()[:3])
    if minute > 59 or second > 59 or (found[4] and (hour > 12 or clock == 24)):
        return False
    if clock == 12:
        return 1 <= hour <= 12
    return hour < 24 or (hour == 24 and minute == second == 0)


# --- A date.

_DIGITS: Final = re.compile(r"(\d{1,4})\s*([/.-])\s*(\d{1,2})\s*\2\s*(\d{1,4})")
_MONTH: Final = "|".join(month[:3] for month in MONTHS)
_NAMED_DATE: Final = re.compile(
    rf"\b(?:(\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?({_MONTH})[a-z]*|({_MONTH})[a-z]*\.?\s+"
    r"(\d{1,2})(?:st|nd|rd|th)?)\b(?:,?\s+(\d{4})\b)?"
)
_ORDERS: Final = ("MDY", "DMY", "YMD")


def _is_date(args: _Args, answer: str) -> bool | None:
    words, order = plain_words(answer), args.get("order")
    if digits := _DIGITS.fullmatch(words):
        parts = digits[1], digits[3], digits[4]
        return any(_is_in_order(str(one), parts) for one in ([order] if order else _ORDERS))
    named = [*_NAMED_DATE.finditer(words)]
    if len(named) == 1:
        one = named[0]
        month = [name[:3] for name in MONTHS].index(one[2] or one[3]) + 1
        real = _is_real(one[5] or "2024", month, int(one[1] or one[4]))
        return None if real and order else real
    return False if order and re.fullmatch(r"-?\d+(?:\.\d+)?", words) else None


def _is_in_order(order: str, parts: tuple[str, ...]) -> bool:
    year, month, day = (parts[order.index(letter)] for letter in "YMD")
    return len(year) == 4 and _is_real(year, int(month), int(day))


def _is_real(year: str, month: int, day: int) -> bool:
    return 1 <= month <= 12 and int(year) > 0 and 1 <= day <= monthrange(int(year), month)[1]


# --- One of some names.


def _is_named(args: _Args, answer: str) -> bool | None:
    """Look for a name, or the beginning of one; a number may count the names."""
    names = cast("list[str]", args["names"])
    for word in re.findall(r"[a-z]{3,}", plain_words(answer)):
        if any(name.startswith(word) for name in names):
            return True
    number = _number(answer)
    return None if number is None or number in range(len(names) + 1) else False


# --- A list in order.

_BRACKETS: Final = re.compile(r"\\?[({\[](.*?)\\?[)}\]]", re.DOTALL)
_SEPARATOR: Final = re.compile(r"\s*(?:[,;]\s*and\b|[,;]|\band\b)\s*")
_SPACED: Final = re.compile(r"\s*(?:[,;]\s*and\b|,\s|;|\band\b)\s*")
# Units, per cent and other bases: such items cannot be compared by their numbers.
_NOT_PLAIN: Final = re.compile(r"(?<![\\a-z])[a-z]|[%<>_()\[\]=]|\\(?:circ|text|pm|mp|usd|pi)")
_THOUSANDS: Final = re.compile(r"\d{1,3}(?:,\d{3})+")


def _is_listed(args: _Args, answer: str) -> bool | None:
    text = clean(answer).replace("\\text{ and }", " and ").replace("\\text{and}", " and ")
    if inside := _BRACKETS.fullmatch(text):
        text = inside[1]
    text = text.strip()
    separator = _SPACED if _SPACED.search(text) else _SEPARATOR
    items = [one for one in separator.split(text) if one.strip()]
    length = args.get("length")
    if any(_NOT_PLAIN.search(one.lower()) or _is_another_list(one) for one in items):
        return None
    values = [value.signed_square for one in items if (value := read_answer(one)) is not None]
    if not items or len(values) != len(items):
        return None
    if len(items) == 1:
        return False if length else None
    ordered = _is_ordered(values, str(args.get("order"))) and length in (None, len(items))
    return None if not ordered and _THOUSANDS.fullmatch(text) else ordered


def _is_another_list(item: str) -> bool:
    """Whether an item has a comma that does not mark thousands."""
    return "," in item and not _THOUSANDS.fullmatch(item.strip())


def _is_ordered(values: Iterable[Fraction], order: str) -> bool:
    if order == "increasing":
        return all(left <= right for left, right in pairwise(values))
    return all(left >= right for left, right in pairwise(values))


WRITTEN: Final[Mapping[str, _Check]] = {
    "clock": _of_text(_is_clock),
    "date": _of_text(_is_date),
    "named": _of_text(_is_named),
    "listed": _of_text(_is_listed),
}
"""The checks that read an answer as it is written, by the names of their ops."""
