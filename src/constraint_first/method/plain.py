"""A plain reply to any request, and two ways to have the model mind what the request demands."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Final, Literal, TypeAlias

from constraint_first.method.method import BUDGET, noting
from constraint_first.problem import Problem, Solution
from constraint_first.prompt import Prompt, load
from constraint_first.protocol import Call, Completion, Steps, ask
from constraint_first.thinking import without_thinking

__all__ = ["Mind", "Plain", "whole_reply"]

_REPLY: Final = load("constraint_first.method", "reply")
_REMINDER: Final = load("constraint_first.method", "reply-reminder")
_LIST: Final = load("constraint_first.method", "reply-list")
_TOLD: Final = load("constraint_first.method", "reply-told")
_LIST_BUDGET: Final = 512

Mind: TypeAlias = Literal["nothing", "reminder", "list"]
"""What is done about demands: nothing; a reminder behind the request; a call that lists them."""


@dataclass(frozen=True)
class Plain:
    """The request as it stands, and the reply as it stands: what a model does by itself.

    ``mind=reminder`` and ``mind=list`` are what the paper's baselines would be for requests of any
    kind; the list is written by the model, in a call of its own.
    """

    label: ClassVar[str] = "Plain reply"
    mind: Mind = "nothing"
    budget: int = BUDGET
    reply: Prompt = field(default=_REPLY, repr=False)
    reminder: Prompt = field(default=_REMINDER, repr=False)
    list: Prompt = field(default=_LIST, repr=False)
    told: Prompt = field(default=_TOLD, repr=False)

    @property
    def in_use(self) -> tuple[object, ...]:
        """The prompts that it asks with as it is set."""
        if self.mind == "list":
            return (self.list, self.told, self.reply)
        return (self.reply if self.mind == "nothing" else self.reminder,)

    def solve(self, problem: Problem) -> Steps[Solution]:
        """Ask for the reply."""
        if self.mind == "list":
            return (yield from self._listed(problem))
        prompt = self.reply if self.mind == "nothing" else self.reminder
        return (yield from self._reply(prompt.fill(request=problem.text)))

    def _listed(self, problem: Problem) -> Steps[Solution]:
        prompt = self.list.fill(request=problem.text)
        call = Call.user(prompt, stage="list", max_tokens=min(_LIST_BUDGET, self.budget))
        demands = without_thinking((yield from ask(call)).text).strip()
        asked = self.reply.fill(request=problem.text)
        if demands:
            asked = self.told.fill(request=problem.text, demands=demands)
        return noting((yield from self._reply(asked)), listed=demands)

    def _reply(self, asked: str) -> Steps[Solution]:
        call = Call.user(asked, stage="reply", max_tokens=self.budget)
        return whole_reply((yield from ask(call)))


def whole_reply(completion: Completion) -> Solution:
    """Make the solution whose answer is the whole reply, without thinking ahead of it."""
    text = without_thinking(completion.text).strip()
    return Solution(text or None, text, completion.truncated, {"whole": True})
