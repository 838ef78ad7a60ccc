from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from constraint_first.answer.parse import MAX_DIGITS, in_base, literal, recurring
from constraint_first.answer.syntax import Num, Op, Unreadable

DIGITS = st.text("0123456789", min_size=1, max_size=30)


@pytest.mark.parametrize(
    ("text", "value", "digits"),
    [
        ("0", 0, None),
        ("007", 7, None),
        ("12.", 12, None),
        ("12.50", Fraction(25, 2), 4),
        ("0.00120", Fraction(3, 2500), 3),
        (".5", Fraction(1, 2), 1),
        ("0.0", 0, 0),
        ("1e3", 1000, None),
        ("2E-3", Fraction(1, 500), None),
        ("1.50e+2", 150, 3),
    ],
)
def test_a_number_and_its_significant_digits(
    text: str, value: Fraction | int, digits: int | None
) -> None:
    assert literal(text) == Num(Fraction(value), digits)


@given(DIGITS, DIGITS, st.integers(-50, 50))
def test_decimals_are_exact(whole: str, part: str, power: int) -> None:
    """Python's own Fraction reads the same notation."""
    for text in (whole, f"{whole}.{part}", f".{part}", f"{whole}.{part}e{power}"):
        assert literal(text).value == Fraction(text)


@pytest.mark.parametrize("power", [MAX_DIGITS + 1, 10**20, -(10**20)])
def test_a_huge_exponent_is_refused_before_it_is_worked_out(power: int) -> None:
    with pytest.raises(Unreadable, match="exponent"):
        literal(f"1.5e{power}")


@pytest.mark.parametrize(
    ("text", "period", "value"),
    [
        ("0.", "3", Fraction(1, 3)),
        ("0.", "142857", Fraction(1, 7)),
        ("1.2", "3", Fraction(37, 30)),
        (".", "9", Fraction(1)),
        ("0.", "0", Fraction(0)),
    ],
)
def test_digits_that_recur(text: str, period: str, value: Fraction) -> None:
    assert recurring(text, period) == Num(value)


@given(DIGITS, DIGITS, DIGITS)
def test_a_period_is_the_limit_of_its_decimals(whole: str, once: str, period: str) -> None:
    value = recurring(f"{whole}.{once}", period).value
    cut = Fraction(f"{whole}.{once}{period * 3}")
    last_place = Fraction(1, 10 ** (len(once) + 3 * len(period)))
    assert cut <= value <= cut + last_place


def test_a_period_of_too_many_digits_is_refused() -> None:
    assert recurring("0.", "3" * 3_000) == Num(Fraction(1, 3))
    with pytest.raises(Unreadable, match="too many digits"):
        recurring("0.", "3" * 5_000)


@pytest.mark.parametrize("period", ["", "x", "3.3", "-3", "፫", "²"])
def test_a_period_is_digits(period: str) -> None:
    with pytest.raises(Unreadable, match="digits"):
        recurring("0.", period)


def test_a_power_of_ten_has_no_period() -> None:
    with pytest.raises(Unreadable, match="digits"):
        recurring("1.2e5", "3")


@pytest.mark.parametrize(
    ("base", "number"), [("2", 2), ("(2)", 2), ("seven", 7), ("Nine", 9), ("36", 36)]
)
def test_digits_in_another_base_keep_it(base: str, number: int) -> None:
    """Whether 101 in base 2 is asked for, or 5, only the gold answer tells."""
    assert in_base("101", base) == Op("base", (Num(Fraction(101)), Num(Fraction(number))))


@pytest.mark.parametrize("base", ["10", "ten", "TEN"])
def test_ten_is_no_base_worth_naming(base: str) -> None:
    assert in_base("12.5", base) == Num(Fraction(25, 2), 3)


@pytest.mark.parametrize("base", ["0", "1", "37", "100", "b", "", "-2", "፪", "²"])
def test_what_is_no_base_is_refused(base: str) -> None:
    with pytest.raises(Unreadable, match="base"):
        in_base("12", base)


def test_only_whole_numbers_have_a_base() -> None:
    with pytest.raises(Unreadable, match="base"):
        in_base("1.5", "2")


@given(DIGITS, st.text(max_size=4))
def test_no_index_breaks_it(text: str, base: str) -> None:
    try:
        found = in_base(text, base)
    except Unreadable:
        return
    assert found == literal(text) or (isinstance(found, Op) and found.args[0] == literal(text))
