from __future__ import annotations

from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from constraint_first.constraint import predicate as demand
from constraint_first.constraint.claim import plain, read_predicates
from constraint_first.constraint.predicate import OPS, Predicate, Truth, truth_of


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
