from __future__ import annotations

import pytest
from stating import said

READ = [
    (
        "What is the largest odd multiple of $7$ that is less than $173$?",
        "The answer is odd.",
    ),
    (
        "What is the largest odd multiple of $7$ that is less than $173$?",
        "The answer is a multiple of 7.",
    ),
    (
        "What is the largest odd multiple of $7$ that is less than $173$?",
        "The answer is less than 173.",
    ),
    (
        "Find the smallest positive integer $n$ such that $n!$ ends in three zeros.",
        "The answer is a positive integer.",
    ),
    (
        "What is the greatest two-digit prime?",
        "The answer has two digits.",
    ),
    (
        "Find the largest prime factor of $2^{16}-1$.",
        "The answer is a prime number.",
    ),
    (
        "Which number between 50 and 60 is divisible by both 6 and 9?",
        "The answer is a multiple of 9.",
    ),
]
SILENT = [
    "A positive integer n is divisible by 7. How much is n squared?",
    "What is the smallest number of the form x/2?",
    "Find the sum of the largest and the smallest even number.",
    "What is the smallest four-digit base 3 number, expressed in base 10?",
    "Find the greatest number below 100 plus 1.",
]


@pytest.mark.parametrize(("text", "sentence"), READ)
def test_is_read(text: str, sentence: str) -> None:
    assert sentence in said(text)


@pytest.mark.parametrize("text", SILENT)
def test_says_nothing_of_the_answer(text: str) -> None:
    assert said(text) == set()
