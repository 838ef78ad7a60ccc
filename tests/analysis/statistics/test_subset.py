import pytest
from hand_made import arm, study

from constraint_first.report.comparison import Gain, pairs_by_model

BASE = arm("direct", {"p1": "+-", "p2": "--", "p3": "++", "p4": "++"})
OURS = arm("cfr", {"p1": "++", "p2": "+-", "p3": "++", "p5": "--"})


def test_the_gain_is_a_mean_over_the_problems_judged_on_both_sides() -> None:
    (paired,) = pairs_by_model(study(BASE, OURS), "cfr")
    found = paired.gain()
    assert found
    assert found.n == 3  # 50, 50 and 0 points
    assert found.points == pytest.approx(100 / 3)
    assert found.interval
    assert found.interval[0] <= found.points <= found.interval[1]


def test_the_gain_on_some_of_them() -> None:
    (paired,) = pairs_by_model(study(BASE, OURS), "cfr")
    # Both gain 50: to resample them says nothing about spread.
    assert paired.gain({("set", "p1"), ("set", "p2")}) == Gain(50.0, None, 2)
    assert paired.gain({("set", "p3")}) == Gain(0.0, None, 1)
    assert paired.gain({("set", "p4"), ("elsewhere", "p1")}) is None


def test_several_benchmarks_are_taken_together_by_model() -> None:
    more = [arm(m, {"q": "-"}, benchmark="other", model="model") for m in ("direct", "cfr")]
    (paired,) = pairs_by_model(study(BASE, OURS, *more), "cfr")
    assert paired.benchmarks == ("set", "other")
    assert paired.names == ("Direct CoT", "CFR (always-on)")
    found = paired.gain()
    assert found
    assert found.points == pytest.approx(25)


def test_only_the_primary_decoding_counts() -> None:
    hot = arm("cfr", {"p1": "-"}, decoding='{"temperature":1.0}')
    (paired,) = pairs_by_model(study(BASE, OURS, hot), "cfr")
    assert paired.pairs == ((BASE, OURS),)


def test_pairs_need_a_problem_in_common() -> None:
    assert pairs_by_model(study(BASE, arm("cfr", {"p9": "+"})), "cfr") == ()
    assert pairs_by_model(study(BASE, arm("cfr", {"p1": "??"})), "cfr") == ()
    assert pairs_by_model(study(BASE, OURS), "none such") == ()
    assert pairs_by_model(study(), "cfr") == ()
