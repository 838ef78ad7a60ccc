from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from math import gcd

from hypothesis import given
from hypothesis import strategies as st

from constraint_first.benchmark.constraintbench.family import all_good, lowest_terms


@given(st.integers(1, 6), st.integers(0, 5), st.integers(1, 4))
def test_all_good_counts_the_sets(good: int, bad: int, draws: int) -> None:
    if draws > good + bad:
        return
    sets = list(combinations(range(good + bad), draws))
    fine = sum(all(one < good for one in chosen) for chosen in sets)
    assert all_good(good, good + bad, draws) == Fraction(fine, len(sets))


@given(st.integers(1, 300), st.integers(1, 300))
def test_lowest_terms_keeps_the_value(above: int, below: int) -> None:
    m, n = lowest_terms(above, below)
    assert m * below == n * above
    assert gcd(m, n) == 1
