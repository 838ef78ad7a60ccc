from dataclasses import replace

import numpy as np

from constraint_first.report.calibrate import (
    FOLDS,
    decide_held_out,
    folds_by_family,
    folds_by_problem,
)
from constraint_first.report.tree import DIRECT, LearningPlan

from .simulated import simulate


def test_problems_are_shared_out_evenly_and_always_alike() -> None:
    data = simulate(1, 103, 1)
    folds = folds_by_problem(data)
    assert np.bincount(folds).tolist() == [21, 21, 21, 20, 20]
    assert (folds_by_problem(data) == folds).all()
    turned = replace(data, keys=data.keys[::-1])
    assert (folds_by_problem(turned) == folds[::-1]).all()


def test_families_stay_whole() -> None:
    names = [f"family{row % 7}-1-2026-{row}" for row in range(70)]
    data = simulate(1, 70, 1)
    data = replace(data, keys=tuple(("constraintbench", name) for name in names))
    folds = folds_by_family(data)
    assert folds is not None
    assert set(folds) == set(range(FOLDS))
    for family in range(7):
        assert len(set(folds[family::7])) == 1


def test_one_family_cannot_be_left_out() -> None:
    data = simulate(1, 30, 1)
    assert folds_by_family(replace(data, keys=tuple(("one", str(n)) for n in range(30)))) is None


def test_a_problem_is_decided_by_what_the_others_teach() -> None:
    data = simulate(2, 300, 1, lambda _, __, benchmark: 0.5 if benchmark == 0 else 0.4)
    decided = decide_held_out(data, folds_by_problem(data), LearningPlan())
    assert (decided == 0).all()
    alone = np.where(data.benchmarks == 0, 0, 1)
    data = simulate(3, 300, 1, lambda _, __, benchmark: 0.5 if benchmark == 0 else 0.0)
    decided = decide_held_out(data, alone, LearningPlan())
    assert (decided[alone == 0] == DIRECT).all()  # the others gain nothing
