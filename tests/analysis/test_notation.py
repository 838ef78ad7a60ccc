import pytest

from constraint_first.report.notation import (
    counted,
    decimal,
    exact_p,
    interval,
    p_value,
    percent,
    points,
    scored,
    several,
    share,
    span,
    times,
    whole,
)


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, "–"), (-1.25, "−1.2"), (-0.04, "0.0"), (1234.56, "1,234.6"), (-1234.56, "−1,234.6")],
)
def test_decimals(value: float | None, text: str) -> None:
    assert decimal(value) == text


def test_shares() -> None:
    assert percent(0.6323, 2) == "63.23 %"
    assert percent(None) == "–"
    assert share(834, 1319) == "834 (63.2 %)"
    assert share(0, 0) == "–"
    assert counted(834, 1319) == "834 / 1,319"
    assert interval(None) == ""


@pytest.mark.parametrize(
    ("value", "text"),
    [(1.0, "1"), (0.25, "0.25"), (0.0078125, "0.0078"), (0.5, "0.50"), (6.9e-5, "6.9e-05")],
)
def test_p_values(value: float, text: str) -> None:
    assert exact_p(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        *((1.0, "1"), (0.9961, "1"), (0.5, "0.50"), (0.034, "0.03"), (0.0123, "0.01")),
        *((0.0078125, "0.008"), (0.001, "0.001"), (4.7e-43, "< 0.001"), (0.0, "< 0.001")),
        *((0.05, "0.05"), (0.049, "0.049"), (0.0496, "0.0496"), (0.0512, "0.051")),
    ],
)
def test_p_values_for_people(value: float, text: str) -> None:
    assert p_value(value) == text
    assert points(0.04) == "0.0"
    assert points(-3.25) == "−3.2"
    assert points(3.0) == "+3.0"
    assert (points(None), p_value(None)) == ("–", "–")
    assert exact_p(0.0) != "0"


def test_counts_have_their_nouns() -> None:
    assert several(1, "bar") == "1 bar"
    assert several(1200, "category", "categories") == "1,200 categories"


def test_ranges_ratios_and_whole_numbers() -> None:
    assert (span(2, 2), span(1, 4)) == ("2", "1–4")
    assert (times(1.005), times(None)) == ("1.00×", "–")
    assert (whole(1234.5), whole(None)) == ("1,234", "–")
    assert scored(-1.0, (-2.0, 0.04)) == "−1.0 [−2.0, 0.0]"
