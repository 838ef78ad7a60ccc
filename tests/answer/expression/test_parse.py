"""The loose levels of the grammar, and the grammar as a whole."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from constraint_first.answer.exact import rational
from constraint_first.answer.parse import parse
from constraint_first.answer.syntax import Measure, Node, Num, Op, Sym, Unreadable, clean, walk

X, Y, Z = Sym("x"), Sym("y"), Sym("z")


def num(value: Fraction | int | str, digits: int | None = None) -> Num:
    return Num(Fraction(value), digits)


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("1, 2", Op("list", (num(1), num(2)))),
        ("1; 2", Op("list", (num(1), num(2)))),
        ("1 and 2", Op("and", (num(1), num(2)))),
        ("1, 2, and 3", Op("and", (num(1), num(2), num(3)))),
        ("1, 2 or 3", Op("or", (num(1), num(2), num(3)))),
        ("1,", num(1)),
    ],
)
def test_lists(text: str, tree: Node) -> None:
    assert parse(text) == tree


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("x = 5", Op("rel", (X, num(5), Sym("=")))),
        ("1 < x <= 2", Op("rel", (num(1), X, num(2), Sym("<"), Sym("le")))),
        (r"x \in (1, 2)", Op("rel", (X, Op("()", (num(1), num(2))), Sym("in")))),
        ("3:2", Op(":", (num(3), num(2)))),
        ("3 to 2", Op(":", (num(3), num(2)))),
        ("12:05", Op("time", (num(12), num(5)))),
        (r"A \cup B \cap C", Op("intersect", (Op("union", (Sym("A"), Sym("B"))), Sym("C")))),
        (
            r"\mathbb{R} \setminus \{1\}",
            Op("minus", (Op("()", (Op("neg", (Sym("oo"),)), Sym("oo"))), Op("{}", (num(1),)))),
        ),
    ],
)
def test_relations_ratios_and_sets(text: str, tree: Node) -> None:
    assert parse(text) == tree


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("5 cm", Measure(num(5), "cm")),
        (r"7 \text{square inches}", Measure(num(7), "inch^2")),
        (r"3 \text{m}/\text{s}", Measure(num(3), "metre/second")),
        (r"\usd 12.50", Measure(num("12.5", 4), "dollar")),
        ("12 €", Measure(num(12), "euro")),
        ("3 million", Op("*", (num(3), num(10**6)))),
        ("40 percent", Op("%", (num(40),))),
        (r"40\%", Op("%", (num(40),))),
    ],
)
def test_measures(text: str, tree: Node) -> None:
    assert parse(text) == tree


def test_words_behind_a_letter_are_no_unit() -> None:
    with pytest.raises(Unreadable, match="words behind a letter"):
        parse("a circle")


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("x + y - z", Op("+", (X, Y, Op("neg", (Z,))))),
        ("--5", num(5)),
        ("-+-x", X),
        ("-5", num(-5)),
        (r"1 \pm x", Op("+", (num(1), Op("±", (X,))))),
        ("x/y/z", Op("/", (Op("/", (X, Y)), Z))),
        ("x/y z", Op("*", (Op("/", (X, Y)), Z))),
        ("2x y", Op("*", (Op("*", (num(2), X)), Y))),
        ("x * -y", Op("*", (X, Op("neg", (Y,))))),
        ("-x^2", Op("neg", (Op("^", (X, num(2))),))),
        ("2(x)", Op("*", (num(2), X))),
        ("2(3)", Op("*", (num(2), num(3)))),
        ("(2)(3)", Op("*", (num(2), num(3)))),
        ("2^3 3^2", Op("*", (Op("^", (num(2), num(3))), Op("^", (num(3), num(2)))))),
        ("x 3", Op("*", (X, num(3)))),
        (r"3\frac{1}{2}", num("7/2")),
        (r"3\frac{5}{2}", Op("*", (num(3), Op("/", (num(5), num(2)))))),
        (r"x\frac{1}{2}", Op("*", (X, Op("/", (num(1), num(2)))))),
        (r"0.5\frac{1}{2}", Op("*", (num("0.5", 1), Op("/", (num(1), num(2)))))),
        (r"17 \bmod 5", Op("mod", (num(17), num(5)))),
    ],
)
def test_sums_and_products(text: str, tree: Node) -> None:
    assert parse(text) == tree


@pytest.mark.parametrize(
    "text",
    [
        "",
        "1 2",
        "(1) 2 3",
        "2^3 3",
        "+",
        "x +",
        "1,,2",
        ")",
        "(1",
        "= 5",
        "x = ",
        "x ^",
        "1 /",
        "1 : ",
        r"\frac{1}",
    ],
)
def test_what_is_not_whole_is_unreadable(text: str) -> None:
    with pytest.raises(Unreadable):
        parse(text)


# Expressions that print themselves, with their values worked out beside the grammar.


@dataclass(frozen=True)
class Written:
    ascii: str
    latex: str
    value: Fraction | None
    """None where it divides by zero."""


def _both(ascii_form: str, latex_form: str, *parts: Written) -> tuple[str, str]:
    return (
        ascii_form.format(*(part.ascii for part in parts)),
        latex_form.format(*(part.latex for part in parts)),
    )


def _negated(one: Written) -> Written:
    value = None if one.value is None else -one.value
    return Written(*_both("(-{})", r"\left(-{}\right)", one), value)


def _joined(name: str, left: Written, right: Written) -> Written:
    forms = {
        "+": ("({} + {})", r"\left({} + {}\right)"),
        "-": ("({} - {})", r"({}-{})"),
        "*": ("({}*{})", r"\left({} \cdot {}\right)"),
        "/": ("({}/{})", r"\frac{{{}}}{{{}}}"),
        "": ("({})({})", r"\left({}\right)\left({}\right)"),
    }
    a, b = left.value, right.value
    if a is None or b is None or (name == "/" and not b):
        value = None
    else:
        value = {"+": a + b, "-": a - b, "*": a * b, "": a * b, "/": a / (b or 1)}[name]
    ascii_text, latex = _both(*forms[name], left, right)
    return Written(f"({ascii_text})" if not name else ascii_text, latex, value)


def _raised(base: Written, power: int) -> Written:
    fits = base.value is not None and (base.value != 0 or power > 0)
    value = base.value**power if fits and base.value is not None else None
    ascii_text, latex = f"(({base.ascii})^({power}))", rf"\left({base.latex}\right)^{{{power}}}"
    return Written(ascii_text, latex, value)


numbers = st.integers(0, 99).map(lambda n: Written(str(n), str(n), Fraction(n)))
expressions = st.recursive(
    numbers,
    lambda inner: (
        inner.map(_negated)
        | st.builds(_joined, st.sampled_from(["+", "-", "*", "/", ""]), inner, inner)
        | st.builds(_raised, inner, st.integers(-3, 3))
    ),
    max_leaves=8,
)


@given(expressions)
def test_what_is_printed_is_read_with_its_value(written: Written) -> None:
    if written.value is not None:
        assert rational(parse(written.ascii)) == written.value
        assert rational(parse(clean(written.latex))) == written.value
    else:
        assert rational(parse(written.ascii)) is None


PIECES = [
    *"()[]{}|,;=<>+-*/^_!%:'& ", "x", "pi", "e", "sin", "12", "0.5", "1e3", "cm", "or", "and",
    r"\{", r"\}", r"\frac", r"\sqrt", r"\sqrt[3]", r"\binom", r"\lfloor", r"\rfloor", r"\pm",
    r"\cup", r"\in", r"\overline", r"\dot", r"\ldots", r"\begin{pmatrix}", r"\end{pmatrix}",
    r"\newline", r"\text{m}", r"\circ", r"\mathbb{R}", r"\angle", r"\log", r"\choose", r"\over",
    r"\bmod", r"\infty", r"\usd", "{x|x>0}", "፩", "²", "٣", "ab", "arcsin", "million", "^{\\circ}",
]  # fmt: skip


@given(st.text(max_size=60) | st.lists(st.sampled_from(PIECES), max_size=14).map("".join))
def test_any_text_is_a_tree_or_unreadable(text: str) -> None:
    try:
        tree = parse(text)
    except Unreadable:
        return
    assert all(isinstance(node, Num | Sym | Op | Measure) for node in walk(tree))
    assert parse(text) == tree


@pytest.mark.parametrize("opening", ["(", "{", "[", "|", r"\frac{", r"\sqrt{", "x^{", "x_{", "-("])
@pytest.mark.parametrize("closing", ["", "1", ")", "}"])
def test_no_nesting_exhausts_the_stack(opening: str, closing: str) -> None:
    with pytest.raises(Unreadable):
        parse(opening * 600 + closing * 600)
