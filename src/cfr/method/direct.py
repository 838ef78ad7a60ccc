"""Direct CoT: ask for a step-by-step solution, once. The baseline of every comparison."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final

from cfr.method.method import BUDGET, solution_from
from cfr.problem import Problem, Solution
from cfr.prompt import load
from cfr.protocol import Call, Steps, ask

__all__ = ["Direct"]

_PROMPT: Final = load("cfr.method", "direct")


@dataclass(frozen=True)
class Direct:
    """Direct CoT (paper: Experimental Setup, "Methods compared")."""

    label: ClassVar[str] = "Direct CoT"
    budget: int = BUDGET

    def solve(self, problem: Problem) -> Steps[Solution]:
        """Ask once and read the answer."""
        prompt = _PROMPT.fill(problem=problem.text)
        call = Call.user(prompt, stage="direct", max_tokens=self.budget)
        return solution_from((yield from ask(call)))
