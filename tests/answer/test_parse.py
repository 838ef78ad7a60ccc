from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from constraint_first.answer.exact import rational
from constraint_first.answer.parse import (
    parse,
)
from constraint_first.answer.syntax import (
    Measure,
    Node,
    Num,
    Op,
    Sym,
    Unreadable,
    clean,
    walk,
)

# --- parse


X, Y, Z = Sym("x"), Sym("y"), Sym("z")


def num(value: Fraction | int | str, digits: int | None = None) -> Num:
    return Num(Fraction(value), digits)


def power(base: Node, exponent: Node) -> Op:
    return Op("^", (base, exponent))


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("1, 2", Op("list", (num(1), num(2)))),
        ("1; 2", Op("list", (num(1), num(2)))),
        ("1 and 2", Op("and", (num(1), num(2)))),
        ("1, 2, and 3", Op("and", (num(1), num(2), num(3)))),
        ("1, 2 or 3", Op("or", (num(1), num(2), num(3)))),
        ("1,", num(1)),
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
        ("5 cm", Measure(num(5), "cm")),
        (r"7 \text{square inches}", Measure(num(7), "inch^2")),
        (r"3 \text{m}/\text{s}", Measure(num(3), "metre/second")),
        (r"\usd 12.50", Measure(num("12.5", 4), "dollar")),
        ("12 €", Measure(num(12), "euro")),
        ("3 million", Op("*", (num(3), num(10**6)))),
        ("40 percent", Op("%", (num(40),))),
        (r"40\%", Op("%", (num(40),))),
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
        ("x^2", power(X, num(2))),
        ("x^{2y}", power(X, Op("*", (num(2), Y)))),
        ("x^-2", power(X, Op("neg", (num(2),)))),
        ("x^--2", power(X, num(2))),
        ("2^3^2", power(num(2), power(num(3), num(2)))),
        ("x^2y", Op("*", (power(X, num(2)), Y))),
        ("5!", Op("!", (num(5),))),
        ("5!!", Op("!!", (num(5),))),
        ("5!^2", power(Op("!", (num(5),)), num(2))),
        ("5%", Op("%", (num(5),))),
        (r"30^\circ", Op("deg", (num(30),))),
        (r"30^{\circ}", Op("deg", (num(30),))),
        ("007", num(7)),
        ("1.50", num("1.5", 3)),
        (r"0.\overline{3}", num("1/3")),
        (r"1.2\bar{3}", num("37/30")),
        (r"0.\dot{1}4285\dot{7}", num("1/7")),
        (r"0.\dot{3}", num("1/3")),
        (r"0.1\dot{2}\dot{3}", num("61/495")),
        (r"0.333\ldots", num("1/3")),
        (r"1.2333...", num("37/30")),
        ("101_2", Op("base", (num(101), num(2)))),
        (r"12_{\text{seven}}", Op("base", (num(12), num(7)))),
        ("12_{10}", Op("base", (num(12), num(10)))),
        ("x_1", Sym("x_1")),
        ("x_{12}", Sym("x_12")),
        ("x'", Sym("x'")),
        ("f''(x)", Op("call", (Sym("f''"), X))),
        ("f(x)", Op("call", (Sym("f"), X))),
        ("f(x, y)", Op("call", (Sym("f"), X, Y))),
        ("f (x)", Op("*", (Sym("f"), X))),
        (r"f{(x)}", Op("call", (Sym("f"), X))),
        ("pi(x)", Op("*", (Sym("pi"), X))),
        (r"\angle ABC", Sym("angle ABC")),
        (r"\overline{AB}", Sym("segment AB")),
        ("sin(x)", Op("sin", (X,))),
        ("sin x", Op("sin", (X,))),
        ("sin 2x", Op("sin", (Op("*", (num(2), X)),))),
        ("sin x cos y", Op("*", (Op("sin", (X,)), Op("cos", (Y,))))),
        ("sin x + y", Op("+", (Op("sin", (X,)), Y))),
        ("sin x/2", Op("sin", (Op("/", (X, num(2))),))),
        ("sin^2 x", power(Op("sin", (X,)), num(2))),
        ("sin^{-1} x", Op("arcsin", (X,))),
        ("tan^-1(x)", Op("arctan", (X,))),
        (r"\log_2 8", Op("log", (num(2), num(8)))),
        (r"\log_{10} x", Op("log", (num(10), X))),
        (r"\log x", Op("log10", (X,))),
        ("log(x)", Op("ln", (X,))),
        (r"\ln|x|", Op("ln", (Op("abs", (X,)),))),
        ("max(1, 2)", Op("max", (num(1), num(2)))),
        ("gcd(x, y)", Op("gcd", (X, Y))),
        (r"\frac{x}{y}", Op("/", (X, Y))),
        (r"\frac12", Op("/", (num(1), num(2)))),
        (r"\frac1{23}", Op("/", (num(1), num(23)))),
        (r"\frac{1}x", Op("/", (num(1), X))),
        (r"\sqrt{x}", Op("root", (X, num(2)))),
        (r"\sqrt2", Op("root", (num(2), num(2)))),
        ("sqrt(x)", Op("root", (X, num(2)))),
        (r"\sqrt[3]{x}", Op("root", (X, num(3)))),
        (r"\binom{5}{2}", Op("binom", (num(5), num(2)))),
        ("binomial(5, 2)", Op("binom", (num(5), num(2)))),
        (r"\emptyset", Op("{}", ())),
    ],
)
def test_a_text_is_its_tree(text: str, tree: Node) -> None:
    assert parse(text) == tree


