"""A problem as a study has it: its text, and what replies to it are judged by."""

from __future__ import annotations

from dataclasses import dataclass

from constraint_first.benchmark.gold_instruction import (
    GoldInstruction,
    describe_gold,
    name_gold,
    read_instructions,
)

__all__ = ["ProblemText"]


@dataclass(frozen=True, slots=True)
class ProblemText:
    """A problem's text and gold answer; the text is empty where it is not on record."""

    text: str
    gold: str | None = None
    """Gold instructions, where a whole reply is judged, as one text."""

    @property
    def instructions(self) -> tuple[GoldInstruction, ...]:
        """The gold instructions; none where there is a gold answer."""
        return read_instructions(self.gold) or ()

    @property
    def gold_shown(self) -> str | None:
        """The gold answer, or the gold instructions in words."""
        return None if self.gold is None else describe_gold(self.gold)

    @property
    def gold_name(self) -> str:
        """What kind of gold it is, in words."""
        return name_gold(self.gold)
