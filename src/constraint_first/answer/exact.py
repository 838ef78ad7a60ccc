"""The exact tier's arithmetic: rational numbers, and None for everything else."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from fractions import Fraction
from functools import cmp_to_key
from math import inf
from typing import NamedTuple

from constraint_first.answer import syntax
from constraint_first.answer.syntax import Measure, Node, Num, Op, Sym

ENOUGH_DIGITS = 6
"""A decimal with this many significant digits equals the exact value that it rounds."""

MAX_BITS = 60_000
MAX_FACTORIAL = 2_000
MAX_TERMS = 200


def leaf(pred: Node, gold: Node) -> bool | None:
    """Compare two scalars; None where rational arithmetic cannot decide."""
    if pred == gold:
        return True
    if pred in syntax.INFINITE or gold in syntax.INFINITE:
        return False
    if (left := rational(pred)) is None or (right := rational(gold)) is None:
        return None
    return equal_numbers(left, digits_of(pred), right, digits_of(gold))


def digits_of(node: Node) -> int | None:
    """Return the significant digits of a decimal; None for integers, fractions and expressions."""
    if isinstance(node, Op) and node.name in ("neg", "%"):
        return digits_of(node.args[0])
    return node.digits if isinstance(node, Num) else None


def equal_numbers(
    pred: Fraction, pred_digits: int | None, gold: Fraction, gold_digits: int | None
) -> bool:
    """Whether two numbers are the same; a decimal may be rounded or cut off."""
    if pred == gold:
        return True
    # The coarser decimal must be the finer number rounded, or cut off, at its own last digit.
    if pred_digits is not None and (gold_digits is None or pred_digits <= gold_digits):
        return pred_digits >= ENOUGH_DIGITS and _rounds_to(gold, pred, pred_digits)
    if gold_digits is not None:
        return gold_digits >= ENOUGH_DIGITS and _rounds_to(pred, gold, gold_digits)
    return False


def _rounds_to(exact: Fraction, decimal: Fraction, digits: int) -> bool:
    if decimal == 0 or (exact < 0) != (decimal < 0):
        return False
    exact, decimal = abs(exact), abs(decimal)
    bits = decimal.numerator.bit_length() - decimal.denominator.bit_length()
    power = math.floor(bits * math.log10(2)) - 1
    while Fraction(10) ** (power + 1) <= decimal:
        power += 1
    last_place = Fraction(10) ** (power - digits + 1)
    return abs(exact - decimal) * 2 <= last_place or 0 <= exact - decimal < last_place


def rational(node: Node) -> Fraction | None:
    """Evaluate to a rational number; None where the value is irrational or too large."""
    match node:
        case Num(value=value):
            return value
        case Measure(value=inner):
            return rational(inner)
        case Sym() | Op("call", (Sym(), _)):
            return None
        case Op("sum" | "prod" as name, (body, Sym(name=variable), low, high)):
            return _ranged(name, body, variable, (rational(low), rational(high)))
        case Op(name, args):
            if name not in _KNOWN:
                return None
            values = tuple(value for arg in args if (value := rational(arg)) is not None)
            if not values or len(values) < len(args):
                return None
            if len(values) == 1 and name in _OF_ONE:
                return _OF_ONE[name](*values)
            if len(values) == 2 and name in _OF_TWO:
                return _OF_TWO[name](*values)
            return _OF_MANY[name](values) if name in _OF_MANY else None


def _ranged(
    name: str, body: Node, variable: str, ends: tuple[Fraction | None, Fraction | None]
) -> Fraction | None:
    """Add or multiply the values of a body at the whole numbers of a short range."""
    low, high = ends
    if low is None or high is None or low.denominator != 1 or high.denominator != 1:
        return None
    # Nested sums multiply the work; leave them to a worker process, which can be killed.
    if high - low >= MAX_TERMS or any(syntax.is_op(n, *syntax.BINDERS) for n in syntax.walk(body)):
        return None
    total = Fraction(0 if name == "sum" else 1)
    for at in range(int(low), int(high) + 1):
        term = rational(syntax.substitute(body, variable, Num(Fraction(at))))
        if term is None:
            return None
        more = total + term if name == "sum" else _multiply(total, term)
        if more is None or more.denominator.bit_length() > MAX_BITS:
            return None
        total = more
    return total


def _of_whole(
    compute: Callable[..., int],
    values: tuple[Fraction, ...],
    fits: Callable[[Fraction], bool] = lambda v: v.numerator.bit_length() <= MAX_BITS,
) -> Fraction | None:
    """Apply a function of integers; None where an argument is not an integer or is too large."""
    whole = all(value.denominator == 1 and fits(value) for value in values)
    return Fraction(compute(*map(int, values))) if whole else None


def _countable(value: Fraction) -> bool:
    return 0 <= value <= MAX_FACTORIAL


def _double_factorial(number: int) -> int:
    return math.prod(range(number, 0, -2))


def _multiply(left: Fraction, right: Fraction) -> Fraction | None:
    bits = left.numerator.bit_length() + right.numerator.bit_length()
    return left * right if bits <= 4 * MAX_BITS else None


def _power(base: Fraction, exponent: Fraction) -> Fraction | None:
    if exponent.denominator != 1:
        root = _root(base, Fraction(exponent.denominator))
        return None if root is None else _power(root, Fraction(exponent.numerator))
    size = max(base.numerator.bit_length(), base.denominator.bit_length())
    if abs(exponent) * size > MAX_BITS or (base == 0 and exponent <= 0):
        return None
    return base ** int(exponent)


def _root(value: Fraction, index: Fraction) -> Fraction | None:
    """Return an exact rational root; None where the root is irrational."""
    if index.denominator != 1 or not 2 <= index <= 64 or value < 0:
        return None
    over, under = (_integer_root(n, int(index)) for n in (value.numerator, value.denominator))
    return None if over is None or under is None else Fraction(over, under)


def _integer_root(number: int, index: int) -> int | None:
    if number.bit_length() > MAX_BITS // 16:
        return None
    if index == 2:
        guess = math.isqrt(number)
    else:
        low, high = 0, 1 << (number.bit_length() // index + 1)
        while low < high:
            middle = (low + high + 1) // 2
            low, high = (middle, high) if middle**index <= number else (low, middle - 1)
        guess = low
    return guess if guess**index == number else None


_OF_ONE: dict[str, Callable[[Fraction], Fraction | None]] = {
    "neg": lambda value: -value,
    "!": lambda value: _of_whole(math.factorial, (value,), _countable),
    "!!": lambda value: _of_whole(_double_factorial, (value,), _countable),
    "abs": abs,
    "floor": lambda value: Fraction(math.floor(value)),
    "ceil": lambda value: Fraction(math.ceil(value)),
    "%": lambda value: value / 100,
    "sign": lambda value: Fraction((value > 0) - (value < 0)),
}
_OF_TWO: dict[str, Callable[[Fraction, Fraction], Fraction | None]] = {
    "*": _multiply,
    "/": lambda over, under: over / under if under else None,
    "^": _power,
    "root": _root,
    "binom": lambda top, bottom: _of_whole(
        math.comb, (top, bottom), lambda _: _countable(top) and bottom >= 0
    ),
    "mod": lambda value, modulus: value % modulus if modulus else None,
    "residue": lambda value, modulus: value % modulus if modulus else None,
    "base": lambda digits, base: digits if base == 10 else None,
}
_OF_MANY: dict[str, Callable[[tuple[Fraction, ...]], Fraction | None]] = {
    "+": lambda values: sum(values, Fraction(0)),
    "gcd": lambda values: _of_whole(math.gcd, values),
    "lcm": lambda values: _of_whole(math.lcm, values) if len(values) < MAX_TERMS else None,
    "max": max,
    "min": min,
}


_KNOWN = _OF_ONE.keys() | _OF_TWO.keys() | _OF_MANY.keys()


def nearly(node: Node) -> float | None:
    """Evaluate in floating point, to order the ends of intervals; None where that fails."""
    match node:
        case Num(value=value):
            with suppress(OverflowError):
                return float(value)
        case Sym(name=name):
            return {"pi": math.pi, "e": math.e, "oo": math.inf}.get(name)
        case Op(name, args):
            values = [value for arg in args if (value := nearly(arg)) is not None]
            if len(values) < len(args):
                return None
            with suppress(ArithmeticError, ValueError, TypeError):
                if name == "+":
                    return math.fsum(values)
                if len(values) == 1 and name in _ROUGHLY_ONE:
                    return _ROUGHLY_ONE[name](*values)
                if len(values) == 2 and name in _ROUGHLY_TWO:
                    return _ROUGHLY_TWO[name](*values)
        case _:
            pass
    return None


def _rough_power(base: float, exponent: float) -> float | None:
    return base**exponent if base > 0 or exponent == int(exponent) else None


_ROUGHLY_ONE: dict[str, Callable[[float], float]] = {
    "neg": lambda value: -value,
    "abs": math.fabs,
    "ln": math.log,
    **{
        name: getattr(math, name.replace("arc", "a"))
        for name in "log10 exp sin cos tan arcsin arccos arctan".split()
    },
}
_ROUGHLY_TWO: dict[str, Callable[[float, float], float | None]] = {
    "*": lambda left, right: left * right,
    "/": lambda over, under: over / under,
    "^": _rough_power,
    "root": lambda value, index: _rough_power(value, 1 / index),
    "log": lambda base, value: math.log(value, base),
}


# Sets of real numbers: intervals and points, and their unions, intersections and differences.
#
# The ends of intervals are trees, ordered by their floating-point values. Where two ends are too
# close to be distinguished, and not equal by exact arithmetic, the set is left as written.

REALS = Op("()", (syntax.INFINITE[1], syntax.INFINITE[0]))
_INTERVALS = frozenset({"()", "[]", "[)", "(]"})
_CLOSE = 1e-9


class _Cut(NamedTuple):
    """A boundary on the real line: just before or just after a value."""

    at: float
    behind: bool
    node: Node


RealSet = tuple[tuple[_Cut, _Cut], ...]
"""Disjoint pieces in order, each from one cut to the next."""


class _Unordered(Exception):
    """Two ends are too close to be ordered."""


def as_real_set(node: Node) -> RealSet | None:
    """Evaluate intervals, finite sets and operations on them; None for any other tree."""
    try:
        return _read(node)
    except _Unordered:
        return None


def _read(node: Node) -> RealSet | None:
    if not isinstance(node, Op):
        return None
    if node.name == "def":
        return _read(node.args[1])
    if node.name in _INTERVALS and len(node.args) == 2:
        low = _cut(node.args[0], behind=node.name[0] == "(")
        high = _cut(node.args[1], behind=node.name[1] == "]")
        return None if low is None or high is None else _settled([(low, high)])
    if node.name == "{}":
        cuts = [(_cut(arg, behind=False), _cut(arg, behind=True)) for arg in node.args]
        pieces = [(low, high) for low, high in cuts if low and high]
        return _settled(pieces) if len(pieces) == len(cuts) else None
    if node.name in ("union", "intersect", "minus"):
        sets = [found for arg in node.args if (found := _read(arg)) is not None]
        if len(sets) != len(node.args):
            return None
        result = sets[0]
        for other in sets[1:]:
            if node.name == "union":
                result = _settled([*result, *other])
            else:
                others = other if node.name == "intersect" else _complement(other)
                ends = [(*a, *b) for a in result for b in others]
                result = _settled(
                    [(max(a, c, key=_ORDER), min(b, d, key=_ORDER)) for a, b, c, d in ends]
                )
        return result
    return None


def _cut(node: Node, *, behind: bool) -> _Cut | None:
    at = nearly(node)
    if at is None or at != at:
        return None
    if at == inf:
        return _Cut(at, False, node)
    return _Cut(at, behind or at == -inf, node)


def _compared(left: _Cut, right: _Cut) -> int:
    """Order two cuts; ends that are close must be the same number."""
    size = max(1, abs(left.at), abs(right.at))
    if left.at == right.at or (size < inf and abs(left.at - right.at) <= _CLOSE * size):
        if left.node != right.node:
            values = rational(left.node), rational(right.node)
            if None in values:
                raise _Unordered
            if values[0] != values[1]:
                return -1 if (values[0] or 0) < (values[1] or 0) else 1
        return left.behind - right.behind
    return -1 if left.at < right.at else 1


_ORDER = cmp_to_key(_compared)


def _settled(pieces: list[tuple[_Cut, _Cut]]) -> RealSet:
    """Sort pieces and merge those that overlap or touch."""
    kept = [piece for piece in pieces if _compared(*piece) < 0]
    result: list[tuple[_Cut, _Cut]] = []
    for low, high in sorted(kept, key=lambda piece: piece[0][:2]):
        if result and _compared(low, result[-1][1]) <= 0:
            if _compared(high, result[-1][1]) > 0:
                result[-1] = (result[-1][0], high)
        else:
            result.append((low, high))
    return tuple(result)


def _complement(pieces: RealSet) -> RealSet:
    low = _Cut(-inf, True, syntax.INFINITE[1])
    gaps: list[tuple[_Cut, _Cut]] = []
    for first, last in pieces:
        gaps.append((low, first))
        low = last
    gaps.append((low, _Cut(inf, False, syntax.INFINITE[0])))
    return _settled(gaps)


def as_tree(pieces: RealSet) -> Node:
    """Write a set of real numbers in canonical form, in which sets are compared."""
    nodes: list[Node] = []
    for low, high in pieces:
        if low.at == high.at:
            nodes.append(Op("{}", (low.node,)))
        else:
            opened, closed = "(" if low.behind else "[", "]" if high.behind else ")"
            nodes.append(Op(opened + closed, (low.node, high.node)))
    if all(isinstance(node, Op) and node.name == "{}" for node in nodes):
        return Op("{}", tuple(low.node for low, _ in pieces))
    return nodes[0] if len(nodes) == 1 else Op("union", tuple(nodes))
