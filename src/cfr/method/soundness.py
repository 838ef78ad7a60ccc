"""Whether an answer can stand: the constraints that a problem's text states, held against it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, TypeAlias

from cfr.constraint.stated import Stated, check_stated, read_stated
from cfr.problem import Problem

__all__ = ["Check", "broken", "is_sound", "sentences", "stated_in"]

Check: TypeAlias = Literal["stated", "off"]
"""Against what an answer is checked: the constraints that the text states, or nothing."""


def stated_in(problem: Problem, check: Check = "stated") -> tuple[Stated, ...]:
    """Read the constraints to check by; none where the check is off."""
    return read_stated(problem.text) if check == "stated" else ()


def broken(stated: Iterable[Stated], answer: str) -> tuple[Stated, ...]:
    """List the constraints that an answer breaks."""
    return tuple(one for one, truth in check_stated(stated, answer) if truth == "violated")


def is_sound(stated: Iterable[Stated], answer: str | None) -> bool:
    """Whether there is an answer, and no constraint that it breaks."""
    return bool(answer) and not broken(stated, answer or "")


def sentences(stated: Iterable[Stated]) -> str:
    """Write constraints for a prompt, one a line; what the text says twice is said once."""
    return "\n".join(dict.fromkeys(f"- {one.sentence}" for one in stated))
