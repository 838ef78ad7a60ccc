from __future__ import annotations

import pytest
from stating import said

READ = [
    (
        "What is the probability that both coins show heads?",
        "The answer is a probability: from 0 to 1.",
    ),
    (
        "What percent of the students are girls?",
        "The answer is the percentage of a group: from 0 to 100.",
    ),
    (
        "What is the measure of angle $ABC$ in degrees?",
        "The answer is an angle: more than 0 and at most 360 degrees.",
    ),
    (
        "Which is it? (A) one (B) two (C) three (D) four",
        "An answer that is a letter is one of A, B, C, D.",
    ),
]
SILENT = [
    "What is the probability that it rains? Express your answer as a percent.",
    "The probability that it rains is 0.3. What are the odds?",
    "What percent of the price is the tax?",
    "What is the measure of angle $ABC$ in radians?",
]


@pytest.mark.parametrize(("text", "sentence"), READ)
def test_is_read(text: str, sentence: str) -> None:
    assert sentence in said(text)


@pytest.mark.parametrize("text", SILENT)
def test_says_nothing_of_the_answer(text: str) -> None:
    assert said(text) == set()
