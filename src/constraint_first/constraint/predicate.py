"""Predicates: statements about an answer as JSON data, with an interpreter and builders."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Mapping
from fractions import Fraction
from itertools import pairwise
from math import floor, isqrt
from typing import Any, Final, Literal, TypeAlias, TypeVar, cast

from constraint_first.answer.value import AnswerValue, Form, read_answer
from constraint_first.constraint.reply.check import REPLY
from constraint_first.error import CfrError
from constraint_first.problem import Json

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


class PredicateError(CfrError):
    """A predicate has an unknown op or invalid arguments."""


def truth_of(predicate: Predicate, answer: str) -> Truth:
    """Evaluate a predicate on the text of an answer or of a whole reply."""
    if not is_of_text(predicate):
        check, value = _op(predicate), read_answer(answer)
        return "undecided" if value is None else _outcome(check, predicate, value)
    if predicate["op"] == "all":
        return _truth(_all(truth_of(one, answer) for one in parts(predicate)))
    return _outcome(REPLY[str(predicate["op"])], predicate, answer)


def is_of_text(predicate: Predicate) -> bool:
    """Whether a predicate, or a part of it, is checked on a text and not on a value."""
    op, inside = predicate.get("op"), predicate.get("of")
    if op == "all":
        listed = inside if isinstance(inside, list) else []
        return any(isinstance(one, dict) and is_of_text(one) for one in listed)
    return isinstance(op, str) and op in REPLY


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
    "form": lambda p, answer: answer.form == p["form"],
    "reduced": lambda _, answer: answer.form == "fraction" and answer.reduced,
    "all": lambda p, answer: _all(holds(one, answer) for one in cast("Any", p["of"])),
    **dict.fromkeys(REPLY, lambda _predicate, _answer: None),
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


def all_of(*parts: Predicate) -> Predicate:
    return {"op": "all", "of": [dict(one) for one in parts]}
