"""What every way to answer a problem has in common."""

from __future__ import annotations

from typing import ClassVar, Final, Protocol, runtime_checkable

from cfr.answer.extract import extract
from cfr.problem import Json, Problem, Solution
from cfr.protocol import Completion, Steps

__all__ = ["BUDGET", "Method", "solution_from"]

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
    found = extract(completion.text)
    return Solution(
        found.answer, completion.text, completion.truncated, {"how": found.how} | details
    )
