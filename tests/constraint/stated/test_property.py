from __future__ import annotations

import pytest

from constraint_first.constraint.stated.property import digits_range, read_properties


def words(text: str) -> list[str]:
    return [one.sentence for one in read_properties(text, 0, len(text))[0]]


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("is odd, greater than 78 and a multiple of 3.", 3),
        ("a two-digit prime that is 1 more than a multiple of 5", 3),
        ("leaves remainder 2 when divided by 7 and lies between 20 and 30.", 2),
        ("has each of 6 and 8 as a divisor", 2),
        ("with digit sum 7 that can be divided by 4 without remainder", 2),
        ("divides 450. It is odd", 1),
        ("at most 12 and not less than 3", 2),
        ("a perfect square from 10 to 20.", 2),
    ],
)
def test_one_property_after_the_other(text: str, sentences: int) -> None:
    assert len(words(text)) == sentences


@pytest.mark.parametrize(
    "text",
    [
        "is even or odd",
        "is not divisible by 3",
        "more than 3 factors",
        "an even number of coins",
        "divisible by 3 or 5",
        "greater than 100 times five",
        "even though",
    ],
)
def test_what_is_not_said_without_an_if(text: str) -> None:
    assert words(text) == []


def test_a_length_is_a_range() -> None:
    assert digits_range(2) == {"op": "between", "low": 10, "high": 99}
