import numpy as np

from constraint_first.constraint.kind import FEATURES
from constraint_first.report.tree import DIRECT, Group, Tree, TreeOptions

from .simulated import simulate


def everything(size: int) -> np.ndarray:
    return np.arange(size)


def test_a_group_is_found_by_its_conditions() -> None:
    features = np.zeros((3, len(FEATURES)), dtype=np.bool_)
    features[0, FEATURES.index("latex")] = features[1, FEATURES.index("figure")] = True
    assert Group(("latex",), 0).rows(features).tolist() == [True, False, False]
    assert Group(("not latex", "not figure"), 0).rows(features).tolist() == [False, False, True]
    assert Group((), 0).rows(features).all()


def test_what_gains_everywhere_is_one_group() -> None:
    data = simulate(1, 600, 2, lambda method, _, __: 0.3 if method == 1 else 0.0)
    assert Tree(data, TreeOptions((0, 1))).grow(everything(600)) == [Group((), 1)]


def test_a_cut_sets_apart_where_a_method_loses() -> None:
    data = simulate(2, 600, 1, lambda _, having, __: -0.1 if "latex" in having else 0.3)
    groups = Tree(data, TreeOptions((0,))).grow(everything(600))
    assert {(group.when[0], group.decision) for group in groups} == {
        ("latex", DIRECT),
        ("not latex", 0),
    }


def test_two_methods_share_the_problems() -> None:
    def effect(method: int, having: set[str], _: int) -> float:
        return 0.4 if ("latex" in having) == (method == 0) else -0.2

    groups = Tree(simulate(3, 800, 2, effect), TreeOptions((0, 1))).grow(everything(800))
    assert {(group.when[0], group.decision) for group in groups} == {("latex", 0), ("not latex", 1)}


def test_a_benchmark_that_loses_is_not_carried_along() -> None:
    data = simulate(4, 900, 1, lambda _, __, benchmark: -0.25 if benchmark == 2 else 0.3)
    assert all(g.decision == DIRECT for g in Tree(data, TreeOptions((0,))).grow(everything(900)))


def test_the_price_of_tokens_is_taken_off_the_gain() -> None:
    data = simulate(
        5, 600, 1, lambda _, __, ___: 0.2, tokens=1.0
    )  # 300 tokens more for some 15 points
    for price, decision in ((0.0, 0), (10.0, 0), (100.0, DIRECT)):
        assert Tree(data, TreeOptions((0,), price)).grow(everything(600)) == [Group((), decision)]


def test_few_problems_say_nothing() -> None:
    data = simulate(6, 19, 1, lambda _, __, ___: 1.0)
    assert Tree(data, TreeOptions((0,))).grow(everything(19)) == [Group((), DIRECT)]
    assert Tree(data, TreeOptions((0,))).grow(everything(0)) == []
    assert Tree(data, TreeOptions(())).grow(everything(19)) == []


def test_a_method_that_was_run_on_less_than_half_is_not_chosen() -> None:
    data = simulate(7, 300, 1, lambda _, __, ___: 0.5)
    data.judged[120:] = 0
    data.gains[120:] = 0
    assert Tree(data, TreeOptions((0,))).grow(everything(300)) == [Group((), DIRECT)]
    assert Tree(data, TreeOptions((0,))).grow(everything(120)) == [Group((), 0)]
