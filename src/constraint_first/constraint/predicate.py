"""Predicates: statements about an answer as JSON data, with an interpreter and builders.

First the checks on answers that are not numbers: times of day, dates, names of days and months,
ordered lists. Each parses the text of an answer and returns True, False, or None where it cannot
be parsed.
"""

from __future__ import annotations

import operator
import re
from calendar import monthrange
from collections.abc import Callable, Iterable, Iterator, Mapping
from fractions import Fraction
from itertools import pairwise
from math import floor, isqrt
from typing import Any, Final, Literal, TypeAlias, TypeVar, cast

from constraint_first.answer.syntax import clean
from constraint_first.answer.value import AnswerValue, Form, choice_letter, plain_words, read_answer
from constraint_first.constraint.reply.check import REPLY
from constraint_first.error import CfrError
from constraint_first.pattern import lazy_pattern
from constraint_first.problem import Json

MONTHS: Final = tuple(
    "january february march april may june july august september october november december".split()
)
WEEKDAYS: Final = tuple("monday tuesday wednesday thursday friday saturday sunday".split())

_LONGEST: Final = 1_000
_Args: TypeAlias = Mapping[str, Json]
_Check: TypeAlias = Callable[[_Args, str], "bool | None"]


def _of_text(check: _Check) -> _Check:
    """Wrap a check on words: None for option letters, and for texts too long to parse."""

    def checked(args: _Args, answer: str) -> bool | None:
        return None if len(answer) > _LONGEST or choice_letter(answer) else check(args, answer)

    return checked


def _number(answer: str) -> Fraction | None:
    value = read_answer(answer)
    return value.number if value and not re.search(r"[A-Za-z:]", answer) else None


# --- A time of day.

_CLOCK: Final = lazy_pattern(
    r"(?<![\d:])(\d{1,3})\s*:\s*(\d{1,3})(?:\s*:\s*(\d{1,3}))?(?![\d:])(?:\s*([ap])\s?\.?\s?m\b)?"
)
_NAMELESS: Final = range(25, 100)
"""Integers that are neither an hour nor a time like 1540."""


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

_DIGITS: Final = lazy_pattern(r"(\d{1,4})\s*([/.-])\s*(\d{1,2})\s*\2\s*(\d{1,4})")
_MONTH: Final = "|".join(month[:3] for month in MONTHS)
_NAMED_DATE: Final = lazy_pattern(
    rf"\b(?:(\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?({_MONTH})[a-z]*|({_MONTH})[a-z]*\.?\s+"
    r"(\d{1,2})(?:st|nd|rd|th)?)\b(?:,?\s+(\d{4})\b)?"
)
_ORDERS: Final = ("MDY", "DMY", "YMD")


def _is_date(args: _Args, answer: str) -> bool | None:
    words, order = plain_words(answer), args.get("order")
    if digits := _DIGITS.fullmatch(words):
        parts = digits[1], digits[3], digits[4]
        orders = map(str, [order] if order else _ORDERS)
        dates = ([parts[one.index(letter)] for letter in "YMD"] for one in orders)
        return any(len(y) == 4 and _is_real(y, int(m), int(d)) for y, m, d in dates)
    named = [*_NAMED_DATE.finditer(words)]
    if len(named) == 1:
        one = named[0]
        month = [name[:3] for name in MONTHS].index(one[2] or one[3]) + 1
        real = _is_real(one[5] or "2024", month, int(one[1] or one[4]))
        return None if real and order else real
    return False if order and re.fullmatch(r"-?\d+(?:\.\d+)?", words) else None


def _is_real(year: str, month: int, day: int) -> bool:
    return 1 <= month <= 12 and int(year) > 0 and 1 <= day <= monthrange(int(year), month)[1]


# --- One of some names.


def _is_named(args: _Args, answer: str) -> bool | None:
    """Look for a name or its abbreviation; None for a number that may be an index of the names."""
    names = cast("list[str]", args["names"])
    for word in re.findall(r"[a-z]{3,}", plain_words(answer)):
        if any(name.startswith(word) for name in names):
            return True
    number = _number(answer)
    return None if number is None or number in range(len(names) + 1) else False


# --- A list in order.

