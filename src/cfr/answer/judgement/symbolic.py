"""The symbolic tier, as a worker process runs it."""

from __future__ import annotations

from cfr.answer.expression.canonical import interpret
from cfr.answer.judgement import numeric
from cfr.answer.judgement.equivalence import Equivalence
from cfr.answer.judgement.tier import Ruling, decide_trees

__all__ = ["judge"]


def judge(pred: str, gold: str, *, percent: bool = False) -> Ruling:
    """Compare two answers that exact arithmetic could not decide."""
    left, right = interpret(pred), interpret(gold)
    if left and right:
        same = decide_trees(left, right, Equivalence(numeric.leaf, numeric.relate, percent))
        if same is not None:
            return Ruling(same, "equal symbolically" if same else "different symbolically")
    return Ruling(None, "the expressions cannot be evaluated")
