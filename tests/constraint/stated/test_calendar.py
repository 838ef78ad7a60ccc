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
    (
        "Yesterday was April 30, 2021. What is the date today in MM/DD/YYYY?",
        "The answer is a date in the form MM/DD/YYYY.",
    ),
    (
        "A bill of 31 January is due in 30 days. On what date is it due? Use the form yyyy-mm-dd.",
        "The answer is a date in the form YYYY-MM-DD.",
    ),
    ("What is the latest date in May that is a Sunday?", "The answer is a date."),
    (
        "If today is Monday, what day of the week will it be in 100 days?",
        "The answer is the name of a day of the week.",
    ),
    ("What month is it 30 months after March?", "The answer is the name of a month."),
    ("Ann was 12 in 1987. In what year was she born?", "The answer is a year: an integer."),
]
SILENT = [
    "From 3 March to 10 March a shop sells 5 pens every day. How many pens does it sell?",
    "A trip lasts from 3 March to 10 March. How many days later is 20 March?",
    "From 30 February to 3 March, how many days are there?",
    "The date is 12/25/2021, in MM/DD/YYYY. What is the sum of its parts?",
    "Dates cost $3 a pound. What is the cost of the date cake?",
    "A shop is closed on Sundays. On how much of the days of the week is it open?",
    "What day is it 17 days after the 9th of the month?",
    "In which month will his savings exceed 1000 dollars, from January on?",
    "In which school year did she start, if she finished in 2012/13 after 3 years?",
    "At what rate did it grow from the year 1990 to the year 2000?",
]


@pytest.mark.parametrize(("text", "sentence"), READ)
def test_is_read(text: str, sentence: str) -> None:
    assert sentence in said(text)


@pytest.mark.parametrize("text", SILENT)
def test_says_nothing_of_the_answer(text: str) -> None:
    assert said(text) == set()
