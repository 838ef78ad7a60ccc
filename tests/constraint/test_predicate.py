from __future__ import annotations

import json
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from constraint_first.constraint import predicate as demand
from constraint_first.constraint.predicate import (
    OPS,
    Predicate,
    PredicateError,
    parts,
    target,
    truth_of,
)
from constraint_first.constraint.reply.check import REPLY

CASES: list[tuple[Predicate, str, str]] = [
    (demand.integer(), "12", "3/7"),
    (demand.integer(), "4/2", r"\sqrt{2}"),
    (demand.not_whole(), "3/7", "3"),
    (demand.between(0, 999), "999", "1000"),
    (demand.between(Fraction(1, 2), None), "1/2", "0.49"),
    (demand.at_least(3), "3", "2"),
    (demand.at_most(3), "3", "4"),
    (demand.above(0), "0.1", "0"),
    (demand.below(10), "9", "10"),
    (demand.between(1, 2), r"\sqrt{3}", r"\sqrt{5}"),
    (demand.above(-1), r"-\frac{\sqrt{3}}{2}", r"-\sqrt{2}"),
    (demand.below(2), r"\sqrt{3}", r"2\sqrt{3}"),
    (demand.integer(), r"\sqrt{9}", r"3\frac{1}{2}"),
    (demand.parity("even"), r"24\,\text{cm}", "7 square metres"),
    (demand.least_residue(7), "6", "7"),
    (demand.congruent(3, 7), "-4", "4"),
    (demand.divisible(6), "12", "15"),
    (demand.parity("odd"), "-3", "4"),
    (demand.parity("even"), "0", "3"),
    (demand.divides(12), "4", "5"),
    (demand.square(), "49", "48"),
    (demand.digit_sum(9), "234", "235"),
    (demand.digits_ordered("increasing"), "139", "133"),
    (demand.digits_ordered("decreasing"), "931", "139"),
    (demand.root(1, -5, 6), "2", "4"),
    (demand.one_of(2, 7), "7", r"\sqrt{7}"),
    (demand.form("fraction"), "3/7", "0.5"),
    (demand.form("choice"), "C", "12"),
    (demand.reduced(), "3/7", "6/14"),
    (demand.decimals(1), "2.5", "2.25"),
    (demand.encoded("m+n", (3, 7)), "10", "3/7"),
    (demand.code(1, 1, whole=True), "-4", "3/7"),
    (demand.code(100, 1, whole=True, least=101), "101", "100"),
    (demand.prime(), "97", "91"),
    (demand.prime(), "2", "1"),
    (demand.prime(), "99999989", r"\sqrt{2}"),
    (demand.option("ABC"), "C", "D"),
    (demand.encoded("m+n", (3, 7), 4), "2", "10"),
    (demand.rounded(Fraction(17, 3)), "6", "17/3"),
    (demand.rounded(Fraction(1, 8), Fraction(1, 10)), "0.1", "0.125"),
    (demand.rounded(Fraction(5, 2)), "3", "2"),
    (demand.in_unit(Fraction(7, 2), 100, "centimetres"), "350", "3.5"),
    (demand.measured("percent", 1, 100), "40", "0.4"),
    (demand.counts(1, 20, demand.parity("odd"), demand.divisible(3)), "3", "6"),
    (demand.all_of(demand.integer(), demand.above(0)), "1", "0.5"),
    (demand.clock(), "9:05", "9:65"),
    (demand.date(), "29 February", "31 April"),
    (demand.named("north", "south"), "north", "1/2"),
    (demand.listed("increasing"), "1/3, 1/2", "1/2, 1/3"),
]


@pytest.mark.parametrize(("predicate", "good", "bad"), CASES)
def test_holds_and_is_violated(predicate: Predicate, good: str, bad: str) -> None:
    assert truth_of(predicate, good) == "holds"
    assert truth_of(predicate, bad) == "violated"


def test_the_ends_of_a_range() -> None:
    assert truth_of(demand.between(10, 99), "10") == "holds"
    assert truth_of(demand.above(10), "10") == "violated"
    assert truth_of(demand.above(10), "21/2") == "holds"
    assert truth_of(demand.between(0, 999), "-1") == "violated"
    assert truth_of(demand.between(None, None), str(10**40)) == "holds"


def test_a_code_whose_parts_are_not_known_is_undecided() -> None:
    assert demand.code(100, 1) == {"op": "encoded", "factors": [100, 1]}
    assert truth_of(demand.code(100, 1), "307") == "undecided"


def test_a_conjunction_comes_apart() -> None:
    inner = demand.all_of(demand.above(0), demand.below(9))
    assert list(parts(demand.all_of(demand.integer(), inner))) == [
        demand.integer(),
        demand.above(0),
        demand.below(9),
    ]
    assert list(parts(demand.integer())) == [demand.integer()]


def test_every_op_has_a_case() -> None:
    assert {str(predicate["op"]) for predicate, _, _ in CASES} == {*OPS} - {*REPLY}


@pytest.mark.parametrize(("predicate", "good", "bad"), CASES)
def test_survives_json(predicate: Predicate, good: str, bad: str) -> None:
    again = json.loads(json.dumps(predicate))
    assert (truth_of(again, good), truth_of(again, bad)) == ("holds", "violated")


def test_says_undecided_where_the_answer_cannot_be_read() -> None:
    assert truth_of(demand.integer(), "a few of them") == "undecided"
    assert truth_of(demand.between(0, 1), "C") == "undecided"


@pytest.mark.parametrize(
    "predicate",
    [{"op": "primal"}, {}, {"op": 3}, {"op": "divisible"}, {"op": "divisible", "by": "x"},
     {"op": "congruent", "residue": 1, "modulus": 0}, {"op": "above", "value": 0.5}],
)  # fmt: skip
def test_a_predicate_that_makes_no_sense_is_one_clear_error(predicate: Predicate) -> None:
    with pytest.raises(PredicateError):
        truth_of(predicate, "5")


@given(st.integers(-500, 500), st.integers(1, 60))
def test_remainders_agree_with_python(value: int, modulus: int) -> None:
    assert truth_of(demand.congruent(value, modulus), str(value)) == "holds"
    assert truth_of(demand.least_residue(modulus), str(value % modulus)) == "holds"
    is_least = truth_of(demand.least_residue(modulus), str(value)) == "holds"
    assert is_least == (value % modulus == value)


@given(st.fractions(max_denominator=500), st.sampled_from([1, 10, 100]))
def test_rounding_stays_within_half_a_unit(value: Fraction, per_unit: int) -> None:
    unit = Fraction(1, per_unit)
    rounded = target(demand.rounded(value, unit))
    assert rounded is not None
    assert (rounded / unit).denominator == 1
    assert abs(rounded - value) <= unit / 2
