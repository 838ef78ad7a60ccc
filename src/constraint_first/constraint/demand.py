"""Building predicates: one short function for each op, so that families read like sentences."""

from __future__ import annotations

from fractions import Fraction
from typing import Literal, TypeAlias

from constraint_first.answer.expression.value import Form
from constraint_first.constraint.predicate import Predicate
from constraint_first.problem import Json

__all__ = [
    "above",
    "all_of",
    "at_least",
    "at_most",
    "below",
    "between",
    "clock",
    "code",
    "congruent",
    "counts",
    "date",
    "decimals",
    "digit_sum",
    "digits_ordered",
    "divides",
    "divisible",
    "encoded",
    "form",
    "in_unit",
    "integer",
    "least_residue",
    "listed",
    "measured",
    "named",
    "not_whole",
    "one_of",
    "option",
    "parity",
    "prime",
    "reduced",
    "root",
    "rounded",
    "square",
]

Number: TypeAlias = "int | Fraction"


def _plain(value: Number) -> Json:
    return int(value) if value == int(value) else str(value)


def integer() -> Predicate:
    """Require a whole number."""
    return {"op": "integer"}


def not_whole() -> Predicate:
    """Require a value that is not a whole number."""
    return {"op": "not_whole"}


def between(low: Number | None, high: Number | None) -> Predicate:
    """Require a value from low to high, both included; None leaves an end open."""
    ends = {"low": low, "high": high}
    return {"op": "between", **{name: _plain(end) for name, end in ends.items() if end is not None}}


def at_least(low: Number) -> Predicate:
    """Require a value of low or more."""
    return between(low, None)


def at_most(high: Number) -> Predicate:
    """Require a value of high or less."""
    return between(None, high)


def above(value: Number) -> Predicate:
    """Require a value greater than this one."""
    return {"op": "above", "value": _plain(value)}


def below(value: Number) -> Predicate:
    """Require a value less than this one."""
    return {"op": "below", "value": _plain(value)}


def least_residue(modulus: int) -> Predicate:
    """Require a remainder on division by the modulus: a whole number from 0 to modulus - 1."""
    return {"op": "least_residue", "modulus": modulus}


def congruent(residue: int, modulus: int) -> Predicate:
    """Require a whole number that leaves this remainder."""
    return {"op": "congruent", "residue": residue % modulus, "modulus": modulus}


def divisible(by: int) -> Predicate:
    """Require a multiple of this number."""
    return {"op": "divisible", "by": by}


def parity(which: Literal["even", "odd"]) -> Predicate:
    """Require an even, or an odd, whole number."""
    return {"op": "parity", "parity": which}


def divides(number: int) -> Predicate:
    """Require a positive divisor of this number."""
    return {"op": "divides", "number": number}


def prime() -> Predicate:
    """Require a prime number."""
    return {"op": "prime"}


def square() -> Predicate:
    """Require the square of a whole number."""
    return {"op": "square"}


def digit_sum(total: int) -> Predicate:
    """Require a whole number whose decimal digits add up to this."""
    return {"op": "digit_sum", "sum": total}


def digits_ordered(order: Literal["increasing", "decreasing"]) -> Predicate:
    """Require digits that strictly increase, or decrease, from left to right."""
    return {"op": "digits_ordered", "order": order}


def root(*coefficients: int) -> Predicate:
    """Require a root of the polynomial with these coefficients, the highest power first."""
    return {"op": "root", "coefficients": list(coefficients)}


def one_of(*values: Number) -> Predicate:
    """Require one of these values."""
    return {"op": "one_of", "values": [_plain(value) for value in values]}


def form(name: Form) -> Predicate:
    """Require an answer written in this form."""
    return {"op": "form", "form": name}


def option(letters: str) -> Predicate:
    """Require one of these letters, where the answer is a letter at all."""
    return {"op": "option", "letters": letters}


def reduced() -> Predicate:
    """Require a fraction in lowest terms."""
    return {"op": "reduced"}


def decimals(places: int) -> Predicate:
    """Require a value with at most this many decimals."""
    return {"op": "decimals", "places": places}


def encoded(rule: str, parts: tuple[int, ...], modulus: int = 0) -> Predicate:
    """Require the sum of the parts that the rule names, reduced where a modulus is given."""
    extra: dict[str, Json] = {"modulus": modulus} if modulus else {}
    return {"op": "encoded", "rule": rule, "parts": list(parts), **extra}


def code(
    *factors: int, whole: bool = False, least: int | None = None, fraction: bool = False
) -> Predicate:
    """Require a sum of parts that are not known, each times its factor: 100m + n is (100, 1).

    ``whole`` says that the parts are whole numbers, ``least`` what their sum comes to at least, and
    ``fraction`` that they are the numerator and the denominator of one fraction in lowest terms.
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
    """Require the value times the factor: the same quantity, told in the unit that is asked for."""
    return {"op": "in_unit", "value": _plain(value), "factor": _plain(factor), "unit": unit}


def measured(unit: str, low: Number, high: Number) -> Predicate:
    """Require a size that the quantity can only have in this unit."""
    return {"op": "measured", "unit": unit, "low": _plain(low), "high": _plain(high)}


def counts(low: int, high: int, *where: Predicate) -> Predicate:
    """Require the number of whole numbers from low to high that satisfy all of ``where``."""
    return {"op": "counts", "low": low, "high": high, "where": [dict(one) for one in where]}


def clock(hours: Literal[12, 24] | None = None) -> Predicate:
    """Require a time of day, on a clock of 12 or 24 hours where one is named."""
    return {"op": "clock", **({"hours": hours} if hours else {})}


def date(order: Literal["MDY", "DMY", "YMD", ""] = "") -> Predicate:
    """Require a date of the calendar, in digits and in this order where one is named."""
    return {"op": "date", **({"order": order} if order else {})}


def named(*names: str) -> Predicate:
    """Require one of these names, whole or cut short."""
    return {"op": "named", "names": list(names)}


def listed(order: Literal["increasing", "decreasing"], length: int | None = None) -> Predicate:
    """Require a list of numbers in order, and of this length where it is known."""
    return {"op": "listed", "order": order, **({"length": length} if length else {})}


def all_of(*parts: Predicate) -> Predicate:
    """Require all of these at once."""
    return {"op": "all", "of": [dict(one) for one in parts]}
