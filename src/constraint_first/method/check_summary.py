"""Checks, interventions and votes, read back from a solution's details in whatever form they are.

Details may come from an old store, or from a method of another package.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from constraint_first.constraint.predicate import Truth
from constraint_first.problem import Json

__all__ = ["CheckSummary", "CheckedSentence", "Intervention", "read_summary"]

_TRUTHS: Final[dict[str, Truth]] = {"holds": "holds", "violated": "violated"}


class CheckedSentence(NamedTuple):
    """A constraint that the text states, and whether the answer meets it."""

    truth: Truth
    sentence: str
    words: str
    """The words of the problem that state it."""


class Intervention(NamedTuple):
    """What was done about an answer that broke a constraint."""

    what: str
    before: str
    after: str
    words: tuple[str, ...] = ()
    """The words of the problem that it rests on."""

    @property
    def because(self) -> str:
        """Quote them; nothing where they are not on record."""
        return ", ".join(f"“{' '.join(one.split())}”" for one in self.words)


class CheckSummary(NamedTuple):
    """What an answer is worth."""

    checks: tuple[CheckedSentence, ...]
    """What the text says twice is there once."""
    interventions: tuple[Intervention, ...]
    samples: tuple[str | None, ...]
    """The answers that voted; None for a sample without one."""
    confidence: float
    known: bool
    """Whether the details say anything of it."""
    conflicts: tuple[str, ...] = ()
    """Sentences on demands that contradict each other."""


def read_summary(details: Mapping[str, Json], problem: str) -> CheckSummary:
    """Read the checks of an answer to a problem."""
    checks = {str(check.get("sentence")): check for check in _objects(details.get("checks"))}
    samples, confidence = details.get("samples"), details.get("confidence")
    conflicts = details.get("conflicts")
    return CheckSummary(
        tuple(
            CheckedSentence(_truth(check), sentence, _words(check, problem))
            for sentence, check in checks.items()
        ),
        tuple(
            Intervention(
                str(done.get("what")),
                str(done.get("before")),
                str(done.get("after")),
                _quoted(done),
            )
            for done in _objects(details.get("interventions"))
        ),
        tuple(None if one is None else str(one) for one in samples)
        if isinstance(samples, list)
        else (),
        confidence if isinstance(confidence, int | float) else 0.0,
        any(name in details for name in ("checks", "confidence", "interventions")),
        tuple(str(one) for one in conflicts) if isinstance(conflicts, list) else (),
    )


def _objects(value: Json) -> list[dict[str, Json]]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _quoted(done: Mapping[str, Json]) -> tuple[str, ...]:
    words = done.get("words")
    return tuple(str(one) for one in words) if isinstance(words, list) else ()


def _truth(check: Mapping[str, Json]) -> Truth:
    return _TRUTHS.get(str(check.get("truth")), "undecided")


def _words(check: Mapping[str, Json], problem: str) -> str:
    """Quote the text where it states a constraint."""
    span = check.get("span")
    ends = [end for end in span if isinstance(end, int)] if isinstance(span, list) else []
    return problem[slice(*ends)] if len(ends) == 2 else ""
