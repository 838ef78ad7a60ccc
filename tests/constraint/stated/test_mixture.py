from __future__ import annotations

import pytest
from stating import said

READ = [
    (
        "A florist ties $39$ bunches from $213$ roses. A festive bunch takes $7$ roses, "
        "a plain one $4$. Find the number of festive bunches.",
        "The answer is odd.",
    ),
    (
        "A cat is $6$ months younger than a dog, and a parrot is $2$ months older than "
        "the dog. The ages of all these animals add up to $95$ months. How many months "
        "old is the dog?",
        "The answer is more than 6 and less than 93/2.",
    ),
    (
        "Soren pays $8.89$ dollars for $7$ brushes. Rounded to whole dollars that is "
        "$9$. Find, in dollars, what a single brush cost exactly.",
        "The answer is from 17/14 to 19/14: 7 of them cost about 9.",
    ),
    (
        "Farah lays $3$ boards end to end, each $4$ m $40$ cm long. How long is the row, "
        "in centimetres?",
        "The answer is from 1200 to 1500 centimetres.",
    ),
]
SILENT = [
    "A door is 2 m 10 cm high. A hat adds 15 cm. How many centimeters is that?",
    "A snail crawls 2 m 40 cm in 6 hours. How many centimeters does it crawl in an hour?",
    "Together 5 equal boards are 4 m 50 cm long. What is the length of each in centimeters?",
    "A toy costs 7.60 dollars, rounded to 8. What is the price of one with 3 dollars off each?",
    "Ann is 3 years older than Ben. How old is Ben if Ann is 10?",
]


@pytest.mark.parametrize(("text", "sentence"), READ)
def test_is_read(text: str, sentence: str) -> None:
    assert sentence in said(text)


@pytest.mark.parametrize("text", SILENT)
def test_says_nothing_of_the_answer(text: str) -> None:
    assert said(text) == set()
