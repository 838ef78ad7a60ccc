from __future__ import annotations

import pytest
from stating import said

READ = [
    (
        "Find the second largest of $5$ consecutive multiples of $3$ that add up to $795$.",
        "The answer is above the mean of the numbers, 159.",
    ),
    (
        "What is the largest number in a row of $3$ consecutive odd integers whose sum is $171$?",
        "The answer leaves the remainder 1 when divided by 2.",
    ),
    (
        "The largest of $4$ consecutive multiples of $11$ is $143$. Find their sum.",
        "The answer is a sum of multiples of 11, and so one itself.",
    ),
    (
        "Determine the mean of the first $4$ odd numbers that are at least $41$.",
        "The answer is a mean of numbers from 41 to 47, all different.",
    ),
    (
        "Count each value only once. Which is the second smallest value among $96$, "
        "$74$, $56$, $29$ and $29$?",
        "The answer is above the smallest value, 29.",
    ),
]
SILENT = [
    (
        "The sum of three consecutive even integers is 24. What is the product of the "
        "largest and the smallest of them?"
    ),
    "What is the sum of the digits of all multiples of 3 below 10?",
]


@pytest.mark.parametrize(("text", "sentence"), READ)
def test_is_read(text: str, sentence: str) -> None:
    assert sentence in said(text)


@pytest.mark.parametrize("text", SILENT)
def test_says_nothing_of_the_answer(text: str) -> None:
    assert said(text) == set()
