"""PROVE: a vote among the chains of thought that a program confirms (Toh et al., 2024).

"Not All Votes Count! Programs as Verifiers Improve Self-Consistency of Language Models for Math
Reasoning": several chains of thought, each translated into a program; those whose program prints
another answer are left out of the vote.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import ClassVar, Final

from constraint_first.method.agreement import first_with, value_ballot
from constraint_first.method.direct import Direct
from constraint_first.method.method import BUDGET, Method, gathering
from constraint_first.method.program import run_program
from constraint_first.method.vote import Sampled, as_sample, check_samples
from constraint_first.problem import Problem, Solution
from constraint_first.prompt import Prompt, load
from constraint_first.protocol import Call, Steps, altered, ask, together
from constraint_first.thinking import without_thinking

__all__ = ["Prove"]

_TRANSLATE: Final = load("constraint_first.method", "translate")


@dataclass(frozen=True)
class Prove(Sampled):
    """Samples, each translated into a program, and a vote among those that their program confirms.

    Where no program confirms its chain all chains vote, as in the paper. A tie goes to the answer
    whose first vote came earliest.
    """

    label: ClassVar[str] = "PROVE"
    base: Method = Direct()
    samples: int = 5
    budget: int = BUDGET
    """For each translation."""
    translate: Prompt = field(default=_TRANSLATE, repr=False)

    def __post_init__(self) -> None:
        check_samples(self)

    def solve(self, problem: Problem) -> Steps[Solution]:
        """Sample, translate, run, count."""
        pairs = yield from together(
            altered(self._sample(problem), as_sample(n)) for n in range(self.samples)
        )
        chains = [chain for chain, _ in pairs]
        confirmed = [chain for chain, printed in pairs if _same(chain.answer, printed.answer)]
        voters = confirmed or [chain for chain in chains if chain.answer]
        votes = Counter(value_ballot(one.answer) for one in voters if one.answer)
        chosen = first_with(votes.most_common(1)[0][0], voters) if votes else chains[0]
        noted = {
            "votes": dict(votes),
            "samples": [chain.answer for chain in chains],
            "confirmed": len(confirmed),
        }
        chosen = replace(chosen, details={**chosen.details, **noted})
        return gathering(chosen, [printed for _, printed in pairs])

    def _sample(self, problem: Problem) -> Steps[tuple[Solution, Solution]]:
        """Ask for a solution in words, and for a program that computes it again."""
        chain = yield from self.base.solve(problem)
        if chain.answer is None:
            return chain, Solution(None, "")
        prompt = self.translate.fill(
            problem=problem.text, solution=without_thinking(chain.text).strip()
        )
        reply = yield from ask(Call.user(prompt, stage="translate", max_tokens=self.budget))
        return chain, (yield from run_program(reply))


def _same(one: str | None, other: str | None) -> bool:
    return one is not None and other is not None and value_ballot(one) == value_ballot(other)
