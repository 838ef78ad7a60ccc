"""What a set of predicates implies because only a few values satisfy all of it.

"An even divisor of 66 between 7 and 27" leaves 22 alone, and "it is a multiple of 11" follows,
although no single predicate says so. Only what is finite and small is tried out.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from math import isqrt
from typing import cast

from constraint_first.analysis.audit.stage1.implication import Knowledge
from constraint_first.answer.expression.value import AnswerValue
from constraint_first.constraint.predicate import Predicate, holds, parts, to_fraction
from constraint_first.problem import Json

__all__ = ["follows"]

_MOST = 5000
# Ops that say something about the value itself. Those that pin the answer (encoded, counts, …) are
# left out: they would make everything follow that happens to be true.
_PLAIN = frozenset(
    (
        "integer", "not_whole", "between", "above", "below", "least_residue", "congruent",
        "divisible", "parity", "divides", "square", "digit_sum", "digits_ordered", "root",
        "one_of",
    )
)  # fmt: skip
_QUADRATIC = 3


def follows(known: Knowledge, predicate: Predicate) -> bool:
    """Say whether a predicate is implied, by reasoning or by trying all values that are left."""
    if known.implies(predicate):
        return True
    wanted = list(parts(predicate))
    if not all(one["op"] in _PLAIN for one in wanted):
        return False
    facts = [fact for fact in known.facts if fact["op"] in _PLAIN]
    left = [value for value in _finite(known, facts) if _satisfies(value, facts)]
    return bool(left) and all(_satisfies(value, wanted) for value in left)


def _satisfies(value: Fraction, predicates: Iterable[Predicate]) -> bool:
    return all(holds(one, AnswerValue(value)) == "holds" for one in predicates)


def _finite(known: Knowledge, facts: Iterable[Predicate]) -> list[Fraction]:
    """Give all values that may satisfy the facts; none where they are not known to be few."""
    for fact in facts:
        if fact["op"] == "root":
            return _roots(cast("list[int]", fact["coefficients"]))
        if fact["op"] == "one_of":
            return [to_fraction(value) for value in cast("list[Json]", fact["values"])]
    low, high = known.ends()
    if low is None or high is None:
        return []
    if low == high:
        return [low]
    if not known.whole or high - low > _MOST:
        return []
    return [Fraction(value) for value in range(low.__ceil__(), high.__floor__() + 1)]


def _roots(coefficients: list[int]) -> list[Fraction]:
    """Solve a quadratic equation; none where a root is irrational or the degree another."""
    if len(coefficients) != _QUADRATIC or not coefficients[0]:
        return []
    a, b, c = coefficients
    square = b * b - 4 * a * c
    if square < 0 or isqrt(square) ** 2 != square:
        return []
    return [Fraction(-b + sign * isqrt(square), 2 * a) for sign in (-1, 1)]
