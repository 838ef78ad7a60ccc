from __future__ import annotations

import pytest
from stating import said

READ = [
    (
        "Find the remainder when $7^{100}$ is divided by $1000$.",
        "The answer is a remainder: an integer from 0 to 999.",
    ),
    (
        "What is the remainder when the remainder of $100$ divided by $13$ is divided by $5$?",
        "The answer is a remainder: an integer from 0 to 12.",
    ),
    (
        "Compute $7^{100}$ modulo $13$.",
        "The answer is a remainder: an integer from 0 to 12.",
    ),
    (
        "What is the units digit of $7^{2011}$?",
        "The answer is a digit: an integer from 0 to 9.",
    ),
    (
        "Find the last three digits of $3^{1000}$.",
        "The answer is the last three digits of a number: at most 3 digits.",
    ),
    (
        "The sum of these numbers is congruent to $5$ modulo $7$. Compute the sum.",
        "The answer leaves the remainder 5 when divided by 7.",
    ),
    (
        "A positive integer is divided by $38$. The remainder is $30$. Find the integer.",
        "The answer leaves the remainder 30 when divided by 38.",
    ),
]
SILENT = [
    "What is the remainder when $x^{2}+1$ is divided by $x+2$?",
    "The remainder when $n$ is divided by $7$ is $3$. How far is it?",
    "The units digit of a square is $6$. How long is its side?",
]


@pytest.mark.parametrize(("text", "sentence"), READ)
def test_is_read(text: str, sentence: str) -> None:
    assert sentence in said(text)


@pytest.mark.parametrize("text", SILENT)
def test_says_nothing_of_the_answer(text: str) -> None:
    assert said(text) == set()
