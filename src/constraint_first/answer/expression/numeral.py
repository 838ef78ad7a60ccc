"""Numbers as they are written: decimals, recurring decimals, and digits in another base."""

from __future__ import annotations

from fractions import Fraction

from constraint_first.answer.expression.lexer import Unreadable
from constraint_first.answer.expression.syntax import Node, Num, Op

__all__ = ["MAX_DIGITS", "in_base", "literal", "recurring"]

MAX_DIGITS = 4000
"""Python refuses to convert much longer ones, and no answer needs them."""

_BASES = {
    "two": 2,
    "three": 3,
    "four": 4,
    "five": 5,
    "six": 6,
    "seven": 7,
    "eight": 8,
    "nine": 9,
    "ten": 10,
}


def literal(text: str) -> Num:
    """Turn digits into a number, remembering how many of a decimal's digits are significant."""
    if text.isdecimal():
        return Num(Fraction(int(text)))
    mantissa, _, power = text.lower().partition("e")
    whole, point, part = mantissa.partition(".")
    exponent = int(power) if power else 0
    if abs(exponent) > MAX_DIGITS:
        raise Unreadable("an exponent of too many digits")
    value = Fraction(int((whole + part) or "0")) * Fraction(10) ** (exponent - len(part))
    if not (point and part):
        return Num(value)
    return Num(value, len((whole + part).lstrip("0")))


def recurring(text: str, period: str) -> Num:
    """Read the digits of a period behind the digits that come once."""
    whole, _, part = text.partition(".")
    once = whole + part
    if not period or not (once + period).isdecimal():
        raise Unreadable("a period behind or of something else than digits")
    if len(period) > MAX_DIGITS:
        raise Unreadable("a period of too many digits")
    unit = Fraction(10) ** -len(part)
    start = Fraction(int(once or "0")) * unit
    return Num(start + unit * Fraction(int(period), 10 ** len(period) - 1))


def in_base(text: str, base: str) -> Node:
    """Read digits with an index that names their base."""
    base = base.strip("()")
    number = _BASES.get(base.lower()) or (int(base) if base.isdecimal() and len(base) < 3 else 0)
    if number == 10 and not text.isdecimal():
        return literal(text)
    if not 2 <= number <= 36 or not text.isdecimal():
        raise Unreadable("a base that is not one")
    return Op("base", (Num(Fraction(int(text))), Num(Fraction(number))))
