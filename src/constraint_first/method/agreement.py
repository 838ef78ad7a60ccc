"""Agreement of sound answers: a vote, and samples drawn one by one until two agree.

Self-Consistency (Wang et al., 2023) with two changes. An answer that breaks a constraint of the
text does not vote, and one vote decides nothing unless that is allowed: where no two sound answers
agree, another method is asked, and its answer joins the vote.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Final

from constraint_first.answer.expression.value import read_answer
from constraint_first.constraint.stated import Stated
from constraint_first.method.direct import Direct
from constraint_first.method.method import Method, gathering
from constraint_first.method.program import Programmed
from constraint_first.method.soundness import Check, is_sound, mended, stated_in
from constraint_first.method.vote import Sampled, as_sample, ballot, check_samples
from constraint_first.problem import Problem, Solution
from constraint_first.protocol import Steps, altered, together

__all__ = ["UntilAgreed", "Vote", "count_sound", "first_with", "value_ballot"]

_AGREE: Final = 2
"""How many equal answers settle a problem, so that no more samples are drawn."""

# 6 am is not 6 pm, and 2024-03-05 is no subtraction.
_TIME: Final = re.compile(
    r"\d([-/.])\d{1,2}\1\d|\d\s?[ap]\.?m\b"
    r"|\b(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
    r"|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class _Agreement(Sampled):
    """What both have in common: samples of one or several methods, taken in turn."""

    bases: tuple[Method, ...] = (Programmed(fallback=None),)
    """A program that votes has no fall-back of its own: where it crashes it has no vote."""
    samples: int = 3
    check: Check = "stated"
    fallback: Method | None = Direct()
    agree: int = _AGREE
    """How many equal answers are enough in the end. With 1 the fall-back is asked only where no
    sample has a sound answer: the earliest of the commonest is taken."""

    def __post_init__(self) -> None:
        check_samples(self, fewest=_AGREE)
        if not 1 <= self.agree <= self.samples:
            raise ValueError(f"agree must be from 1 to {self.samples}, the number of samples")
        if not self.bases:
            raise ValueError("base must name a method, or several joined by +")

    def _sample(self, problem: Problem, number: int) -> Steps[Solution]:
        base = self.bases[number % len(self.bases)]
        return self._numbered(base, problem, number)

    def _numbered(self, method: Method, problem: Problem, number: int) -> Steps[Solution]:
        solution = yield from altered(method.solve(problem), as_sample(number))
        if self.check == "repair":
            return mended(stated_in(problem), solution, problem.text)
        return solution

    def _conclude(self, problem: Problem, drawn: Sequence[Solution]) -> Steps[Solution]:
        """Take the answer that enough samples give; else ask the fall-back, and count again."""
        stated = stated_in(problem, self.check)
        solutions = list(drawn)
        votes = count_sound(stated, solutions)
        if self.fallback is not None and not _settled(votes, self.agree):
            other = self._numbered(self.fallback, problem, len(solutions))
            solutions.append((yield from other))
            votes = count_sound(stated, solutions)
        chosen = _choose(stated, votes, solutions, self.agree)
        answers = [one.answer for one in solutions]
        noted = {"votes": dict(votes), "samples": answers, "agreed": _settled(votes)}
        return gathering(replace(chosen, details={**chosen.details, **noted}), solutions)


@dataclass(frozen=True)
class Vote(_Agreement):
    """The commonest sound answer of several samples, which run side by side."""

    label: ClassVar[str] = "Checked vote"

    def solve(self, problem: Problem) -> Steps[Solution]:
        """Draw all samples, then count."""
        drawn = yield from together(self._sample(problem, n) for n in range(self.samples))
        return (yield from self._conclude(problem, drawn))


@dataclass(frozen=True)
class UntilAgreed(_Agreement):
    """The first sound answer that two samples give, or more where more must agree.

    The first two are drawn at once, because two are needed in any case.
    """

    label: ClassVar[str] = "Until two agree"
    samples: int = 4
    samples_option: ClassVar[str] = "most"

    def solve(self, problem: Problem) -> Steps[Solution]:
        """Draw two samples, then one after the other."""
        stated, enough = stated_in(problem, self.check), max(_AGREE, self.agree)
        drawn = list((yield from together(self._sample(problem, n) for n in range(_AGREE))))
        while len(drawn) < self.samples and not _settled(count_sound(stated, drawn), enough):
            drawn.append((yield from self._sample(problem, len(drawn))))
        return (yield from self._conclude(problem, drawn))


def value_ballot(answer: str) -> str:
    """Write an answer the way it is counted where programs vote too: by its value, if it has one.

    A program prints 3/4 where a chain of thought writes a LaTeX fraction. Units are left out, dates
    and times of day stay as they are written.
    """
    value = None if _TIME.search(answer) else read_answer(answer)
    if value is None:
        return ballot(answer)
    if value.letter or value.number is not None:
        return value.letter or str(value.number)
    return f"√({value.signed_square})"


def count_sound(stated: Sequence[Stated], solutions: Sequence[Solution]) -> Counter[str]:
    """Count the answers that break no constraint, the first ones first."""
    sound = (one.answer for one in solutions if is_sound(stated, one.answer))
    return Counter(value_ballot(answer) for answer in sound if answer)


def first_with(vote: str, solutions: Sequence[Solution]) -> Solution:
    """Find the first solution whose answer is counted under a vote."""
    return next(one for one in solutions if one.answer and value_ballot(one.answer) == vote)


def _settled(votes: Counter[str], agree: int = _AGREE) -> bool:
    return max(votes.values(), default=0) >= agree


def _choose(
    stated: Sequence[Stated], votes: Counter[str], solutions: Sequence[Solution], agree: int
) -> Solution:
    """Choose what enough agree on, the earliest of several; else the last sound answer.

    The last is the fall-back's where there is one.
    """
    sound = [one for one in solutions if is_sound(stated, one.answer)]
    if _settled(votes, agree):
        ((winner, _),) = votes.most_common(1)
        return first_with(winner, sound)
    return sound[-1] if sound else solutions[-1]
