"""Self-Consistency: ask several times and let the answers vote (Wang et al., 2023).

The paper leaves voting out of its primary results and names it in "Comparison with Alternative
Prompting Strategies" as something that CFR can be combined with: any method can be the base.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar, Final

from cfr.method.direct import Direct
from cfr.method.method import Method
from cfr.problem import Problem, Solution
from cfr.protocol import Call, Steps, altered, together

__all__ = ["SelfConsistency", "ballot"]


@dataclass(frozen=True)
class SelfConsistency:
    """Majority vote over samples of another method, which run side by side.

    Answers are compared by how they are written, small differences of notation aside. A tie goes to
    the answer whose first vote came earliest, in the order of the samples. A sample without an
    answer does not vote; where no sample has one, the first sample is the solution.
    """

    label: ClassVar[str] = "Self-Consistency"
    base: Method = Direct()
    samples: int = 8

    def __post_init__(self) -> None:
        if self.samples < 1:
            raise ValueError("samples must be at least 1")

    def solve(self, problem: Problem) -> Steps[Solution]:
        """Sample, then count."""
        samples = [altered(self.base.solve(problem), _as_sample(n)) for n in range(self.samples)]
        solutions = yield from together(samples)
        votes = Counter(ballot(one.answer) for one in solutions if one.answer is not None)
        chosen = solutions[0]
        if votes:
            # The tie rule: most_common has equal counts in the order in which they were first met.
            ((winner, _),) = votes.most_common(1)
            chosen = next(
                s for s in solutions if s.answer is not None and ballot(s.answer) == winner
            )
        answers = [one.answer for one in solutions]
        return replace(chosen, details={**chosen.details, "votes": dict(votes), "samples": answers})


def _as_sample(number: int) -> Callable[[Call], Call]:
    # Votes within votes: 97 samples of 97 samples still have numbers of their own.
    return lambda call: replace(call, sample=call.sample * 97 + number)


_NOISE: Final = re.compile(r"\\(?:left|right)(?![a-zA-Z])|\\[,;:! ()\[\]]|[\s$]")
_WRAPPED: Final = re.compile(r"\\(?:text|mathrm|mathbf|boxed)\{([^{}]*)\}")
_FRACTION: Final = re.compile(r"\\[dt]frac(?![a-zA-Z])")
_GROUPED: Final = re.compile(r"[+-]?\d{1,3}(?:(?:,|\{,\})\d{3})+(?:\.\d+)?")
_WHOLE: Final = re.compile(r"([+-]?)0*(\d+)(?:\.0*)?")


def ballot(answer: str) -> str:
    """Write an answer the way it is counted: without what differs only in notation."""
    text = _WRAPPED.sub(r"\1", _FRACTION.sub(r"\\frac", _NOISE.sub("", answer))).rstrip(".")
    if _GROUPED.fullmatch(text):
        text = re.sub(r"[{},]", "", text)
    if whole := _WHOLE.fullmatch(text):
        sign = "-" if whole[1] == "-" and whole[2] != "0" else ""
        return sign + whole[2]
    return text or answer
