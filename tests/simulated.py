"""Observations drawn at random, with effects that are known."""

from collections.abc import Callable

import numpy as np

from constraint_first.constraint.kind import FEATURES
from constraint_first.report.calibrate import Observations

Effect = Callable[[int, set[str], int], float]
"""By method, features and benchmark: how much likelier a right answer is."""


def simulate(
    seed: int, size: int, methods: int, effect: Effect = lambda _, __, ___: 0.0, tokens: float = 0.0
) -> Observations:
    """Draw problems of three benchmarks with random features, two runs of each method."""
    dice = np.random.default_rng(seed)
    features = dice.random((size, len(FEATURES))) < dice.uniform(0.1, 0.6, len(FEATURES))
    chances = dice.beta(0.5, 0.7, size)
    having = [{FEATURES[at] for at in np.flatnonzero(row)} for row in features]

    def right(chance: float) -> tuple[int, int]:
        return int(dice.binomial(2, min(1.0, max(0.0, chance)))), 2

    return Observations(
        tuple(f"method-{place}" for place in range(methods)),
        tuple((f"set-{row % 3}", str(row)) for row in range(size)),
        features,
        tuple(right(chance) for chance in chances),
        tuple(
            tuple(right(chances[row] + effect(m, having[row], row % 3)) for m in range(methods))
            for row in range(size)
        ),
        np.full(size, 300.0),
        np.full((size, methods), 300.0 * tokens),
    )
