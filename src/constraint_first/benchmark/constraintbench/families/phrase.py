r"""Putting numbers and names into wordings, and finding the span that states a constraint.

A wording is a text with slots ``<name>`` and marked spans ``«label:…»``. Neither mark occurs in
LaTeX, so mathematics is written as it is.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random

__all__ = ["COUNT_WORDS", "NAMES", "Told", "listed", "plural", "stages", "tell"]

_SLOT = re.compile(r"<([A-Za-z]\w*)>")
_SPAN = re.compile(r"«(\w+):([^«»]*)»")

NAMES = (
    "Amara", "Bruno", "Chiara", "Dmitri", "Elif", "Farah", "Gustav", "Hana", "Imani", "Jonas",
    "Keiko", "Leandro", "Mireille", "Noor", "Oskar", "Priya", "Quentin", "Rosa", "Soren", "Tamsin",
    "Uma", "Viktor", "Wen", "Ximena", "Yusuf", "Zofia",
)  # fmt: skip
COUNT_WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight")
"""Small numbers as a text says them."""


@dataclass(frozen=True, slots=True)
class Told:
    """A problem text and the spans that its wording marked."""

    text: str
    spans: Mapping[str, str]

    def span(self, label: str) -> str | None:
        """Give the words marked with this label; None where this wording only implies it."""
        return self.spans.get(label)


def tell(rng: Random, wordings: Sequence[str], **values: object) -> Told:
    """Choose a wording, fill its slots, take the span marks out."""
    filled = _SLOT.sub(lambda slot: str(values[slot[1]]), rng.choice(wordings))
    spans = {match[1]: match[2] for match in _SPAN.finditer(filled)}
    return Told(_SPAN.sub(r"\2", filled), spans)


def listed(values: Sequence[object]) -> str:
    """Join values as a sentence does: ``$3$, $5$ and $8$``."""
    written = [f"${value}$" for value in values]
    return f"{', '.join(written[:-1])} and {written[-1]}" if len(written) > 1 else written[0]


def plural(count: int, one: str, many: str = "") -> str:
    """Write a count with its noun: ``$1$ pen``, ``$2$ pens``."""
    return f"${count}$ {one if count == 1 else many or one + 's'}"


def stages(stories: Sequence[tuple[str, ...]], count: int) -> list[str]:
    """Tell the first ``count`` parts of each story, and then its last part, the question."""
    return [" ".join((*story[:count], story[-1])).strip() for story in stories]
