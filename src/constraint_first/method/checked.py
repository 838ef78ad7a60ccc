"""Checking the final answer of any method by the constraints that the problem's text states."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import ClassVar, Final

from constraint_first.constraint.predicate import Truth
from constraint_first.constraint.reply.conflict import find_conflicts, tell_conflict
from constraint_first.constraint.reply.reader import read_demands
from constraint_first.constraint.stated.read import read_stated
from constraint_first.constraint.stated.statement import Stated, check_stated
from constraint_first.method.baselines import Direct
from constraint_first.method.method import (
    BUDGET,
    Method,
    configuration,
    gathering,
    may_revise,
    noting,
    option,
    said,
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
from constraint_first.method.vote import as_fresh, ballot, value_ballot
from constraint_first.problem import Json, Problem, Prompt, Solution, load
from constraint_first.protocol import Call, Message, Steps, altered, ask, undecided

_PROBLEM: Final = load("constraint_first.method", "direct")
_CORRECT: Final = load("constraint_first.method", "correct")


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
    base: Method = field(default=Direct(), metadata=option())
    budget: int = BUDGET
    """For the turn that names what is broken."""
    repair: Switch = field(default="on", metadata=option(), repr=False)
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
        stated, steps = stated_in(problem), self.base.solve(problem)
        first = yield from undecided(steps) if stated else steps
        faults = broken(stated, first.answer) if first.answer else ()
        if not first.answer or not faults:
            return noting(first, interventions=[])
        repaired = mended(stated, first, problem.text) if self.repair == "on" else first
        if repaired is not first:
            return repaired
        tried = [first]
        for what, steps in (
            ("turn", self._turn(problem, first, faults)),
            ("fresh sample", altered(self.base.solve(problem), as_fresh())),
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
            Message("assistant", said(first)),
            Message("user", correction),
        )
        return solution_from((yield from ask(Call(messages, "correct", self.budget))))


# What a final answer is worth: the checks that it passed, and how far to trust it.
#
# A reply to a request has no final answer but itself: it is checked by the demands on replies
# alone. Both are added to every solution where it is made final, whatever method it comes from.

_WRONG_ANSWERS: Final = 5
"""How many wrong answers a model chooses from, as the formula has it."""


def is_held(method: Method, problem: Problem) -> bool:
    """Whether replies to a text with demands are only drafts until the method has returned."""
    return may_revise(method, problem) and bool(read_demands(problem.text))


def assessed(method: Method, problem: Problem) -> Steps[Solution]:
    return assess(problem, (yield from method.solve(problem)))


def assess(problem: Problem, solution: Solution) -> Solution:
    """Add the checks of the answer and the confidence in it to what the method noted."""
    stated = (
        () if solution.is_whole else check_stated(read_stated(problem.text), solution.answer or "")
    )
    demands = read_demands(problem.text)
    checks = (*stated, *check_stated(demands, solution.text))
    conflicts: list[Json] = [*map(tell_conflict, find_conflicts(demands))]
    noted: dict[str, Json] = {"conflicts": conflicts} if conflicts else {}
    noted |= {
        "checks": [_check(one, truth) for one, truth in checks],
        "confidence": _confidence(solution, [truth for _, truth in checks]),
    }
    return replace(solution, details={**solution.details, **noted})


def _check(stated: Stated, truth: Truth) -> dict[str, Json]:
    span: list[Json] = [*stated.span]
    return {"sentence": stated.sentence, "kind": stated.kind, "span": span, "truth": truth}


def _confidence(solution: Solution, truths: list[Truth]) -> float:
    if not solution.answer or "violated" in truths:
        return 0.0
    noted = solution.details.get("votes")
    counts = noted.items() if isinstance(noted, dict) else ()
    # A method of another package may keep something else under this name.
    votes = {answer: count for answer, count in counts if type(count) is int and count > 0}
    if not votes:
        return _ONE_SAMPLE
    own = votes.get(value_ballot(solution.answer)) or votes.get(ballot(solution.answer)) or 1
    return confidence_of(own, [*votes.values()])


def confidence_of(own: int, votes: list[int]) -> float:
    """Say how likely an answer is right that has some of the votes.

    This is Bayes' rule for samples that are right half of the time and otherwise give one of five
    wrong answers, all alike: an answer with n votes weighs 5ⁿ, and one without a vote 1. One
    sample alone comes to 0.50, two that agree to 0.83, two of three to 0.74, two that differ to
    0.36 each.
    """
    weights = [_WRONG_ANSWERS**count for count in votes or [own]]
    unseen = max(0, _WRONG_ANSWERS + 1 - len(weights))
    return round(_WRONG_ANSWERS**own / (sum(weights) + unseen), 3)


_ONE_SAMPLE: Final = confidence_of(1, [])
