from __future__ import annotations

import re

import pytest

from constraint_first.constraint.stated.numeral import INTEGER, NUMBERS, to_integer, to_integers


@pytest.mark.parametrize("text", ["7", "1000", "1,000"])
def test_a_whole_number_stands_for_itself(text: str) -> None:
    assert to_integer(re.search(INTEGER, f"it is {text} in all")[0]) == int(text.replace(",", ""))  # type: ignore[index]


@pytest.mark.parametrize("text", ["2.5", "3!", "4^n", "5 + x", "6%", "7x", "8 times nine", "1/2"])
def test_the_beginning_of_something_longer_is_no_number(text: str) -> None:
    assert re.match(INTEGER, text) is None


def test_a_list_is_read_whole() -> None:
    found = re.search(NUMBERS, "divisible by 10 , 1,100 and 14 .")
    assert found is not None
    assert to_integers(found.group()) == [10, 1100, 14]
