"""Whether two answers have the same value, as votes and options need to know.

This is the exact tier of the grader and, where that does not decide, floating point with a bound on
its error. Nothing here takes long, so it needs no worker; an expression that is beyond it equals
nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Final

from constraint_first.answer.exact import nearly, rational
from constraint_first.answer.grade import decide
from constraint_first.answer.syntax import Node, Num, substitute, symbols
from constraint_first.answer.value import scalars

_FLOAT_DIGITS: Final = 10
"""Significant digits from which a decimal is a printed float and may have noise at its end."""
_TOLERANCE: Final = 1e-9
_MOST_VARIABLES: Final = 3
_LONGEST: Final = 300
# Away from roots and poles of school mathematics, and of both signs: |x| is not x.
_POINTS: Final = tuple(
    tuple(Num(Fraction(value)) for value in point.split())
    for point in ("1.37 2.11 0.83", "0.59 1.73 2.9", "-1.21 0.47 -2.3", "2.63 -0.89 1.19")
)
_FEWEST_POINTS: Final = 2


def is_alike(first: str, second: str) -> bool:
    """Whether two answers are one value in two notations; False where that is not certain."""
    if first == second:
        return True
    if decide(first, second).same or decide(second, first).same:
        return True
    if max(len(first), len(second)) > _LONGEST:
        return False
    return any(_near(one, other) for one in scalars(first) for other in scalars(second))


def is_number(answer: str) -> bool:
    """Whether an answer is a single number, with or without a name and a unit."""
    return any(nearly(node) is not None for node in scalars(answer))


def _near(one: Node, other: Node) -> bool:
    names = symbols(one)
    if names != symbols(other) or len(names) > _MOST_VARIABLES:
        return False
    if not names:
        # Two exact numbers were compared exactly: 10^15 and 10^15 + 1 are near, and not equal.
        return (_is_rough(one) or _is_rough(other)) and _close(nearly(one), nearly(other)) is True
    verdicts = [v for v in _compared_at_points(one, other, sorted(names)) if v is not None]
    return len(verdicts) >= _FEWEST_POINTS and all(verdicts)


def _compared_at_points(one: Node, other: Node, names: list[str]) -> Iterator[bool | None]:
    for point in _POINTS:
        left, right = one, other
        for name, value in zip(names, point, strict=False):
            left, right = substitute(left, name, value), substitute(right, name, value)
        yield _close(nearly(left), nearly(right))


def _is_rough(node: Node) -> bool:
    if isinstance(node, Num):
        return (node.digits or 0) >= _FLOAT_DIGITS
    return rational(node) is None


def _close(left: float | None, right: float | None) -> bool | None:
    if left is None or right is None or isinstance(left, complex) or isinstance(right, complex):
        return None
    if not (math.isfinite(left) and math.isfinite(right)):
        return None
    return math.isclose(left, right, rel_tol=_TOLERANCE, abs_tol=_TOLERANCE)