_BRACKETS: Final = lazy_pattern(r"\\?[({\[](.*?)\\?[)}\]]", re.DOTALL)
_SEPARATOR: Final = lazy_pattern(r"\s*(?:[,;]\s*and\b|[,;]|\band\b)\s*")
_SPACED: Final = lazy_pattern(r"\s*(?:[,;]\s*and\b|,\s|;|\band\b)\s*")
# Items with units, per cent signs or bases cannot be compared by their numbers.
_NOT_PLAIN: Final = lazy_pattern(r"(?<![\\a-z])[a-z]|[%<>_()\[\]=]|\\(?:circ|text|pm|mp|usd|pi)")
_THOUSANDS: Final = lazy_pattern(r"\d{1,3}(?:,\d{3})+")


def _is_listed(args: _Args, answer: str) -> bool | None:
    text = clean(answer).replace("\\text{ and }", " and ").replace("\\text{and}", " and ")
    if inside := _BRACKETS.fullmatch(text):
        text = inside[1]
    text = text.strip()
    separator = _SPACED if _SPACED.search(text) else _SEPARATOR
    items = [one for one in separator.split(text) if one.strip()]
    length = args.get("length")
    lists = any("," in one and not _THOUSANDS.fullmatch(one.strip()) for one in items)
    if lists or any(_NOT_PLAIN.search(one.lower()) for one in items):
        return None
    values = [value.signed_square for one in items if (value := read_answer(one)) is not None]
    if not items or len(values) != len(items):
        return None
    if len(items) == 1:
        return False if length else None
    compare = operator.le if args.get("order") == "increasing" else operator.ge
    ordered = all(compare(*pair) for pair in pairwise(values)) and length in (None, len(items))
    return None if not ordered and _THOUSANDS.fullmatch(text) else ordered


WRITTEN: Final[Mapping[str, _Check]] = {
    "clock": _of_text(_is_clock),
    "date": _of_text(_is_date),
    "named": _of_text(_is_named),
    "listed": _of_text(_is_listed),
}
"""The checks that parse the text of an answer, by their ops."""


# Checkable statements about an answer, stored as data and evaluated by a small interpreter.
#
# A predicate is a JSON object: ``{"op": "between", "low": 0, "high": 999}``. It can be stored in
# a file, shown to a person and evaluated on any answer, with three outcomes: it holds, it is
# violated, or it is undecided, because the answer cannot be parsed well enough.

Predicate: TypeAlias = Mapping[str, Json]
"""A statement about an answer that can be checked, as data: an ``op`` and its arguments."""

Truth: TypeAlias = Literal["holds", "violated", "undecided"]
"""The outcome of a predicate on an answer."""

_Read = TypeVar("_Read", str, AnswerValue)
_OF_TEXT: Final = {**WRITTEN, **REPLY}


class PredicateError(CfrError):
    """A predicate has an unknown op or invalid arguments."""


def truth_of(predicate: Predicate, answer: str) -> Truth:
    """Evaluate a predicate on the text of an answer or of a whole reply."""
    if not is_of_text(predicate):
        check, value = _op(predicate), read_answer(answer)
        return "undecided" if value is None else _outcome(check, predicate, value)
    if predicate["op"] == "all":
        return _truth(_all(truth_of(one, answer) for one in parts(predicate)))
    return _outcome(_OF_TEXT[str(predicate["op"])], predicate, answer)


def is_of_text(predicate: Predicate) -> bool:
    """Whether a predicate, or a part of it, is checked on a text and not on a value."""
    op, inside = predicate.get("op"), predicate.get("of")
    if op == "all":
        listed = inside if isinstance(inside, list) else []
        return any(isinstance(one, dict) and is_of_text(one) for one in listed)
    return isinstance(op, str) and op in _OF_TEXT


def _all(outcomes: Iterable[Truth]) -> bool | None:
    found = set(outcomes)
    return False if "violated" in found else None if "undecided" in found else True


def _truth(outcome: bool | None) -> Truth:
    return "undecided" if outcome is None else "holds" if outcome else "violated"


def holds(predicate: Predicate, answer: AnswerValue) -> Truth:
    """Evaluate a predicate on an answer that was parsed to a value."""
    return _outcome(_op(predicate), predicate, answer)


