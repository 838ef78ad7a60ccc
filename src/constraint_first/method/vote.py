"""Self-Consistency: ask several times and let the answers vote (Wang et al., 2023).

The paper leaves voting out of its primary results. In "Comparison with Alternative Prompting
Strategies" it says that CFR can be combined with voting; here any method can be the base.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar, Final

from constraint_first.answer.alike import is_alike
from constraint_first.answer.value import read_answer
from constraint_first.constraint.asked import read_asked
from constraint_first.constraint.claim import contradicts
from constraint_first.constraint.stated.statement import Stated
from constraint_first.method.baselines import Direct
from constraint_first.method.method import (
    BUDGET,
    Check,
    Method,
    broken,
    conversation,
    gathering,
    held_by,
    in_form,
    is_sound,
    mended,
    noting,
    option,
    said,
    solution_from,
    stated_in,
    wording,
)
from constraint_first.method.program import Programmed, run_program
from constraint_first.pattern import lazy_pattern
from constraint_first.problem import Json, Problem, Prompt, Solution
from constraint_first.protocol import Call, Completion, Exchange, Steps, altered, ask, together
from constraint_first.thinking import without_thinking

# All samples of a vote are requested at once, and each is a full solution.
_MOST_SAMPLES: Final = 1_000
_MOST_VOTES: Final = 97
# Above the numbers of a vote's samples, and below the seeds of the next run.
_FRESH: Final = 500


class Sampled:
    """A method that draws several samples of other methods, at most ``samples``."""

    samples: int
    samples_option: ClassVar[str] = "samples"


@dataclass(frozen=True)
class SelfConsistency(Sampled):
    """Majority vote over samples of another method, which run side by side.

    Answers are compared as text; a tie goes to the earliest vote. A sample without an answer does
    not vote; where none has one, the first sample is the solution.
    """

    label: ClassVar[str] = "Self-Consistency"
    base: Method = field(default=Direct(), metadata=option())
    samples: int = field(default=8, metadata=option())

    def __post_init__(self) -> None:
        check_samples(self)

    def solve(self, problem: Problem) -> Steps[Solution]:
        only = self.samples == 1
        samples = [
            altered(self.base.solve(problem), as_sample(n, may_end=only))
            for n in range(self.samples)
        ]
        solutions = yield from together(samples)
        votes = Counter(ballot(one.answer) for one in solutions if one.answer)
        # The tie rule: of equal counts, max returns the first in insertion order.
        winner = max(votes, key=votes.__getitem__, default="")
        having = (s for s in solutions if s.answer and ballot(s.answer) == winner)
        chosen = next(having, solutions[0])
        answers = [one.answer for one in solutions]
        return replace(chosen, details={**chosen.details, "votes": dict(votes), "samples": answers})


def as_sample(number: int, *, may_end: bool = False) -> Callable[[Call], Call]:
    """Number the calls of a sample; ``may_end`` means that it may be the final one."""
    # Samples of nested votes need distinct numbers, too.
    return lambda call: replace(
        call, sample=call.sample * _MOST_VOTES + number, final=call.final and may_end
    )


def as_fresh(nth: int = 0) -> Callable[[Call], Call]:
    """Give the calls of a repeated method numbers beyond those of a vote's samples."""
    return lambda call: replace(call, sample=call.sample + _FRESH + nth, final=False)


def check_samples(method: Sampled, *, fewest: int = 1) -> None:
    """Refuse a vote that has too few samples or, votes within it counted, too many."""
    option = method.samples_option
    if method.samples < fewest:
        raise ValueError(f"{option} must be at least {fewest}")
    whole = count_samples(method)
    if whole > _MOST_SAMPLES:
        raise ValueError(
            f"{option} must be at most {_MOST_SAMPLES}, votes within votes multiplied; "
            f"these are {whole}"
        )
    if whole > method.samples > _MOST_VOTES:
        raise ValueError(f"{option} of a vote over votes must be at most {_MOST_VOTES}")


def count_samples(method: object) -> int:
    """Count the samples of a method's largest vote; nested votes multiply."""
    inner = max(map(count_samples, held_by(method)), default=1)
    return inner * method.samples if isinstance(method, Sampled) else inner


