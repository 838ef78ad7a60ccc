"""Search that drops branches early (paper: Integration with search-based methods).

Several branches begin a solution and say what they have found out about the answer. A branch whose
claims break a constraint of the text is abandoned before the expensive part; the others go on, and
their answers vote. It is a beam of one step, after Tree of Thoughts (Yao et al., 2023).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar, Final

from constraint_first.constraint.contradiction import contradicts
from constraint_first.constraint.stated import Stated
from constraint_first.method.agreement import count_sound, first_with
from constraint_first.method.direct import Direct
from constraint_first.method.method import BUDGET, Method, noting, solution_from
from constraint_first.method.soundness import broken, is_sound, stated_in
from constraint_first.method.vote import Sampled, as_sample, check_samples
from constraint_first.problem import Json, Problem, Solution
from constraint_first.prompt import Prompt, load
from constraint_first.protocol import Call, Completion, Exchange, Message, Steps, ask, together
from constraint_first.thinking import without_thinking

__all__ = ["Search"]

_EXPLORE: Final = load("constraint_first.method", "explore")
_FINISH: Final = load("constraint_first.method", "finish")
_EXPLORING: Final = 1_024
_CLAIM: Final = re.compile(r"^\W{0,9}CLAIM\W{1,5}([^\n]+)", re.IGNORECASE | re.MULTILINE)
_VALUE: Final = re.compile(
    r"\b(?:answer|result|value)\b(?: \w+)? (?:is|equals|=)(?: exactly)? (\S+?)[.,;]?$",
    re.IGNORECASE,
)
_MOST_CLAIMS: Final = 8


@dataclass(frozen=True)
class Search(Sampled):
    """Branches that are begun side by side, pruned by what they claim, and finished.

    Where no branch survives the problem is solved by Direct CoT. Answers that break a constraint
    do not vote, unless there are no others.
    """

    label: ClassVar[str] = "Constraint search"
    samples: int = 3
    """How many branches are begun."""
    samples_option: ClassVar[str] = "width"
    exploring_budget: int = _EXPLORING
    solving_budget: int = BUDGET - _EXPLORING
    fallback: Method = Direct()
    explore: Prompt = field(default=_EXPLORE, repr=False)
    finish: Prompt = field(default=_FINISH, repr=False)

    def __post_init__(self) -> None:
        check_samples(self)

    def solve(self, problem: Problem) -> Steps[Solution]:
        """Begin all branches, drop those that contradict the text, finish the others."""
        stated = stated_in(problem)
        prompt = self.explore.fill(problem=problem.text)
        call = Call.user(prompt, stage="explore", max_tokens=self.exploring_budget)
        begun = yield from together(_begin(as_sample(n)(call)) for n in range(self.samples))
        alive = [one for one in begun if not _fails(stated, one.completion, problem.text)]
        noted: dict[str, Json] = {"branches": len(begun), "dropped": len(begun) - len(alive)}
        if not alive:
            return noting((yield from self.fallback.solve(problem)), **noted)
        solutions = yield from together(self._finish(one) for one in alive)
        voters = [one for one in solutions if is_sound(stated, one.answer)] or solutions
        votes = count_sound((), voters)
        chosen = first_with(votes.most_common(1)[0][0], voters) if votes else solutions[0]
        noted |= {"votes": dict(votes), "samples": [one.answer for one in solutions]}
        return replace(chosen, details={**chosen.details, **noted})

    def _finish(self, begun: Exchange) -> Steps[Solution]:
        said = Message("assistant", without_thinking(begun.completion.text).strip())
        messages = (*begun.call.messages, said, Message("user", self.finish.fill()))
        call = replace(begun.call, messages=messages, stage="solve", max_tokens=self.solving_budget)
        return solution_from((yield from ask(call)))


def _begin(call: Call) -> Steps[Exchange]:
    return Exchange(call, (yield from ask(call)))


def _fails(stated: Sequence[Stated], begun: Completion, problem: str) -> bool:
    """Whether a branch claims something that cannot be beside what the text states."""
    claims: list[str] = _CLAIM.findall(without_thinking(begun.text))[:_MOST_CLAIMS]
    values = [found[1].strip("$*") for claim in claims if (found := _VALUE.search(claim.strip()))]
    return any(broken(stated, value) for value in values) or any(
        contradicts(stated, claim, problem) for claim in claims
    )
