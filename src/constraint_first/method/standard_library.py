"""What a program may import in the sandbox, in words for a prompt."""

from __future__ import annotations

from typing import Final

__all__ = ["AVAILABLE", "MODULES"]

MODULES: Final = (
    *("math", "fractions", "itertools", "collections", "functools", "decimal", "datetime"),
    *("calendar", "statistics", "heapq", "bisect", "operator", "string", "re", "random"),
)
"""The modules that a prompt may promise; the sandbox's tests use each of them."""

AVAILABLE: Final = (
    f"These modules are there: {', '.join(MODULES)}. There is no input, no file, no network, and "
    "no other module. Use plain functions; classes must not inherit."
)
"""One paragraph that tells a model what its program has."""