def test_words_behind_a_letter_are_no_unit() -> None:
    with pytest.raises(Unreadable, match="words behind a letter"):
        parse("a circle")


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
        "12_{40}",
        "1.5_2",
        r"0.\overline{x}",
        r"0.\dot{3}4",
        r"1.2e5\overline{3}",
        "5_፩",
        r"0.\overline{፩}",
        "9" * 4001,
        r"0.\overline{" + "3" * 4001 + "}",
        "1e9999999",
        r"\frac",
        r"\sqrt",
        r"\sqrt[2",
        r"\binom{5}",
        "sin",
        "log_",
        "^2",
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


# --- atom


def test_digits_behind_a_fraction_without_braces_are_not_guessed_at() -> None:
    with pytest.raises(Unreadable, match="two numbers side by side"):
        parse(r"\frac123")


# --- bracket


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
        (r"\lfloor x \rfloor", Op("floor", (X,))),
        (r"\lceil x \rceil", Op("ceil", (X,))),
        ("|x|", Op("abs", (X,))),
        ("|x| + |y|", Op("+", (Op("abs", (X,)), Op("abs", (Y,))))),
        ("|1 - |x||", Op("abs", (Op("+", (ONE, Op("neg", (Op("abs", (X,)),)))),))),
        ("2|x|", Op("*", (TWO, Op("abs", (X,))))),
        (r"{x \over 2}", Op("/", (X, TWO))),
        (r"{3 \choose 2}", Op("binom", (THREE, TWO))),
        ("x_{ab1}", Sym("x_ab1")),
        (r"\mathbb{R}", LINE),
        (r"\mathbb{Z}", Sym("set Z")),
    ],
)
def test_brackets_are_their_trees(text: str, tree: Node) -> None:
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


@pytest.mark.parametrize("kind", ["pmatrix", "bmatrix", "matrix", "Bmatrix", "smallmatrix"])
def test_a_matrix_row_by_row(kind: str) -> None:
    text = rf"\begin{{{kind}}} 1 & x \newline 2 & -3 \end{{{kind}}}"
    minus = Num(Fraction(-3))
    assert parse(text) == Op("matrix", (Op("row", (ONE, X)), Op("row", (TWO, minus))))


def test_an_array_names_its_columns_first() -> None:
    tree = Op("matrix", (Op("row", (ONE, TWO)),))
    assert parse(r"\begin{array}{cc} 1 & 2 \end{array}") == tree
    assert parse(r"\begin{pmatrix} 1 & 2 \newline \end{pmatrix}") == tree


def test_every_kind_of_bracket_counts_as_nesting() -> None:
    deep = "([" * 15 + "1" + "])" * 15
    assert parse(deep) == ONE
    with pytest.raises(Unreadable, match="nested too deeply"):
        parse("([" * 25 + "1" + "])" * 25)


# --- numeral


DIGITS = st.text("0123456789", min_size=1, max_size=30)
