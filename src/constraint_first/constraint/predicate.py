"""Checkable statements about an answer, kept as data and read by a small interpreter.

A predicate is a JSON object: ``{"op": "between", "low": 0, "high": 999}``. It can be stored in a
file, shown to a person and evaluated on any answer, with three outcomes: it holds, it is violated,
or the answer cannot be read well enough to say.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from itertools import pairwise
from math import floor, isqrt
from typing import Final, Literal, TypeAlias, TypeVar, cast

from constraint_first.answer.expression.value import AnswerValue, read_answer
from constraint_first.constraint.notation import WRITTEN
from constraint_first.constraint.reply.check import REPLY
from constraint_first.error import CfrError
from constraint_first.problem import Json

__all__ = [
    "OPS",
    "Predicate",
    "PredicateError",
    "Truth",
    "holds",
    "is_of_text",
    "parts",
    "target",
    "to_fraction",
    "truth_of",
]

Predicate: TypeAlias = Mapping[str, Json]
"""A statement about an answer that can be checked, as data: an ``op`` and its arguments."""

Truth: TypeAlias = Literal["holds", "violated", "undecided"]
"""What a predicate comes to on an answer."""

_Read = TypeVar("_Read", str, AnswerValue)
_OF_TEXT: Final = {**WRITTEN, **REPLY}


class PredicateError(CfrError):
    """A predicate that is not one of those this file can evaluate."""


def truth_of(predicate: Predicate, answer: str) -> Truth:
    """Say whether an answer, or a whole reply, as it is written, satisfies a predicate."""
    if is_of_text(predicate):
        return _truth_of_text(predicate, answer)
    value = read_answer(answer)
    if value is None:
        _op(predicate)
        return "undecided"
    return holds(predicate, value)


def is_of_text(predicate: Predicate) -> bool:
    """Whether a predicate, or a part of it, is checked on a text and not on a value in it."""
    op, inside = predicate.get("op"), predicate.get("of")
    if op == "all":
        listed = inside if isinstance(inside, list) else []
        return any(isinstance(one, dict) and is_of_text(one) for one in listed)
    return isinstance(op, str) and op in _OF_TEXT


def _truth_of_text(predicate: Predicate, text: str) -> Truth:
    if predicate["op"] != "all":
        return _outcome(_OF_TEXT[str(predicate["op"])], predicate, text)
    outcomes = [truth_of(one, text) for one in parts(predicate)]
    if "violated" in outcomes:
        return "violated"
    return "undecided" if "undecided" in outcomes else "holds"


def holds(predicate: Predicate, answer: AnswerValue) -> Truth:
    """Say whether an answer that has been read as a value satisfies a predicate."""
    return _outcome(_op(predicate), predicate, answer)


def _outcome(
    check: Callable[[Predicate, _Read], bool | None], predicate: Predicate, answer: _Read
) -> Truth:
    try:
        outcome = check(predicate, answer)
    except (KeyError, TypeError, ValueError, ZeroDivisionError) as error:
        raise PredicateError(f"predicate {dict(predicate)} has a bad argument ({error})") from None
    return "undecided" if outcome is None else "holds" if outcome else "violated"


def parts(predicate: Predicate) -> Iterator[Predicate]:
    """Take a conjunction apart; anything else is its own only part."""
    if predicate.get("op") == "all":
        for one in cast("list[dict[str, Json]]", predicate["of"]):
            yield from parts(one)
    else:
        yield predicate


def _op(predicate: Predicate) -> _Check:
    name = predicate.get("op")
    if not isinstance(name, str) or name not in OPS:
        raise PredicateError(f"no predicate is called {name!r}; known: {', '.join(sorted(OPS))}")
    return OPS[name]


# --- Reading arguments.


def to_fraction(value: Json) -> Fraction:
    """Read a number that a predicate carries: a whole number or a text like ``17/3``."""
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise TypeError(f"{value!r} is not a number")
    return Fraction(value)


def target(predicate: Predicate) -> Fraction | None:
    """Give the one value that a predicate allows, where it pins the answer to a value."""
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
            return Fraction(_count(predicate))
        case _:
            return None


def _count(predicate: Predicate) -> int:
    where = cast("list[dict[str, Json]]", predicate["where"])
    span = range(_whole(predicate["low"]), _whole(predicate["high"]) + 1)
    return sum(
        all(holds(one, AnswerValue(Fraction(value))) == "holds" for one in where) for value in span
    )


def _whole(value: Json) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{value!r} is not a whole number")
    return value


# --- Evaluating: a check gets the predicate and the answer, and says None for "cannot say".

_MOST_DIVISORS: Final = 10_000
_Check: TypeAlias = Callable[[Predicate, AnswerValue], "bool | None"]
_NumberCheck: TypeAlias = Callable[[Predicate, Fraction], bool | None]


def _of_number(check: _NumberCheck) -> _Check:
    """A check on a rational value; an irrational one fails it, an option letter cannot be told."""

    def checked(predicate: Predicate, answer: AnswerValue) -> bool | None:
        if answer.letter:
            return None
        value = answer.number
        return False if value is None else check(predicate, value)

    return checked


def _of_size(check: Callable[[Predicate, AnswerValue], bool]) -> _Check:
    """A check on how large a value is, which √2 passes like any other."""
    return lambda predicate, answer: None if answer.letter else check(predicate, answer)


def _of_integer(check: Callable[[Predicate, int], bool]) -> _Check:
    def whole(predicate: Predicate, value: Fraction) -> bool:
        return value.denominator == 1 and check(predicate, value.numerator)

    return _of_number(whole)


def _gap(answer: AnswerValue, bound: Json) -> Fraction:
    """How far an answer lies above a bound; with a root in it, by signed squares: none is taken."""
    end = to_fraction(bound)
    if answer.radicand == 1:
        return answer.coefficient - end
    return answer.signed_square - end * abs(end)


def _between(predicate: Predicate, answer: AnswerValue) -> bool:
    low, high = predicate.get("low"), predicate.get("high")
    return (low is None or _gap(answer, low) >= 0) and (high is None or _gap(answer, high) <= 0)


def _ordered(predicate: Predicate, value: int) -> bool:
    digits = str(value)
    pairs = list(pairwise(digits))
    if predicate["order"] == "increasing":
        return all(left < right for left, right in pairs)
    return all(left > right for left, right in pairs)


def _encoded(predicate: Predicate, answer: AnswerValue) -> bool | None:
    """Compare with the sum that is asked for; None where a text names the sum and not its parts."""
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
    """Try every divisor; a number that is too large for that is left undecided."""
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


def _one_of(predicate: Predicate, value: Fraction) -> bool:
    return value in map(to_fraction, cast("list[Json]", predicate["values"]))


def _all(predicate: Predicate, answer: AnswerValue) -> bool | None:
    outcomes = [holds(one, answer) for one in cast("list[dict[str, Json]]", predicate["of"])]
    if "violated" in outcomes:
        return False
    return None if "undecided" in outcomes else True


def _is_target(predicate: Predicate, value: Fraction) -> bool | None:
    """Compare with the value that is rounded or converted; a text may name the rule alone."""
    return value == target(predicate) if "value" in predicate else None


def _form(predicate: Predicate, answer: AnswerValue) -> bool:
    return answer.form == predicate["form"]


def _reduced(predicate: Predicate, answer: AnswerValue) -> bool:  # noqa: ARG001
    return answer.form == "fraction" and answer.reduced


OPS: Mapping[str, _Check] = {
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
    "digits_ordered": _of_integer(lambda p, value: value >= 0 and _ordered(p, value)),
    "root": _of_number(_root),
    "one_of": _of_number(_one_of),
    "decimals": _of_number(lambda p, value: 10 ** _whole(p["places"]) % value.denominator == 0),
    "encoded": _encoded,
    "rounded": _of_number(_is_target),
    "in_unit": _of_number(_is_target),
    "counts": _of_number(lambda p, value: value == target(p)),
    "option": lambda p, answer: answer.letter in str(p["letters"]) if answer.letter else None,
    "form": _form,
    "reduced": _reduced,
    "all": _all,
    **dict.fromkeys(_OF_TEXT, lambda _predicate, _answer: None),
}
