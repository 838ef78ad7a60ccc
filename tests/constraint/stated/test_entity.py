from __future__ import annotations

import pytest
from stating import said

READ = [
    (
        "A number divides $450$. It is larger than $38$ and smaller than $61$, and it is "
        "odd. Which number is it?",
        "The answer is odd.",
    ),
    (
        "A number divides $450$. It is larger than $38$ and smaller than $61$, and it is "
        "odd. Which number is it?",
        "The answer divides 450.",
    ),
    (
        "The digits of a page number add up to $9$. The number is divisible by $4$ and "
        "lies between $20$ and $40$. Which page is it?",
        "The digits of the answer add up to 9.",
    ),
    (
        "The number of rows is even, and there are more than $12$ but fewer than $28$ of "
        "them. How many rows are there?",
        "The answer is even.",
    ),
    (
        "One house belongs to Ann. Its number is odd, greater than $78$ and a multiple "
        "of $3$. What is the number of the house?",
        "The answer is greater than 78.",
    ),
]
SILENT = [
    "A number is doubled and then 6 is added, giving an even number. What is the number?",
    "A number is even or a multiple of 3. Which number is it?",
    "Dan was born in a year between 1300 and 1400. In what year did he die?",
]


@pytest.mark.parametrize(("text", "sentence"), READ)
def test_is_read(text: str, sentence: str) -> None:
    assert sentence in said(text)


@pytest.mark.parametrize("text", SILENT)
def test_says_nothing_of_the_answer(text: str) -> None:
    assert said(text) == set()
