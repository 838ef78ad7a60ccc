from fractions import Fraction

import pytest

from constraint_first.answer.syntax import (
    BRACKETS,
    INFINITE,
    Measure,
    Node,
    Num,
    Op,
    Sym,
    substitute,
    symbols,
    walk,
)

ONE, X, Y = Num(Fraction(1)), Sym("x"), Sym("y")
SUM = Op("+", (X, Op("*", (ONE, Y)), Op("neg", (X,))))
"""x + 1·y - x"""


def test_a_tree_is_walked_from_its_root_and_from_left_to_right() -> None:
    assert list(walk(SUM)) == [SUM, X, SUM.args[1], ONE, Y, SUM.args[2], X]
    assert list(walk(Measure(SUM, "cm"))) == [Measure(SUM, "cm"), *walk(SUM)]
    assert list(walk(X)) == [X]
    assert list(walk(Op("{}", ()))) == [Op("{}", ())]


@pytest.mark.parametrize(
    ("node", "names"),
    [
        (SUM, {"x", "y"}),
        (Measure(SUM, "cm"), {"x", "y"}),
        (ONE, set[str]()),
        (Op("+", (Sym("pi"), Sym("e"), Sym("i"), Sym("oo"))), set[str]()),
        (Op("call", (Sym("f"), X)), {"f", "x"}),
    ],
)
def test_constants_are_no_variables(node: Node, names: set[str]) -> None:
    assert symbols(node) == names


def test_a_value_takes_the_place_of_a_variable_wherever_it_stands() -> None:
    two = Num(Fraction(2))
    assert substitute(SUM, "x", two) == Op("+", (two, Op("*", (ONE, Y)), Op("neg", (two,))))
    assert substitute(SUM, "z", two) == SUM
    assert substitute(X, "x", Y) == Y
    assert substitute(ONE, "x", Y) == ONE


def test_what_is_put_in_is_not_looked_into_again() -> None:
    twice = Op("*", (Num(Fraction(2)), X))
    assert substitute(Op("+", (X, Y)), "x", twice) == Op("+", (twice, Y))


def test_equal_trees_are_equal_keys() -> None:
    assert {SUM: 1}[Op("+", (X, Op("*", (ONE, Y)), Op("neg", (X,))))] == 1
    assert Num(Fraction(1, 2)) != Num(Fraction(1, 2), digits=2), "0.50 is not 1/2 by its form"


def test_the_ends_of_the_line() -> None:
    upper, lower = INFINITE
    assert lower == Op("neg", (upper,))
    assert symbols(lower) == frozenset()


def test_brackets_are_pairs_of_marks_or_a_list() -> None:
    assert {name for name in BRACKETS if len(name) != 2} == {"list"}
