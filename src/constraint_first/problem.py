"""What goes into a method and what comes out of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

__all__ = ["Json", "Problem", "Solution"]

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"
"""A value that can be written as JSON."""


@dataclass(frozen=True, slots=True)
class Problem:
    """A problem as posed. Methods see its text alone; the rest is for those who score and store."""

    text: str
    id: str = ""
    answer: str | None = None
    """The gold answer, where it is known. It never reaches a prompt."""
    benchmark: str = ""
    """The benchmark it belongs to. It never reaches a prompt."""


@dataclass(frozen=True, slots=True)
class Solution:
    """What a method returns: the final answer, the reply that argues for it, what it noted."""

    answer: str | None
    """The final answer as the model wrote it; None where the reply contains none."""
    text: str
    """The reply that the answer was read from."""
    truncated: bool = False
    """Whether that reply ended because its budget ran out."""
    details: Mapping[str, Json] = field(default_factory=dict[str, Json])
    """What the method wants remembered (cues, Stage 1 rung, constraints, …), ready to be stored."""

    @property
    def is_whole(self) -> bool:
        """Whether the reply itself is the answer, as it is to a request for a text."""
        return self.details.get("whole") is True
