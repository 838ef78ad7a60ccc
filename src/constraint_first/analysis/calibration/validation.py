"""Cross-validation of a learner: each problem decided by rules that were learnt without it."""

from __future__ import annotations

import hashlib
from typing import Final

import numpy as np

from constraint_first.analysis.calibration.learner import LearningPlan, learn
from constraint_first.analysis.calibration.observation import DIRECT, Ints, Observations

__all__ = ["FOLDS", "decide_held_out", "folds_by_family", "folds_by_problem"]

FOLDS: Final = 5
"""Parts that problems are shared out into; what four of them teach is tried on the fifth."""


def folds_by_problem(data: Observations, folds: int = FOLDS) -> Ints:
    """Share problems out by a hash of their names: the same ones together, whoever asks."""
    order = sorted(range(len(data.keys)), key=lambda row: _hashed(data.keys[row]))
    found = np.empty(len(order), dtype=np.int64)
    found[order] = np.arange(len(order)) % folds
    return found


def _hashed(key: tuple[str, str]) -> bytes:
    return hashlib.sha256("\t".join(key).encode("utf-8", "surrogatepass")).digest()


def folds_by_family(data: Observations, folds: int = FOLDS) -> Ints | None:
    """Share whole families out, the largest first, each to the smallest part; None for one."""
    numbers, sizes = np.unique(data.families, return_counts=True)
    if len(numbers) < 2:
        return None
    filled = np.zeros(min(folds, len(numbers)))
    part: dict[int, int] = {}
    for at in np.argsort(-sizes, kind="stable"):
        emptiest = int(np.argmin(filled))
        part[int(numbers[at])] = emptiest
        filled[emptiest] += sizes[at]
    return np.array([part[int(family)] for family in data.families], dtype=np.int64)


def decide_held_out(data: Observations, folds: Ints, plan: LearningPlan) -> Ints:
    """Decide for the problems of each fold by what all other folds teach."""
    decisions = np.full(len(data.keys), DIRECT, dtype=np.int64)
    for fold in np.unique(folds):
        out = folds == fold
        learnt = learn(data, np.flatnonzero(~out), plan)
        decisions[out] = learnt.decide(data.features[out])
    return decisions
