"""Format-only extraction + solve: two stages, but the first one looks at the answer's form alone.

Paper: Matched Prompting Baselines. It separates what CFR gains by knowing the form from what it
gains by the other constraints.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Final

from constraint_first.method.constraint_first import EXTRACTION_BUDGET
from constraint_first.method.direct import Direct
from constraint_first.method.method import BUDGET, Method, ask_once, noting
from constraint_first.problem import Json, Problem, Solution
from constraint_first.prompt import Prompt, load
from constraint_first.protocol import Call, Steps, ask
from constraint_first.thinking import without_thinking

__all__ = ["FormatOnly"]

_EXTRACT: Final = load("constraint_first.method", "format")
_SOLVE: Final = load("constraint_first.method", "format-solve")


@dataclass(frozen=True)
class FormatOnly:
    """Asks for the answer's form, then for a solution in that form, within CFR's two budgets.

    Where the first reply says nothing, the problem is solved by Direct CoT, as CFR does it.
    """

    label: ClassVar[str] = "Format-only extraction + solve"
    extraction_budget: int = EXTRACTION_BUDGET
    solving_budget: int = BUDGET - EXTRACTION_BUDGET
    fallback: Method = Direct()
    extract: Prompt = field(default=_EXTRACT, repr=False)
    prompt: Prompt = field(default=_SOLVE, repr=False)

    def solve(self, problem: Problem) -> Steps[Solution]:
        """Ask for the form, then for a solution."""
        prompt = self.extract.fill(problem=problem.text)
        call = Call.user(prompt, stage="format", max_tokens=self.extraction_budget)
        reply = yield from ask(call)
        form = without_thinking(reply.text).strip()
        noted: dict[str, Json] = {"format": form, "format_truncated": reply.truncated}
        if not form:
            return noting((yield from self.fallback.solve(problem)), **noted)
        prompt = self.prompt.fill(problem=problem.text, format=form)
        return noting((yield from ask_once(prompt, "solve", self.solving_budget)), **noted)
