"""A policy: which method answers which problems of one model, with the evidence for each rule.

``cfr calibrate`` learns it from graded runs, and ``policy_file`` reads and writes it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Final

from constraint_first.constraint.feature import describe
from constraint_first.method.former import changed_meaning
from constraint_first.problem import Json

__all__ = ["NOT", "SCHEMA", "Evidence", "Policy", "Rule", "RunsEvidence"]

SCHEMA: Final = 2
"""The version of a policy's file: from the second on, methods have the names of today."""
NOT: Final = "not "
"""Stands ahead of a feature that a problem must lack."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """A paired comparison with the baseline: accuracies and gain in points, tokens as a ratio."""

    problems: int
    before: float
    after: float
    gain: float
    interval: tuple[float, float] | None = None
    """95 %, over problems; None where all gain alike."""
    tokens: float | None = None
    """Output tokens for each one of the baseline's; None where they were not counted."""

    def to_json(self) -> dict[str, Json]:
        """Describe it for programs; what is not known is left out."""
        known: dict[str, Json] = {
            "problems": self.problems,
            "before": self.before,
            "after": self.after,
            "gain": self.gain,
        }
        if self.interval is not None:
            known["interval"] = [*self.interval]
        return known if self.tokens is None else known | {"tokens": self.tokens}


@dataclass(frozen=True, slots=True)
class Rule:
    """A method for the problems that have some features and lack others."""

    when: tuple[str, ...]
    """Features, ``not`` ahead of those that a problem must lack; empty for every problem."""
    method: str
    """Its name, as on the command line."""
    evidence: Evidence | None = None
    held_out: Evidence | None = None
    """On the same problems, each by rules that were learnt without it."""

    def fits(self, features: Collection[str]) -> bool:
        """Say whether a problem with these features meets all conditions."""
        return all((one.removeprefix(NOT) in features) != one.startswith(NOT) for one in self.when)

    @property
    def words(self) -> str:
        """Its conditions in words, to be read behind "problems"."""
        said = [describe(w.removeprefix(NOT), present=not w.startswith(NOT)) for w in self.when]
        return " and ".join(said) or "of every kind"

    def to_json(self) -> dict[str, Json]:
        """Describe it for programs and for the details of a solution."""
        said: dict[str, Json] = {"when": [*self.when], "method": self.method}
        if self.evidence:
            said |= self.evidence.to_json()
        if self.held_out:
            said["held_out"] = self.held_out.to_json()
        return said


@dataclass(frozen=True, slots=True)
class RunsEvidence:
    """The runs on one benchmark that a policy was learnt from."""

    benchmark: str
    problems: int
    attempts: int
    methods: tuple[str, ...]
    sha256: str
    """Of all outcomes, in one order."""

    def to_json(self) -> dict[str, Json]:
        """Describe them for programs."""
        return {
            "benchmark": self.benchmark,
            "problems": self.problems,
            "attempts": self.attempts,
            "methods": [*self.methods],
            "sha256": self.sha256,
        }


@dataclass(frozen=True, slots=True)
class Policy:
    """Rules for one model, what to do where none fits, and what all of it was learnt from."""

    model: str
    rules: tuple[Rule, ...] = ()
    """The first that fits a problem counts."""
    otherwise: str = "direct"
    made: str = ""
    command: str = ""
    answer: str = ""
    """Whether to switch it on, in words."""
    price: float = 0.0
    """Points of accuracy that 1,000 more output tokens had to bring."""
    most_tokens: float | None = None
    """The most output tokens that it was allowed, for each one of the baseline's."""
    by_problem: Evidence | None = None
    """Cross-validated: each problem by rules that were learnt without it."""
    by_family: Evidence | None = None
    """Likewise, with whole families of problems left out."""
    runs: tuple[RunsEvidence, ...] = ()
    first_names: tuple[str, ...] = field(default=(), compare=False)
    """What a file of the first schema calls its methods, ``otherwise`` ahead; else empty."""

    @property
    def digest(self) -> str:
        """A hash of what the policy decides: its evidence may be measured again all the same.

        Stores know series by it, so it is made of the names that the policy was written with, and
        a second schema counts only where it makes a difference.
        """
        current = (self.otherwise, *(rule.method for rule in self.rules))
        schema = 1 if self.first_names or not any(map(changed_meaning, current)) else SCHEMA
        otherwise, *methods = self.first_names or current
        whens = ([*rule.when] for rule in self.rules)
        decided = [schema, otherwise, *map(list, zip(whens, methods, strict=True))]
        return hashlib.sha256(json.dumps(decided).encode()).hexdigest()[:16]

    def choose(self, features: Collection[str]) -> int | None:
        """Find the rule for a problem by its place, from 0; None where none fits."""
        return next((at for at, rule in enumerate(self.rules) if rule.fits(features)), None)

    def to_json(self) -> dict[str, Json]:
        """Describe it for programs, in the form of its file."""
        names = ("model", "made", "command", "answer", "otherwise", "price", "most_tokens")
        known = {name: value for name in names if (value := getattr(self, name)) is not None}
        whole = {"by_problem": self.by_problem, "by_family": self.by_family}
        return {
            "schema": SCHEMA,
            **known,
            "rules": [rule.to_json() for rule in self.rules],
            **{name: one.to_json() for name, one in whole.items() if one},
            "runs": [one.to_json() for one in self.runs],
        }
