"""Self-Consistency: ask several times and let the answers vote (Wang et al., 2023).

The paper leaves voting out of its primary results and names it in "Comparison with Alternative
Prompting Strategies" as something that CFR can be combined with: any method can be the base.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import ClassVar, Final, cast

from constraint_first.method.direct import Direct
from constraint_first.method.method import Method
from constraint_first.problem import Problem, Solution
from constraint_first.protocol import Call, Steps, altered, together

__all__ = ["Sampled", "SelfConsistency", "as_sample", "ballot", "check_samples", "count_samples"]

# All samples of a vote are asked at once, and each is a full solution.
_MOST_SAMPLES: Final = 1_000
_MOST_VOTES: Final = 97


class Sampled:
    """A method that draws several samples of others, at most as many as ``samples`` says."""

    samples: int
    samples_option: ClassVar[str] = "samples"
    """What they are called on the command line."""


@dataclass(frozen=True)
class SelfConsistency(Sampled):
    """Majority vote over samples of another method, which run side by side.

    Answers are compared by how they are written, small differences of notation aside. A tie goes to
    the answer whose first vote came earliest, in the order of the samples. A sample without an
    answer does not vote; where no sample has one, the first sample is the solution.
    """

    label: ClassVar[str] = "Self-Consistency"
    base: Method = Direct()
    samples: int = 8

    def __post_init__(self) -> None:
        check_samples(self)

    def solve(self, problem: Problem) -> Steps[Solution]:
        """Sample, then count."""
        samples = [altered(self.base.solve(problem), as_sample(n)) for n in range(self.samples)]
        solutions = yield from together(samples)
        votes = Counter(ballot(one.answer) for one in solutions if one.answer)
        chosen = solutions[0]
        if votes:
            # The tie rule: most_common has equal counts in the order in which they were first met.
            ((winner, _),) = votes.most_common(1)
            chosen = next(s for s in solutions if s.answer and ballot(s.answer) == winner)
        answers = [one.answer for one in solutions]
        return replace(chosen, details={**chosen.details, "votes": dict(votes), "samples": answers})


def as_sample(number: int) -> Callable[[Call], Call]:
    """Give the calls of a sample its number, so that equal calls can be told apart."""
    # Votes within votes: their samples still have numbers of their own.
    return lambda call: replace(call, sample=call.sample * _MOST_VOTES + number)


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
    """Count the samples of the largest vote that a method holds, however deep."""
    held: Iterable[object] = ()
    if isinstance(method, tuple):
        held = cast("tuple[object, ...]", method)
    elif is_dataclass(method):
        held = [getattr(method, field.name) for field in fields(method)]
    inner = max(map(count_samples, held), default=1)
    return inner * method.samples if isinstance(method, Sampled) else inner


_NOISE: Final = re.compile(r"\\(?:left|right)(?![a-zA-Z])|\\[,;:! ()\[\]]|[\s$]")
_WRAPPED: Final = re.compile(r"\\(?:text|mathrm|mathbf|boxed)\{([^{}]*)\}")
_FRACTION: Final = re.compile(r"\\[dt]frac(?![a-zA-Z])")
_GROUPED: Final = re.compile(r"[+-]?\d{1,3}(?:(?:,|\{,\})\d{3})+(?:\.\d+)?")
# Written so that no text makes it try a position twice: what votes comes from a model.
_WHOLE: Final = re.compile(r"([+-]?)0*(0|[1-9]\d*)(?:\.0*)?")


def ballot(answer: str) -> str:
    """Write an answer the way it is counted: without what differs only in notation."""
    text = _WRAPPED.sub(r"\1", _FRACTION.sub(r"\\frac", _NOISE.sub("", answer))).rstrip(".")
    if _GROUPED.fullmatch(text):
        text = re.sub(r"[{},]", "", text)
    if whole := _WHOLE.fullmatch(text):
        sign = "-" if whole[1] == "-" and whole[2] != "0" else ""
        return sign + whole[2]
    return text or answer