_NOISE: Final = lazy_pattern(r"\\(?:left|right)(?![a-zA-Z])|\\[,;:! ()\[\]]|[\s$]")
_WRAPPED: Final = lazy_pattern(r"\\(?:text|mathrm|mathbf|boxed)\{([^{}]*)\}")
_FRACTION: Final = lazy_pattern(r"\\[dt]frac(?![a-zA-Z])")
_GROUPED: Final = lazy_pattern(r"[+-]?\d{1,3}(?:(?:,|\{,\})\d{3})+(?:\.\d+)?")
# Written without backtracking, because the answers are text of a model.
_WHOLE: Final = lazy_pattern(r"([+-]?)0*(0|[1-9]\d*)(?:\.0*)?")


def ballot(answer: str) -> str:
    """Normalise an answer for counting: without differences of notation."""
    text = _WRAPPED.sub(r"\1", _FRACTION.sub(r"\\frac", _NOISE.sub("", answer))).rstrip(".")
    if _GROUPED.fullmatch(text):
        text = re.sub(r"[{},]", "", text)
    if whole := _WHOLE.fullmatch(text):
        sign = "-" if whole[1] == "-" and whole[2] != "0" else ""
        return sign + whole[2]
    return text or answer


# Agreement of sound answers: a vote, and samples drawn one by one until two agree.
#
# Self-Consistency (Wang et al., 2023) with two changes. An answer that breaks a constraint of the
# text does not vote, and a single vote does not decide unless ``agree`` is 1: where no two sound
# answers agree, another method runs, and its answer joins the vote.

_AGREE: Final = 2
"""The number of equal answers at which no more samples are drawn."""

# 6 am is not 6 pm, and 2024-03-05 is not a subtraction.
_TIME: Final = lazy_pattern(
    r"\d([-/.])\d{1,2}\1\d|\d\s?[ap]\.?m\b"
    r"|\b(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
    r"|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\b",
    re.IGNORECASE,
)


def _voters(bases: tuple[Method, ...]) -> tuple[Method, ...]:
    """Remove the fall-back of each program that votes: a program that crashes has no vote."""
    return tuple(replace(b, fallback=None) if isinstance(b, Programmed) else b for b in bases)


@dataclass(frozen=True)
class _Agreement(Sampled):
    """The base of ``Vote`` and ``UntilAgreed``: samples of one or several methods, in turn."""

    bases: tuple[Method, ...] = field(
        default=(Programmed(fallback=None),), metadata=option("base", read=_voters)
    )
    samples: int = field(default=3, metadata=option())
    check: Check = field(default="stated", metadata=option())
    fallback: Method | None = field(default=Direct(), metadata=option())
    agree: int = field(default=_AGREE, metadata=option())
    """The number of equal answers required after the last sample. With 1 the most frequent sound
    answer wins (of equals the earliest), and the fall-back runs only where there is none."""

    def __post_init__(self) -> None:
        check_samples(self, fewest=_AGREE)
        if not 1 <= self.agree <= self.samples:
            raise ValueError(f"agree must be from 1 to {self.samples}, the number of samples")
        if not self.bases:
            raise ValueError("base must name a method, or several joined by +")

    def _sample(self, problem: Problem, number: int) -> Steps[Solution]:
        base = self.bases[number % len(self.bases)]
        return self._numbered(base, problem, number)

    def _numbered(
        self, method: Method, problem: Problem, number: int, *, may_end: bool = False
    ) -> Steps[Solution]:
        numbered = as_sample(number, may_end=may_end)
        solution = yield from altered(method.solve(problem), numbered)
        solution = in_form(read_asked(problem.text), solution)
        if self.check == "repair":
            return mended(stated_in(problem), solution, problem.text)
        return solution

    def _voters(self, problem: Problem, solutions: Sequence[Solution]) -> list[Solution]:
        """List the samples that have a vote: their answers break nothing and are what is asked."""
        stated, asked = stated_in(problem, self.check), read_asked(problem.text)
        sound = (one for one in solutions if is_sound(stated, one.answer))
        return [one for one in sound if not asked.options or asked.choose(one.answer or "")]

    def _conclude(self, problem: Problem, drawn: Sequence[Solution]) -> Steps[Solution]:
        """Return the answer that enough samples give; else run the fall-back, and count again."""
        solutions = list(drawn)
        votes = count_votes(self._voters(problem, solutions))
        if self.fallback is not None and not _settled(votes, self.agree):
            other = self._numbered(self.fallback, problem, len(drawn), may_end=not votes)
            solutions.append((yield from other))
        voters = self._voters(problem, solutions)
        votes = count_votes(voters)
        if _settled(votes, self.agree):
            chosen = first_with(votes.most_common(1)[0][0], voters)
        else:
            chosen = (voters or solutions)[-1]
        answers = [one.answer for one in solutions]
        noted = {"votes": dict(votes), "samples": answers, "agreed": _settled(votes)}
        return gathering(replace(chosen, details={**chosen.details, **noted}), solutions)


