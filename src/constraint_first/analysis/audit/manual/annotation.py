"""Rates of the paper's manual audit of Stage 1, and agreement between annotators.

Paper: Stage 1 Constraint Reliability; appendix "Constraint Extraction Quality by Model". Here every
raw and every propagated constraint is carried into Stage 2, so all of them count:

- validity: entailed among all that were marked;
- hallucination: not entailed among all that were marked;
- vague: neither can be told, among all that were marked;
- completeness: entailed raw ones among these and what the annotator found missing.

An attempt that several people judged counts once, as the mean of what they say.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Final, TypeAlias

from constraint_first.analysis.audit.extraction import Quality
from constraint_first.analysis.audit.manual.label import MARKS, Derivation, Label, Mark
from constraint_first.analysis.statistics.interval import Interval, wilson
from constraint_first.analysis.statistics.kappa import kappa
from constraint_first.analysis.study.study import Study
from constraint_first.evaluation.record import RecordKey
from constraint_first.problem import Json

__all__ = [
    "ALL",
    "Accord",
    "Rates",
    "Share",
    "accord_on",
    "accords",
    "by_attempt",
    "by_method",
    "completeness_of",
    "labels_of",
    "rates",
    "rates_by_model",
]

ALL: Final = "all"
"""The model of a row that takes all models together."""


@dataclass(frozen=True, slots=True)
class Share:
    """A part of a whole; both may be fractions where several people judged the same attempt."""

    part: Fraction
    whole: Fraction

    @property
    def value(self) -> float | None:
        """The share from 0 to 1; None where the whole is zero."""
        return float(self.part / self.whole) if self.whole else None

    @property
    def n(self) -> int | float:
        """The whole as a plain number."""
        return int(self.whole) if self.whole.denominator == 1 else float(self.whole)

    @property
    def interval(self) -> Interval | None:
        """Its 95 % Wilson interval; None where the whole is zero."""
        return wilson(float(self.part), float(self.whole)) if self.whole else None

    def to_json(self) -> dict[str, Json]:
        """Describe the share for programs."""
        bounds: list[Json] | None = [*self.interval] if self.interval else None
        return {"value": self.value, "ci": bounds, "n": self.n}


@dataclass(frozen=True, slots=True)
class Rates:
    """Rates that annotators found in the attempts of one model, or of all."""

    model: str
    attempts: int
    constraints: int
    raw: float
    """Raw constraints of an attempt, on average."""
    propagated: float
    validity: Share
    propagated_validity: Share
    """Validity of the propagated ones alone."""
    hallucination: Share
    vague: Share
    completeness: Share

    def to_json(self) -> dict[str, Json]:
        """Describe the rates for programs."""
        return {
            "model": self.model,
            "attempts": self.attempts,
            "constraints": self.constraints,
            "raw": self.raw,
            "propagated": self.propagated,
            "validity": self.validity.to_json(),
            "propagated_validity": self.propagated_validity.to_json(),
            "hallucination": self.hallucination.to_json(),
            "vague": self.vague.to_json(),
            "completeness": self.completeness.to_json(),
        }


def rates(labels: Iterable[Label]) -> list[Rates]:
    """Compute the rates of each model, and of all where there are several; drafts do not count."""
    judged = by_attempt(labels)
    found = [_rates(model, groups) for model, groups in _by_model(judged).items()]
    return [*found, _rates(ALL, list(judged.values()))] if len(found) > 1 else found


def rates_by_model(labels: Iterable[Label]) -> dict[str, tuple[float, float, int]]:
    """Return validity, hallucination (both from 0 to 1) and the constraints judged, by model."""
    return {
        model: (one.validity.value, one.hallucination.value or 0.0, one.constraints)
        for model, groups in _by_model(by_attempt(labels)).items()
        if (one := _rates(model, groups)).validity.value is not None
    }


def labels_of(labels: Iterable[Label], study: Study) -> tuple[list[Label], int]:
    """Keep the labels of a study's own attempts, and count those of others."""
    known = {
        (*arm.key, problem, attempt.run)
        for arm in study.arms
        for problem, attempts in arm.attempts.items()
        for attempt in attempts
    }
    every = list(labels)
    own = [label for label in every if label.key in known]
    return own, len(every) - len(own)


