from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from constraint_first.answer.exact import digits_of, rational
from constraint_first.answer.parse import parse
from constraint_first.answer.syntax import (
    INFINITE,
    UNIT_LETTERS,
    Measure,
    Node,
    Num,
    Op,
    Sym,
    unit_name,
)
from constraint_first.answer.value import (
    SIMPLE,
    absence_verdict,
    choice_verdict,
    interpret,
    plain_words,
    relation,
    truth_verdict,
    words_verdict,
)

# --- canonical


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


def test_a_named_sum_is_its_value_too() -> None:
    """m + n = 17 answers "find m + n"."""
    equation, value = interpret("m + n = 17")
    assert value == num(17)
    assert isinstance(equation, Op)
    assert equation.name == "="


def test_signs_are_not_multiplied_without_end() -> None:
    four = "(" + ",".join([r"\pm 1"] * 4) + ")"
    (tree,) = interpret(four)
    assert isinstance(tree, Op)
    assert (tree.name, len(tree.args)) == ("list", 16)
    assert interpret("(" + ",".join([r"\pm 1"] * 5) + ")") == ()


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


# --- relation


X, Y = Sym("x"), Sym("y")
UP, DOWN = INFINITE


def num_relation(value: Fraction | int) -> Num:
    return Num(Fraction(value))


def read(text: str) -> Node:
    tree = parse(text)
    assert isinstance(tree, Op)
    assert tree.name == "rel"
    return relation(tree)


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
    assert num_relation(bound) in interval.args
    rises = interval.args[1] == UP
    closed = interval.name != "()"
    for step in (-1, 0, 1):
        side = slope * (bound + step) + start
        holds = {"<": side < 0, "<=": side <= 0, ">": side > 0, ">=": side >= 0}[sign]
        assert holds == (closed if step == 0 else (step > 0) == rises)


# --- words


@given(st.text(max_size=80))
def test_plain_words_are_plain(text: str) -> None:
    assert not set(plain_words(text)) & set("{}$*`\\\n")


@given(st.text(max_size=40), st.text(max_size=40))
def test_no_two_texts_break_a_comparison(pred: str, gold: str) -> None:
    for compare in (absence_verdict, choice_verdict, truth_verdict, words_verdict):
        assert compare(pred, gold) in (True, False, None)
        assert compare(gold, gold) in (True, None), "a text is never another than itself"


# --- unit


@pytest.mark.parametrize(
    ("one", "other"),
    [("cm", "cm^2"), ("cm", "mm"), ("m/s", "m/h"), ("apples", "pears"), ("am", "pm"), ("g", "kg")],
)
def test_different_units_keep_different_names(one: str, other: str) -> None:
    assert unit_name(one) != unit_name(other)


@pytest.mark.parametrize(("letter", "name"), UNIT_LETTERS.items())
def test_a_letter_is_a_unit_only_where_it_is_set_as_one(letter: str, name: str) -> None:
    assert unit_name(letter) == name
    assert parse(rf"5\text{{ {letter}}}") == Measure(Num(Fraction(5)), name)
    assert not isinstance(parse(f"5{letter}"), Measure)


WORDS = st.lists(st.sampled_from("m s per / ^2 square sq of 5".split())).map(" ".join)


@given(st.text(max_size=30) | WORDS)
def test_any_phrase_has_one_spelling(text: str) -> None:
    name = unit_name(text)
    assert name == name.strip()
    assert unit_name(text.replace(" ", "  ")) == name
