from __future__ import annotations

from typing import Final

import pytest
from stating import said

from constraint_first.constraint.stated.unit import read_scale

SCALES: Final[list[tuple[str, str, dict[str, int] | None]]] = [
    ("appl", "each apple weighs 300 grams", {"appl": 1}),
    ("gram", "a box of 300 grams and 2 kilograms of sand", {"gram": 1, "kilogram": 1_000}),
    ("kg", "a box of 300 grams and 2 kg of sand", None),
    ("inch", "3 inches, 2 feet and a yard", {"inch": 1, "feet": 12, "yard": 36}),
    ("centimeter", "70 centimeters and 2 meters", {"centimeter": 1, "meter": 100}),
    ("pound", "5 pence and 2 pounds", None),
    ("hour", "2 hours and 30 minutes", None),
    ("day", "5 days in 3 weeks", {"day": 1}),
]


@pytest.mark.parametrize(("unit", "text", "scale"), SCALES)
def test_larger_units_are_made_of_the_asked_one(
    unit: str, text: str, scale: dict[str, int] | None
) -> None:
    assert read_scale(unit, text.replace(",", "").split()) == scale


def test_a_total_in_two_units_is_counted_in_the_asked_one() -> None:
    text = (
        "Each tile weighs 300 g and each block weighs 2 kg. How many g do 3 tiles and 4 blocks "
        "weigh?"
    )
    assert "The answer is made of amounts that are multiples of 100." in said(text)


def test_a_total_is_no_multiple_where_parts_are_smaller_than_the_asked_unit() -> None:
    text = (
        "Each box weighs 6 kg and each book weighs 300 g. How many kg do 2 boxes and 5 books weigh?"
    )
    assert said(text) == set()
