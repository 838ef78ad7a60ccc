"""The input and the output of a method: problem and solution; and prompts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Final, TypeAlias

from constraint_first.pattern import lazy_pattern

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"
"""A value that can be written as JSON."""


@dataclass(frozen=True, slots=True)
class Problem:
    """A problem as posed. Methods see its text alone; the rest is for grading and storing."""

    text: str
    id: str = ""
    answer: str | None = None
    """The gold answer, where it is known. It never reaches a prompt."""
    benchmark: str = ""
    """The benchmark it belongs to. It never reaches a prompt."""


@dataclass(frozen=True, slots=True)
class Solution:
    """The result of a method: the final answer, the reply that contains it, its notes."""

    answer: str | None
    """The final answer as the model wrote it; None where the reply contains none."""
    text: str
    """The reply that the answer was read from."""
    truncated: bool = False
    """Whether the reply was cut off by its budget."""
    details: Mapping[str, Json] = field(default_factory=dict[str, Json])
    """The method's notes (cues, Stage 1 rung, constraints, …), ready to be stored."""

    @property
    def is_whole(self) -> bool:
        """Whether the reply itself is the answer, as it is to a request for a text."""
        return self.details.get("whole") is True


# Prompts are text files with placeholders, ``[[like this]]``, that are filled in one pass.
#
# Inserted text is never read as a template itself, so a problem may contain braces, backslashes,
# JSON, or ``[[problem]]``, and reaches the model unchanged.

_PLACE: Final = lazy_pattern(r"\[\[(\w+)\]\]")


@dataclass(frozen=True, slots=True)
class Prompt:
    name: str
    text: str
    replaced: bool = False
    """Whether it is a user's own, in place of the method's original."""

    @property
    def places(self) -> frozenset[str]:
        return frozenset(_PLACE.findall(self.text))

    def fill(self, **values: str) -> str:
        if self.places != values.keys():
            raise TypeError(f"prompt {self.name} takes {sorted(self.places)}, got {sorted(values)}")
        return _PLACE.sub(lambda place: values[place[1]], self.text)


def load(package: str, name: str) -> Prompt:
    text = files(package).joinpath("prompts", f"{name}.txt").read_text(encoding="utf-8")
    return Prompt(name, text.strip())
