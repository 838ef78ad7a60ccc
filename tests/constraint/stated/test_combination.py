from __future__ import annotations

import pytest
from stating import said

READ = [
    (
        "No stall holder may rent more than $10$ tables. A table has room for $12$ pots. "
        "If they rent $9$, $3$ and $8$ tables and fill them, how many pots are on show?",
        "The answer is made of amounts that are multiples of 12.",
    ),
    (
        "How many stickers did Noor have to begin with? In turn $4$, $7$ and $10$ "
        "children each got $20$ stickers, and the remainder, $10$ stickers, stayed in "
        "the drawer.",
        "The answer leaves the remainder 10 when divided by 20.",
    ),
    (
        "At dusk the thermometer shows $10$ degrees Celsius. Then the temperature falls "
        "by $3$ degrees every hour for $4$ hours. What is the temperature then, in "
        "degrees Celsius?",
        "The answer leaves the remainder 1 when divided by 3.",
    ),
    (
        "Soren works for $1$ hour $53$ minutes and $3$ hours $18$ minutes. How long is "
        "that altogether, in minutes?",
        "The answer is made of whole amounts: an integer.",
    ),
]
SILENT = [
    "A machine takes 6 minutes to fill 4 jars. How many minutes does it take to fill 10 jars?",
    "Each bag holds 4 apples. Tom has 3 bags and eats 1. How many apples are left?",
    "A train goes 60 miles every hour. How many miles does it go in 2.5 hours?",
    "A car goes 50 miles in an hour. How many miles does it go in 30 minutes?",
    "A school has 3 buses with 40 seats each. If 110 students ride, how many seats are empty?",
    "Three apples cost 50 cents. How many cents do 7 apples cost?",
    "Each pen costs 3 dollars, twice as much as a pencil. How many dollars does a pencil cost?",
    "Ryan plants 2 flowers a day. After 15 days, how many flowers does he have if 5 did not grow?",
]


@pytest.mark.parametrize(("text", "sentence"), READ)
def test_is_read(text: str, sentence: str) -> None:
    assert sentence in said(text)


@pytest.mark.parametrize("text", SILENT)
def test_says_nothing_of_the_answer(text: str) -> None:
    assert said(text) == set()
