"""The symbolic tier, as a worker process runs it: what needs values to many digits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from constraint_first.answer.expression.canonical import interpret, scalars
from constraint_first.answer.expression.evaluator import DIGITS, FAILURES, Evaluator
from constraint_first.answer.expression.syntax import Node
from constraint_first.answer.judgement import numeric
from constraint_first.answer.judgement.equivalence import Equivalence
from constraint_first.answer.judgement.tier import Ruling, decide_trees
from constraint_first.problem import Json
from constraint_first.process import Task

__all__ = ["TASKS", "is_whole", "judge"]

_NEAR = 1e-20
"""How close to a whole number a value is taken for it."""
_MOST_BITS = 100
"""Above this a value's digits do not tell any more whether it is whole."""


def judge(pred: str, gold: str, *, percent: bool = False) -> Ruling:
    """Compare two answers that exact arithmetic could not decide."""
    left, right = interpret(pred), interpret(gold)
    if left and right:
        same = decide_trees(left, right, Equivalence(numeric.leaf, numeric.relate, percent))
        if same is not None:
            return Ruling(same, "equal symbolically" if same else "different symbolically")
    return Ruling(None, "the expressions cannot be evaluated")


def is_whole(text: str) -> bool | None:
    """Say whether an answer is a whole number; None where it has no value, or a huge one."""
    found = [_whole(node) for node in scalars(text)]
    return True if True in found else False if False in found else None


def _whole(node: Node) -> bool | None:
    evaluate = Evaluator(DIGITS)
    try:
        value = evaluate(node)
        if value and evaluate.mp.mag(value) > _MOST_BITS:
            return None
        return bool(abs(value - evaluate.mp.nint(value.real)) < _NEAR)
    except (*FAILURES, RecursionError):
        return None


def _judge(pred: str, gold: str, percent: bool) -> Json:
    ruling = judge(pred, gold, percent=percent)
    return [ruling.same, ruling.why]


TASKS: Final[Mapping[str, Task]] = {"judge": _judge, "is_whole": is_whole}
