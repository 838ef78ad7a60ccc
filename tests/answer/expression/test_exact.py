from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from constraint_first.answer.exact import equal_numbers, rational
from constraint_first.answer.grade import decide
from constraint_first.answer.parse import parse

INTEGERS = st.integers(-(10**12), 10**12)
WHOLES = st.integers(1, 10**6)


def forms(value: Fraction) -> list[str]:
    over, under = value.numerator, value.denominator
    return [
        f"{over}/{under}",
        rf"\frac{{{over}}}{{{under}}}",
        rf"\dfrac{{{2 * over}}}{{{2 * under}}}",
        f"$x = {over}/{under}$",
        f"{over} / {under}",
        rf"{over}\cdot\frac{{1}}{{{under}}}",
    ]


@given(INTEGERS, WHOLES)
def test_a_fraction_is_itself_in_every_form(over: int, under: int) -> None:
    gold = f"{over}/{under}"
    assert [form for form in forms(Fraction(over, under)) if not decide(form, gold).same] == []


@given(INTEGERS, WHOLES, WHOLES)
def test_another_fraction_is_never_it(over: int, under: int, step: int) -> None:
    gold = f"{over}/{under}"
    other = Fraction(over, under) + Fraction(step, under)
    assert [form for form in forms(other) if decide(form, gold).same is not False] == []


@given(INTEGERS)
def test_separators_and_signs_do_not_matter(number: int) -> None:
    grouped = f"{number:,}"
    written = [
        grouped,
        grouped.replace(",", "{,}"),
        grouped.replace(",", r"\,"),
        grouped.replace(",", r",\!"),
        str(number).replace("-", "−"),
        f"{number}.0",
        f"{number}.",
        f"${grouped}$",
    ]
    assert [text for text in written if not decide(text, str(number)).same] == []


@pytest.mark.parametrize(
    ("pred", "digits", "gold", "same"),
    [
        ("0.333333", 6, Fraction(1, 3), True),
        ("0.33333", 5, Fraction(1, 3), False),
        ("0.666667", 6, Fraction(2, 3), True),
        ("0.666666", 6, Fraction(2, 3), True),
        ("0.666668", 6, Fraction(2, 3), False),
        ("0.333334", 6, Fraction(1, 3), False),
        ("0.000333333", 6, Fraction(1, 3000), True),
        ("-0.333333", 6, Fraction(1, 3), False),
        ("0.125", 3, Fraction(1, 8), True),
    ],
)
def test_six_digits_make_a_decimal_equal(
    pred: str, digits: int, gold: Fraction, same: bool
) -> None:
    assert equal_numbers(Fraction(pred), digits, gold, None) is same
    assert equal_numbers(gold, None, Fraction(pred), digits) is same


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("2^10", 1024),
        ("5!", 120),
        ("6!!", 48),
        (r"\binom{5}{2}", 10),
        (r"\sqrt{9/4}", Fraction(3, 2)),
        (r"8^{2/3}", 4),
        (r"\lfloor -7/2 \rfloor", -4),
        ("|-3|", 3),
        (r"50\%", Fraction(1, 2)),
        (r"1.2\overline{3}", Fraction(37, 30)),
        (r"0.\dot{1}4285\dot{7}", Fraction(1, 7)),
        ("2^{-3}", Fraction(1, 8)),
        ("-2^2", -4),
        (r"17 \bmod 5", 2),
        (r"{5 \choose 2}", 10),
    ],
)
def test_arithmetic_is_exact(text: str, value: Fraction | int) -> None:
    assert rational(parse(text)) == value


@pytest.mark.parametrize("text", [r"\sqrt{2}", "x", r"\pi", "1/0", "10^{10^9}", "99999!", "0^0"])
def test_what_is_not_a_moderate_rational_is_left_alone(text: str) -> None:
    assert rational(parse(text)) is None
