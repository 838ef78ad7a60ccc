"""Numbers that are written in words."""

import pytest

from constraint_first.answer.syntax import read_number


@pytest.mark.parametrize(
    ("text", "number", "rest"),
    [
        ("zero", "0", ""),
        ("twenty-one", "21", ""),
        ("Twenty one", "21", ""),
        ("one hundred and five", "105", ""),
        ("three thousand two hundred", "3200", ""),
        ("two million and one", "2000001", ""),
        ("a dozen", "12", ""),
        ("one half", r"\frac{1}{2}", ""),
        ("five-sixths", r"\frac{5}{6}", ""),
        ("two and a half", r"(2+\frac{1}{2})", ""),
        ("three point one four", "3.14", ""),
        ("negative one third", r"-\frac{1}{3}", ""),
        ("first", "1", ""),
        ("twenty-first", "21", ""),
        ("one hundred first", "101", ""),
        ("forty two apples", "42", "apples"),
    ],
)
def test_a_number_in_words_is_read(text: str, number: str, rest: str) -> None:
    assert read_number(text) == (number, rest)


@pytest.mark.parametrize(
    "text",
    ["", "a circle", "ten five", "two third", "halves", "an apple", "twenty zero", "one " * 20],
)
def test_other_words_are_no_number(text: str) -> None:
    assert read_number(text) is None
