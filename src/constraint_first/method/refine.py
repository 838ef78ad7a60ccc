"""Self-Refine: draft, criticise, write anew (Madaan et al., 2023).

Paper: Matched Prompting Baselines. Its mean output there, 33,044 tokens, is more than one budget of
32,768, so the calls do not share one: each has the whole of it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Final

from constraint_first.method.method import BUDGET, ask_once, last_answered, noting
from constraint_first.problem import Problem, Solution
from constraint_first.prompt import Prompt, load
from constraint_first.protocol import Call, Steps, ask
from constraint_first.thinking import without_thinking

__all__ = ["SelfRefine"]

_DRAFT: Final = load("constraint_first.method", "direct")
_FEEDBACK: Final = load("constraint_first.method", "feedback")
_REVISE: Final = load("constraint_first.method", "revise")


@dataclass(frozen=True)
class SelfRefine:
    """Drafts by Direct CoT, then criticises and revises a fixed number of times.

    A revision that has no final answer leaves the one before it standing. The number of calls does
    not depend on what the criticism says, so that the cost of a comparison is known beforehand.
    """

    label: ClassVar[str] = "Self-Refine"
    iterations: int = 1
    budget: int = BUDGET
    draft: Prompt = field(default=_DRAFT, repr=False)
    feedback: Prompt = field(default=_FEEDBACK, repr=False)
    revise: Prompt = field(default=_REVISE, repr=False)

    def solve(self, problem: Problem) -> Steps[Solution]:
        """Draft, then refine."""
        prompt = self.draft.fill(problem=problem.text)
        drafts = [(yield from ask_once(prompt, "draft", self.budget))]
        for _ in range(self.iterations):
            drafts.append((yield from self._refine(problem, last_answered(drafts))))
        return noting(last_answered(drafts), drafts=[draft.answer for draft in drafts])

    def _refine(self, problem: Problem, draft: Solution) -> Steps[Solution]:
        proposed = without_thinking(draft.text).strip()
        prompt = self.feedback.fill(problem=problem.text, solution=proposed)
        remarks = yield from ask(Call.user(prompt, stage="feedback", max_tokens=self.budget))
        feedback = without_thinking(remarks.text).strip()
        prompt = self.revise.fill(problem=problem.text, solution=proposed, feedback=feedback)
        return (yield from ask_once(prompt, "revise", self.budget))