def _outcome(
    check: Callable[[Predicate, _Read], bool | None], predicate: Predicate, answer: _Read
) -> Truth:
    try:
        return _truth(check(predicate, answer))
    except (KeyError, TypeError, ValueError, ZeroDivisionError) as error:
        raise PredicateError(f"predicate {dict(predicate)} has a bad argument ({error})") from None


def parts(predicate: Predicate) -> Iterator[Predicate]:
    """Yield the parts of a conjunction; any other predicate is its own only part."""
    if predicate.get("op") == "all":
        for one in cast("list[dict[str, Json]]", predicate["of"]):
            yield from parts(one)
    else:
        yield predicate


def _op(predicate: Predicate) -> _PredicateCheck:
    name = predicate.get("op")
    if not isinstance(name, str) or name not in OPS:
        raise PredicateError(f"no predicate is called {name!r}; known: {', '.join(sorted(OPS))}")
    return OPS[name]


# --- Reading arguments.


def to_fraction(value: Json) -> Fraction:
    """Read a number in a predicate: an integer or a text like ``17/3``."""
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise TypeError(f"{value!r} is not a number")
    return Fraction(value)


def target(predicate: Predicate) -> Fraction | None:
    """Return the value that a predicate computes; None where it does not determine one."""
    match predicate.get("op"):
        case "encoded" if "parts" in predicate:
            total = sum(map(_whole, cast("list[Json]", predicate["parts"])))
            modulus = _whole(predicate.get("modulus", 0))
            return Fraction(total % modulus if modulus else total)
        case "rounded":
            unit = to_fraction(predicate["unit"])
            return floor(to_fraction(predicate["value"]) / unit + Fraction(1, 2)) * unit
        case "in_unit":
            return to_fraction(predicate["value"]) * to_fraction(predicate["factor"])
        case "counts":
            where = cast("list[dict[str, Json]]", predicate["where"])
            span = range(_whole(predicate["low"]), _whole(predicate["high"]) + 1)
            values = map(AnswerValue, map(Fraction, span))
            return Fraction(sum(all(holds(one, n) == "holds" for one in where) for n in values))
        case _:
            return None


def _whole(value: Json) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{value!r} is not a whole number")
    return value


# --- Evaluating: a check gets the predicate and the answer, and returns None for undecided.

_MOST_DIVISORS: Final = 10_000
_PredicateCheck: TypeAlias = Callable[[Predicate, AnswerValue], "bool | None"]
_NumberCheck: TypeAlias = Callable[[Predicate, Fraction], bool | None]


def _of_number(check: _NumberCheck) -> _PredicateCheck:
    """A check on a rational value: False for irrational values, None for option letters."""

    def checked(predicate: Predicate, answer: AnswerValue) -> bool | None:
        if answer.letter:
            return None
        return False if answer.number is None else check(predicate, answer.number)

    return checked


def _of_size(check: Callable[[Predicate, AnswerValue], bool]) -> _PredicateCheck:
    """A check on the size of a value, which may be irrational."""
    return lambda predicate, answer: None if answer.letter else check(predicate, answer)


def _of_integer(check: Callable[[Predicate, int], bool]) -> _PredicateCheck:
    return _of_number(lambda p, value: value.denominator == 1 and check(p, value.numerator))


def _gap(answer: AnswerValue, bound: Json) -> Fraction:
    """The difference of an answer and a bound, or of their signed squares, to avoid a root."""
    end = to_fraction(bound)
    if answer.radicand == 1:
        return answer.coefficient - end
    return answer.signed_square - end * abs(end)


def _between(predicate: Predicate, answer: AnswerValue) -> bool:
    low, high = predicate.get("low"), predicate.get("high")
    return (low is None or _gap(answer, low) >= 0) and (high is None or _gap(answer, high) <= 0)


def _ordered(predicate: Predicate, value: int) -> bool:
    compare = operator.lt if predicate["order"] == "increasing" else operator.gt
    return value >= 0 and all(compare(*pair) for pair in pairwise(str(value)))


def _encoded(predicate: Predicate, answer: AnswerValue) -> bool | None:
    """Compare with the sum asked for; None where the text states only its form, not its parts."""
    if answer.letter:
        return None
    if predicate.get("whole") is True:
        value = answer.number
        if value is None or value.denominator != 1:
            return False
        return "least" not in predicate or value >= _whole(predicate["least"])
    wanted = target(predicate)
    return None if wanted is None else answer.number == wanted


