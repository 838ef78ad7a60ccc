"""What a final answer is worth: the checks that it passed, and how far to trust it.

A reply to a request has no final answer but itself: it is checked by the demands on replies alone.
Both are added to every solution where it is made final, whatever method it comes from.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from constraint_first.constraint.predicate import Truth
from constraint_first.constraint.reply.conflict import find_conflicts, tell_conflict
from constraint_first.constraint.reply.reader import read_demands
from constraint_first.constraint.stated import Stated, check_stated, read_stated
from constraint_first.method.agreement import value_ballot
from constraint_first.method.method import Method
from constraint_first.method.vote import ballot
from constraint_first.problem import Json, Problem, Solution
from constraint_first.protocol import Steps

__all__ = ["assess", "assessed", "confidence_of"]

_WRONG_ANSWERS: Final = 5
"""How many wrong answers a model chooses from, as the formula has it."""


def assessed(method: Method, problem: Problem) -> Steps[Solution]:
    """Solve a problem and say what the answer is worth."""
    return assess(problem, (yield from method.solve(problem)))


def assess(problem: Problem, solution: Solution) -> Solution:
    """Add the checks of the answer and the confidence in it to what the method noted."""
    stated = (
        () if solution.is_whole else check_stated(read_stated(problem.text), solution.answer or "")
    )
    demands = read_demands(problem.text)
    checks = (*stated, *check_stated(demands, solution.text))
    conflicts: list[Json] = [*map(tell_conflict, find_conflicts(demands))]
    noted: dict[str, Json] = {"conflicts": conflicts} if conflicts else {}
    noted |= {
        "checks": [_check(one, truth) for one, truth in checks],
        "confidence": _confidence(solution, [truth for _, truth in checks]),
    }
    return replace(solution, details={**solution.details, **noted})


def _check(stated: Stated, truth: Truth) -> dict[str, Json]:
    return {
        "sentence": stated.sentence,
        "kind": stated.kind,
        "span": [*stated.span],
        "truth": truth,
    }


def _confidence(solution: Solution, truths: list[Truth]) -> float:
    if not solution.answer or "violated" in truths:
        return 0.0
    noted = solution.details.get("votes")
    counts = noted.items() if isinstance(noted, dict) else ()
    # A method of another package may keep something else under this name.
    votes = {answer: count for answer, count in counts if type(count) is int and count > 0}
    if not votes:
        return _ONE_SAMPLE
    own = votes.get(value_ballot(solution.answer)) or votes.get(ballot(solution.answer)) or 1
    return confidence_of(own, [*votes.values()])


def confidence_of(own: int, votes: list[int]) -> float:
    """Say how likely an answer is right that has some of the votes.

    This is Bayes' rule for samples that are right half of the time and otherwise give one of five
    wrong answers, all alike: an answer with n votes weighs 5ⁿ, and one that nobody gave 1. One
    sample alone comes to 0.50, two that agree to 0.83, two of three to 0.74, two that differ to
    0.36 each.
    """
    weights = [_WRONG_ANSWERS**count for count in votes or [own]]
    unseen = max(0, _WRONG_ANSWERS + 1 - len(weights))
    return round(_WRONG_ANSWERS**own / (sum(weights) + unseen), 3)


_ONE_SAMPLE: Final = confidence_of(1, [])
