"""Whether an answer can stand: the constraints that a problem's text states, held against it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Literal, TypeAlias

from cfr.constraint.stated import Stated, check_stated, read_stated, repair
from cfr.problem import Json, Problem, Solution

__all__ = [
    "Check",
    "broken",
    "intervened",
    "intervention",
    "is_sound",
    "mended",
    "sentences",
    "stated_in",
]

Check: TypeAlias = Literal["stated", "repair", "off"]
"""How an answer is checked: by the constraints that the text states; by the same, with a repair
where one is certain; or not at all."""


def stated_in(problem: Problem, check: Check = "stated") -> tuple[Stated, ...]:
    """Read the constraints to check by; none where the check is off."""
    return () if check == "off" else read_stated(problem.text)


def broken(stated: Iterable[Stated], answer: str) -> tuple[Stated, ...]:
    """List the constraints that an answer breaks."""
    return tuple(one for one, truth in check_stated(stated, answer) if truth == "violated")


def is_sound(stated: Iterable[Stated], answer: str | None) -> bool:
    """Whether there is an answer, and no constraint that it breaks."""
    return bool(answer) and not broken(stated, answer or "")


def sentences(stated: Iterable[Stated]) -> str:
    """Write constraints for a prompt, one a line; what the text says twice is said once."""
    return "\n".join(dict.fromkeys(f"- {one.sentence}" for one in stated))


def mended(stated: Sequence[Stated], solution: Solution) -> Solution:
    """Make the repair of an answer that is certain, and note it; leave any other as it is."""
    before = solution.answer or ""
    faults = broken(stated, before)
    after = repair(stated, before) if faults else None
    if after is None or not is_sound(stated, after):
        return solution
    made = intervention("repair", before, after, faults)
    return replace(intervened(solution, made), answer=after)


def intervened(solution: Solution, made: dict[str, Json]) -> Solution:
    """Note an intervention behind those that the solution has already."""
    earlier = solution.details.get("interventions")
    made_so_far = [*(earlier if isinstance(earlier, list) else ()), made]
    return replace(solution, details={**solution.details, "interventions": made_so_far})


def intervention(
    what: str, before: str, after: str | None, faults: Iterable[Stated]
) -> dict[str, Json]:
    """Describe what was done about an answer, so that an analysis can undo it."""
    words: list[Json] = [one.sentence for one in faults]
    return {"what": what, "before": before, "after": after, "broken": words}
