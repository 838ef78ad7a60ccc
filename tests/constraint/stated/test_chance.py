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
        "The answer is the percentage of a whole: from 0 to 100.",
    ),
    (
        "What percentage of all her apples are not rotten?",
        "The answer is the percentage of a whole: from 0 to 100.",
    ),
    (
        "What percent of the mixture is acid?",
        "The answer is the percentage of a whole: from 0 to 100.",
    ),
    (
        "What percent of his shots did he miss?",
        "The answer is the percentage of a whole: from 0 to 100.",
    ),
    (
        "By what percent was the price of the coat reduced?",
        "The answer is a decrease in percent: at most 100.",
    ),
    (
        "What is the probability that it rains? Express your answer as a percent.",
        "The answer is a probability: from 0 to 1, or from 0 to 100 percent.",
    ),
    (
        "What is the percentage chance that it rains?",
        "The answer is a probability: from 0 to 1, or from 0 to 100 percent.",
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
    "What is the percentage chance that it rains, multiplied by 12?",
    "What is the probability that it rains? Give 100 times its percentage.",
    "By what percent does the probability rise?",
    "The boys are what percent of the girls?",
    "What percent of the women are men?",
    "What percent of the original price is the new price?",
    "What percent of the cows of last year are there now?",
    "What percent of the planned trees did they use?",
    "What percent more does the second coat cost?",
    "By what percent did the profit decrease?",
    "By what percent did the price rise?",
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
