import pytest

from constraint_first.answer.alike import is_alike, is_number


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        ("0.5", r"\frac{1}{2}", True),
        ("0.3333333333333333", "1/3", True),
        ("0.33", "1/3", False),
        ("1.7320508075688772", r"\sqrt{3}", True),
        (r"\sin(x)^2", r"1 - \cos^2 x", True),
        ("(x+1)^2", "x^2+2x+1", True),
        ("x+1", "y+1", False),
        ("|x|", "x", False),
        (r"\sqrt{x^2}", "x", False),
        ("10^15", "10^15+1", False),
        ("(1, 2)", "(2, 1)", False),
        ("12", "12 apples", True),
        ("Monday", "Tuesday", False),
        ("", "0", False),
    ],
)
def test_equal_values_are_alike_in_any_notation(first: str, second: str, *, same: bool) -> None:
    assert is_alike(first, second) == is_alike(second, first) == same


@pytest.mark.parametrize(
    ("answer", "number"),
    [
        ("12", True),
        ("-3/4", True),
        (r"\$1{,}200", True),
        ("5 cm", True),
        ("x = 5", True),
        (r"2\sqrt{3}\pi", True),
        ("x + 1", False),
        ("(1, 2)", False),
        ("Monday", False),
        ("", False),
    ],
)
def test_a_number_may_have_a_name_and_a_unit(answer: str, *, number: bool) -> None:
    assert is_number(answer) == number
