"""Questions of the solver to the constraint stage (paper: Multi-turn constraint refinement).

The solver may ask before it solves, a bounded number of times: what a constraint means, or what it
speaks of. The conversation of Stage 1 goes on to answer it, then that of Stage 2.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Final

from constraint_first.problem import Json
from constraint_first.prompt import Prompt, load
from constraint_first.protocol import Call, Completion, Exchange, Message, Steps, ask
from constraint_first.thinking import without_thinking

__all__ = ["MOST_QUESTIONS", "QuestionPrompts", "read_question", "solve_asking"]

MOST_QUESTIONS: Final = 3
_LONGEST: Final = 500
_QUESTION: Final = re.compile(r"\W{0,9}QUESTION\W{1,5}([^\n]+)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class QuestionPrompts:
    """The wording of a question: the offer to ask, what Stage 1 is asked, what Stage 2 is told."""

    offer: Prompt = load("constraint_first.method", "question")
    clarify: Prompt = load("constraint_first.method", "clarify")
    clarified: Prompt = load("constraint_first.method", "clarified")


_OWN: Final = QuestionPrompts()


def solve_asking(
    call: Call, stage1: Exchange, questions: int, prompts: QuestionPrompts = _OWN
) -> Steps[tuple[Completion, list[Json]]]:
    """Ask the Stage 2 call, answer what it asks back, and return its reply with the questions."""
    asked = list[Json]()
    call = _with_offer(call, prompts.offer.fill()) if questions else call
    reply = yield from ask(call)
    while len(asked) < questions and (question := read_question(reply.text)):
        told = yield from ask(_clarification(stage1, prompts.clarify.fill(question=question)))
        said = without_thinking(told.text).strip()
        asked.append({"question": question, "reply": said})
        call = _continued(call, reply, prompts.clarified.fill(reply=said))
        reply = yield from ask(call)
    return reply, asked


def read_question(reply: str) -> str:
    """Read the question that a reply begins with; none where it goes on to an answer."""
    said = without_thinking(reply).strip()
    found = _QUESTION.match(said)
    return "" if not found or "\\boxed" in said else found[1].strip()[:_LONGEST]


def _with_offer(call: Call, offer: str) -> Call:
    *before, last = call.messages
    offered = replace(last, content=f"{last.content}\n\n{offer}")
    return replace(call, messages=(*before, offered))


def _clarification(stage1: Exchange, prompt: str) -> Call:
    call = replace(stage1.call, stage="clarify", json=False, schema="")
    return _continued(call, stage1.completion, prompt)


def _continued(call: Call, reply: Completion, prompt: str) -> Call:
    said = Message("assistant", without_thinking(reply.text).strip())
    return replace(call, messages=(*call.messages, said, Message("user", prompt)))
