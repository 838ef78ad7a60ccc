from __future__ import annotations

import json
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from constraint_first.constraint import predicate as demand
from constraint_first.constraint.predicate import (
    MONTHS,
    OPS,
    WEEKDAYS,
    WRITTEN,
    Predicate,
    Truth,
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


# --- notation


DAY = demand.named(*WEEKDAYS)
MONTH = demand.named(*MONTHS)
UP = demand.listed("increasing")
CASES_NOTATION: list[tuple[Predicate, str, Truth]] = [
    (demand.clock(), "0:05", "holds"),
    (demand.clock(), r"3\!:\!40\text{ p.m.}", "holds"),
    (demand.clock(), "at 11:59 PM", "holds"),
    (demand.clock(), "4:11:08", "holds"),
    (demand.clock(), "24:00", "holds"),
    (demand.clock(), "24:01", "violated"),
    (demand.clock(), "2:75", "violated"),
    (demand.clock(), "7:3:90", "violated"),
    (demand.clock(), "15:40 pm", "violated"),
    (demand.clock(), "75", "violated"),
    (demand.clock(), "-2", "violated"),
    (demand.clock(), "8", "undecided"),
    (demand.clock(), "1540", "undecided"),
    (demand.clock(), "10.30", "undecided"),
    (demand.clock(), "noon", "undecided"),
    (demand.clock(), "75 minutes past noon", "undecided"),
    (demand.clock(), "from 3:40 to 4:70", "undecided"),
    (demand.clock(), "(B) 9:75", "undecided"),
    (demand.clock(12), "12:30", "holds"),
    (demand.clock(12), "13:30", "violated"),
    (demand.clock(24), "1:30 a.m.", "violated"),
    (demand.date("MDY"), "02/29/2024", "holds"),
    (demand.date("MDY"), "2/9/2024", "holds"),
    (demand.date("MDY"), "02/29/2023", "violated"),
    (demand.date("MDY"), "2024-02-29", "violated"),
    (demand.date("MDY"), "12", "violated"),
    (demand.date("MDY"), "00/12/2020", "violated"),
    (demand.date("MDY"), "04/12/0000", "violated"),
    (demand.date("MDY"), "May 3, 2021", "undecided"),
    (demand.date("MDY"), "June 31, 2021", "violated"),
    (demand.date("MDY"), "tomorrow", "undecided"),
    (demand.date("YMD"), "2024-02-29", "holds"),
    (demand.date("DMY"), "29.02.2024", "holds"),
    (demand.date(), "Tuesday, 3rd of March", "holds"),
    (demand.date(), "Feb 29", "holds"),
    (demand.date(), "Feb. 29, 2023", "violated"),
    (demand.date(), "31/12/1999", "holds"),
    (demand.date(), "17", "undecided"),
    (demand.date(), "C", "undecided"),
    (DAY, r"\text{Friday}", "holds"),
    (DAY, "on a Wed.", "holds"),
    (DAY, "5", "undecided"),
    (DAY, "12", "violated"),
    (DAY, "5/2", "violated"),
    (DAY, "the day after", "undecided"),
    (DAY, "(D)", "undecided"),
    (MONTH, "Sept", "holds"),
    (MONTH, "12", "undecided"),
    (MONTH, "13", "violated"),
    (UP, r"-\frac{1}{2}, 0, \sqrt{2}, 1.5", "holds"),
    (UP, r"\{2, 3, 3\}", "holds"),
    (UP, "(1, 2)", "holds"),
    (UP, "2, 5, and 3", "violated"),
    (UP, "7", "undecided"),
    (UP, "50 cm, 0.6 m", "undecided"),
    (UP, r"25\%, 0.3", "undecided"),
    (UP, "A, C, B", "undecided"),
    (UP, "B", "undecided"),
    (UP, "(1, 2), (0, 5)", "undecided"),
    (UP, r"1 \pm \sqrt{19}", "undecided"),
    (UP, "3,200,100", "undecided"),
    (UP, "3, 200, 100", "violated"),
    (UP, "x = 5, x = 3", "undecided"),
    (UP, "999, 1,000, 1,001", "holds"),
    (UP, "1,001, 1,000", "violated"),
    (UP, "5,4, 3", "undecided"),
    (UP, "2,3,5", "holds"),
    (UP, "3;2;5", "violated"),
    (UP, "", "undecided"),
    (demand.listed("decreasing"), "3, 2, 2", "holds"),
    (demand.listed("decreasing"), "2, 3", "violated"),
    (demand.listed("increasing", 3), "2, 3", "violated"),
    (demand.listed("increasing", 2), "5", "violated"),
]  # fmt: skip


@pytest.mark.parametrize(("predicate", "answer", "truth"), CASES_NOTATION)
def test_an_answer_is_read_as_it_is_written(
    predicate: Predicate, answer: str, truth: Truth
) -> None:
    assert truth_of(predicate, answer) == truth


@given(st.sampled_from(CASES_NOTATION).map(lambda case: case[0]), st.text(max_size=60))
def test_any_answer_can_be_checked(predicate: Predicate, answer: str) -> None:
    assert truth_of(predicate, answer) in ("holds", "violated", "undecided")


def test_a_long_answer_is_not_read() -> None:
    assert {truth_of(case[0], "9:75, 3, " * 200) for case in CASES_NOTATION} == {"undecided"}
    assert {str(case[0]["op"]) for case in CASES_NOTATION} == set(WRITTEN)


# --- demand


# Each builder as it is called, what it must build, an answer that satisfies it and one that does
# not. Stored items hold these objects, so their shape is a promise.
BUILT: list[tuple[Predicate, object, str, str]] = [
    (demand.integer(), {"op": "integer"}, "-7", "7/2"),
    (demand.not_whole(), {"op": "not_whole"}, "7/2", "7"),
    (demand.between(1, 9), {"op": "between", "low": 1, "high": 9}, "9", "10"),
    (demand.between(None, Fraction(1, 3)), {"op": "between", "high": "1/3"}, "1/3", "0.34"),
    (demand.between(1, 2), {"op": "between", "low": 1, "high": 2}, r"\sqrt{2}", r"\sqrt{5}"),
    (demand.at_least(0), {"op": "between", "low": 0}, "0", "-1"),
    (demand.at_most(0), {"op": "between", "high": 0}, "0", "1"),
    (demand.above(Fraction(4, 2)), {"op": "above", "value": 2}, "2.001", "2"),
    (demand.below(Fraction(-1, 2)), {"op": "below", "value": "-1/2"}, "-1", "-1/2"),
    (demand.least_residue(13), {"op": "least_residue", "modulus": 13}, "12", "13"),
    (demand.congruent(-1, 5), {"op": "congruent", "residue": 4, "modulus": 5}, "9", "8"),
    (demand.divisible(4), {"op": "divisible", "by": 4}, "-8", "6"),
    (demand.parity("even"), {"op": "parity", "parity": "even"}, "-2", "7"),
    (demand.parity("odd"), {"op": "parity", "parity": "odd"}, "7", "-2"),
    (demand.divides(28), {"op": "divides", "number": 28}, "7", "-7"),
    (demand.square(), {"op": "square"}, "0", "-4"),
    (demand.prime(), {"op": "prime"}, "7", "-7"),
    (demand.option("ABCD"), {"op": "option", "letters": "ABCD"}, "D", "E"),
    (
        demand.code(1, 1, whole=True, least=2, fraction=True),
        {"op": "encoded", "factors": [1, 1], "whole": True, "least": 2, "of": "fraction"}, "2", "1",
    ),
    (demand.digit_sum(10), {"op": "digit_sum", "sum": 10}, "1234", "-1234"),
    (
        demand.digits_ordered("increasing"),
        {"op": "digits_ordered", "order": "increasing"}, "1259", "1229",
    ),
    (
        demand.digits_ordered("decreasing"),
        {"op": "digits_ordered", "order": "decreasing"}, "9", "12",
    ),
    (demand.root(2, -1), {"op": "root", "coefficients": [2, -1]}, "1/2", "1"),
    (
        demand.one_of(3, Fraction(1, 2)),
        {"op": "one_of", "values": [3, "1/2"]}, "0.5", "2",
    ),
    (demand.form("decimal"), {"op": "form", "form": "decimal"}, "0.50", "1/2"),
    (demand.reduced(), {"op": "reduced"}, r"\frac{3}{4}", r"\frac{6}{8}"),
    (demand.decimals(2), {"op": "decimals", "places": 2}, "0.25", "0.125"),
    (
        demand.encoded("m+n", (5, 14)),
        {"op": "encoded", "rule": "m+n", "parts": [5, 14]}, "19", "5/14",
    ),
    (
        demand.encoded("a+b+c", (900, 90, 15), 1000),
        {"op": "encoded", "rule": "a+b+c", "parts": [900, 90, 15], "modulus": 1000}, "5", "1005",
    ),
    (demand.rounded(Fraction(7, 2)), {"op": "rounded", "value": "7/2", "unit": 1}, "4", "3"),
    (
        demand.rounded(Fraction(1, 3), Fraction(1, 100)),
        {"op": "rounded", "value": "1/3", "unit": "1/100"}, "0.33", "1/3",
    ),
    (
        demand.in_unit(Fraction(3, 2), 60, "minutes"),
        {"op": "in_unit", "value": "3/2", "factor": 60, "unit": "minutes"}, "90", "1.5",
    ),
    (
        demand.measured("percent", 1, Fraction(199, 2)),
        {"op": "measured", "unit": "percent", "low": 1, "high": "199/2"}, "99.5", "99.6",
    ),
    (
        demand.counts(1, 10, demand.parity("even"), demand.above(4)),
        {
            "op": "counts", "low": 1, "high": 10,
            "where": [{"op": "parity", "parity": "even"}, {"op": "above", "value": 4}],
        },
        "3", "5",
    ),
    (demand.clock(), {"op": "clock"}, "3:40 p.m.", "3:60"),
    (demand.clock(24), {"op": "clock", "hours": 24}, "15:05", "3:05 pm"),
    (demand.date(), {"op": "date"}, "March 31", "30 February"),
    (demand.date("MDY"), {"op": "date", "order": "MDY"}, "05/31/2021", "31/05/2021"),
    (demand.named("north", "south"), {"op": "named", "names": ["north", "south"]}, "South", "7"),
    (demand.listed("increasing"), {"op": "listed", "order": "increasing"}, "2, 3, 5", "3, 2"),
    (
        demand.listed("decreasing", 3),
        {"op": "listed", "order": "decreasing", "length": 3}, "5, 3 and 2", "5, 3",
    ),
    (
        demand.all_of(demand.integer(), demand.below(3)),
        {"op": "all", "of": [{"op": "integer"}, {"op": "below", "value": 3}]}, "2", "2.5",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("predicate", "built", "good", "bad"), BUILT)
def test_a_builder_makes_a_predicate_that_can_be_evaluated(
    predicate: Predicate, built: object, good: str, bad: str
) -> None:
    assert predicate == built
    assert json.loads(json.dumps(predicate)) == built
    assert (truth_of(predicate, good), truth_of(predicate, bad)) == ("holds", "violated")


@pytest.mark.parametrize("answer", ["19", "5/14", "-3", "C"])
def test_a_code_whose_parts_are_not_known_is_undecided(answer: str) -> None:
    assert demand.code(100, 1) == {"op": "encoded", "factors": [100, 1]}
    assert truth_of(demand.code(100, 1), answer) == "undecided"


def test_every_op_can_be_built() -> None:
    assert {str(predicate["op"]) for predicate, *_ in BUILT} == set(OPS) - set(REPLY)


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
