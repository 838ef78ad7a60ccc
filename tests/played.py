"""A method played on a problem with the replies, and the outputs of programs, that a test gives."""

from typing import Protocol

from constraint_first.problem import Problem, Solution
from constraint_first.protocol import Completion, Output, Run, Steps


class _Solves(Protocol):
    def solve(self, problem: Problem) -> Steps[Solution]: ...


def play(method: _Solves, problem: Problem, *replies: str | Completion | Output) -> Run[Solution]:
    """Answer one step after the other; the last reply must end the method."""
    run = Run(method.solve(problem))
    for reply in replies:
        run.advance((Completion(reply) if isinstance(reply, str) else reply,))
    assert run.done, run.calls
    return run


def stages(run: Run[Solution]) -> list[str]:
    return [exchange.call.stage for exchange in run.exchanges]