def _prime(predicate: Predicate, answer: AnswerValue) -> bool | None:  # noqa: ARG001
    """Test by trial division; None for a number that is too large for that."""
    if answer.letter:
        return None
    value = answer.number
    if value is None or value.denominator != 1 or value < 2:
        return False
    number = value.numerator
    most = min(isqrt(number), _MOST_DIVISORS)
    if any(number % by == 0 for by in range(2, most + 1)):
        return False
    return True if most < _MOST_DIVISORS else None


def _root(predicate: Predicate, value: Fraction) -> bool:
    total = Fraction(0)
    for coefficient in cast("list[Json]", predicate["coefficients"]):
        total = total * value + _whole(coefficient)
    return total == 0


def _is_target(predicate: Predicate, value: Fraction) -> bool | None:
    """Compare with the rounded or converted value; None where the text states only the rule."""
    return value == target(predicate) if "value" in predicate else None


OPS: Mapping[str, _PredicateCheck] = {
    "integer": _of_integer(lambda _p, _value: True),
    "not_whole": _of_number(lambda _, value: value.denominator != 1),
    "between": _of_size(_between),
    "measured": _of_size(_between),
    "above": _of_size(lambda p, answer: _gap(answer, p["value"]) > 0),
    "below": _of_size(lambda p, answer: _gap(answer, p["value"]) < 0),
    "least_residue": _of_integer(lambda p, value: 0 <= value < _whole(p["modulus"])),
    "congruent": _of_integer(
        lambda p, value: (value - _whole(p["residue"])) % _whole(p["modulus"]) == 0
    ),
    "divisible": _of_integer(lambda p, value: value % _whole(p["by"]) == 0),
    "parity": _of_integer(lambda p, value: (value % 2 == 1) == (p["parity"] == "odd")),
    "divides": _of_integer(lambda p, value: value > 0 and _whole(p["number"]) % value == 0),
    "prime": _prime,
    "square": _of_integer(lambda _, value: value >= 0 and isqrt(value) ** 2 == value),
    "digit_sum": _of_integer(
        lambda p, value: value >= 0 and sum(map(int, str(value))) == _whole(p["sum"])
    ),
    "digits_ordered": _of_integer(_ordered),
    "root": _of_number(_root),
    "one_of": _of_number(
        lambda p, value: value in map(to_fraction, cast("list[Json]", p["values"]))
    ),
    "decimals": _of_number(lambda p, value: 10 ** _whole(p["places"]) % value.denominator == 0),
    "encoded": _encoded,
    "rounded": _of_number(_is_target),
    "in_unit": _of_number(_is_target),
    "counts": _of_number(lambda p, value: value == target(p)),
    "option": lambda p, answer: answer.letter in str(p["letters"]) if answer.letter else None,
    "form": lambda p, answer: answer.form == p["form"],
    "reduced": lambda _, answer: answer.form == "fraction" and answer.reduced,
    "all": lambda p, answer: _all(holds(one, answer) for one in cast("Any", p["of"])),
    **dict.fromkeys(_OF_TEXT, lambda _predicate, _answer: None),
}


# Building predicates: a function for each op, so that families read like sentences.

Number: TypeAlias = "int | Fraction"
Direction: TypeAlias = Literal["increasing", "decreasing"]


def _plain(value: Number) -> Json:
    return int(value) if value == int(value) else str(value)


def _bare(op: str) -> Callable[[], Predicate]:
    return lambda: {"op": op}


def _with(op: str, name: str) -> Callable[[Any], Predicate]:
    return lambda value: {"op": op, name: value}


integer, not_whole, prime, square = map(_bare, ("integer", "not_whole", "prime", "square"))
reduced = _bare("reduced")
"""A fraction in lowest terms."""
divisible: Callable[[int], Predicate] = _with("divisible", "by")
divides: Callable[[int], Predicate] = _with("divides", "number")
"""A positive divisor of this number."""
least_residue: Callable[[int], Predicate] = _with("least_residue", "modulus")
"""A remainder on division by the modulus: a whole number from 0 to modulus - 1."""
digit_sum: Callable[[int], Predicate] = _with("digit_sum", "sum")
decimals: Callable[[int], Predicate] = _with("decimals", "places")
"""At most this many decimals."""
parity: Callable[[Literal["even", "odd"]], Predicate] = _with("parity", "parity")
digits_ordered: Callable[[Direction], Predicate] = _with("digits_ordered", "order")
"""Digits that strictly increase, or decrease, from left to right."""
form: Callable[[Form], Predicate] = _with("form", "form")
option: Callable[[str], Predicate] = _with("option", "letters")
"""One of these letters, if the answer is a letter at all."""


