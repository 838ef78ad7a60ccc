from __future__ import annotations

import pytest
from stating import said

UP = "The answer is a list of numbers in increasing order."
DOWN = "The answer is a list of numbers in decreasing order."
READ = [
    ("Arrange the numbers 3, 0.5, 2/3 and 1 in ascending order.", UP),
    ("Order the following from least to greatest: 0.3, 1/4, 0.28.", UP),
    ("Sort 12, 7, 30 in descending order, separated by commas.", DOWN),
    ("Find all $x$ with $x^2 = 9$. Enter your answers in decreasing order.", DOWN),
    ("Find all real $x$ with $|x| = 2$. List them from smallest to largest.", UP),
    (
        "Find the two roots of the equation, in ascending order.",
        "The answer is a list of 2 numbers in increasing order.",
    ),
]
SILENT = [
    "List the factors of 12 in increasing order and find the fourth.",
    "In ascending order the numbers are 3, 7, x, 12. What is x?",
    "When the divisors of 12 are listed in increasing order, what is the fifth?",
    "Write the numbers in order from smallest to largest. What is the median?",
    "Arrange the digits 4, 1, 7 in descending order.",
    "Write the polynomial 3 - x + 2x^2 in descending order.",
    "List the towns in increasing order of population.",
    "Find all pairs (x, y) with xy = 6. List them in increasing order.",
    "The numbers are written in increasing order. Find x.",
    "Put the cards in increasing order by swapping neighbours.",
]


@pytest.mark.parametrize(("text", "sentence"), READ)
def test_is_read(text: str, sentence: str) -> None:
    assert sentence in said(text)


@pytest.mark.parametrize("text", SILENT)
def test_says_nothing_of_the_answer(text: str) -> None:
    assert said(text) == set()
