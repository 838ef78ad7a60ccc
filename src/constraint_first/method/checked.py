"""Checking the final answer of any method by the constraints that the problem's text states."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import ClassVar, Final

from constraint_first.constraint.stated import Stated
from constraint_first.method.direct import Direct
from constraint_first.method.method import (
    BUDGET,
    Method,
    configuration,
    gathering,
    may_revise,
    noting,
    solution_from,
)
from constraint_first.method.soundness import (
    Switch,
    broken,
    intervened,
    intervention,
    is_sound,
    mended,
    sentences,
    stated_in,
)
from constraint_first.method.vote import ballot
from constraint_first.problem import Problem, Solution
from constraint_first.prompt import Prompt, load
from constraint_first.protocol import Call, Message, Steps, altered, ask
from constraint_first.thinking import without_thinking

__all__ = ["Checked"]

_PROBLEM: Final = load("constraint_first.method", "direct")
_CORRECT: Final = load("constraint_first.method", "correct")
# Beyond the numbers of a vote's samples, and within those that one run may use.
_FRESH: Final = 500


@dataclass(frozen=True)
class Checked:
    """A method whose answer is mended where it breaks a stated constraint.

    Three things are tried until one leads to an answer that breaks none: a repair of its form that
    is certain and costs nothing; one more turn, in which the model is told what its answer breaks;
    a fresh sample. Where all fail, or the model gives the same answer again, the first one stands:
    the text may have been misread. ``interventions`` among the details has each that was made, with
    the answer before and after it and the words of the text that it rests on.
    """

    label: ClassVar[str] = "Checked"
    base: Method = Direct()
    budget: int = BUDGET
    """For the turn that names what is broken."""
    repair: Switch = field(default="on", repr=False)
    """Whether a certain repair is made; without it the model is asked."""
    pose: Prompt = field(default=_PROBLEM, repr=False)
    correct: Prompt = field(default=_CORRECT, repr=False)

    def __repr__(self) -> str:
        return configuration(self)

    def revises(self, problem: Problem) -> bool:
        """Whether there is a constraint that an answer may break."""
        return bool(stated_in(problem)) or may_revise(self.base, problem)

    def solve(self, problem: Problem) -> Steps[Solution]:
        """Solve, check, and intervene where the check fails."""
        first = yield from self.base.solve(problem)
        stated = stated_in(problem)
        faults = broken(stated, first.answer) if first.answer else ()
        if not first.answer or not faults:
            return noting(first, interventions=[])
        repaired = mended(stated, first, problem.text) if self.repair == "on" else first
        if repaired is not first:
            return repaired
        tried = [first]
        for what, steps in (
            ("turn", self._turn(problem, first, faults)),
            ("fresh sample", altered(self.base.solve(problem), _as_fresh)),
        ):
            other = yield from steps
            made = intervention(what, first.answer, other.answer, faults, problem.text)
            tried.append(intervened(other, made))
            if is_sound(stated, other.answer):
                return gathering(other, tried)
            if other.answer and ballot(other.answer) == ballot(first.answer):
                break
        return gathering(first, tried)

    def _turn(
        self, problem: Problem, first: Solution, faults: tuple[Stated, ...]
    ) -> Steps[Solution]:
        """Go on with the conversation: the problem, the reply, what its answer breaks."""
        correction = self.correct.fill(answer=first.answer or "", constraints=sentences(faults))
        messages = (
            Message("user", self.pose.fill(problem=problem.text)),
            Message("assistant", without_thinking(first.text).strip()),
            Message("user", correction),
        )
        return solution_from((yield from ask(Call(messages, "correct", self.budget))))


def _as_fresh(call: Call) -> Call:
    return replace(call, sample=call.sample + _FRESH)