@dataclass(frozen=True)
class Vote(_Agreement):
    """The most frequent sound answer of several samples, which run side by side."""

    label: ClassVar[str] = "Checked vote"

    def solve(self, problem: Problem) -> Steps[Solution]:
        drawn = yield from together(self._sample(problem, n) for n in range(self.samples))
        return (yield from self._conclude(problem, drawn))


@dataclass(frozen=True)
class UntilAgreed(_Agreement):
    """Samples drawn one by one until two, or ``agree``, have the same sound answer."""

    label: ClassVar[str] = "Until two agree"
    samples: int = field(default=4, metadata=option("most"))
    samples_option: ClassVar[str] = "most"

    def solve(self, problem: Problem) -> Steps[Solution]:
        enough = max(_AGREE, self.agree)
        drawn = list((yield from together(self._sample(problem, n) for n in range(_AGREE))))
        while len(drawn) < self.samples and not _settled(
            count_votes(self._voters(problem, drawn)), enough
        ):
            drawn.append((yield from self._sample(problem, len(drawn))))
        return (yield from self._conclude(problem, drawn))


def value_ballot(answer: str) -> str:
    """Write an answer by its value, if it has one, so that 3/4 equals a LaTeX fraction."""
    value = None if _TIME.search(answer) else read_answer(answer)
    if value is None:
        return ballot(answer)
    if value.letter or value.number is not None:
        return value.letter or str(value.number)
    return f"√({value.signed_square})"


def count_votes(solutions: Sequence[Solution]) -> Counter[str]:
    """Count equal answers, each under the ballot of its first occurrence, in that order."""
    first: dict[str, str] = {}
    votes: Counter[str] = Counter()
    for answer in (one.answer for one in solutions):
        if not answer:
            continue
        vote = value_ballot(answer)
        if vote not in first:
            vote = next((name for name, one in first.items() if _are_equal(answer, one)), vote)
        first.setdefault(vote, answer)
        votes[vote] += 1
    return votes


def _are_equal(answer: str, other: str) -> bool:
    return not (_TIME.search(answer) or _TIME.search(other)) and is_alike(answer, other)


def first_with(vote: str, solutions: Sequence[Solution]) -> Solution:
    """Return the first solution whose answer was counted under ``vote``."""
    return next(one for one in solutions if one.answer and value_ballot(one.answer) == vote)


def _settled(votes: Counter[str], agree: int = _AGREE) -> bool:
    return max(votes.values(), default=0) >= agree


# Search that drops branches early (paper: Integration with search-based methods).
#
# Several branches begin a solution and state claims about the answer. A branch whose claims
# contradict a constraint of the text is dropped before the expensive part; the others are
# continued, and their answers vote. It is a beam search of one step, after Tree of Thoughts (Yao
# et al., 2023).

_EXPLORING: Final = 1_024
_CLAIM: Final = lazy_pattern(r"^\W{0,9}CLAIM\W{1,5}([^\n]+)", re.IGNORECASE | re.MULTILINE)
_VALUE: Final = lazy_pattern(
    r"\b(?:answer|result|value)\b(?: \w+)? (?:is|equals|=)(?: exactly)? (\S+?)[.,;]?$",
    re.IGNORECASE,
)
_MOST_CLAIMS: Final = 8


