"""Extended CoT (token-matched): is it only the longer reasoning that helps?

Paper: Matched Prompting Baselines. The model is told how much to write. Models seldom obey, so the
conversation goes on, round by round, until the output tokens that were counted reach the target.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Final

from constraint_first.method.method import BUDGET, last_answered, noting, solution_from
from constraint_first.problem import Problem, Solution
from constraint_first.prompt import Prompt, load
from constraint_first.protocol import Call, Completion, Message, Steps, ask
from constraint_first.thinking import without_thinking

__all__ = ["CFR_OUTPUT", "ExtendedCoT"]

CFR_OUTPUT: Final = 25_338
"""Mean output tokens of CFR (always-on) on DeepSeek-V4-Pro, as the paper measured them (table
"Matched prompting and accuracy-cost comparison"). Measure your own model's and set ``tokens``."""

_PROMPT: Final = load("constraint_first.method", "extended")
_CONTINUE: Final = load("constraint_first.method", "continue")


@dataclass(frozen=True)
class ExtendedCoT:
    """Direct CoT that reasons on until its output matches a measured CFR budget.

    The latest reply with a final answer counts. All rounds share one budget. Where the endpoint
    reports no token counts there is nothing to match, and the first reply stands.
    """

    label: ClassVar[str] = "Extended CoT (token-matched)"
    tokens: int = CFR_OUTPUT
    rounds: int = 3
    """How often, at most, the model is sent back to its reasoning; 0 leaves it at one call, which
    is what the paper's input tokens (321 against 305 of Direct CoT) point to."""
    budget: int = BUDGET
    prompt: Prompt = field(default=_PROMPT, repr=False)
    continuing: Prompt = field(default=_CONTINUE, repr=False)

    def solve(self, problem: Problem) -> Steps[Solution]:
        """Ask at length, then again and again until enough has been written."""
        prompt = self.prompt.fill(problem=problem.text, tokens=f"{self.tokens:,}")
        call = Call.user(prompt, stage="solve", max_tokens=self.budget)
        reply = yield from ask(call)
        written, found = reply.usage.output, [solution_from(reply)]
        while len(found) <= self.rounds and self._goes_on(reply, written):
            call = self._continued(call, reply, written)
            reply = yield from ask(call)
            written += reply.usage.output
            found.append(solution_from(reply))
        return noting(last_answered(found), output=written, rounds=len(found) - 1)

    def _goes_on(self, reply: Completion, written: int) -> bool:
        said = without_thinking(reply.text).strip()
        short = 0 < written < min(self.tokens, self.budget)
        return short and reply.usage.reported and not reply.truncated and bool(said)

    def _continued(self, call: Call, reply: Completion, written: int) -> Call:
        prompt = self.continuing.fill(tokens=f"{self.tokens - written:,}")
        # Endpoints want earlier turns without their thinking.
        said = Message("assistant", without_thinking(reply.text).strip())
        messages = (*call.messages, said, Message("user", prompt))
        return Call(messages, "continue", self.budget - written)
