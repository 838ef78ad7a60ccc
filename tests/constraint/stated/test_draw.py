from __future__ import annotations

import pytest
from stating import said

READ = [
    (
        "Ximena's jar contains $54$ mint sweets and $57$ caramel sweets. Ximena takes "
        "one sweet without looking. The probability that it is a mint sweet is "
        "$\\frac{m}{n}$ in lowest terms. What is the denominator?",
        "The answer is a divisor of 111 from 2 to 37.",
    ),
]
SILENT = [
    (
        "A jar contains 54 mint sweets and 57 caramel sweets. Two sweets are taken. What is "
        "the chance?"
    ),
]


@pytest.mark.parametrize(("text", "sentence"), READ)
def test_is_read(text: str, sentence: str) -> None:
    assert sentence in said(text)


@pytest.mark.parametrize("text", SILENT)
def test_says_nothing_of_the_answer(text: str) -> None:
    assert said(text) == set()
