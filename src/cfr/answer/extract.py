"""The final answer out of a completion."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Extracted", "extract"]


@dataclass(frozen=True, slots=True)
class Extracted:
    """A final answer and where in the reply it stood."""

    answer: str | None
    """The answer as the model wrote it; None where there is none."""
    how: str
    """The rule that found it, or why there is none."""


def extract(text: str) -> Extracted:
    """Read the final answer out of a reply."""
    start = text.rfind(r"\boxed{")
    if start < 0:
        return Extracted(None, "none")
    depth = 0
    for end in range(start + 6, len(text)):
        depth += {"{": 1, "}": -1}.get(text[end], 0)
        if depth == 0:
            return Extracted(text[start + 7 : end].strip(), "boxed")
    return Extracted(None, "unterminated box")
