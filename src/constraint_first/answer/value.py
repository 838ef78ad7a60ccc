"""An answer's value: a rational number, a·√b or an option letter, and the form it is written in.

The value is read by the grader's own parser, so that the two never disagree about what an answer
says. A list, an expression in x, a sentence or a number of thousands of digits has no such value:
it is None, never a guess.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from math import gcd, isqrt
from typing import Literal, TypeAlias, get_args

from constraint_first.answer.canonical import SIMPLE, choice_letter, scalars
from constraint_first.answer.exact import rational
from constraint_first.answer.syntax import Node, Num, Op, walk
from constraint_first.pattern import lazy_pattern

Form: TypeAlias = Literal["integer", "fraction", "decimal", "surd", "choice"]
"""How an answer is written."""

FORMS: tuple[Form, ...] = get_args(Form)

_LONGEST = 1_000  # no value that is meant as an answer is written longer
_MOST_BITS = 14_000  # just fewer digits than Python refuses to write
_POINT = lazy_pattern(r"\.\\?[\da-z]")
_TWO = Num(Fraction(2))


@dataclass(frozen=True, slots=True)
class AnswerValue:
    """An exact value ``coefficient`` times the root of ``radicand``, or an option letter."""

    coefficient: Fraction
    radicand: int = 1
    form: Form = "integer"
    letter: str = ""
    written: tuple[int, int] | None = None
    """Numerator and denominator as they stand, before any reduction."""

    @property
    def number(self) -> Fraction | None:
        """The value where it is a rational number."""
        return self.coefficient if self.radicand == 1 and not self.letter else None

    @property
    def reduced(self) -> bool:
        """Whether a fraction stands in lowest terms."""
        return self.written is None or gcd(*self.written) == 1

    @property
    def signed_square(self) -> Fraction:
        """The square with the sign of the value: it orders values, and no root is in it."""
        return self.coefficient * abs(self.coefficient) * self.radicand


def read_answer(text: str) -> AnswerValue | None:
    """Read an answer, whatever its name or unit; per cent stand for their own number."""
    text = text.strip()
    if len(text) > _LONGEST:
        return None
    if simple := SIMPLE.fullmatch(text):
        return _simple(simple)
    if letter := choice_letter(text):
        return AnswerValue(Fraction(0), form="choice", letter=letter)
    try:
        values = (_value(node, text) for node in scalars(text))
        return next((value for value in values if value is not None), None)
    except RecursionError:  # a product of hundreds of factors
        return None


def _simple(match: re.Match[str]) -> AnswerValue:
    """Read the commonest answers of all as they stand."""
    sign, whole, part, below, over, under = match.groups()
    factor = -1 if sign else 1
    if part is not None:
        return AnswerValue(factor * Fraction(f"{whole}.{part}"), form="decimal")
    if not (denominator := below or under):
        return AnswerValue(Fraction(factor * int(whole)))
    written = int(whole or over), int(denominator)
    return AnswerValue(factor * Fraction(*written), form="fraction", written=written)


def _value(node: Node, text: str) -> AnswerValue | None:
    """Give the value of a tree, where it is a·√b and of a moderate size."""
    value = _surd(node)
    if value is None:
        return None
    while isinstance(node, Op) and node.name == "neg":
        node = node.args[0]
    form, written = _form(node, text, value[0])
    return AnswerValue(*value, form, written=written)


def _form(node: Node, text: str, value: Fraction) -> tuple[Form, tuple[int, int] | None]:
    if written := _quotient(node):
        return "fraction", written
    parts = list(walk(node))
    if any(isinstance(part, Op) and part.name == "root" for part in parts):
        return "surd", None
    if any(isinstance(part, Num) and part.digits is not None for part in parts):
        return "decimal", None
    if value.denominator == 1:
        return "integer", None
    if _POINT.search(text):  # digits that recur
        return "decimal", None
    return "fraction", (abs(value.numerator), value.denominator)  # a mixed number, most likely


def _quotient(node: Node) -> tuple[int, int] | None:
    """Give the two parts of a fraction of whole numbers, without their signs."""
    if not (isinstance(node, Op) and node.name == "/"):
        return None
    parts = [value for arg in node.args if (value := rational(arg)) is not None]
    if len(parts) != 2 or any(part.denominator != 1 for part in parts):
        return None
    return abs(parts[0].numerator), abs(parts[1].numerator)


def _surd(node: Node) -> tuple[Fraction, int] | None:
    """Evaluate to a rational number times the root of a whole number."""
    value = rational(node)
    if value is not None:
        return _moderate(value, 1)
    match node:
        case Op("neg", (inner,)):
            root = _surd(inner)
            return None if root is None else (-root[0], root[1])
        case Op("root", (inner, index)) if index == _TWO:
            square = rational(inner)
            if square is None or square < 0:
                return None
            return _moderate(Fraction(1, square.denominator), square.numerator * square.denominator)
        case Op("*" | "/" as name, (first, second)):
            left, right = _surd(first), _surd(second)
            if left is None or right is None or not (name == "*" or right[0]):
                return None
            factor = right[0] if name == "*" else 1 / (right[0] * right[1])
            return _moderate(left[0] * factor, left[1] * right[1])
        case _:
            return None


def _moderate(coefficient: Fraction, radicand: int) -> tuple[Fraction, int] | None:
    """Pass on a value that is small enough to compute with; a root that comes out is taken."""
    sizes = coefficient.numerator, coefficient.denominator, radicand
    if max(size.bit_length() for size in sizes) > _MOST_BITS:
        return None
    root = isqrt(radicand)
    return (coefficient * root, 1) if root * root == radicand else (coefficient, radicand)


def same(first: AnswerValue, second: AnswerValue) -> bool:
    """Whether two answers have the same value, however they are written."""
    if first.letter or second.letter:
        return first.letter == second.letter
    if first.radicand == second.radicand == 1:
        return first.coefficient == second.coefficient
    # Comparing sign and square tells 2√3 from √12 no more than it should: not at all.
    return first.signed_square == second.signed_square


def show(value: int | Fraction | str) -> str:
    """Write a value the way this benchmark writes answers: ``12``, ``3/7``; a text as it stands."""
    return value if isinstance(value, str) else str(value)


def decimal(value: Fraction | int, places: int) -> str:
    """Write a value with a fixed number of decimals; what does not fit is an error."""
    scaled = Fraction(value) * 10**places
    if scaled.denominator != 1:
        raise ValueError(f"{value} has more than {places} decimals")
    digits = str(abs(scaled.numerator)).rjust(places + 1, "0")
    sign = "-" if scaled < 0 else ""
    return f"{sign}{digits[:-places]}.{digits[-places:]}" if places else f"{sign}{digits}"
