"""Prompts are text files with named places, ``[[like this]]``, that are filled in one pass.

What is filled in is never read as a template itself, so a problem may contain braces, backslashes,
JSON, or ``[[problem]]``, and arrives at the model as it was written.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from importlib.resources import files
from typing import Final

__all__ = ["Prompt", "load"]

_PLACE: Final = re.compile(r"\[\[(\w+)\]\]")


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt's wording."""

    name: str
    text: str
    replaced: bool = False
    """Whether it is a person's own, in the place of the one that comes with the method."""

    @property
    def places(self) -> frozenset[str]:
        """The names that must be filled in."""
        return frozenset(_PLACE.findall(self.text))

    def fill(self, **values: str) -> str:
        """Put a text in each place."""
        if self.places != values.keys():
            raise TypeError(f"prompt {self.name} takes {sorted(self.places)}, got {sorted(values)}")
        return _PLACE.sub(lambda place: values[place[1]], self.text)


def load(package: str, name: str) -> Prompt:
    """Read ``name.txt`` from the ``prompts`` folder of a package."""
    text = files(package).joinpath("prompts", f"{name}.txt").read_text(encoding="utf-8")
    return Prompt(name, text.strip())
