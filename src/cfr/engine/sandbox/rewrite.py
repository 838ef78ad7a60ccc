"""A program made ready for the interpreter: what it lacks is written in other words."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Final

__all__ = ["LONGEST", "Rewritten", "Unreadable", "rewrite"]

LONGEST: Final = 100_000
"""Characters of the longest program that is run."""


class Unreadable(Exception):
    """A program that is not even parsed; the message says why."""


@dataclass(frozen=True, slots=True)
class Rewritten:
    """A program as the interpreter is given it, and what it must have run before."""

    source: str
    preludes: tuple[str, ...] = ()


def rewrite(source: str) -> Rewritten:
    """Prepare a program."""
    if len(source) > LONGEST:
        raise Unreadable(f"SyntaxError: longer than {LONGEST:,} characters")
    try:
        ast.parse(source)
    except SyntaxError:
        pass  # the interpreter has words for it, and knows newer syntax than an old Python
    except (RecursionError, MemoryError):
        raise Unreadable("SyntaxError: too deeply nested") from None
    except ValueError as error:
        raise Unreadable(f"SyntaxError: {error}") from None
    # The value of its last expression would be handed over whole.
    return Rewritten(f"{source}\nNone\n")
