"""Direct CoT, the baseline of every comparison, and the paper's other prompting baselines."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import ClassVar, Final, Literal, TypeAlias

from constraint_first.method.method import (
    BUDGET,
    ask_once,
    conversation,
    last_answered,
    noting,
    option,
    said,
    solution_from,
    wording,
)
from constraint_first.problem import Problem, Prompt, Solution
from constraint_first.protocol import Call, Completion, Stage, Steps, ask


@dataclass(frozen=True)
class _OneCall:
    """A whole solution in one call; subclasses differ only in the prompt."""

    stage: ClassVar[Stage] = "solve"
    budget: int = BUDGET
    prompt: Prompt = wording("direct")

    def solve(self, problem: Problem) -> Steps[Solution]:
        return ask_once(self.prompt.fill(problem=problem.text), self.stage, self.budget)


class Direct(_OneCall):
    """Direct CoT (paper: Experimental Setup, "Methods compared")."""

    label: ClassVar[str] = "Direct CoT"
    stage: ClassVar[Stage] = "direct"


# Extended CoT (token-matched): does CFR help only because its reasoning is longer?
#
# Paper: Matched Prompting Baselines. The prompt demands a length. Models seldom comply, so the
# conversation continues, round by round, until the reported output tokens reach the target.

CFR_OUTPUT: Final = 25_338
"""Mean output tokens of CFR (always-on) on DeepSeek-V4-Pro, as the paper measured them (table
"Matched prompting and accuracy-cost comparison"). Measure your own model's and set ``tokens``."""


@dataclass(frozen=True)
class ExtendedCoT:
    """Direct CoT that reasons on until its output matches a measured CFR budget.

    The latest reply with a final answer counts. All rounds share one budget. Where the endpoint
    reports no token counts, the first reply is final.
    """

    label: ClassVar[str] = "Extended CoT (token-matched)"
    tokens: int = field(default=CFR_OUTPUT, metadata=option())
    rounds: int = field(default=3, metadata=option())
    """The most requests to continue reasoning; 0 means a single call, which is what the paper's
    input tokens (321 against 305 of Direct CoT) suggest."""
    budget: int = BUDGET
    prompt: Prompt = wording("extended")
    continuing: Prompt = wording("continue")

    def solve(self, problem: Problem) -> Steps[Solution]:
        prompt = self.prompt.fill(problem=problem.text, tokens=f"{self.tokens:,}")
        only = self.rounds == 0
        call = Call.user(prompt, stage="solve", max_tokens=self.budget, final=only)
        reply = yield from ask(call)
        written, found = reply.usage.output, [solution_from(reply)]
        while len(found) <= self.rounds and self._goes_on(reply, written):
            call = self._continued(call, reply, written)
            last = len(found) == self.rounds and not any(one.answer for one in found)
            reply = yield from ask(replace(call, final=last))
            written += reply.usage.output
            found.append(solution_from(reply))
        return noting(last_answered(found), output=written, rounds=len(found) - 1)

    def _goes_on(self, reply: Completion, written: int) -> bool:
        short = 0 < written < min(self.tokens, self.budget)
        return short and reply.usage.reported and not reply.truncated and bool(said(reply))

    def _continued(self, call: Call, reply: Completion, written: int) -> Call:
        prompt = self.continuing.fill(tokens=f"{self.tokens - written:,}")
        return Call(conversation(call, reply, prompt), "continue", self.budget - written)


# Baselines of one call that differ from Direct CoT in the prompt alone.
#
# Paper: Matched Prompting Baselines; appendix "Comparison with Alternative Prompting Strategies".
# Each has the whole output budget of Direct CoT.


@dataclass(frozen=True)
class Reminder(_OneCall):
    """Reminds the model that the problem restricts the final answer."""

    label: ClassVar[str] = "CoT + final-answer constraint reminder"
    prompt: Prompt = wording("reminder")


@dataclass(frozen=True)
class ListFirst(_OneCall):
    """Lists the constraints and solves in the same reply: CFR without its two stages."""

    label: ClassVar[str] = "List-constraints-first"
    prompt: Prompt = wording("list-first")


