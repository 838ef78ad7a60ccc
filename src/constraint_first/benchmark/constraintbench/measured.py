"""How hard the levels are: accuracies that were measured on a model, not declared."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from itertools import pairwise
from typing import Final

from constraint_first.benchmark.constraintbench.families import FAMILIES
from constraint_first.benchmark.constraintbench.item import VERSION, Item

__all__ = ["LevelCheck", "MeasuredLevels", "check_levels", "measured_levels"]

LEAST: Final = 0.9
"""The share of the families that must be harder at their last level than at their first."""


@dataclass(frozen=True, slots=True)
class MeasuredLevels:
    """How often a model solved the problems of each family at each level, and which model."""

    model: str
    method: str
    date: str
    attempts: int
    """Attempts for each family at each level."""
    correct: Mapping[str, tuple[int, ...]]


@dataclass(frozen=True, slots=True)
class LevelCheck:
    """How the families of a set become harder with the level, of those that were measured."""

    measured: MeasuredLevels
    families: tuple[str, ...]

    @property
    def harder(self) -> tuple[str, ...]:
        """The families that are solved less often at their last level than at their first."""
        return tuple(
            name for name in self.families if self._counts(name)[0] > self._counts(name)[-1]
        )

    @property
    def falling(self) -> tuple[str, ...]:
        """The families that are solved less often at every level than at the one before."""
        return tuple(
            name
            for name in self.families
            if all(low > high for low, high in pairwise(self._counts(name)))
        )

    @property
    def passed(self) -> bool:
        """Whether the levels do what they say."""
        return len(self.harder) >= LEAST * len(self.families)

    def __str__(self) -> str:
        by = f"{self.measured.method}, {self.measured.model}, {self.measured.date}"
        of = f"of {len(self.families)} families"
        return (
            f"levels, solved less often at the last than at the first: {len(self.harder)} {of}, "
            f"falling at each: {len(self.falling)} ({by})"
        )

    def _counts(self, name: str) -> tuple[int, ...]:
        return self.measured.correct[name]


@cache
def measured_levels() -> MeasuredLevels:
    """Read what was measured on the split `public`."""
    path = (
        resources.files("constraint_first.benchmark.constraintbench") / "data" / "2" / "levels.json"
    )
    found = json.loads(path.read_text(encoding="utf-8"))
    correct = {name: tuple(counts) for name, counts in found.pop("correct").items()}
    return MeasuredLevels(correct=correct, **found)


def check_levels(items: Iterable[Item]) -> LevelCheck | None:
    """Check the levels of the families that occur; None where none of them was measured."""
    measured = measured_levels()
    present = {item.family for item in items if item.version == VERSION}
    known = tuple(name for name in FAMILIES if name in present and name in measured.correct)
    return LevelCheck(measured, known) if known else None
