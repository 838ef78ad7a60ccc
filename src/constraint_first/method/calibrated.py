"""Calibrated routing: the method that measured best on problems like this one, else Direct CoT.

Where Routed-CFR decides by cues alone, a policy decides by evidence: ``cfr calibrate`` learns it
from graded runs of one model. That evidence is about problems, so a policy acts on problems, and on
texts that demand something of their reply; every other text goes to the model untouched.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar, Final, NamedTuple

from constraint_first.constraint.feature import describe, find_features
from constraint_first.constraint.kind import read_kind
from constraint_first.method.method import Method, may_revise, noting, parts_of
from constraint_first.method.plain import Plain
from constraint_first.method.policy import Policy
from constraint_first.method.program import Programmed
from constraint_first.method.prove import Prove
from constraint_first.method.sound import Sound
from constraint_first.problem import Json, Problem, Solution
from constraint_first.protocol import Message, Steps

__all__ = ["Calibrated", "Chosen", "calibrate_by", "in_conversation", "runs_programs"]

_NO_NUMBER: Final = ("asks.choice", "asks.list", "asks.expression")
"""Forms of an answer that a program, which prints one number, does not give."""

_GATE: Final = 1
"""The version of the rules in ``choose`` that come before those of a policy: in the fingerprint, so
that a series from before them is not continued under them."""


class Chosen(NamedTuple):
    """A policy's decision: the method, the number of its rule (0 where none counts), and why."""

    method: Method
    rule: int
    why: str = ""


@dataclass(frozen=True)
class Calibrated:
    """A policy with its methods made; ``policy`` decides, the rest follows from it."""

    label: ClassVar[str] = "Calibrated"
    digest: str
    """The hash of what the policy decides, with the version of the rules ahead of it."""
    methods: tuple[Method, ...]
    """One for each rule, in order."""
    otherwise: Method
    policy: Policy = field(repr=False)
    sound: Method = field(default=Sound(add="off", then="off"), repr=False)
    """For a text that demands something of its reply, where no rule is for such texts: one call,
    because nothing was measured that would be worth a second one."""
    plain: Method = field(default=Plain(), repr=False)
    """For every text that is neither a problem nor demands anything: it is sent as it is."""
    alone: bool = field(default=True, repr=False)
    """Whether the text is all that the model is told; see ``in_conversation``."""

    def choose(self, problem: Problem) -> Chosen:
        """Decide by the problem's text alone."""
        kind = read_kind(problem.text)
        if kind.what == "other":
            return Chosen(self.plain, 0, f"it {kind.why}")
        features = find_features(problem.text)
        at = self.policy.choose(features)
        fits = Chosen(self.otherwise, 0) if at is None else Chosen(self.methods[at], at + 1)
        if kind.what == "demand":
            # A rule counts only where it leads to a whole reply: what was learnt from mathematics
            # says nothing about such texts.
            return fits if isinstance(fits.method, Plain | Sound) else Chosen(self.sound, 0)
        if not self.alone:
            return Chosen(self.plain, 0, "it belongs to a conversation")
        if at is None or not runs_programs(fits.method):
            return fits
        forms = [
            one for one in _NO_NUMBER if one in features and one not in self.policy.rules[at].when
        ]
        if forms:
            asks = describe(forms[0])
            return Chosen(self.otherwise, 0, f"programs print numbers, and not for problems {asks}")
        if not kind.english:
            return Chosen(self.otherwise, 0, "its rules were learnt from English texts")
        return fits

    def explain(self, problem: Problem) -> str:
        """Say in words what is done with a text, and what a rule gained where it was measured."""
        chosen, rule, why = self.choose(problem)
        if chosen is self.plain:
            return f"passed to the model untouched, because {why}"
        if chosen is self.sound:
            return "a request that demands something of its reply; the reply is checked"
        if not rule:
            return (
                f"{self.policy.otherwise}: {why}"
                if why
                else f"no rule fits; {self.policy.otherwise}"
            )
        found = self.policy.rules[rule - 1]
        said = f"{found.method} on problems {found.words}"
        seen = found.evidence
        return f"{said} ({seen.gain:+.1f} points on {seen.problems:,} of them)" if seen else said

    def revises(self, problem: Problem) -> bool:
        """Whether the method that is chosen does."""
        return may_revise(self.choose(problem).method, problem)

    def leaves_alone(self, problem: Problem) -> bool:
        """Say whether a text goes to the model untouched."""
        return self.choose(problem).method is self.plain

    def solve(self, problem: Problem) -> Steps[Solution]:
        """Choose, then solve; the rule and its evidence are noted."""
        chosen = self.choose(problem)
        solution = yield from chosen.method.solve(problem)
        return noting(solution, policy=self._noted(chosen))

    def _noted(self, chosen: Chosen) -> dict[str, Json]:
        if chosen.rule:
            return {"rule": chosen.rule, **self.policy.rules[chosen.rule - 1].to_json()}
        why: dict[str, Json] = {"why": chosen.why} if chosen.why else {}
        if chosen.method is self.plain:
            return {"rule": 0, "method": "plain", **why}
        named = "sound(add=off,then=off)" if chosen.method is self.sound else self.policy.otherwise
        return {"rule": 0, "method": named, **why}


def calibrate_by(policy: Policy, make: Callable[[str], Method]) -> Calibrated:
    """Make the methods of a policy, by a function that knows their names."""
    methods = tuple(make(rule.method) for rule in policy.rules)
    return Calibrated(f"{policy.digest}-{_GATE}", methods, make(policy.otherwise), policy)


_WHO: Final = re.compile(r"\s*(?:you are\b[^.!?\n]{1,80}[.!]?\s*){1,3}", re.IGNORECASE)


def in_conversation(method: Method, ahead: Sequence[Message]) -> Method:
    """Have a policy solve nothing where other messages come first.

    After earlier turns the last message is not the whole problem, and a system message may ask for
    another form of reply; one that only says who the model is ("You are a helpful assistant.")
    does not. Any other method is returned as it is.
    """
    alone = all(one.role == "system" and _WHO.fullmatch(one.content) for one in ahead)
    return method if alone or not isinstance(method, Calibrated) else replace(method, alone=False)


def runs_programs(method: Method) -> bool:
    """Say whether a method has programs written and run."""
    return any(isinstance(one, Programmed | Prove) for one in parts_of(method))
