"""The symbolic tier's arithmetic: expressions evaluated to many digits at fixed points.

Two elementary expressions that agree to thirty digits at several generic points are the same; one
disagreement shows that they are not. The points never change, so neither does a verdict.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property
from typing import TypeAlias

from cfr.answer.expression.evaluator import (
    CONTEXTS,
    DIGITS,
    FAILURES,
    MORE_DIGITS,
    Evaluator,
    Undefined,
    Value,
)
from cfr.answer.expression.exact import ENOUGH_DIGITS, digits_of, equal_numbers, rational
from cfr.answer.expression.exact import leaf as exact_leaf
from cfr.answer.expression.syntax import Node, Num, Op, Sym, substitute, symbols, walk

__all__ = ["leaf", "relate"]

Point: TypeAlias = dict[str, Value]
"""A value for each variable."""

AGREE = 30
"""Digits that must agree."""
ENOUGH_POINTS = 3
_BIG = 10**100

_WHOLE = frozenset({"floor", "ceil", "!", "!!", "binom", "mod"})
# Generic points: no value, sum or ratio of theirs is special. Signs and sizes vary, so that |x| and
# x, or branches of a root, cannot be mistaken for one another.
_SCALES = (
    ("0.734861", 1), ("1.893127", 1), ("0.218343", 1), ("2.671939", 1), ("0.561277", -1),
    ("1.337741", -1), ("3.918273", 1), ("0.093417", 1),
)  # fmt: skip
_WHOLE_POINTS = (*range(2, 26), 37, 60, 101)


class ExpressionPair:
    """Two expressions evaluated side by side."""

    def __init__(self, left: Node, right: Node) -> None:
        self.left, self.right = left, right
        self.names = sorted(symbols(left) | symbols(right))

    @cached_property
    def whole(self) -> bool:
        """Whether the variables can only stand for whole numbers."""
        return any(
            isinstance(node, Op) and symbols(node) and (node.name in _WHOLE or _alternates(node))
            for side in (self.left, self.right)
            for node in walk(side)
        )

    def points(self) -> list[Point]:
        """Return the points at which to evaluate; one empty point for constants."""
        mp = CONTEXTS[DIGITS]
        if not self.names:
            return [{}]
        if self.whole:
            return [
                {name: mp.mpf(base + 7 * i * (at % 3) + i) for i, name in enumerate(order)}
                for at, base in enumerate(_WHOLE_POINTS)
                # Each variable is the largest in turn: n choose k needs n, d - k needs d.
                for order in (self.names[at % 2 :: 1] + self.names[: at % 2],)
            ]
        return [
            {
                name: mp.mpf(start) * mp.sqrt(i + 2) * (sign if (at + i) % 2 else 1)
                + mp.mpf(i * i) / 7
                for i, name in enumerate(self.names)
            }
            for at, (start, sign) in enumerate(_SCALES)
        ]

    def values(self, point: Point, digits: int = DIGITS) -> tuple[Value, Value] | None:
        """Evaluate both sides at a point; None where one of them has no value there."""
        evaluate = Evaluator(digits, point)
        try:
            return evaluate(self.left), evaluate(self.right)
        except FAILURES:
            return None


def _alternates(node: Op) -> bool:
    """Recognise (-1)^n, which only has a real value at whole numbers."""
    if node.name != "^" or not symbols(node.args[1]):
        return False
    base = rational(node.args[0])
    return base is not None and base < 0


def leaf(pred: Node, gold: Node) -> bool | None:
    """Compare two scalars; None where they cannot be evaluated."""
    if (verdict := exact_leaf(pred, gold)) is not None:
        return verdict
    pair = ExpressionPair(pred, gold)
    return _identical(pair) if pair.names else _constants(pair)


def _constants(pair: ExpressionPair) -> bool | None:
    values = pair.values({})
    if values is None:
        return False if _undefined(pair.left) and not _undefined(pair.right) else None
    pred_digits, gold_digits = digits_of(pair.left), digits_of(pair.right)
    agree = _agree(pair, {}, values)
    if agree or (pred_digits is None and gold_digits is None):
        return agree
    if any(value.imag for value in values):
        return False
    pred, gold = (_fraction(value) for value in values)
    return equal_numbers(pred, pred_digits, gold, gold_digits)


def _undefined(node: Node) -> bool:
    try:
        Evaluator(DIGITS)(node)
    except Undefined:
        return True
    except FAILURES:
        return False
    return False


def _fraction(value: Value) -> Fraction:
    sign, mantissa, exponent, _ = value.real._mpf_
    magnitude = Fraction(int(mantissa)) * Fraction(2) ** int(exponent)
    return -magnitude if sign else magnitude


def _agree(pair: ExpressionPair, point: Point, values: tuple[Value, Value]) -> bool | None:
    """Compare two values to thirty digits and, where they agree, to far more."""
    if not (_close(*values, AGREE) or _tiny(*values)):
        return False
    closer = pair.values(point, MORE_DIGITS)
    if closer is None:
        return None
    if _close(*closer, MORE_DIGITS - DIGITS):
        return True
    # Rounding noise shrinks as the digits grow; a value that is only small stays what it is.
    shrunk = all(abs(f) * _BIG <= abs(c) for f, c in zip(closer, values, strict=True))
    return shrunk and bool(max(abs(closer[0]), abs(closer[1])) * 10 ** (MORE_DIGITS - DIGITS) < 1)


def _close(left: Value, right: Value, digits: int) -> bool:
    """Compare relative to size."""
    size = max(abs(left), abs(right))
    return bool(abs(left - right) * 10**digits <= size)


def _tiny(left: Value, right: Value) -> bool:
    return bool(max(abs(left), abs(right)) * 10 ** (AGREE + 5) < 1)


def _identical(pair: ExpressionPair) -> bool | None:
    rounded = _one_is_rounded(pair)
    agreed = 0
    for point in pair.points():
        values = pair.values(point)
        if values is None or _only_one_is_real(*values):
            continue
        if rounded:
            verdict = _close(*values, ENOUGH_DIGITS - 1)
        else:
            # One point is looked at closely; at the others thirty digits will do.
            near = _close(*values, AGREE) or _tiny(*values)
            verdict = near if agreed else _agree(pair, point, values)
        if verdict is False:
            return False
        agreed += verdict is True
    return True if agreed >= ENOUGH_POINTS else None


def _one_is_rounded(pair: ExpressionPair) -> bool:
    """Tell whether one side alone is written in decimals, each of six digits or more."""
    digits = [
        [n.digits for n in walk(side) if isinstance(n, Num) and n.digits is not None]
        for side in (pair.left, pair.right)
    ]
    return bool(digits[0]) != bool(digits[1]) and min(digits[0] + digits[1]) >= ENOUGH_DIGITS


def _only_one_is_real(left: Value, right: Value) -> bool:
    """ln(x²) and 2 ln x are the same where both are real; elsewhere they say nothing."""
    return bool(left.imag) != bool(right.imag)


def relate(pred: Node, gold: Node) -> bool | None:
    """Compare two equations or inequalities: one must be the other times a constant."""
    if not (isinstance(pred, Op) and isinstance(gold, Op)) or pred.name != gold.name:
        return False
    if symbols(pred) != symbols(gold):
        return False
    sides = [Op("+", (n.args[0], Op("neg", (n.args[1],)))) for n in (pred, gold)]
    pair = ExpressionPair(*sides)
    ratios: list[Value] = []
    for point in pair.points():
        values = pair.values(point)
        if values is not None and values[1] and not any(v.imag for v in values):
            ratios.append(values[0] / values[1])
    if len(ratios) < ENOUGH_POINTS or not ratios[0]:
        return None if len(ratios) < ENOUGH_POINTS else False
    if pred.name in ("<", "<=") and ratios[0] < 0:
        return False
    if all(_close(ratio, ratios[0], AGREE) for ratio in ratios):
        return True
    return _solved(pred, gold) if pred.name == "=" else False


def _solved(pred: Op, gold: Op) -> bool | None:
    """Compare y = 1/x with xy = 1: put the solved form into the other, linear in y."""
    for solved, other in ((pred, gold), (gold, pred)):
        name, value = solved.args
        if isinstance(name, Sym) and name.name not in symbols(value):
            return _linear_solution(name.name, value, other)
    return False


def _linear_solution(name: str, value: Node, other: Op) -> bool | None:
    residual = Op("+", (other.args[0], Op("neg", (other.args[1],))))
    at_value = ExpressionPair(substitute(residual, name, value), Num(Fraction(0)))
    if _identical(at_value) is not True:
        return False
    steps = [substitute(residual, name, Num(Fraction(n))) for n in (0, 1, 2)]
    bend = Op("+", (steps[0], steps[2], Op("*", (Num(Fraction(-2)), steps[1]))))
    straight = _identical(ExpressionPair(bend, Num(Fraction(0)))) is True
    return straight and _identical(ExpressionPair(*steps[:2])) is False
