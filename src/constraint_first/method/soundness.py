"""Whether an answer can stand: the constraints that a problem's text states, held against it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final, Literal, TypeAlias

from constraint_first.constraint.predicate import parts
from constraint_first.constraint.stated import Stated, check_stated, read_stated, repair
from constraint_first.problem import Json, Problem, Solution

__all__ = [
    "Check",
    "Switch",
    "broken",
    "intervened",
    "intervention",
    "is_sound",
    "mended",
    "sentences",
    "stated_in",
]

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
    """List the constraints that an answer breaks."""
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
