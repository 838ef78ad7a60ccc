"""Cohen's kappa: agreement beyond chance."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

__all__ = ["kappa"]


def kappa(pairs: Sequence[tuple[str, str]]) -> float | None:
    """Compute Cohen's kappa; None where one label would be right by chance alone."""
    n = len(pairs)
    ours, theirs = Counter(one for one, _ in pairs), Counter(one for _, one in pairs)
    by_chance = sum(ours[label] * theirs[label] for label in ours)
    if by_chance == n * n:
        return None
    agree = sum(one == other for one, other in pairs)
    return (agree * n - by_chance) / (n * n - by_chance)
