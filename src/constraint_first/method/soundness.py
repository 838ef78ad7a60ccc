"""Whether an answer can stand: the constraints that a problem's text states, held against it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final, Literal, NamedTuple, TypeAlias

from constraint_first.constraint.predicate import Truth, parts
from constraint_first.constraint.stated.read import read_stated
from constraint_first.constraint.stated.repair import repair
from constraint_first.constraint.stated.statement import Stated, check_stated
from constraint_first.problem import Json, Problem, Solution

Switch: TypeAlias = Literal["on", "off"]
Check: TypeAlias = Literal["stated", "repair", "off"]
"""How an answer is checked: by the constraints that the text states; by the same, with a repair
where one is certain; or not at all."""


_DOUBTFUL: Final = frozenset({"congruent", "divisible", "option"})
"""Ops of constraints that were read from a public problem and broken by its gold answer, or are of
the same rule as one. They are shown with an answer, and never overrule it."""


def stated_in(problem: Problem, check: Check = "stated") -> tuple[Stated, ...]:
    """Read the constraints that may overrule an answer; none where the check is off."""
    if check == "off":
        return ()
    stated = read_stated(problem.text)
    return tuple(
        one for one in stated if not any(part["op"] in _DOUBTFUL for part in parts(one.predicate))
    )


def broken(stated: Iterable[Stated], answer: str) -> tuple[Stated, ...]:
    return tuple(one for one, truth in check_stated(stated, answer) if truth == "violated")


def is_sound(stated: Iterable[Stated], answer: str | None) -> bool:
    """Whether there is an answer, and no constraint that it breaks."""
    return bool(answer) and not broken(stated, answer or "")


def sentences(stated: Iterable[Stated]) -> str:
    """Write constraints for a prompt, one a line; what the text says twice is said once."""
    return "\n".join(dict.fromkeys(f"- {one.sentence}" for one in stated))


def mended(stated: Sequence[Stated], solution: Solution, text: str = "") -> Solution:
    """Make the repair of an answer that is certain, and note it; leave any other as it is.

    ``text`` is the problem's, whose words are quoted.
    """
    before = solution.answer or ""
    faults = broken(stated, before)
    after = repair(stated, before) if faults else None
    if after is None or not is_sound(stated, after):
        return solution
    made = intervention("repair", before, after, faults, text)
    return replace(intervened(solution, made), answer=after)


def intervened(solution: Solution, made: dict[str, Json]) -> Solution:
    """Note an intervention behind those that the solution has already."""
    earlier = solution.details.get("interventions")
    made_so_far = [*(earlier if isinstance(earlier, list) else ()), made]
    return replace(solution, details={**solution.details, "interventions": made_so_far})


def intervention(
    what: str, before: str, after: str | None, faults: Iterable[Stated], text: str = ""
) -> dict[str, Json]:
    """Describe what was done about an answer, so that a person or an analysis can undo it.

    It has the answer before and after, what was broken, and the words of the text that say so.
    """
    listed = [*faults]
    told: list[Json] = [one.sentence for one in listed]
    quoted: list[Json] = [*dict.fromkeys(one.quote(text) for one in listed)] if text else []
    noted: dict[str, Json] = {"words": quoted} if quoted else {}
    return {"what": what, "before": before, "after": after, "broken": told, **noted}


# Checks, interventions and votes, read back from a solution's details in whatever form they are.
#
# Details may come from an old store, or from a method of another package.

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
    checks = {str(check.get("sentence")): check for check in _objects(details.get("checks"))}
    samples, confidence = details.get("samples"), details.get("confidence")
    conflicts = details.get("conflicts")
    return CheckSummary(
        tuple(
            CheckedSentence(
                _TRUTHS.get(str(check.get("truth")), "undecided"), sentence, _words(check, problem)
            )
            for sentence, check in checks.items()
        ),
        tuple(
            Intervention(what, before, after, _quoted(done))
            for done in _objects(details.get("interventions"))
            for what, before, after in [[str(done.get(one)) for one in ("what", "before", "after")]]
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


def _words(check: Mapping[str, Json], problem: str) -> str:
    """Quote the text where it states a constraint."""
    span = check.get("span")
    ends = [end for end in span if isinstance(end, int)] if isinstance(span, list) else []
    return problem[slice(*ends)] if len(ends) == 2 else ""
