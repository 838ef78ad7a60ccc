from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from constraint_first.answer.value import FORMS, decimal, read_answer, same

from ..test_hostile import HOSTILE


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
        (r"3\frac{1}{2}", Fraction(7, 2), "fraction"),
        ("2 1/3", Fraction(7, 3), "fraction"),
        ("−1½", Fraction(-3, 2), "fraction"),
        (r"24\,\text{cm}", Fraction(24), "integer"),
        ("7 square metres", Fraction(7), "integer"),
        (r"\$12.50", Fraction(25, 2), "decimal"),
        ("five", Fraction(5), "integer"),
        ("m+n = 23", Fraction(23), "integer"),
        (r"2^{10}", Fraction(1024), "integer"),
        (r"0.\overline{3}", Fraction(1, 3), "decimal"),
        (r"\frac{0.5}{2}", Fraction(1, 4), "decimal"),
        (r"\frac{3}{-7}", Fraction(-3, 7), "fraction"),
        (r"\sqrt{9}", Fraction(3), "surd"),
        (r"\sqrt{2}\cdot\sqrt{8}", Fraction(4), "surd"),
    ],
)
def test_reads_numbers(text: str, value: Fraction, form: str) -> None:
    found = read_answer(text)
    assert found is not None
    assert (found.number, found.form) == (value, form)


@pytest.mark.parametrize(
    "text",
    ["", "1/0", "2x+1", "12 or 13", "9" * 5000, "A or B", ".", "b", "(b) + 1", "52_8", "12:05 pm"],
)
def test_leaves_alone_what_it_does_not_know(text: str) -> None:
    assert read_answer(text) is None


@pytest.mark.parametrize(
    "text",
    ["B", "(B)", r"\textbf{(B)}", r"\textbf{(B)}\ 17", "$B$", "(b)", "b)", "Option B", "B: 17"],
)
def test_reads_option_letters(text: str) -> None:
    value = read_answer(text)
    assert value is not None
    assert (value.letter, value.form) == ("B", "choice")
    assert value.number is None


@pytest.mark.parametrize(
    ("text", "coefficient", "radicand"),
    [
        (r"2\sqrt{3}", Fraction(2), 3),
        ("-3*sqrt(5)", Fraction(-3), 5),
        ("2√3", Fraction(2), 3),
        (r"\frac{3\sqrt{5}}{7}", Fraction(3, 7), 5),
        (r"\frac{1}{\sqrt{2}}", Fraction(1, 2), 2),
        (r"\sqrt{\frac{2}{3}}", Fraction(1, 3), 6),
        (r"x = 10\sqrt{6}\text{ cm}", Fraction(10), 6),
    ],
)
def test_reads_surds(text: str, coefficient: Fraction, radicand: int) -> None:
    value = read_answer(text)
    assert value is not None
    assert (value.coefficient, value.radicand, value.form) == (coefficient, radicand, "surd")
    assert value.number is None


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_hostile_text_has_a_small_value_or_none(text: str) -> None:
    value = read_answer(text)
    if value is not None:
        assert len(str(value.coefficient)) < 10_000
        assert len(str(value.radicand)) < 10_000


@pytest.mark.parametrize(
    "text",
    [
        "2^{20000}",
        "1900!",
        r"\sqrt{2^{20000}+1}",
        r"\sqrt{2^{8000}+1}\sqrt{2^{8000}+3}",
        "9" * 2000,
    ],
)
def test_a_value_of_too_many_digits_is_none(text: str) -> None:
    assert read_answer(text) is None


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
    found = read_answer(str(value))
    assert found is not None
    assert found.number == value


@given(st.integers(-(10**9), 10**9), st.integers(0, 6))
def test_decimals_are_read_back(scaled: int, places: int) -> None:
    value = Fraction(scaled, 10**places)
    found = read_answer(decimal(value, places))
    assert found is not None
    assert found.number == value


def test_a_decimal_that_does_not_fit_is_an_error() -> None:
    with pytest.raises(ValueError, match="more than 2 decimals"):
        decimal(Fraction(1, 3), 2)


LOOKS_LIKE_ONE = st.text(r"0123456789.,/-+%()\{}sqrtfac$ ABx=", max_size=20)


@given(st.text(max_size=40) | LOOKS_LIKE_ONE)
def test_any_text_has_one_value_or_none(text: str) -> None:
    value = read_answer(text)
    assert read_answer(f"  {text}  ") == value
    if value is None:
        return
    assert value.form in FORMS
    assert (value.form == "choice") == bool(value.letter)
    assert value.number is None or (value.radicand == 1 and not value.letter)
    assert value.radicand >= 1
    assert value.written is None or abs(value.coefficient) == Fraction(*value.written)
    assert same(value, value)