def between(low: Number | None, high: Number | None) -> Predicate:
    """Require a value from low to high, both included; None leaves an end open."""
    ends = {"low": low, "high": high}
    return {"op": "between", **{name: _plain(end) for name, end in ends.items() if end is not None}}


def at_least(low: Number) -> Predicate:
    return between(low, None)


def at_most(high: Number) -> Predicate:
    return between(None, high)


def above(value: Number) -> Predicate:
    return {"op": "above", "value": _plain(value)}


def below(value: Number) -> Predicate:
    return {"op": "below", "value": _plain(value)}


def congruent(residue: int, modulus: int) -> Predicate:
    return {"op": "congruent", "residue": residue % modulus, "modulus": modulus}


def root(*coefficients: int) -> Predicate:
    """Require a root of the polynomial with these coefficients, the highest power first."""
    return {"op": "root", "coefficients": list(coefficients)}


def one_of(*values: Number) -> Predicate:
    return {"op": "one_of", "values": [_plain(value) for value in values]}


def encoded(rule: str, parts: tuple[int, ...], modulus: int = 0) -> Predicate:
    """Require the sum of the parts that the rule names, reduced where a modulus is given."""
    extra: dict[str, Json] = {"modulus": modulus} if modulus else {}
    return {"op": "encoded", "rule": rule, "parts": list(parts), **extra}


def code(
    *factors: int, whole: bool = False, least: int | None = None, fraction: bool = False
) -> Predicate:
    """Require a sum of unknown parts, each times its factor: 100m + n is (100, 1).

    ``whole`` means that the parts are integers, ``least`` is a lower bound of their sum, and
    ``fraction`` means that they are the numerator and denominator of a fraction in lowest terms.
    """
    extra: dict[str, Json] = {"whole": True} if whole else {}
    if least is not None:
        extra["least"] = least
    if fraction:
        extra["of"] = "fraction"
    return {"op": "encoded", "factors": list(factors), **extra}


def rounded(value: Number, unit: Number = 1) -> Predicate:
    """Require the multiple of the unit nearest to the value, halves going up."""
    return {"op": "rounded", "value": _plain(value), "unit": _plain(unit)}


def in_unit(value: Number, factor: Number, unit: str) -> Predicate:
    """Require the value times the factor: the same quantity in the unit that is asked for."""
    return {"op": "in_unit", "value": _plain(value), "factor": _plain(factor), "unit": unit}


def measured(unit: str, low: Number, high: Number) -> Predicate:
    """Require a size in the range that is plausible for the quantity in this unit only."""
    return {"op": "measured", "unit": unit, "low": _plain(low), "high": _plain(high)}


def counts(low: int, high: int, *where: Predicate) -> Predicate:
    """Require the number of whole numbers from low to high that satisfy all of ``where``."""
    return {"op": "counts", "low": low, "high": high, "where": [dict(one) for one in where]}


def clock(hours: Literal[12, 24] | None = None) -> Predicate:
    """Require a time of day, of a 12- or 24-hour clock if one is given."""
    return {"op": "clock", **({"hours": hours} if hours else {})}


def date(order: Literal["MDY", "DMY", "YMD", ""] = "") -> Predicate:
    """Require a date of the calendar; if an order is given, in digits and in that order."""
    return {"op": "date", **({"order": order} if order else {})}


def named(*names: str) -> Predicate:
    """Require one of these names, in full or abbreviated."""
    return {"op": "named", "names": list(names)}


def listed(order: Direction, length: int | None = None) -> Predicate:
    """Require a list of numbers in order, and of this length where it is known."""
    return {"op": "listed", "order": order, **({"length": length} if length else {})}


def all_of(*parts: Predicate) -> Predicate:
    return {"op": "all", "of": [dict(one) for one in parts]}
