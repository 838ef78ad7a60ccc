"""Calibrated routing: the method that measured best on problems like this one, else Direct CoT.

Where Routed-CFR decides by cues alone, a policy decides by evidence: ``cfr calibrate`` learns it
from graded runs of one model.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple

from cfr.constraint.feature import find_features, kind_of
from cfr.method.method import Method, may_revise, noting
from cfr.method.plain import Plain
from cfr.method.policy import Policy
from cfr.method.sound import Sound
from cfr.problem import Json, Problem, Solution
from cfr.protocol import Steps

__all__ = ["Calibrated", "Chosen", "calibrate_by"]


class Chosen(NamedTuple):
    """A policy's decision: the method, and the number of its rule; 0 where none fits."""

    method: Method
    rule: int


@dataclass(frozen=True)
class Calibrated:
    """A policy with its methods made; ``policy`` decides, the rest follows from it."""

    label: ClassVar[str] = "Calibrated"
    digest: str
    """The hash of what the policy decides."""
    methods: tuple[Method, ...]
    """One for each rule, in order."""
    otherwise: Method
    policy: Policy = field(repr=False)
    sound: Method = field(default=Sound(then="off"), repr=False)
    """For a request that demands something of the reply, where no rule is for requests."""
    plain: Method = field(default=Plain(), repr=False)
    """For a request for a text that demands nothing: there is nothing to solve or to check."""

    def choose(self, problem: Problem) -> Chosen:
        """Decide by the problem's text alone.

        A request for a text takes a rule only where that leads to a whole reply: what was learnt
        from mathematics alone says nothing about it.
        """
        features = find_features(problem.text)
        kind = kind_of(features)
        at = self.policy.choose(features)
        fits = Chosen(self.otherwise, 0) if at is None else Chosen(self.methods[at], at + 1)
        if kind == "problem" or isinstance(fits.method, Plain | Sound):
            return fits
        return Chosen(self.sound if kind == "demand" else self.plain, 0)

    def explain(self, problem: Problem) -> str:
        """Say in words which rule fits a problem, and what it gained where it was measured."""
        chosen, rule = self.choose(problem)
        if chosen is self.plain:
            return "a request that demands nothing; it goes straight to the model"
        if chosen is self.sound:
            return "a request that demands something of its reply; the reply is checked"
        if not rule:
            return f"no rule fits; {self.policy.otherwise}"
        found = self.policy.rules[rule - 1]
        said = f"{found.method} on problems {found.words}"
        seen = found.evidence
        return f"{said} ({seen.gain:+.1f} points on {seen.problems:,} of them)" if seen else said

    def revises(self, problem: Problem) -> bool:
        """Whether the method that is chosen does."""
        return may_revise(self.choose(problem).method, problem)

    def solve(self, problem: Problem) -> Steps[Solution]:
        """Choose, then solve; the rule and its evidence are noted."""
        chosen = self.choose(problem)
        solution = yield from chosen.method.solve(problem)
        return noting(solution, policy=self._noted(chosen))

    def _noted(self, chosen: Chosen) -> dict[str, Json]:
        if chosen.rule:
            return {"rule": chosen.rule, **self.policy.rules[chosen.rule - 1].to_json()}
        if chosen.method is self.plain:
            return {"rule": 0, "method": "plain"}
        named = "sound(then=off)" if chosen.method is self.sound else self.policy.otherwise
        return {"rule": 0, "method": named}


def calibrate_by(policy: Policy, make: Callable[[str], Method]) -> Calibrated:
    """Make the methods of a policy, by a function that knows their names."""
    methods = tuple(make(rule.method) for rule in policy.rules)
    return Calibrated(policy.digest, methods, make(policy.otherwise), policy)
