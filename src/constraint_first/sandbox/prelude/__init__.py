"""What programs use and the interpreter lacks, in Python that it does run: one file a module.

Each file builds an object that stands for the module, under the name ``_cfr_`` and the module's, so
that nothing a program defines can get in its way.
"""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files
from typing import Final

__all__ = [
    "WHOLE",
    "load",
    "names_in",
    "own_name",
]


WHOLE: Final = frozenset(
    "calendar fractions heapq operator statistics string sympy".split(),
)
"""The modules that are supplied whole; of others only the missing names are."""


def own_name(module: str) -> str:
    """Return the name of the object that stands for a module."""
    return f"_cfr_{module}"


@cache
def load(module: str) -> str:
    """Return the source that makes the object of a module; "module" has what they all need."""
    return (files(__name__) / f"{module}.txt").read_text("utf-8")


@cache
def names_in(module: str) -> frozenset[str]:
    """List the names that a module has here."""
    return frozenset(re.findall(r"^    m\.(\w+) = ", load(module), re.MULTILINE))
