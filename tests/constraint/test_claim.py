from __future__ import annotations

import re
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from constraint_first.constraint import predicate as demand
from constraint_first.constraint.claim import (
    contradicts,
    names_of_answer,
    plain,
    read_claims,
    read_predicates,
)
from constraint_first.constraint.predicate import OPS, Predicate, Truth, truth_of
from constraint_first.constraint.stated.read import read_stated

# --- claim


@pytest.mark.parametrize(
    ("text", "names", "subject"),
    [
        ("the answer is even", (), "answer"),
        ("even", (), "answer"),
        ("n is even", (), "other"),
        ("n is even", ("n",), "answer"),
        ("the remainder is even", ("remainder",), "answer"),
        ("m and n are positive", ("m+n",), "other"),
        ("m + n is positive", ("m+n",), "answer"),
        ("0 < k < 5", (), "other"),
        ("the number of sheep is even", ("number of",), "answer"),
        ("each number is even", ("number of",), "other"),
        ("each score is even", ("score",), "other"),
        ("71d0 is even", ("d",), "other"),
    ],
)
def test_tells_the_answer_from_other_things(
    text: str, names: tuple[str, ...], subject: str
) -> None:
    assert {claim.subject for claim in read_claims(text, frozenset(names))} == {subject}


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Find the remainder when $5$ is divided by $3$.", "remainder"),
        (r"It is $\frac{m}{n}$. Find $m+n$.", "m+n"),
        ("What is the probability that it is red?", "probability"),
        ("How likely is it that it is red?", "probability"),
        ("How old is Uma?", "age"),
        ("Find the width.", "width"),
        ("How many sheep are there?", "number of sheep"),
    ],
)
def test_finds_the_words_for_the_answer(text: str, name: str) -> None:
    assert name in names_of_answer(text)


def test_what_is_counted_is_not_the_answer() -> None:
    assert "multiples" not in names_of_answer("How many odd multiples of $7$ are there?")


PHRASES = st.lists(
    st.sampled_from(
        "the answer is even n is 0 < k < 5; each number (since a > 3) find how many . of 7 must be "
        "at most 12 an integer modulo remainder what".split()
    ),
    max_size=12,
).map(" ".join)


@given(st.text(max_size=80) | PHRASES)
def test_every_claim_can_be_checked_and_has_a_subject(text: str) -> None:
    claims = read_claims(text)
    assert {claim.subject for claim in claims} <= {"answer", "other"}
    assert {str(claim.predicate["op"]) for claim in claims} <= set(OPS)
    assert read_claims(text) == claims
    everything = frozenset(re.findall(r"[a-z]+", text.lower()))
    assert [claim.predicate for claim in read_claims(text, everything)] == [
        claim.predicate for claim in claims
    ], "the names tell whom a claim is about, never what it says"


@given(st.text(max_size=80) | PHRASES)
def test_the_words_for_an_answer_stand_in_lower_case_and_mean_something(text: str) -> None:
    names = names_of_answer(text)
    assert all(name == name.lower().strip() and name for name in names)
    assert not names & {"the", "a", "is", "find", "what", "how"}


# --- grammar


