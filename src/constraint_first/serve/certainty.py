"""Which call is the solving one: the reply to it will be the solution, whatever it says.

A stream cannot take back what it has said. A method is a pure function of its replies, so it can be
replayed on those so far with a made-up one as the next: where each of several very different ones
is returned at once as the solution's text, any will be, unless the method checks its replies.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Final

from constraint_first.constraint.reply.reader import read_demands
from constraint_first.method import Method
from constraint_first.method.method import may_revise
from constraint_first.problem import Problem, Solution
from constraint_first.protocol import Answer, Call, Completion, Entry, Exchange, Run, Steps, Usage

__all__ = ["announcing", "is_held", "is_solving"]

_FEW: Final = Usage(10, 10)
_MADE_UP: Final = (
    Completion(r"It is \boxed{2}.", usage=Usage(10, 1)),
    Completion("", usage=_FEW),
    Completion(r"It is \boxed{-1/2}.", usage=_FEW),
    Completion("QUESTION: Of what?", usage=_FEW),
    Completion("```python\nprint(2)\n```\n", usage=_FEW),
    Completion(r"It is \boxed{x", "length", usage=Usage(10, 10**6)),
    Completion('{"raw_constraints": [], "restrictive": "yes", "final_answer": "2"}', usage=_FEW),
)


def announcing(
    steps: Steps[Solution], method: Method, problem: Problem, tell: Callable[[Call], None]
) -> Steps[Solution]:
    """Run a method's steps, and tell of the solving call before it is asked.

    ``steps`` are those of the method on the problem, whatever was changed about its calls.
    """
    run = Run(steps)
    while run.round:
        (call, *others) = run.round
        if isinstance(call, Call) and not others and is_solving(method, problem, run.transcript):
            tell(call)
        run.advance((yield run.round))
    return run.result


def is_held(method: Method, problem: Problem) -> bool:
    """Say whether replies to a text with demands are only drafts until the method has returned."""
    return may_revise(method, problem) and bool(read_demands(problem.text))


def is_solving(method: Method, problem: Problem, transcript: list[Entry]) -> bool:
    """Say whether the next call of a method is the solving one.

    A method that may edit a reply, or ask for another one, says so itself: whether it does depends
    on the reply, and no made-up one is like all that a model may write.
    """
    return not may_revise(method, problem) and all(
        _ends_with(method, problem, transcript, reply) for reply in _MADE_UP
    )


def _ends_with(
    method: Method, problem: Problem, transcript: list[Entry], reply: Completion
) -> bool:
    try:
        run, answers = Run(method.solve(problem)), _answers(transcript)
        while len(run.transcript) < len(transcript):
            run.advance(tuple(islice(answers, len(run.round))))
        run.advance((reply,))
        return run.done and run.result.text.strip() == reply.text.strip()
    except Exception:  # a method that breaks on a reply will say so when it gets one
        return False


def _answers(transcript: list[Entry]) -> Iterator[Answer]:
    return (e.completion if isinstance(e, Exchange) else e.output for e in transcript)
