from __future__ import annotations

from collections.abc import Callable
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
    Unreadable,
    unit_name,
)
from constraint_first.answer.value import (
    SIMPLE,
    absence_verdict,
    choice_letter,
    choice_verdict,
    interpret,
    plain_words,
    relation,
    scalars,
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


def defined(name: str, value: Node) -> Op:
    return Op("def", (Sym(name), value))


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("x = 5", defined("x", num_relation(5))),
        ("5 = x", defined("x", num_relation(5))),
        ("x = 2 + 3 = 5", defined("x", num_relation(5))),
        ("f(x) = y", defined("f(x)", Y)),
        ("(x, y) = (1, 2)", Op("()", (num_relation(1), num_relation(2)))),
        ("AB = 5", defined("AB", num_relation(5))),
        ("|AB| = 5", defined("AB", num_relation(5))),
        ("2 + 3 = 5", num_relation(5)),
        ("x + y = 5", Op("=", (Op("+", (X, Y)), num_relation(5)))),
        ("x + y = 2 + 3 = 5", num_relation(5)),
        (r"x \approx 5", defined("x", num_relation(5))),
        (r"x = 5 \approx 6", defined("x", num_relation(5))),
        (r"x \equiv 5", defined("x", num_relation(5))),
        ("pi = 5", num_relation(5)),
    ],
)
def test_equations(text: str, tree: Node) -> None:
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


@pytest.mark.parametrize(
    ("text", "letter"),
    [
        ("B", "B"),
        ("(B)", "B"),
        ("(b)", "B"),
        ("b)", "B"),
        (r"\textbf{(B)}\ 17", "B"),
        ("Option B", "B"),
        ("Answer: C.", "C"),
        ("B: 17", "B"),
        ("J", "J"),
        ("b", None),
        ("K", None),
        ("AB", None),
        ("", None),
        ("A or B", None),
        ("A + 1", None),
        ("(b) + 1", None),
    ],
)
def test_the_letter_of_an_option(text: str, letter: str | None) -> None:
    assert choice_letter(text) == letter


@pytest.mark.parametrize(
    ("compare", "pred", "gold", "verdict"),
    [
        (choice_verdict, "B", "B", True),
        (choice_verdict, "(b) 17", r"\textbf{(B)}", True),
        (choice_verdict, "C", "(B)", False),
        (choice_verdict, "option c", "B", False),
        (choice_verdict, "17", "B", None),
        (choice_verdict, "B", "17", None),
        (choice_verdict, "b", "x", None),
        (choice_verdict, "B", "(B) 17", True),
        (choice_verdict, "A, C", "A and C", True),
        (choice_verdict, "CA", "AC", False),
        (choice_verdict, "A", "A and C", None),
        (choice_verdict, "A, B", "A, C", False),
        (truth_verdict, "Yes.", "yes", True),
        (truth_verdict, r"\text{True}", "Yes", True),
        (truth_verdict, "no", "True", False),
        (truth_verdict, "5", "yes", False),
        (truth_verdict, "是", "yes", True),
        (truth_verdict, "yes", r"\text{No}", False),
        (truth_verdict, "yes", "Y", True),
        (truth_verdict, "no", "F", True),
        (truth_verdict, "true", "F", False),
        (truth_verdict, "5", "T", None),
        (truth_verdict, "yes", "5", None),
        (truth_verdict, "yes", "yes and no", None),
        (words_verdict, "The Pacific Ocean", r"\text{pacific ocean}", True),
        (words_verdict, "atlantic ocean", "pacific ocean", False),
        (words_verdict, "seven", "7", True),
        (words_verdict, "12", "Twelve", True),
        (words_verdict, "six", "7", False),
        (words_verdict, "east", "x+1", None),
        (words_verdict, "x", "xy", None),
        (words_verdict, "east", "", None),
        (words_verdict, "isosceles", "isosceles 30", None),
        (absence_verdict, "No solution exists.", "no solution", True),
        (absence_verdict, "There is no solution", "no solution", True),
        (absence_verdict, r"\text{no solutions exist}", "No solution", True),
        (absence_verdict, "there are no solutions", "no solution exists", True),
        (absence_verdict, "no real solutions", "no real solution", True),
        (absence_verdict, "no real solution", "no solution", None),
        (absence_verdict, "no solution", "no real solutions", None),
        (absence_verdict, "the solution is 3", "no solution", None),
        (absence_verdict, "no answer", "no solution", None),
        (absence_verdict, "no solution", "0", None),
    ],
)
def test_answers_that_are_words(
    compare: Callable[[str, str], bool | None], pred: str, gold: str, verdict: bool | None
) -> None:
    assert compare(pred, gold) is verdict


@given(st.text(max_size=40), st.text(max_size=40))
def test_no_two_texts_break_a_comparison(pred: str, gold: str) -> None:
    for compare in (absence_verdict, choice_verdict, truth_verdict, words_verdict):
        assert compare(pred, gold) in (True, False, None)
        assert compare(gold, gold) in (True, None), "a text is never another than itself"


# --- unit


@pytest.mark.parametrize(
    "words",
    [
        ("cm", "centimeter", "centimetres", "Centimeters", "CM"),
        ("inch^2", "square inches", "sq inch", "inches squared", "inch^{2}", "square inch"),
        ("metre^3", "cubic metres", "cubic meter", "m^3", "metres cubed"),
        ("metre/second", "m/s", "metres per second", "meter per sec"),
        ("mph", "miles per hour", "mile/hour", "mph"),
        ("kmh", "km/h", "kilometres per hour", "kph"),
        ("dollar", "dollars", "USD", "bucks", "dollars in total"),
        ("euro", "€", "eur", "euros"),
        ("degree", "degrees", "deg"),
        ("percent", "percentage", "pct"),
        ("unit", "units"),
        ("unit^2", "square units", "sq units"),
        ("hour", "h", "hrs", "hours each"),
        ("apple", "apples", "Apples", "of the apples"),
    ],
)
def test_one_name_for_every_spelling(words: tuple[str, ...]) -> None:
    name, *spellings = words
    assert {spelling: unit_name(spelling) for spelling in spellings} == dict.fromkeys(
        spellings, name
    )


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