@pytest.mark.parametrize(
    ("text", "predicates"),
    [
        ("The answer is an integer.", [demand.integer()]),
        ("answer in [0, 999]", [demand.between(0, 999)]),
        (r"The answer lies in $\{0, 1, \ldots, 9\}$", [demand.between(0, 9)]),
        ("0 to 999", [demand.between(0, 999)]),
        ("000–999", [demand.between(0, 999)]),
        ("between 1 and 12 inclusive", [demand.between(1, 12)]),
        (r"$0 \le \text{answer} < 7$", [demand.at_least(0), demand.below(7)]),
        ("the answer is less than 1000", [demand.below(1000)]),
        ("at most 12", [demand.at_most(12)]),
        ("greater than or equal to 5", [demand.at_least(5)]),
        ("positive integer", [demand.above(0), demand.integer()]),
        ("non-negative", [demand.at_least(0)]),
        ("final answer = N mod 1000", [demand.least_residue(1000)]),
        ("the remainder when N is divided by 7", [demand.least_residue(7)]),
        ("it leaves remainder 3 when divided by 7", [demand.congruent(3, 7)]),
        (r"$n \equiv 4 \pmod{9}$", [demand.congruent(4, 9)]),
        ("last three digits", [demand.least_residue(1000)]),
        ("divisible by 7", [demand.divisible(7)]),
        ("not divisible by 7", []),
        ("a divisor of 60", [demand.divides(60)]),
        ("120 is divisible by the divisor", [demand.divides(120)]),
        ("The answer has the form 21n + 1.", [demand.congruent(1, 21)]),
        ("in the form 10a + 10b + c", []),
        ("678", [demand.between(678, 678)]),
        ("134 cm", [demand.between(134, 134)]),
        ("The average time is 56 seconds", [demand.between(56, 56)]),
        ("x = 7", [demand.between(7, 7)]),
        ("w(w+32) = 644", []),
        ("The length is 2.82 metres", []),
        ("7, 8, 9 and 10", [demand.between(7, 10)]),
        ("16, 36, 56", []),
        ("even", [demand.parity("even")]),
        ("a perfect square", [demand.square()]),
        ("its digits increase from left to right", [demand.digits_ordered("increasing")]),
        ("the sum of its digits is 12", [demand.digit_sum(12)]),
        ("a fraction in lowest terms", [demand.reduced(), demand.form("fraction")]),
        ("m + n", [{"op": "encoded"}]),
        ("rounded to the nearest tenth", [{"op": "rounded", "unit": "1/10"}]),
        ("given in percent", [{"op": "in_unit", "unit": "percent"}]),
        ("70 % of the tickets", []),
        ("an integer in grams", [demand.integer(), {"op": "in_unit", "unit": "grams"}]),
        ("it repeats every 12 hours", []),
        ("congruent to 4 modulo 13", [demand.congruent(4, 13)]),
        ("the answer is one letter, A-E", [demand.form("choice"), demand.form("choice")]),
        ("need not be an integer or a fraction", []),
        ("not necessarily an integer", []),
        ("the answer is not an integer", [demand.not_whole()]),
        ("the answer is a number, not a percentage", []),
        ("no more than 2 decimals", [demand.decimals(2)]),
        ("the mean of an even number of odd integers", []),
        (
            "the answer is a positive even integer",
            [demand.above(0), demand.integer(), demand.parity("even")],
        ),
        ("the triangle must be scalene", []),
        ("less than 1,000", [demand.below(1000)]),
    ],
)
def test_reads(text: str, predicates: list[Predicate]) -> None:
    assert list(read_predicates(plain(text))) == predicates


PIECES = st.lists(
    st.sampled_from(
        "0 7 12 1/2 -3 mod modulo (mod divisible by less than at least between and in [0, 9] < <= "
        "> = n x even odd integer not digits sum of rounded to the nearest tenth percent fraction "
        "in lowest terms + 21n decimals letter A-E square % $ { } , to".split()
    ),
    max_size=10,
).map(" ".join)


@given(st.text("0123456789 mod()=<,.-{}[]to$\\/+n", max_size=60) | PIECES)
def test_whatever_is_read_can_be_checked_on_any_answer(text: str) -> None:
    found = list(read_predicates(plain(text)))
    for predicate in found:
        assert predicate["op"] in OPS
        for answer in ("7", "-3/4", r"\sqrt{2}", "C", "red"):
            assert truth_of(predicate, answer) in get_args(Truth)
    assert list(read_predicates(plain(text))) == found


# --- contradiction


REMAINDER = "Find the remainder when $3^{50}$ is divided by 7."


@pytest.mark.parametrize(
    ("said", "wrong"),
    [
        ("The answer is between 50 and 90.", True),
        ("The remainder is at least 7.", True),
        ("The answer is less than 0.", True),
        ("The answer is less than 7.", False),
        ("The answer is even.", False),
        ("The answer is an integer between 0 and 100.", False),
        ("n is between 50 and 90.", False),
        ("The answer is in minutes.", False),
        ("The answer is rounded to the nearest tenth.", False),
        ("Something that nobody can read.", False),
        ("", False),
    ],
)
def test_what_cannot_hold_beside_the_text_contradicts_it(said: str, wrong: bool) -> None:
    assert contradicts(read_stated(REMAINDER), said, REMAINDER) is wrong


def test_a_text_that_states_nothing_is_hard_to_contradict() -> None:
    assert not contradicts((), "The answer is negative.", "Simplify $x+x$.")
    assert contradicts((), "The answer is even and the answer is odd.", "Simplify $x+x$.")


COUNT = "How many positive integers have this property?"
FOUR_DIGITS = "Find the smallest four-digit integer with this property."
THOUSANDS = "Find the remainder when $7^{100}$ is divided by 5000."


@pytest.mark.parametrize(
    ("text", "said", "wrong"),
    [
        (COUNT, "The answer is between 2000 and 3000.", False),
        (COUNT, "The answer is divisible by 1234.", False),
        (COUNT, "The answer is 4096.", False),
        (COUNT, "The answer is a perfect square greater than 2000000.", False),
        (FOUR_DIGITS, "The answer is divisible by 13.", False),
        (FOUR_DIGITS, "The answer is greater than 12000.", True),
        (THOUSANDS, "The answer is at least 2500 and even.", False),
        (THOUSANDS, "The answer is between 6000 and 7000.", True),
    ],
)
def test_numbers_that_are_large_are_tried_too(text: str, said: str, wrong: bool) -> None:
    assert contradicts(read_stated(text), said, text) is wrong
