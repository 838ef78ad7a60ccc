from __future__ import annotations

import pytest
from stating import said

READ = [
    (
        "What is $\\pi$, rounded to the nearest hundredth?",
        "The answer has at most 2 decimals.",
    ),
    (
        "How far is it? Round your answer to the nearest ten.",
        "The answer is rounded: a multiple of 10.",
    ),
    (
        "What is $11 \\div 3$, truncated (not rounded) after the decimal point?",
        "The answer is whole.",
    ),
    (
        "What is the mean height, to 3 decimal places?",
        "The answer has at most 3 decimals.",
    ),
]
SILENT = [
    "The height is 172 cm, rounded to the nearest integer. What is the exact height?",
    (
        "What does one lemon cost exactly, if $11$ lemons cost 45 dollars when rounded to "
        "the nearest dollar?"
    ),
]


@pytest.mark.parametrize(("text", "sentence"), READ)
def test_is_read(text: str, sentence: str) -> None:
    assert sentence in said(text)


@pytest.mark.parametrize("text", SILENT)
def test_says_nothing_of_the_answer(text: str) -> None:
    assert said(text) == set()