def by_method(labels: Iterable[Label]) -> dict[tuple[str, str], Quality]:
    """Return the rates that people found, by model and method; drafts do not count."""
    judged: dict[tuple[str, str], list[_Group]] = defaultdict(list)
    for key, group in by_attempt(labels).items():
        judged[key[2], key[1]].append(group)
    return {
        names: Quality(
            *(one.validity.value, one.hallucination.value, one.constraints),
            completeness=one.completeness.value,
            expected=one.completeness.n,
        )
        for names, groups in sorted(judged.items())
        if (one := _rates(names[0], groups)).constraints
    }


def completeness_of(labels: Iterable[Label]) -> Share:
    """Measure how complete Stage 1 is in some attempts, as people judged them, less drafts."""
    groups = list(by_attempt(labels).values())
    return _rates(ALL, groups).completeness if groups else Share(Fraction(), Fraction())


_Group: TypeAlias = list[Label]
"""The labels of one attempt, by different people."""


def by_attempt(labels: Iterable[Label]) -> dict[RecordKey, _Group]:
    """Sort complete labels by attempt."""
    found: dict[RecordKey, _Group] = defaultdict(list)
    for label in labels:
        if label.complete:
            found[label.key].append(label)
    return found


def _by_model(judged: Mapping[RecordKey, _Group]) -> dict[str, list[_Group]]:
    found: dict[str, list[_Group]] = {model: [] for model in sorted({key[2] for key in judged})}
    for key, group in judged.items():
        found[key[2]].append(group)
    return found


def _rates(model: str, groups: Sequence[_Group]) -> Rates:
    marks: dict[tuple[Derivation, Mark | None], Fraction] = defaultdict(Fraction)
    missing = Fraction()
    for group in groups:
        for label in group:
            missing += Fraction(len(label.missing), len(group))
            for one in label.constraints:
                marks[one.stage, one.mark] += Fraction(1, len(group))
    marked = sum(marks.values(), Fraction())
    by_mark = {mark: marks["raw", mark] + marks["propagated", mark] for mark in MARKS}
    raw, propagated = (sum(group[0].counts[at] for group in groups) for at in (0, 1))
    return Rates(
        model=model,
        attempts=len(groups),
        constraints=raw + propagated,
        raw=raw / len(groups),
        propagated=propagated / len(groups),
        validity=Share(by_mark["entailed"], marked),
        propagated_validity=Share(marks["propagated", "entailed"], Fraction(propagated)),
        hallucination=Share(by_mark["not_entailed"], marked),
        vague=Share(by_mark["vague"], marked),
        completeness=Share(marks["raw", "entailed"], marks["raw", "entailed"] + missing),
    )


@dataclass(frozen=True, slots=True)
class Accord:
    """Agreement of two annotators on the constraints that both marked."""

    annotators: tuple[str, str]
    attempts: int
    n: int
    agree: int
    kappa: float | None
    """Cohen's; None where it is not defined, for the reason below."""
    reason: str = ""

    @property
    def agreement(self) -> float | None:
        """The share of constraints with the same mark; None without any."""
        return self.agree / self.n if self.n else None

    def to_json(self) -> dict[str, Json]:
        """Describe the agreement for programs."""
        return {
            "annotators": [*self.annotators],
            "attempts": self.attempts,
            "n": self.n,
            "agreement": self.agreement,
            "kappa": self.kappa,
            "reason": self.reason or None,
        }


def accords(labels: Iterable[Label]) -> list[Accord]:
    """Compare every two annotators; drafts do not count."""
    people: dict[str, dict[RecordKey, Label]] = defaultdict(dict)
    for label in labels:
        if label.complete:
            people[label.annotator][label.key] = label
    return [_accord((a, b), people[a], people[b]) for a, b in combinations(sorted(people), 2)]


def _accord(
    names: tuple[str, str], ours: Mapping[RecordKey, Label], theirs: Mapping[RecordKey, Label]
) -> Accord:
    shared = [(ours[key], theirs[key]) for key in ours if key in theirs]
    pairs = [
        (one.mark or "", other.mark or "")
        for left, right in shared
        for one, other in zip(left.constraints, right.constraints, strict=True)
    ]
    return accord_on(names, len(shared), pairs, "constraint")


def accord_on(
    names: tuple[str, str], attempts: int, pairs: Sequence[tuple[str, str]], noun: str
) -> Accord:
    """Measure the agreement of two annotators on what both marked; ``noun`` is what that is."""
    agree, beyond_chance = sum(one == other for one, other in pairs), kappa(pairs)
    reason = ""
    if not pairs:
        reason = f"no {noun} was marked by both"
    elif beyond_chance is None:
        reason = f"both marked every {noun} {pairs[0][0].replace('_', ' ')}"
    return Accord(names, attempts, len(pairs), agree, beyond_chance, reason)
