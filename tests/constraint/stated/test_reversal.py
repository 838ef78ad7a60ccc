from __future__ import annotations

import pytest
from stating import said

READ = [
    (
        "A two-digit number has digit sum $10$. Written backwards, it becomes larger by "
        "$54$. Find the number.",
        "The answer is from 10 to 45, or its reverse would have more or fewer digits.",
    ),
    (
        "What number do you get if you add $201 + 171$ and write the result backwards?",
        "The answer is a number of 3 digits that does not end in 0.",
    ),
]
SILENT = [
    "Reversed, the result is larger by 18. How far is it?",
]


@pytest.mark.parametrize(("text", "sentence"), READ)
def test_is_read(text: str, sentence: str) -> None:
    assert sentence in said(text)


@pytest.mark.parametrize("text", SILENT)
def test_says_nothing_of_the_answer(text: str) -> None:
    assert said(text) == set()
