from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from constraint_first.constraint import predicate as demand
from constraint_first.constraint.predicate import (
    OPS,
    parts,
    target,
    truth_of,
)
from constraint_first.constraint.reply.check import REPLY

# --- predicate


def test_a_conjunction_comes_apart() -> None:
    inner = demand.all_of(demand.above(0), demand.below(9))
    assert list(parts(demand.all_of(demand.integer(), inner))) == [
        demand.integer(),
        demand.above(0),
        demand.below(9),
    ]
    assert list(parts(demand.integer())) == [demand.integer()]


def test_says_undecided_where_the_answer_cannot_be_read() -> None:
    assert truth_of(demand.integer(), "a few of them") == "undecided"
    assert truth_of(demand.between(0, 1), "C") == "undecided"


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


# --- demand


# Each builder as it is called, what it must build, an answer that satisfies it and one that does
# not. Stored items hold these objects, so their shape is a promise.


@pytest.mark.parametrize("answer", ["19", "5/14", "-3", "C"])
def test_a_code_whose_parts_are_not_known_is_undecided(answer: str) -> None:
    assert demand.code(100, 1) == {"op": "encoded", "factors": [100, 1]}
    assert truth_of(demand.code(100, 1), answer) == "undecided"


def test_every_op_can_be_built() -> None:
    rows = map(
        json.loads, Path(__file__).with_name("readings.jsonl").read_text("utf-8").splitlines()
    )
    built = [row["result"] for row in rows if row["of"] == "build"]
    assert {one["op"] for one in built} == set(OPS) - set(REPLY)


numbers = st.integers() | st.fractions()


@given(numbers, numbers, numbers)
def test_limits_are_exact(low: Fraction, high: Fraction, value: Fraction) -> None:
    inside = truth_of(demand.between(low, high), str(value)) == "holds"
    assert inside == (low <= value <= high)
    assert (truth_of(demand.above(low), str(value)) == "holds") == (value > low)
    assert (truth_of(demand.below(high), str(value)) == "holds") == (value < high)


@given(st.integers(), st.integers(1, 10**6), st.integers(-3, 3))
def test_a_congruence_knows_only_the_residue(residue: int, modulus: int, times: int) -> None:
    assert demand.congruent(residue, modulus) == demand.congruent(
        residue + times * modulus, modulus
    )
    assert truth_of(demand.congruent(residue, modulus), str(residue)) == "holds"


def test_parts_are_copies() -> None:
    part = {"op": "above", "value": 4}
    built = demand.all_of(part), demand.counts(1, 9, part)
    part["value"] = 5
    assert built == (demand.all_of(demand.above(4)), demand.counts(1, 9, demand.above(4)))