@dataclass(frozen=True)
class CheckAnswer(_OneCall):
    """Tells the model to check its answer before it gives it."""

    label: ClassVar[str] = "Check your answer"
    prompt: Prompt = wording("check")


@dataclass(frozen=True)
class PlanAndSolve(_OneCall):
    """Plans the work, then carries the plan out, in one reply (after Wang et al., 2023)."""

    label: ClassVar[str] = "Plan-and-Solve"
    stage: ClassVar[Stage] = "plan"
    prompt: Prompt = wording("plan")


# Self-Refine: draft, criticise, rewrite (Madaan et al., 2023).
#
# Paper: Matched Prompting Baselines. Its mean output there, 33,044 tokens, is more than one
# budget of 32,768, so the calls do not share one: each has the whole of it.


@dataclass(frozen=True)
class SelfRefine:
    """Drafts by Direct CoT, then criticises and revises a fixed number of times.

    The number of calls does not depend on the criticism, so that the cost of a comparison is
    known beforehand.
    """

    label: ClassVar[str] = "Self-Refine"
    iterations: int = field(default=1, metadata=option())
    budget: int = BUDGET
    draft: Prompt = wording("direct")
    feedback: Prompt = wording("feedback")
    revise: Prompt = wording("revise")

    def solve(self, problem: Problem) -> Steps[Solution]:
        prompt = self.draft.fill(problem=problem.text)
        only = self.iterations == 0
        drafts = [(yield from ask_once(prompt, "draft", self.budget, final=only))]
        for left in reversed(range(self.iterations)):
            last = not left and not any(one.answer for one in drafts)
            asked = {"problem": problem.text, "solution": said(last_answered(drafts))}
            prompt = self.feedback.fill(**asked)
            remarks = yield from ask(Call.user(prompt, stage="feedback", max_tokens=self.budget))
            prompt = self.revise.fill(**asked, feedback=said(remarks))
            drafts.append((yield from ask_once(prompt, "revise", self.budget, final=last)))
        return noting(last_answered(drafts), drafts=[draft.answer for draft in drafts])


# A plain reply to any request, and two prompts that make the model heed the request's demands.

_LIST_BUDGET: Final = 512

Mind: TypeAlias = Literal["nothing", "reminder", "list"]
"""The handling of demands: none; a reminder after the request; a call that lists them first."""


@dataclass(frozen=True)
class Plain:
    """The request sent unchanged, its reply as the answer; ``mind`` adds the paper's baselines."""

    label: ClassVar[str] = "Plain reply"
    mind: Mind = field(default="nothing", metadata=option())
    budget: int = field(default=BUDGET, metadata=option("tokens"))
    reply: Prompt = wording("reply")
    reminder: Prompt = wording("reply-reminder")
    list: Prompt = wording("reply-list")
    told: Prompt = wording("reply-told")

    @property
    def in_use(self) -> tuple[object, ...]:
        if self.mind == "list":
            return (self.list, self.told, self.reply)
        return (self.reply if self.mind == "nothing" else self.reminder,)

    def solve(self, problem: Problem) -> Steps[Solution]:
        if self.mind == "list":
            return (yield from self._listed(problem))
        prompt = self.reply if self.mind == "nothing" else self.reminder
        return (yield from self._reply(prompt.fill(request=problem.text)))

    def _listed(self, problem: Problem) -> Steps[Solution]:
        prompt = self.list.fill(request=problem.text)
        call = Call.user(prompt, stage="list", max_tokens=min(_LIST_BUDGET, self.budget))
        demands = said((yield from ask(call)))
        asked = self.reply.fill(request=problem.text)
        if demands:
            asked = self.told.fill(request=problem.text, demands=demands)
        return noting((yield from self._reply(asked)), listed=demands)

    def _reply(self, asked: str) -> Steps[Solution]:
        call = Call.user(asked, stage="reply", max_tokens=self.budget, final=True)
        return whole_reply((yield from ask(call)))


def whole_reply(completion: Completion) -> Solution:
    """Make a solution whose answer is the whole reply without its thinking."""
    text = said(completion)
    return Solution(text or None, text, completion.truncated, {"whole": True})
