from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from constraint_first.constraint import predicate as demand
from constraint_first.constraint.predicate import Predicate, truth_of
from constraint_first.report.exhibit.gold import know


@pytest.mark.parametrize(
    ("known", "implied"),
    [
        ([demand.least_residue(7)], demand.integer()),
        ([demand.least_residue(7)], demand.between(0, 6)),
        ([demand.least_residue(7)], demand.below(7)),
        ([demand.integer(), demand.between(0, 6)], demand.least_residue(7)),
        ([demand.integer(), demand.above(0)], demand.at_least(1)),
        ([demand.integer(), demand.below(7)], demand.at_most(6)),
        ([demand.above(2)], demand.at_least(2)),
        ([demand.divisible(6)], demand.parity("even")),
        ([demand.congruent(3, 4)], demand.parity("odd")),
        ([demand.divides(12)], demand.between(1, 12)),
        ([demand.encoded("m+n", (3, 7))], demand.integer()),
        ([demand.encoded("m+n", (3, 7))], demand.reduced()),
        ([demand.encoded("m+n", (3, 7))], demand.above(1)),
        ([demand.encoded("m+n", (3, 7), 4)], demand.least_residue(4)),
        ([demand.rounded(5)], demand.integer()),
        ([demand.rounded(5)], {"op": "rounded", "unit": "1"}),
        ([demand.in_unit(2, 100, "percent")], {"op": "in_unit", "unit": "percent"}),
        ([{"op": "in_unit", "unit": "percent"}], demand.measured("percent", 1, 100)),
        ([demand.counts(1, 20, demand.parity("odd"))], demand.between(0, 20)),
        ([demand.all_of(demand.integer(), demand.above(0))], demand.integer()),
        ([demand.integer(), demand.above(0)], demand.all_of(demand.integer(), demand.above(0))),
        ([demand.form("fraction")], demand.not_whole()),
    ],
)
def test_implies(known: list[Predicate], implied: Predicate) -> None:
    assert know(known).implies(implied)


@pytest.mark.parametrize(
    ("known", "not_implied"),
    [
        ([], demand.integer()),
        ([demand.at_least(2)], demand.above(2)),
        ([demand.between(0, 6)], demand.least_residue(7)),
        ([demand.parity("even")], demand.divisible(4)),
        ([demand.congruent(1, 3)], demand.congruent(2, 3)),
        ([demand.rounded(5)], {"op": "rounded", "unit": "1/10"}),
        ([demand.in_unit(2, 100, "percent")], {"op": "in_unit", "unit": "grams"}),
        ([demand.digit_sum(5)], demand.digit_sum(6)),
        ([demand.reduced()], {"op": "encoded"}),
    ],
)
def test_does_not_imply(known: list[Predicate], not_implied: Predicate) -> None:
    assert not know(known).implies(not_implied)


numbers = st.integers(-20, 20)
simple = st.one_of(
    st.builds(demand.between, numbers, numbers),
    st.builds(demand.above, numbers),
    st.builds(demand.below, numbers),
    st.builds(demand.least_residue, st.integers(1, 12)),
    st.builds(demand.congruent, numbers, st.integers(1, 6)),
    st.builds(demand.divisible, st.integers(1, 6)),
    st.builds(demand.parity, st.sampled_from(["odd", "even"])),
    st.builds(demand.divides, st.integers(1, 24)),
    st.just(demand.integer()),
)


@given(st.lists(simple, max_size=3), simple, st.fractions(-25, 25, max_denominator=4))
def test_an_implication_is_true_of_every_value(
    known: list[Predicate], implied: Predicate, value: object
) -> None:
    if know(known).implies(implied) and all(truth_of(p, str(value)) == "holds" for p in known):
        assert truth_of(implied, str(value)) == "holds"
