"""Router activation, cue families, and gains by cue families, on the problems of a study.

Paper: Router Behavior; appendices Benchmark Scope and Router Behavior, Complete Router Pattern
Analysis.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from constraint_first.analysis.statistics.subset import BASELINE, Gain, Key, pairs_by_model
from constraint_first.analysis.study.study import ProblemText, Study
from constraint_first.constraint.router import FAMILIES, aime_convention, route

__all__ = [
    "FAMILY_LABELS",
    "Activation",
    "CoFire",
    "FamilyCount",
    "PhraseCount",
    "RouterAudit",
    "activations",
    "audit_router",
    "cofire",
    "family_counts",
    "phrase_counts",
]

FAMILY_LABELS: Final[Mapping[str, str]] = dict(
    zip(
        FAMILIES,
        (
            *("P1: Integer/Count", "P2: Modular", "P3: Encoded form", "P4: Bound/Extremal"),
            *("P5: Floor/Round", "P6: Units/Dimension", "P7: Game/Adversarial"),
        ),
        strict=True,
    )
)
"""The cue families as the paper's tables name them."""

_GROUPS: Final = ("0", "1", "2", "3", "4+")


@dataclass(frozen=True, slots=True)
class RouterAudit:
    """Cue families and phrases that the router finds in the problems of a study."""

    families: Mapping[Key, tuple[str, ...]]
    """Cue families by problem; none where a problem is not routed."""
    phrases: Mapping[str, Counter[str]]
    """Problems by family and phrase."""
    without_text: Mapping[str, int]
    """Problems that have attempts but no text on record, by benchmark."""

    @property
    def benchmarks(self) -> tuple[str, ...]:
        """The benchmarks that have problems with a text, in order."""
        return tuple(dict.fromkeys(name for name, _ in self.families))


def audit_router(study: Study) -> RouterAudit:
    """Route every problem of a study by its text."""
    fired = {key: route(asked.text) for key, asked in study.problems.items() if asked.text}
    phrases = {family: Counter[str]() for family in FAMILIES}
    for key, cues in fired.items():
        for cue in cues:
            found = cue.phrases(study.problems[key].text)
            phrases[cue.family].update(dict.fromkeys(map(_plain, found), 1))
    return RouterAudit(
        families={key: tuple(cue.family for cue in cues) for key, cues in fired.items()},
        phrases=phrases,
        without_text=_count_without_text(study),
    )


def _plain(phrase: str) -> str:
    return re.sub(r"\s*\+\s*", "+", " ".join(phrase.casefold().split()))


_UNASKED: Final = ProblemText("")


def _count_without_text(study: Study) -> dict[str, int]:
    attempted: dict[str, set[str]] = {}
    for arm in study.arms:
        attempted.setdefault(arm.benchmark, set()).update(arm.attempts)
    return {
        name: sum(not study.problems.get((name, problem), _UNASKED).text for problem in problems)
        for name, problems in attempted.items()
    }


@dataclass(frozen=True, slots=True)
class Activation:
    """Problems of a benchmark, and those among them that the router sends to two stages."""

    benchmark: str
    routed: int
    total: int

    @property
    def rate(self) -> float:
        """The share of problems that are routed."""
        return self.routed / self.total

    @property
    def with_convention(self) -> int:
        """How many would be routed if AIME's answer convention counted as a cue."""
        return self.total if aime_convention(self.benchmark) else self.routed


def activations(audit: RouterAudit) -> tuple[Activation, ...]:
    """Count routed problems, benchmark by benchmark."""
    total = Counter(name for name, _ in audit.families)
    routed = Counter(name for (name, _), families in audit.families.items() if families)
    return tuple(Activation(name, routed[name], total[name]) for name in total)


@dataclass(frozen=True, slots=True)
class FamilyCount:
    """A cue family: the phrases of it that were found, and the problems that have it."""

    family: str
    phrases: Counter[str]
    """Problems by phrase."""
    by_benchmark: Mapping[str, int]
    """Problems by benchmark."""
    total: int
    """All problems with a text, whatever they have."""

    @property
    def problems(self) -> int:
        """How many problems have the family."""
        return sum(self.by_benchmark.values())

    @property
    def share(self) -> float:
        """The share of all problems with a text that have the family."""
        return self.problems / self.total


def family_counts(audit: RouterAudit) -> tuple[FamilyCount, ...]:
    """Count the problems that have each cue family; nothing where no problem has a text."""
    counts = Counter(
        (family, name) for (name, _), families in audit.families.items() for family in families
    )
    return tuple(
        FamilyCount(
            family,
            audit.phrases[family],
            {name: counts[family, name] for name in audit.benchmarks},
            len(audit.families),
        )
        for family in FAMILIES
        if audit.families
    )


@dataclass(frozen=True, slots=True)
class PhraseCount:
    """A phrase that routed problems."""

    phrase: str
    family: str
    """The first family that it is a cue of."""
    problems: int
    """How many problems have it, added over the families that it is a cue of."""


def phrase_counts(audit: RouterAudit) -> tuple[PhraseCount, ...]:
    """Count the problems that have each phrase, family by family as they are listed."""
    problems: Counter[str] = Counter()
    first: dict[str, str] = {}
    for family, phrases in audit.phrases.items():
        problems.update(phrases)
        first = dict.fromkeys(phrases, family) | first
    return tuple(PhraseCount(phrase, first[phrase], count) for phrase, count in problems.items())


@dataclass(frozen=True, slots=True)
class CoFire:
    """A method's gain on the problems that have a given number of cue families."""

    model: str
    families: str
    """The number of families: 0, 1, 2, 3 or 4+."""
    gain: Gain | None
    """The gain and its number of problems; None where there are none."""


def cofire(
    study: Study, audit: RouterAudit, method: str, baseline: str = BASELINE
) -> tuple[CoFire, ...]:
    """Measure a method's gain by the number of cue families in a problem, model by model."""
    groups: dict[str, set[Key]] = {name: set() for name in _GROUPS}
    for key, families in audit.families.items():
        groups[_GROUPS[min(len(families), 4)]].add(key)
    return tuple(
        CoFire(side.model, name, side.gain(keys))
        for side in pairs_by_model(study, method, baseline)
        for name, keys in groups.items()
    )
