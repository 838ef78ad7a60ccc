"""Two ways to say a thing become one tree."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from constraint_first.answer.canonical import SIMPLE, interpret, scalars
from constraint_first.answer.exact import digits_of, rational
from constraint_first.answer.syntax import Measure, Node, Num, Op, Sym

SAME = [
    ("x > 3", r"x \in (3, \infty)", "3 < x"),
    ("x = 1 or x = 2", "x = 1, x = 2"),
    ("±3", "3, -3", r"\pm 3"),
    (r"1 \pm \sqrt{2}", r"1 + \sqrt{2}, 1 - \sqrt{2}"),
    (r"(\pm 1, 2)", "(1, 2), (-1, 2)"),
    ("1 < x and x < 3", "1 < x < 3", r"x \in (1, 3)"),
    ("x < 1 or x > 3", r"x \in (-\infty, 1) \cup (3, \infty)"),
    (r"\mathbb{R} \setminus \{0, 2\}", r"(-\infty, 0) \cup (0, 2) \cup (2, \infty)"),
    (r"\{x | x > 3\}", "x > 3"),
    ("no solution", "No solution exists", r"\emptyset", "empty set", r"\{\}"),
    ("all real numbers", r"\mathbb{R}", r"(-\infty, \infty)"),
    ("seven", "7", "7."),
    ("1,234", "1234", "1 234", r"1{,}234"),
    (r"30^\circ", "30 degrees", "30°"),
    ("[[1, 2], [3, 4]]", r"\begin{pmatrix} 1 & 2 \\ 3 & 4 \end{pmatrix}"),
    (r"3\frac{1}{2}", "3 1/2", "3½"),
    (r"x = 1/3 \approx 0.33", "x = 1/3"),
    ("2:30 pm", "2:30 p.m."),
]


@pytest.mark.parametrize("texts", SAME, ids=lambda texts: texts[0])
def test_many_ways_are_one_tree(texts: tuple[str, ...]) -> None:
    first, *others = (set(interpret(text)) for text in texts)
    assert first
    for text, other in zip(texts[1:], others, strict=True):
        assert first & other, (text, first, other)


DIFFERENT = [
    ("x > 3", "x >= 3"),
    ("(1, 2)", "[1, 2]"),
    ("(1, 2)", r"\{1, 2\}"),
    ("x < 1 or x > 3", "1 < x < 3"),
    ("1, 2", "1, 3"),
    ("2:30 am", "2:30 pm"),
    ("5 cm", "5 mm"),
    ("30°", "30"),
    ("101_2", "101"),
    (r"\mathbb{R} \setminus \{0\}", r"\mathbb{R}"),
]


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_what_differs_stays_apart(one: str, other: str) -> None:
    left, right = set(interpret(one)), set(interpret(other))
    assert left
    assert right
    assert not left & right


def num(value: Fraction | int | str, digits: int | None = None) -> Num:
    return Num(Fraction(value), digits)


@pytest.mark.parametrize(
    ("text", "trees"),
    [
        ("12", (num(12),)),
        ("-3", (num(-3),)),
        ("−3", (num(-3),)),
        ("0.50", (num("0.5", 2),)),
        ("6/8", (num("3/4"),)),
        (r"-\dfrac{3}{4}", (num("-3/4"),)),
        ("1,234", (num(1234), Op("list", (num(1), num(234))))),
        ("0,5", (Op("list", (num(0), num(5))), num("0.5", 1))),
        ("(1,234)", (Op("()", (num(1), num(234))),)),
        ("1,23", (Op("list", (num(1), num(23))), num("1.23", 3))),
        ("5 cm", (Measure(num(5), "cm"),)),
        ("x", (Sym("x"),)),
    ],
)
def test_one_tree_for_every_way_its_commas_allow(text: str, trees: tuple[Node, ...]) -> None:
    assert interpret(text) == trees


def test_a_named_sum_is_its_value_too() -> None:
    """m + n = 17 answers "find m + n"."""
    equation, value = interpret("m + n = 17")
    assert value == num(17)
    assert isinstance(equation, Op)
    assert equation.name == "="


@pytest.mark.parametrize("text", ["", "the area of a circle", "1 2", r"\foo", "(1", "\x00", "x =="])
def test_what_is_not_mathematics_has_no_tree(text: str) -> None:
    assert interpret(text) == ()


def test_signs_are_not_multiplied_without_end() -> None:
    four = "(" + ",".join([r"\pm 1"] * 4) + ")"
    (tree,) = interpret(four)
    assert isinstance(tree, Op)
    assert (tree.name, len(tree.args)) == ("list", 16)
    assert interpret("(" + ",".join([r"\pm 1"] * 5) + ")") == ()


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("x = 5", num(5)),
        ("5 cm", num(5)),
        (r"x = 5\%", num(5)),
        (" 5 ", num(5)),
        ("x + 1", Op("+", (Sym("x"), num(1)))),
        ("east", None),
    ],
)
def test_a_scalar_is_without_its_name_and_unit(text: str, value: Node | None) -> None:
    assert list(scalars(text)) == ([] if value is None else [value])


@given(st.integers(-(10**30), 10**30), st.integers(1, 10**30), st.integers(0, 10**20))
def test_the_commonest_answers_are_read_the_same_by_the_short_way(
    over: int, under: int, part: int
) -> None:
    """The short way stands in for the grammar; a pair of braces keeps a text from taking it."""
    values = {
        str(over): Fraction(over),
        f"{over}/{under}": Fraction(over, under),
        rf"-\frac{{{abs(over)}}}{{{under}}}": -Fraction(abs(over), under),
        f"{over}.{part}": Fraction(f"{over}.{part}"),
    }
    for text, value in values.items():
        (short,), (long,) = interpret(text), interpret(f"{{{text}}}")
        assert SIMPLE.fullmatch(text)
        assert not SIMPLE.fullmatch(f"{{{text}}}")
        assert rational(short) == rational(long) == value
        assert digits_of(short) == digits_of(long)


@given(st.text(max_size=40) | st.text(r"0123456789,.()[]{}\xy=<>±-+/ ", max_size=25))
def test_any_text_has_trees_or_none(text: str) -> None:
    trees = interpret(text)
    interpret.cache_clear()
    assert interpret(text) == trees
    assert len(trees) <= 4
