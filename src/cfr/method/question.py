"""Questions of the solver to the constraint stage (paper: Multi-turn constraint refinement).

The solver may ask before it solves, a bounded number of times: what a constraint means, or what it
speaks of. The conversation of Stage 1 goes on to answer it, then that of Stage 2.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from cfr.problem import Json
from cfr.prompt import load
from cfr.protocol import Call, Completion, Exchange, Message, Steps, ask
from cfr.thinking import without_thinking

__all__ = ["MOST_QUESTIONS", "read_question", "solve_asking"]

MOST_QUESTIONS: Final = 3
_LONGEST: Final = 500
_OFFER: Final = load("cfr.method", "question")
_CLARIFY: Final = load("cfr.method", "clarify")
_CLARIFIED: Final = load("cfr.method", "clarified")
_QUESTION: Final = re.compile(r"\W{0,9}QUESTION\W{1,5}([^\n]+)", re.IGNORECASE)


def solve_asking(
    call: Call, stage1: Exchange, questions: int
) -> Steps[tuple[Completion, list[Json]]]:
    """Ask the Stage 2 call, answer what it asks back, and return its reply with the questions."""
    asked = list[Json]()
    call = _with_offer(call) if questions else call
    reply = yield from ask(call)
    while len(asked) < questions and (question := read_question(reply.text)):
        told = yield from ask(_clarification(stage1, question))
        said = without_thinking(told.text).strip()
        asked.append({"question": question, "reply": said})
        call = _continued(call, reply, _CLARIFIED.fill(reply=said))
        reply = yield from ask(call)
    return reply, asked


def read_question(reply: str) -> str:
    """Read the question that a reply begins with; none where it goes on to an answer."""
    said = without_thinking(reply).strip()
    found = _QUESTION.match(said)
    return "" if not found or "\\boxed" in said else found[1].strip()[:_LONGEST]


def _with_offer(call: Call) -> Call:
    *before, last = call.messages
    offered = replace(last, content=f"{last.content}\n\n{_OFFER.fill()}")
    return replace(call, messages=(*before, offered))


def _clarification(stage1: Exchange, question: str) -> Call:
    call = replace(stage1.call, stage="clarify", json=False, schema="")
    return _continued(call, stage1.completion, _CLARIFY.fill(question=question))


def _continued(call: Call, reply: Completion, prompt: str) -> Call:
    said = Message("assistant", without_thinking(reply.text).strip())
    return replace(call, messages=(*call.messages, said, Message("user", prompt)))
