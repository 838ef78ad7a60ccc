"""Brackets of every kind, through the grammar's own entrance."""

from __future__ import annotations

from fractions import Fraction

import pytest

from constraint_first.answer.parse import parse
from constraint_first.answer.syntax import Node, Num, Op, Sym, Unreadable

X, Y = Sym("x"), Sym("y")
ONE, TWO, THREE = (Num(Fraction(n)) for n in (1, 2, 3))
LINE = Op("()", (Op("neg", (Sym("oo"),)), Sym("oo")))


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("(1, 2)", Op("()", (ONE, TWO))),
        ("[1, 2]", Op("[]", (ONE, TWO))),
        ("[1, 2)", Op("[)", (ONE, TWO))),
        ("(1, 2]", Op("(]", (ONE, TWO))),
        (r"\{1, 2\}", Op("{}", (ONE, TWO))),
        (r"\langle 1, 2 \rangle", Op("()", (ONE, TWO))),
        ("{1, 2}", Op("list", (ONE, TWO))),
        ("(1; 2)", Op("()", (ONE, TWO))),
        (r"\{1\}", Op("{}", (ONE,))),
        ("{1}", ONE),
        ("(1)", ONE),
        ("[1]", ONE),
        ("[[1, 2]]", Op("[]", (Op("[]", (ONE, TWO)),))),
        ("((1, 2), 3)", Op("()", (Op("()", (ONE, TWO)), THREE))),
    ],
)
def test_tuples_intervals_and_sets(text: str, tree: Node) -> None:
    assert parse(text) == tree


@pytest.mark.parametrize("text", ["()", "[]", r"\{\}", "{}", r"\emptyset"])
def test_nothing_between_brackets_is_the_empty_set(text: str) -> None:
    assert parse(text) == Op("{}", ())


@pytest.mark.parametrize("mark", ["|", ":", r"\mid "])
@pytest.mark.parametrize("element", ["x", r"x \in \mathbb{R}", "(x, y)"])
def test_a_set_by_its_condition_is_its_condition(mark: str, element: str) -> None:
    condition = Op("rel", (X, ONE, Sym(">")))
    assert parse(rf"\{{{element} {mark} x > 1\}}") == Op("{}", (condition,))
    assert parse(f"{{{element} {mark} x > 1}}") == condition


def test_a_colon_between_numbers_is_a_ratio_in_a_set_too() -> None:
    assert parse(r"\{1:2\}") == Op("{}", (Op(":", (ONE, TWO)),))
    assert parse("x:y") == Op(":", (X, Y))


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        (r"\lfloor x \rfloor", Op("floor", (X,))),
        (r"\lceil x \rceil", Op("ceil", (X,))),
        ("|x|", Op("abs", (X,))),
        ("|x| + |y|", Op("+", (Op("abs", (X,)), Op("abs", (Y,))))),
        ("|1 - |x||", Op("abs", (Op("+", (ONE, Op("neg", (Op("abs", (X,)),)))),))),
        ("2|x|", Op("*", (TWO, Op("abs", (X,))))),
    ],
)
def test_fences(text: str, tree: Node) -> None:
    assert parse(text) == tree


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        (r"{x \over 2}", Op("/", (X, TWO))),
        (r"{3 \choose 2}", Op("binom", (THREE, TWO))),
        ("x_{ab1}", Sym("x_ab1")),
        (r"\mathbb{R}", LINE),
        (r"\mathbb{Z}", Sym("set Z")),
    ],
)
def test_groups(text: str, tree: Node) -> None:
    assert parse(text) == tree


@pytest.mark.parametrize("kind", ["pmatrix", "bmatrix", "matrix", "Bmatrix", "smallmatrix"])
def test_a_matrix_row_by_row(kind: str) -> None:
    text = rf"\begin{{{kind}}} 1 & x \newline 2 & -3 \end{{{kind}}}"
    minus = Num(Fraction(-3))
    assert parse(text) == Op("matrix", (Op("row", (ONE, X)), Op("row", (TWO, minus))))


def test_an_array_names_its_columns_first() -> None:
    tree = Op("matrix", (Op("row", (ONE, TWO)),))
    assert parse(r"\begin{array}{cc} 1 & 2 \end{array}") == tree
    assert parse(r"\begin{pmatrix} 1 & 2 \newline \end{pmatrix}") == tree


@pytest.mark.parametrize(
    "text",
    [
        "(1, 2",
        "(1, 2}",
        r"[1, 2\}",
        "1)",
        "|x",
        r"\lfloor x",
        r"\lfloor x \rceil",
        "x_{1",
        r"\begin{align} 1 \end{align}",
        r"\begin{pmatrix} 1 & 2",
        r"\begin{pmatrix} , \end{pmatrix}",
    ],
)
def test_brackets_that_do_not_match(text: str) -> None:
    with pytest.raises(Unreadable):
        parse(text)


def test_every_kind_of_bracket_counts_as_nesting() -> None:
    deep = "([" * 15 + "1" + "])" * 15
    assert parse(deep) == ONE
    with pytest.raises(Unreadable, match="nested too deeply"):
        parse("([" * 25 + "1" + "])" * 25)
