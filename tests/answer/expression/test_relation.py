"""Equations and inequalities in the one form in which they are compared."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from constraint_first.answer.canonical import relation
from constraint_first.answer.parse import parse
from constraint_first.answer.syntax import INFINITE, Node, Num, Op, Sym, Unreadable

X, Y = Sym("x"), Sym("y")
UP, DOWN = INFINITE


def num(value: Fraction | int) -> Num:
    return Num(Fraction(value))


def read(text: str) -> Node:
    tree = parse(text)
    assert isinstance(tree, Op)
    assert tree.name == "rel"
    return relation(tree, lambda node: node)


def defined(name: str, value: Node) -> Op:
    return Op("def", (Sym(name), value))


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("x = 5", defined("x", num(5))),
        ("5 = x", defined("x", num(5))),
        ("x = 2 + 3 = 5", defined("x", num(5))),
        ("f(x) = y", defined("f(x)", Y)),
        ("(x, y) = (1, 2)", Op("()", (num(1), num(2)))),
        ("AB = 5", defined("AB", num(5))),
        ("|AB| = 5", defined("AB", num(5))),
        ("2 + 3 = 5", num(5)),
        ("x + y = 5", Op("=", (Op("+", (X, Y)), num(5)))),
        ("x + y = 2 + 3 = 5", num(5)),
        (r"x \approx 5", defined("x", num(5))),
        (r"x = 5 \approx 6", defined("x", num(5))),
        (r"x \equiv 5", defined("x", num(5))),
        ("pi = 5", num(5)),
    ],
)
def test_equations(text: str, tree: Node) -> None:
    assert read(text) == tree


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("x > 3", Op("()", (num(3), UP))),
        ("3 < x", Op("()", (num(3), UP))),
        ("x >= 3", Op("[)", (num(3), UP))),
        ("x < 3", Op("()", (DOWN, num(3)))),
        ("x <= 3", Op("(]", (DOWN, num(3)))),
        ("3 >= x", Op("(]", (DOWN, num(3)))),
        ("1 < x < 3", Op("()", (num(1), num(3)))),
        ("1 <= x < 3", Op("[)", (num(1), num(3)))),
        ("3 > x >= 1", Op("[)", (num(1), num(3)))),
        ("1 <= x <= 3", Op("[]", (num(1), num(3)))),
        (r"x \in [1, 3]", Op("[]", (num(1), num(3)))),
        ("x != 3", Op("union", (Op("()", (DOWN, num(3))), Op("()", (num(3), UP))))),
        ("2x + 1 > 7", Op("()", (num(3), UP))),
        ("7 - 2x >= 1", Op("(]", (DOWN, num(3)))),
        ("x/2 < x - 1", Op("()", (num(2), UP))),
    ],
)
def test_inequalities_in_one_variable_are_intervals(text: str, tree: Op) -> None:
    assert read(text) == defined("x", tree)


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("x < y", Op("<", (X, Y))),
        ("y > x", Op("<", (X, Y))),
        ("x <= y", Op("<=", (X, Y))),
        ("x != y", Op("ne", (X, Y))),
        ("x^2 < 4", Op("<", (Op("^", (X, num(2))), num(4)))),
    ],
)
def test_other_inequalities_keep_their_sides(text: str, tree: Node) -> None:
    assert read(text) == tree


@pytest.mark.parametrize(
    "text", ["1 < x > 0", "1 < x < 2 < 3", "x = 1 < 2", "1 < x^2 < 2", r"2x \in (1, 2)"]
)
def test_what_says_nothing_simple_is_unreadable(text: str) -> None:
    with pytest.raises(Unreadable):
        read(text)


@given(
    st.integers(-9, 9).filter(bool), st.integers(-99, 99), st.sampled_from(["<", "<=", ">", ">="])
)
def test_a_linear_inequality_is_solved(slope: int, start: int, sign: str) -> None:
    """Checked at points on both sides of the bound and on it."""
    found = read(f"{slope}*x + {start} {sign} 0")
    assert isinstance(found, Op)
    interval = found.args[1]
    assert isinstance(interval, Op)
    bound = Fraction(-start, slope)
    assert num(bound) in interval.args
    rises = interval.args[1] == UP
    closed = interval.name != "()"
    for step in (-1, 0, 1):
        side = slope * (bound + step) + start
        holds = {"<": side < 0, "<=": side <= 0, ">": side > 0, ">=": side >= 0}[sign]
        assert holds == (closed if step == 0 else (step > 0) == rises)
