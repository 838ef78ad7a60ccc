"""Direct CoT: ask for a step-by-step solution, once. The baseline of every comparison."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Final

from cfr.method.method import BUDGET, ask_once
from cfr.problem import Problem, Solution
from cfr.prompt import Prompt, load
from cfr.protocol import Steps

__all__ = ["Direct"]

_PROMPT: Final = load("cfr.method", "direct")


@dataclass(frozen=True)
class Direct:
    """Direct CoT (paper: Experimental Setup, "Methods compared")."""

    label: ClassVar[str] = "Direct CoT"
    budget: int = BUDGET
    prompt: Prompt = field(default=_PROMPT, repr=False)

    def solve(self, problem: Problem) -> Steps[Solution]:
        """Ask once and read the answer."""
        return ask_once(self.prompt.fill(problem=problem.text), "direct", self.budget)
