"""One budget of output tokens for all stages of an attempt."""

from __future__ import annotations

from dataclasses import replace
from typing import Final, TypeVar

from constraint_first.protocol import Answer, Call, Completion, Program, Run, Steps, Usage

__all__ = ["within"]

T = TypeVar("T")

_SHORT: Final = frozenset("stage1 router format explore clarify".split())
"""Stages that are short beside the solution that they prepare."""
_SHARE: Final = 4
_NOTHING_LEFT: Final = Completion("", "length", usage=Usage())


def within(steps: Steps[T], most: int) -> Steps[T]:
    """Keep a method within a budget, from its first round to its last.

    A short stage gets a quarter of what is left at most, any other call all of it. Calls of one
    round are alternatives: each has what is left. Where nothing is left a call is not asked, and
    its reply is an empty one that was cut.
    """
    run, left = Run(steps), most
    while run.round:
        if left > 0:
            answers = yield tuple(
                _lowered(step, left) if isinstance(step, Call) else step for step in run.round
            )
        elif programs := tuple(step for step in run.round if isinstance(step, Program)):
            ran = iter((yield programs))
            answers = tuple(
                next(ran) if isinstance(step, Program) else _NOTHING_LEFT for step in run.round
            )
        else:
            answers = tuple(_NOTHING_LEFT for _ in run.round)
        left -= max(map(_written, answers))
        run.advance(answers)
    return run.result


def _lowered(call: Call, left: int) -> Call:
    share = max(1, left // _SHARE) if call.stage in _SHORT else left
    return replace(call, max_tokens=min(call.max_tokens, share))


def _written(answer: Answer) -> int:
    return answer.usage.output if isinstance(answer, Completion) else 0
