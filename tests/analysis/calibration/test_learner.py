import numpy as np
import pytest

from constraint_first.constraint.kind import FEATURES
from constraint_first.report.tree import DIRECT, Group, LearningPlan, Learnt, learn

from .simulated import simulate


def test_the_best_single_method_is_preferred() -> None:
    data = simulate(1, 600, 3, lambda method, _, __: (0.1, 0.3, 0.24)[method])
    found = learn(data, np.arange(600), LearningPlan())
    assert found.groups == (Group((), 1),)
    assert found.points > 20
    assert found.tokens == 1.0


def test_a_second_method_comes_in_where_it_brings_a_point() -> None:
    def effect(method: int, having: set[str], _: int) -> float:
        return (0.4 if ("latex" in having) == (method == 0) else 0.1) if method < 2 else 0.0

    found = learn(simulate(2, 900, 3, effect), np.arange(900), LearningPlan())
    assert {group.decision for group in found.groups} == {0, 1}


def test_tokens_stay_within_their_bound() -> None:
    def effect(method: int, having: set[str], _: int) -> float:
        return 0.5 if "latex" in having else 0.25 if method == 0 else 0.2

    data = simulate(3, 600, 2, effect)
    data.extra_tokens[:, 0] = 600
    free = learn(data, np.arange(600), LearningPlan(most_tokens=None))
    assert free.tokens > 2
    bounded = learn(data, np.arange(600), LearningPlan(most_tokens=1.05))
    assert {group.decision for group in bounded.groups} == {1}
    assert bounded.tokens == 1.0
    data.extra_tokens[:, 1] = 600
    assert learn(data, np.arange(600), LearningPlan(most_tokens=1.05)).tokens <= 1.05


def test_one_benchmark_cannot_spend_what_another_saves() -> None:
    data = simulate(5, 600, 2, lambda method, _, __: 0.4 if method == 0 else 0.3)
    benchmark = np.arange(600) % 3
    data.extra_tokens[:, 0] = np.where(benchmark == 0, 200, -150)  # fewer tokens over all
    data.extra_tokens[:, 1] = -150
    plan = LearningPlan(most_tokens=1.05)
    assert {group.decision for group in learn(data, np.arange(600), plan).groups} == {1}
    few = np.concatenate([np.flatnonzero(benchmark == 0)[:49], np.flatnonzero(benchmark > 0)])
    assert {group.decision for group in learn(data, few, plan).groups} == {0}


def test_nothing_is_learnt_from_nothing() -> None:
    data = simulate(4, 300, 0)
    assert learn(data, np.arange(300), LearningPlan(price=2.0)) == Learnt(price=2.0)
    assert learn(simulate(4, 300, 2), np.arange(0), LearningPlan()).groups == ()


def test_decisions_by_features() -> None:
    features = np.zeros((2, len(FEATURES)), dtype=np.bool_)
    features[0, FEATURES.index("latex")] = True
    learnt = Learnt((Group(("latex",), 3), Group(("not latex",), DIRECT)))
    assert learnt.decide(features).tolist() == [3, DIRECT]
    assert Learnt().decide(features).tolist() == [DIRECT, DIRECT]


@pytest.mark.parametrize("seed", range(3))
def test_learning_is_repeatable(seed: int) -> None:
    data = simulate(seed, 300, 3, lambda method, _, __: 0.1 * method)
    assert learn(data, np.arange(300), LearningPlan()) == learn(
        data, np.arange(300), LearningPlan()
    )
