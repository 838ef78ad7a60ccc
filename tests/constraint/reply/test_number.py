import re

import pytest

from constraint_first.constraint.reply.number import NUMBER, ordinal, to_number


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("7", 7),
        ("1,000", 1000),
        ("seventeen", 17),
        ("twenty-five", 25),
        ("a hundred", 100),
        ("two hundred", 200),
        ("three hundred and fifty", 350),
        ("one thousand", 1000),
        ("two thousand one hundred and five", 2105),
        ("half a dozen", 6),
        ("twice", 2),
    ],
)
def test_numbers(text: str, value: int) -> None:
    assert re.fullmatch(NUMBER, text)
    assert to_number(text) == value


def test_two_numbers_are_not_one() -> None:
    assert re.findall(NUMBER, "between two hundred and three hundred") == [
        "two hundred",
        "three hundred",
    ]


@pytest.mark.parametrize("text", ["2.5", "tenth", "x", "hundreds"])
def test_what_is_no_whole_number(text: str) -> None:
    assert re.fullmatch(NUMBER, text) is None


def test_which_of_a_row() -> None:
    read = [ordinal(one) for one in ("2nd", "third", "four", "7", "last", "x")]
    assert read == [2, 3, 4, 7, 0, None]
