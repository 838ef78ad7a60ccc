import pytest
from hand_made import arm

from constraint_first.report.statistics import Differences, differences

BASE = arm("direct", {"p1": "+-", "p2": "--", "p3": "++", "only": "++"})
OURS = arm("cfr", {"p1": "++", "p2": "+-?", "p3": "-", "mine": "+", "gone": "??"})


def found() -> Differences:
    made = differences([BASE], [OURS])
    assert made
    return made


def test_problems_judged_on_both_sides_are_paired() -> None:
    one = found()
    assert one.scores == (((1, 2), (2, 2)), ((0, 2), (1, 2)), ((2, 2), (0, 1)))
    assert one.shares == [(0.5, 1.0), (0.0, 0.5), (1.0, 0.0)]
    assert one.points == [50.0, 50.0, -100.0]
    assert one.counts == (2, 0, 1)
    assert (one.runs, one.fewest_runs) == (2, 1)


def test_what_is_left_out_is_counted() -> None:
    one = found()
    assert one.left_out == 2  # "only" of the one and "mine" of the other
    assert one.failed == 3
    assert differences([BASE], [arm("cfr", {"p1": "??"})]) is None


def test_several_benchmarks_are_taken_together() -> None:
    more = [arm(m, {"p1": marks}, benchmark="other") for m, marks in (("d", "--"), ("c", "++"))]
    both = differences([BASE, more[0]], [OURS, more[1]])
    assert both
    assert both.points == [50.0, 50.0, -100.0, 100.0]


def test_gains_are_whole_numbers_of_a_common_unit() -> None:
    # Thirds and quarters of a problem are twelfths.
    thirds = Differences((((1, 3), (1, 4)), ((0, 3), (4, 4))))
    assert thirds.whole() == ([-1, 12], pytest.approx(100 / 12))
    many = Differences(tuple(((0, n), (1, n)) for n in (7, 11, 13, 17)))
    assert many.whole() is None


def test_equal_shares_of_unequal_runs_are_tied() -> None:
    assert Differences((((1, 3), (2, 6)), ((1, 2), (2, 3)))).counts == (1, 1, 0)


def test_the_test_is_named_for_what_it_is() -> None:
    one_run = Differences((((0, 1), (1, 1)),) * 6)
    assert one_run.test(seed=0) == (2 / 2**6, "exact McNemar")
    assert Differences((((0, 2), (2, 2)),) * 6).test(seed=0) == (2 / 2**6, "exact sign-flip")
    odd = Differences(tuple(((0, n), (1, n)) for n in (7, 11, 13, 17)))
    p, name = odd.test(seed=0)
    assert name == "Monte Carlo sign-flip"
    assert p == pytest.approx(2 / 2**4, abs=0.01)


def test_resamples_are_drawn_only_where_they_must_be() -> None:
    one = Differences((((0, 2), (2, 2)), ((1, 2), (1, 2))))
    exact = one.resampled(seed=0, resamples=0)
    assert exact.exact
    assert exact.observed == 50.0
    assert not one.resampled(seed=0, resamples=100).exact
    odd = Differences(tuple(((0, n), (1, n)) for n in (7, 11, 13, 17)))
    assert not odd.resampled(seed=0, resamples=0).exact
