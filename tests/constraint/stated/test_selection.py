from __future__ import annotations

import pytest
from stating import said

READ = [
    (
        "Yusuf writes the integers from $1$ to $40$ on the board and wipes out all "
        "multiples of $8$. How many numbers are left?",
        "The answer counts the 35 numbers that are left, give or take the ends.",
    ),
    (
        "Leave out the largest and the smallest of the numbers $7$, $8$, $9$ and $13$, "
        "add the others, and multiply the sum by $3$. What do you get?",
        "The answer is 3 times the sum of the 2 numbers in between.",
    ),
    (
        "Soren draws $4$ dots on a circle and joins every two dots by one line. A line "
        "takes $7$ seconds. How many seconds does Soren need for the lines?",
        "The answer is from 21 to 42: every two meet once.",
    ),
]
SILENT = [
    (
        "In a league of 6 teams every two teams play each other twice, 3 points a game. How "
        "long is it?"
    ),
]


@pytest.mark.parametrize(("text", "sentence"), READ)
def test_is_read(text: str, sentence: str) -> None:
    assert sentence in said(text)


@pytest.mark.parametrize("text", SILENT)
def test_says_nothing_of_the_answer(text: str) -> None:
    assert said(text) == set()
