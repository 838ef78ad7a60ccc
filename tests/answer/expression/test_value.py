from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cfr.answer.expression.value import decimal, read_answer, same


@pytest.mark.parametrize(
    ("text", "value", "form"),
    [
        ("12", Fraction(12), "integer"),
        ("-3", Fraction(-3), "integer"),
        (" 1,234. ", Fraction(1234), "integer"),
        ("3/7", Fraction(3, 7), "fraction"),
        (r"$\dfrac{10}{4}$", Fraction(5, 2), "fraction"),
        (r"\frac12", Fraction(1, 2), "fraction"),
        (r"-\frac{3}{7}", Fraction(-3, 7), "fraction"),
        ("0.50", Fraction(1, 2), "decimal"),
        (r"40\%", Fraction(40), "integer"),
        ("x = 5", Fraction(5), "integer"),
        (r"\boxed{\text{17}}", Fraction(17), "integer"),
        ("375 minutes", Fraction(375), "integer"),
    ],
)
def test_reads_numbers(text: str, value: Fraction, form: str) -> None:
    reading = read_answer(text)
    assert reading is not None
    assert (reading.number, reading.form) == (value, form)


@pytest.mark.parametrize("text", ["", "five", "1/0", "2x+1", "12 or 13", "9" * 5000, "A or B", "."])
def test_leaves_alone_what_it_does_not_know(text: str) -> None:
    assert read_answer(text) is None


@pytest.mark.parametrize("text", ["B", "(B)", r"\textbf{(B)}", r"\textbf{(B)}\ 17", "$B$"])
def test_reads_option_letters(text: str) -> None:
    reading = read_answer(text)
    assert reading is not None
    assert reading.letter == "B"
    assert reading.number is None


def test_surds_are_compared_by_value() -> None:
    long, short, other = map(read_answer, (r"\sqrt{12}", r"2\sqrt{3}", r"3\sqrt{2}"))
    assert long
    assert short
    assert other
    assert same(long, short)
    assert not same(short, other)
    assert short.number is None


def test_an_unreduced_fraction_has_the_same_value_but_is_not_reduced() -> None:
    unreduced, lowest = read_answer("6/14"), read_answer("3/7")
    assert unreduced
    assert lowest
    assert same(unreduced, lowest)
    assert (unreduced.reduced, lowest.reduced) == (False, True)


@given(st.fractions(max_denominator=10**6))
def test_what_is_written_is_read_back(value: Fraction) -> None:
    reading = read_answer(str(value))
    assert reading is not None
    assert reading.number == value


@given(st.integers(-(10**9), 10**9), st.integers(0, 6))
def test_decimals_are_read_back(scaled: int, places: int) -> None:
    value = Fraction(scaled, 10**places)
    reading = read_answer(decimal(value, places))
    assert reading is not None
    assert reading.number == value


def test_a_decimal_that_does_not_fit_is_an_error() -> None:
    with pytest.raises(ValueError, match="more than 2 decimals"):
        decimal(Fraction(1, 3), 2)


@given(st.text(max_size=40))
def test_never_raises(text: str) -> None:
    read_answer(text)
