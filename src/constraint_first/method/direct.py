"""Direct CoT: ask for a step-by-step solution, once. The baseline of every comparison."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Final

from constraint_first.method.method import BUDGET, ask_once
from constraint_first.problem import Problem, Solution
from constraint_first.prompt import Prompt, load
from constraint_first.protocol import Steps

__all__ = ["Direct"]

_PROMPT: Final = load("constraint_first.method", "direct")


@dataclass(frozen=True)
class Direct:
    """Direct CoT (paper: Experimental Setup, "Methods compared")."""

    label: ClassVar[str] = "Direct CoT"
    budget: int = BUDGET
    prompt: Prompt = field(default=_PROMPT, repr=False)

    def solve(self, problem: Problem) -> Steps[Solution]:
        """Ask once and read the answer."""
        return ask_once(self.prompt.fill(problem=problem.text), "direct", self.budget)