@dataclass(frozen=True)
class Search(Sampled):
    """Branches that are begun side by side, pruned by their claims, and finished.

    Direct CoT where no branch is left; unsound answers vote only where there are no others.
    """

    label: ClassVar[str] = "Constraint search"
    samples: int = field(default=3, metadata=option("width"))
    samples_option: ClassVar[str] = "width"
    exploring_budget: int = _EXPLORING
    solving_budget: int = BUDGET - _EXPLORING
    fallback: Method = Direct()
    explore: Prompt = wording("explore")
    finish: Prompt = wording("finish")

    def __post_init__(self) -> None:
        check_samples(self)

    def solve(self, problem: Problem) -> Steps[Solution]:
        stated = stated_in(problem)
        prompt = self.explore.fill(problem=problem.text)
        call = Call.user(prompt, stage="explore", max_tokens=self.exploring_budget)
        calls = [as_sample(n)(call) for n in range(self.samples)]
        begun = list(map(Exchange, calls, (yield from together(map(ask, calls)))))
        alive = [one for one in begun if not _fails(stated, one.completion, problem.text)]
        noted: dict[str, Json] = {"branches": len(begun), "dropped": len(begun) - len(alive)}
        if not alive:
            return noting((yield from self.fallback.solve(problem)), **noted)
        only = len(alive) == 1
        solutions = yield from together(self._finish(one, only) for one in alive)
        voters = [one for one in solutions if is_sound(stated, one.answer)] or solutions
        votes = count_votes(voters)
        chosen = first_with(votes.most_common(1)[0][0], voters) if votes else solutions[0]
        noted |= {"votes": dict(votes), "samples": [one.answer for one in solutions]}
        return replace(chosen, details={**chosen.details, **noted})

    def _finish(self, begun: Exchange, final: bool) -> Steps[Solution]:
        messages = conversation(begun.call, begun.completion, self.finish.fill())
        call = Call(messages, "solve", self.solving_budget, sample=begun.call.sample, final=final)
        return solution_from((yield from ask(call)))


def _fails(stated: Sequence[Stated], begun: Completion, problem: str) -> bool:
    """Whether a branch claims something that contradicts the text."""
    claims: list[str] = _CLAIM.findall(without_thinking(begun.text))[:_MOST_CLAIMS]
    values = [found[1].strip("$*") for claim in claims if (found := _VALUE.search(claim.strip()))]
    return any(broken(stated, value) for value in values) or any(
        contradicts(stated, claim, problem) for claim in claims
    )


# PROVE: a vote among the chains of thought that a program confirms (Toh et al., 2024).
#
# "Not All Votes Count! Programs as Verifiers Improve Self-Consistency of Language Models for Math
# Reasoning": several chains of thought, each translated into a program; those whose program prints
# a different answer do not vote.


@dataclass(frozen=True)
class Prove(Sampled):
    """A vote among chains of thought that a program confirms; among all where none is."""

    label: ClassVar[str] = "PROVE"
    base: Method = field(default=Direct(), metadata=option())
    samples: int = field(default=5, metadata=option())
    budget: int = BUDGET
    translate: Prompt = wording("translate")

    def __post_init__(self) -> None:
        check_samples(self)

    def solve(self, problem: Problem) -> Steps[Solution]:
        pairs = yield from together(
            altered(self._sample(problem), as_sample(n)) for n in range(self.samples)
        )
        chains = [chain for chain, _ in pairs]
        confirmed = [
            chain
            for chain, printed in pairs
            if chain.answer is not None
            and printed.answer is not None
            and len(count_votes((chain, printed))) == 1
        ]
        voters = confirmed or [chain for chain in chains if chain.answer]
        votes = count_votes(voters)
        chosen = first_with(votes.most_common(1)[0][0], voters) if votes else chains[0]
        noted = {
            "votes": dict(votes),
            "samples": [chain.answer for chain in chains],
            "confirmed": len(confirmed),
        }
        chosen = replace(chosen, details={**chosen.details, **noted})
        return gathering(chosen, [printed for _, printed in pairs])

    def _sample(self, problem: Problem) -> Steps[tuple[Solution, Solution]]:
        """Ask for a solution in words, and for a program that recomputes its answer."""
        asked = read_asked(problem.text)
        chain = in_form(asked, (yield from self.base.solve(problem)))
        if chain.answer is None:
            return chain, Solution(None, "")
        prompt = self.translate.fill(problem=problem.text, solution=said(chain))
        reply = yield from ask(Call.user(prompt, stage="translate", max_tokens=self.budget))
        return chain, (yield from run_program(reply, asked))
