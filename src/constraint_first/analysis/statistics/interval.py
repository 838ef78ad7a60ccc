"""Wilson intervals of shares."""

from __future__ import annotations

import math
from typing import TypeAlias

__all__ = ["Interval", "wilson"]

Interval: TypeAlias = tuple[float, float]
"""The lower and the upper end."""


def wilson(successes: float, trials: float, z: float = 1.959964) -> Interval:
    """Return the 95 % Wilson interval of a share."""
    if not trials:
        return 0.0, 1.0
    share, spread = successes / trials, z * z / trials
    centre = (share + spread / 2) / (1 + spread)
    half = z * math.sqrt(share * (1 - share) / trials + spread / trials / 4) / (1 + spread)
    return max(0.0, centre - half), min(1.0, centre + half)
