from __future__ import annotations

import pytest

from constraint_first.constraint import predicate as demand
from constraint_first.constraint.predicate import Predicate
from constraint_first.report.exhibit.gold import follows, know

WINDOW = [demand.divides(66), demand.parity("even"), demand.between(7, 27)]
WIDTH = [demand.above(0), demand.root(1, 32, -644)]


@pytest.mark.parametrize(
    ("known", "implied"),
    [
        (WINDOW, demand.divisible(11)),
        (WINDOW, demand.between(22, 22)),
        (WIDTH, demand.all_of(demand.integer(), demand.between(1, 16))),
        ([demand.between(22, 22)], demand.divides(66)),
        ([demand.one_of(14, 23, 30), demand.below(25)], demand.between(14, 23)),
        ([demand.parity("even"), demand.between(3, 10)], demand.at_least(4)),
        ([demand.least_residue(7)], demand.below(7)),
    ],
)
def test_follows(known: list[Predicate], implied: Predicate) -> None:
    assert follows(know(known), implied)


@pytest.mark.parametrize(
    ("known", "not_implied"),
    [
        (WINDOW, demand.divisible(4)),
        (WINDOW, demand.reduced()),
        (WIDTH[1:], demand.above(0)),
        ([demand.root(1, 0, -2), demand.above(0)], demand.below(2)),
        ([demand.root(1, 0, 1)], demand.integer()),
        ([demand.root(1, 0, 0, -8)], demand.integer()),
        ([demand.between(3, 4)], demand.integer()),
        ([demand.one_of(14, 23)], demand.parity("even")),
        ([demand.integer(), demand.at_least(3)], demand.parity("odd")),
        ([demand.square(), demand.between(10, 10**6)], demand.at_least(16)),
        ([demand.square(), demand.between(10, 15)], demand.parity("odd")),
        ([demand.counts(1, 20, demand.divisible(7))], demand.parity("even")),
    ],
)
def test_does_not_follow(known: list[Predicate], not_implied: Predicate) -> None:
    assert not follows(know(known), not_implied)
