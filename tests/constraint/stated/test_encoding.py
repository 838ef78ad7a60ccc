from __future__ import annotations

import pytest
from stating import said

READ = [
    (
        "The probability is $\\frac{m}{n}$, where $m$ and $n$ are relatively prime "
        "positive integers. Find $m+n$.",
        "The answer is m+n, an integer of at least 2.",
    ),
    (
        "The area is $a\\sqrt{b}$, where $a$ and $b$ are positive integers and $b$ is "
        "square-free. Find $100a+b$.",
        "The answer is 100a+b, an integer of at least 101.",
    ),
    (
        "In lowest terms these amounts are in the ratio $a : b : c$. Find $a + b + c$.",
        "The answer is a+b+c, an integer of at least 0.",
    ),
    (
        "The chance that both are green is a fraction that cannot be simplified further. "
        "Add its numerator and its denominator. What is the result?",
        "The answer is the sum of whole parts: an integer.",
    ),
]
SILENT = [
    "Find $x+y$ if $2x+3y=7$.",
    "Let $a$ and $b$ be real numbers. Find $a+b$.",
]


@pytest.mark.parametrize(("text", "sentence"), READ)
def test_is_read(text: str, sentence: str) -> None:
    assert sentence in said(text)


@pytest.mark.parametrize("text", SILENT)
def test_says_nothing_of_the_answer(text: str) -> None:
    assert said(text) == set()
