from __future__ import annotations

import math

import pytest

from cfr.analysis.drawing.number import (
    count,
    counts,
    ends,
    finite,
    p_value,
    percent,
    points,
    shortfalls,
)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, None])
def test_what_is_no_number_is_not_drawn(value: float | None) -> None:
    assert finite(value) is None
    assert ends(value, 1.0) is None
    assert ends(1.0, value) is None


def test_numbers_are_drawn() -> None:
    assert finite(3) == 3.0
    assert ends(-1, 2) == (-1.0, 2.0)


@pytest.mark.parametrize(
    ("value", "said"),
    [(8.94, "+8.9"), (-0.6, "−0.6"), (0.0, "0.0"), (-0.04, "0.0"), (0.04, "0.0"), (None, "—")],
)
def test_gains_have_a_sign(value: float | None, said: str) -> None:
    assert points(value) == said


def test_p_values_are_never_written_as_zero() -> None:
    assert [p_value(p) for p in (0.0, 0.0004, 0.001, 0.25, 1.0, None)] == [
        *("<0.001", "<0.001", "0.001", "0.250", "1.000", "—")
    ]


def test_counts_and_shares() -> None:
    assert percent(0.632) == "63%"
    assert count(1, "bar") == "1 bar"
    assert count(1200, "category", "categories") == "1,200 categories"
    assert counts([1200, None]) == ("1,200", "")
    assert counts([None, None]) == ()


def test_shortfalls_are_said_only_where_there_are_any() -> None:
    assert shortfalls(0, 0, "bar") == []
    assert shortfalls(1, 2, "category", "categories") == [
        "Without an interval: 1 category.",
        "Not drawn, for want of a number: 2 categories.",
    ]
