"""One call, worded otherwise: the baselines that differ from Direct CoT in their prompt alone.

Paper: Matched Prompting Baselines; appendix "Comparison with Alternative Prompting Strategies".
Each has the whole output budget of Direct CoT.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Final

from constraint_first.method.method import BUDGET, ask_once
from constraint_first.problem import Problem, Solution
from constraint_first.prompt import Prompt, load
from constraint_first.protocol import Steps

__all__ = ["CheckAnswer", "ListFirst", "PlanAndSolve", "Reminder"]

_REMINDER: Final = load("constraint_first.method", "reminder")
_LIST_FIRST: Final = load("constraint_first.method", "list-first")
_CHECK: Final = load("constraint_first.method", "check")
_PLAN: Final = load("constraint_first.method", "plan")


@dataclass(frozen=True)
class Reminder:
    """Reminds the model, before it answers, that the problem restricts the final answer."""

    label: ClassVar[str] = "CoT + final-answer constraint reminder"
    budget: int = BUDGET
    prompt: Prompt = field(default=_REMINDER, repr=False)

    def solve(self, problem: Problem) -> Steps[Solution]:
        """Ask once, with the reminder."""
        return ask_once(self.prompt.fill(problem=problem.text), "solve", self.budget)


@dataclass(frozen=True)
class ListFirst:
    """Lists the constraints and solves in the same reply: CFR without its two stages."""

    label: ClassVar[str] = "List-constraints-first"
    budget: int = BUDGET
    prompt: Prompt = field(default=_LIST_FIRST, repr=False)

    def solve(self, problem: Problem) -> Steps[Solution]:
        """Ask once for a list and a solution."""
        return ask_once(self.prompt.fill(problem=problem.text), "solve", self.budget)


@dataclass(frozen=True)
class CheckAnswer:
    """Tells the model to check its answer before it gives it."""

    label: ClassVar[str] = "Check your answer"
    budget: int = BUDGET
    prompt: Prompt = field(default=_CHECK, repr=False)

    def solve(self, problem: Problem) -> Steps[Solution]:
        """Ask once, with the request to check."""
        return ask_once(self.prompt.fill(problem=problem.text), "solve", self.budget)


@dataclass(frozen=True)
class PlanAndSolve:
    """Plans the work, then carries the plan out, in one reply (after Wang et al., 2023)."""

    label: ClassVar[str] = "Plan-and-Solve"
    budget: int = BUDGET
    prompt: Prompt = field(default=_PLAN, repr=False)

    def solve(self, problem: Problem) -> Steps[Solution]:
        """Ask once for a plan and its execution."""
        return ask_once(self.prompt.fill(problem=problem.text), "plan", self.budget)
