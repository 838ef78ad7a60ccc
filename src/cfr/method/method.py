"""What every way to answer a problem has in common."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar, Final, Protocol, runtime_checkable

from cfr.answer.extraction.extract import extract
from cfr.problem import Json, Problem, Solution
from cfr.protocol import Call, Completion, Stage, Steps, ask

__all__ = ["BUDGET", "Method", "ask_once", "last_answered", "noting", "solution_from"]

BUDGET: Final = 32_768
"""Output tokens for a whole solution (paper: Implementation Details). Engines lower it where the
model's context is smaller."""


@runtime_checkable
class Method(Protocol):
    """A frozen dataclass that knows how to ask for a solution.

    Its ``repr`` is its configuration. It must be deterministic given the completions it receives.
    """

    label: ClassVar[str]
    """Its name as the paper prints it."""

    def solve(self, problem: Problem) -> Steps[Solution]:
        """Ask for a solution, call by call."""
        ...


def solution_from(completion: Completion, **details: Json) -> Solution:
    """Make the solution that a solving call's completion amounts to."""
    found = extract(completion.text, truncated=completion.truncated)
    return Solution(
        found.answer, completion.text, completion.truncated, {"how": found.how} | details
    )


def ask_once(prompt: str, stage: Stage, budget: int) -> Steps[Solution]:
    """Ask for a whole solution in one call and read its answer."""
    call = Call.user(prompt, stage=stage, max_tokens=budget)
    return solution_from((yield from ask(call)))


def last_answered(solutions: Sequence[Solution]) -> Solution:
    """Choose the latest of several attempts that has an answer; the last one where none has."""
    return next((one for one in reversed(solutions) if one.answer), solutions[-1])


def noting(solution: Solution, **noted: Json) -> Solution:
    """Add what a method wants remembered; what the solution itself noted stays."""
    return replace(solution, details={**noted, **solution.details})
