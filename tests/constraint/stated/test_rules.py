from __future__ import annotations

import re

import pytest
from snapshot import Golden
from stating import said

from constraint_first.constraint.predicate import integer
from constraint_first.constraint.stated.read import read_stated
from constraint_first.constraint.stated.reading import INTEGER, NUMBERS, to_integer, to_integers
from constraint_first.constraint.stated.statement import Stated, check_stated


def texts(listed: str) -> list[str]:
    """Take a list apart: each text begins with a dash and goes on over the next lines."""
    return [" ".join(one.split()) for one in listed.split("\n- ")[1:]]


STATING = texts(
    r"""
- What is the largest multiple of $7$ that is less than $173$?
- Find the smallest positive integer $n$ such that $n!$ ends in three zeros.
- What is the greatest two-digit prime?
- Find the largest prime factor of $2^{16}-1$.
- What is the greatest common divisor of $84$, $126$ and $210$?
- What is the probability that both coins show heads?
- What is the probability that it rains? Express your answer as a percent.
- What is the percentage chance that it rains?
- What percent of the students are girls?
- What percentage of all her apples are not rotten?
- What percent of the mixture is acid?
- By what percent was the price of the coat reduced?
- What is the measure of angle $ABC$ in degrees?
- How many primes are there below $100$?
- Find the number of ordered pairs $(a,b)$ of integers with $ab=12$.
- A class has boys and girls. How many students are absent?
- It is $\frac{m}{n}$ with $m$ and $n$ coprime positive integers. What is $m+n$?
- The probability is $\frac{m}{n}$, where $m$ and $n$ are relatively prime positive integers. Find
$m+n$.
- The area is $a\sqrt{b}$, where $a$ and $b$ are positive integers and $b$ is square-free. Find
$100a+b$.
- Find the remainder when $7^{100}$ is divided by $1000$.
- What is the remainder when the remainder of $100$ divided by $13$ is divided by $5$?
- The number $5^{40}$ is divided by $11$. What is the remainder?
- Compute $7^{100}$ modulo $13$.
- What is the units digit of $7^{2011}$?
- Find the last three digits of $3^{1000}$.
- How long is the rope, rounded to the nearest hundredth?
- How far is it? Round your answer to the nearest tenth of a mile.
- What is the mean height, to 3 decimal places?
"""
)


def test_what_is_stated(golden: Golden) -> None:
    shown = ("\n- ".join((text, *sorted(said(text)))) for text in STATING)
    assert "\n\n".join(shown) + "\n" == golden("stated-rules.md")


# --- numbers


@pytest.mark.parametrize("text", ["7", "1000", "1,000"])
def test_a_whole_number_stands_for_itself(text: str) -> None:
    assert to_integer(re.search(INTEGER, f"it is {text} in all")[0]) == int(text.replace(",", ""))  # type: ignore[index]


def test_a_list_is_read_whole() -> None:
    found = re.search(NUMBERS, "divisible by 10 , 1,100 and 14 .")
    assert found is not None
    assert to_integers(found.group()) == [10, 1100, 14]


# --- statement


WHOLE = Stated("domain", integer(), (0, 8), "The answer is an integer.")


@pytest.mark.parametrize(
    ("answer", "truth"),
    [("12", "holds"), ("1.5", "violated"), ("no idea", "undecided"), ("B", "undecided")],
)
def test_an_answer_is_checked(answer: str, truth: str) -> None:
    assert check_stated([WHOLE], answer) == ((WHOLE, truth),)


def test_a_probability_in_percent_is_not_judged() -> None:
    (chance,) = read_stated("What is the probability that it rains?")
    assert check_stated([chance], "30%") == ((chance, "undecided"),)
    assert check_stated([chance], "30") == ((chance, "violated"),)
