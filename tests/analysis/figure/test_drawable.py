from __future__ import annotations

import math

import pytest

from constraint_first.report.canvas import Estimate, counts, finite, shortfalls


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, None])
def test_what_is_no_number_is_not_drawn(value: float | None) -> None:
    assert finite(value) is None


def test_numbers_are_drawn() -> None:
    assert finite(3) == 3.0
    assert Estimate(0, (-1, 2)).ends == (-1.0, 2.0)
    assert Estimate(0, (-1, 2)).values == (0, -1.0, 2.0)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_a_value_or_an_interval_that_is_no_number_is_not_drawn(value: float) -> None:
    assert not Estimate(value, (0, 1)).drawable
    for interval in ((value, 1.0), (1.0, value), None):
        found = Estimate(1, interval)
        assert (found.drawable, found.ends, found.values) == (True, None, (1,))


def test_a_column_of_counts() -> None:
    assert counts([1200, None]) == ("1,200", "")
    assert counts([None, None]) == ()


def test_shortfalls_are_said_only_where_there_are_any() -> None:
    assert shortfalls(0, 0, "bar") == []
    assert shortfalls(1, 2, "category", "categories") == [
        "Without an interval: 1 category.",
        "Not drawn, for want of a number: 2 categories.",
    ]
