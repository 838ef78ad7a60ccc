from collections.abc import Sequence
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from constraint_first.constraint.predicate import (
    Predicate,
    above,
    at_most,
    below,
    between,
    truth_of,
)
from constraint_first.problem import Json
from constraint_first.report.exhibit.requirement import read_demands


def stated(text: str, argument: str, op: str) -> list[Json]:
    return [one[argument] for one in read_demands(text) if one["op"] == op and argument in one]


def moduli_of(text: str) -> list[Json]:
    return stated(text, "modulus", "least_residue")


def ranges_of(text: str) -> list[Predicate]:
    return [one for one in read_demands(text) if one["op"] in ("between", "above", "below")]


@pytest.mark.parametrize(
    ("text", "moduli"),
    [
        ("Find the remainder when $2^{100}$ is divided by 7.", (7,)),
        ("Find the remainder when $100!$ is divided by $1{,}000$.", (1000,)),
        ("What is the remainder when you divide 5 by 10,000?", (10_000,)),
        ("When 5 is divided by 12, what is the remainder?", (12,)),
        ("Compute $3^{40} \\bmod 333$.", (333,)),
        ("Compute $997^{-1}$ modulo $1000$.", (1000,)),
        ("Determine the remainder of 54 (mod 6).", (6,)),
        ("Find the last three digits of $7^{99}$.", (1000,)),
        ("What is the units digit of $18^6$?", (10,)),
        ("Find the remainder when $N$ is divided by $10^9$.", (10**9,)),
        ("Find the remainder when $N$ is divided by $2^{10}$.", (1024,)),
        # A larger number begins like this one.
        ("Find the remainder when $N$ is divided by $10^9 + 7$.", ()),
        ("Find the remainder when $N$ is divided by $5!$.", ()),
        ("Find the remainder when $N$ is divided by $7k$.", ()),
        # Conditions inside the problem.
        ("How many n leave a remainder of 3 when divided by 7?", ()),
        ("Find n if its remainder when divided by 7 is 3. What is n?", ()),
        ("Find the number of n with $n \\equiv 3 \\pmod{7}$.", ()),
        ("Find the sum of the last two digits of $7^9$.", ()),
        ("Let R be the remainder when N is divided by 1000. Find Q+R.", ()),
        ("Find the remainder when N is divided by 1.", ()),
        ("", ()),
    ],
)
def test_moduli(text: str, moduli: tuple[int, ...]) -> None:
    assert moduli_of(text) == [*moduli]


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        ("where m and n are relatively prime. Find $m+n$.", ((1, 1),)),
        ("Find $m + n.$ Here $i=\\sqrt{-1}.$", ((1, 1),)),
        ("Find \\(p+q\\).", ((1, 1),)),
        ("Find $100m+n$.", ((100, 1),)),
        ("Find $a + b + c + d$.", ((1, 1, 1, 1),)),
        ("What is m+n?", ((1, 1),)),
        # A form, an equation, a sum of one thing.
        ("It is $\\frac{a+b\\sqrt{c}}{d}$.", ()),
        ("Suppose that $x+y=10$.", ()),
        ("Find $n+n$.", ()),
    ],
)
def test_codes(text: str, codes: tuple[tuple[int, ...], ...]) -> None:
    assert stated(text, "factors", "encoded") == [[*code] for code in codes]


@pytest.mark.parametrize(
    ("text", "ranges"),
    [
        ("Find the largest prime less than 100.", [below(100)]),
        ("What is the smallest multiple of 9 greater than $1,000$?", [above(1000)]),
        ("Find the largest integer $n$ that is at most 50.", [at_most(50)]),
        ("Find the integer between $0$ and $22$ that ends it.", [between(0, 22)]),
        ("Give your answer as an integer from $0$ to $999$.", [between(0, 999)]),
        ("Find the largest two-digit number with it.", [between(10, 99)]),
        ("What is the probability that it rains?", [between(0, 1)]),
        ("Compute $3 \\bmod 5$.", [between(0, 4)]),
        # Bounds on something else.
        ("Find the number of integers less than 100.", ()),
        ("Find the smallest integer n such that n has at least 5 divisors.", ()),
    ],
)
def test_ranges(text: str, ranges: Sequence[Predicate]) -> None:
    assert ranges_of(text) == [*ranges]


@pytest.mark.parametrize(
    ("text", "moduli"),
    [
        ("Find it mod" + " " * 100_000 + "x.", ()),
        ("Find it mod" + " " * 100_000 + "7.", (7,)),
        ("Find it mod" + "( " * 100_000 + "x.", ()),
        ("Find the integer between" + " " * 100_000 + "x and y.", ()),
        ("Find the integer between 3" + " " * 100_000 + "x and y.", ()),
    ],
)
def test_long_runs_of_spaces_are_read_once(text: str, moduli: tuple[int, ...]) -> None:
    # Where they are not, each of these takes minutes.
    assert moduli_of(text) == [*moduli]
    assert ranges_of(text) == [between(0, one - 1) for one in moduli]


def test_numbers_without_end_are_no_numbers() -> None:
    assert moduli_of("Find it mod " + "111," * 5_000 + ".") == []
    assert moduli_of("Find it mod " + "1" * 5_000) == []
    grouped = "123" + ",456" * 5
    assert moduli_of(f"Find it mod {grouped}.") == [int(grouped.replace(",", ""))]
    assert moduli_of(f"Find it mod {grouped},456.") == []


@given(st.text() | st.text("remaindvbylst 0123456789+$^{}.?modfi"))
def test_any_text_can_be_read(text: str) -> None:
    for one in read_demands(text):
        assert truth_of(one, "1") in ("holds", "violated", "undecided")
        assert one.get("modulus", 2) not in (0, 1)
        assert len(cast("list[int]", one.get("factors", [1, 1]))) > 1
