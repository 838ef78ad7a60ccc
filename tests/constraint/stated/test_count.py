from __future__ import annotations

import pytest
from stating import said

READ = [
    (
        "How many primes are there below $100$?",
        "The answer is a count: an integer, not negative.",
    ),
    (
        "Find the number of ordered pairs $(a,b)$ of integers with $ab=12$.",
        "The answer is a count: an integer, not negative.",
    ),
    (
        "A class has boys and girls. How many students are absent?",
        "The answer is a count: an integer, not negative.",
    ),
]
SILENT = [
    "How many cups of flour are needed?",
    "How many hours does it take?",
    "How many times as many apples as pears are there?",
    "On average, how many students are in each class?",
    "Find the number halfway between 1/8 and 1/10.",
]


@pytest.mark.parametrize(("text", "sentence"), READ)
def test_is_read(text: str, sentence: str) -> None:
    assert sentence in said(text)


@pytest.mark.parametrize("text", SILENT)
def test_says_nothing_of_the_answer(text: str) -> None:
    assert said(text) == set()
