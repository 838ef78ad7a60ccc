from __future__ import annotations

import pytest
from stating import said

READ = [
    (
        "A museum shows an exhibition from $4$ October to $15$ October of the same year, "
        "the first and the last day included. On how many days is it open?",
        "The answer counts days of which there are 11, give or take the ends.",
    ),
    (
        "For how many days is a permit valid from February 27 to March 2 inclusive?",
        "The answer counts days of which there are 3, give or take the ends.",
    ),
]
SILENT = [
    "From 3 March to 10 March a shop sells 5 pens every day. How many pens does it sell?",
    "A trip lasts from 3 March to 10 March. How many days later is 20 March?",
    "From 30 February to 3 March, how many days are there?",
]


@pytest.mark.parametrize(("text", "sentence"), READ)
def test_is_read(text: str, sentence: str) -> None:
    assert sentence in said(text)


@pytest.mark.parametrize("text", SILENT)
def test_says_nothing_of_the_answer(text: str) -> None:
    assert said(text) == set()
