import importlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from constraint_first.report.statistics import wilson

stats: Any = importlib.import_module("scipy.stats")


def test_by_hand() -> None:
    # With z = 2: centre (3/4 + 1/2) / 2 and half 2 √(3/4 · 1/4 / 4 + 1/16) / 2.
    low, high = wilson(3, 4, z=2.0)
    assert (low + high) / 2 == pytest.approx(0.625)
    assert (high - low) / 2 == pytest.approx((3 / 64 + 1 / 16) ** 0.5)


@given(st.integers(1, 5_000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_scipy_agrees(counts: tuple[int, int]) -> None:
    peer = stats.binomtest(*counts).proportion_ci(0.95, method="wilson")
    assert wilson(*counts) == pytest.approx((float(peer.low), float(peer.high)), abs=1e-7)


def test_ends_stay_within_a_share() -> None:
    assert wilson(0, 10)[0] == 0.0
    assert wilson(10, 10)[1] == pytest.approx(1.0)
    assert wilson(0, 0) == (0.0, 1.0)
