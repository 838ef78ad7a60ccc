"""The tight levels of the grammar, through the grammar's own entrance."""

from __future__ import annotations

from fractions import Fraction

import pytest

from constraint_first.answer.parse import parse
from constraint_first.answer.syntax import Node, Num, Op, Sym, Unreadable

X, Y = Sym("x"), Sym("y")


def num(value: Fraction | int | str, digits: int | None = None) -> Num:
    return Num(Fraction(value), digits)


def power(base: Node, exponent: Node) -> Op:
    return Op("^", (base, exponent))


@pytest.mark.parametrize(
    ("text", "tree"),
    [
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
    ],
)
def test_powers_and_what_stands_behind_an_atom(text: str, tree: Node) -> None:
    assert parse(text) == tree


@pytest.mark.parametrize(
    ("text", "tree"),
    [
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
    ],
)
def test_numbers(text: str, tree: Node) -> None:
    assert parse(text) == tree


@pytest.mark.parametrize(
    "text",
    [
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
    ],
)
def test_numbers_that_are_none(text: str) -> None:
    with pytest.raises(Unreadable):
        parse(text)


@pytest.mark.parametrize(
    ("text", "tree"),
    [
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
    ],
)
def test_names(text: str, tree: Node) -> None:
    assert parse(text) == tree


@pytest.mark.parametrize(
    ("text", "tree"),
    [
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
    ],
)
def test_functions(text: str, tree: Node) -> None:
    assert parse(text) == tree


@pytest.mark.parametrize(
    ("text", "tree"),
    [
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
def test_commands(text: str, tree: Node) -> None:
    assert parse(text) == tree


@pytest.mark.parametrize(
    "text", [r"\frac", r"\sqrt", r"\sqrt[2", r"\binom{5}", "sin", "log_", "^2"]
)
def test_a_command_without_its_argument_is_unreadable(text: str) -> None:
    with pytest.raises(Unreadable):
        parse(text)


def test_digits_behind_a_fraction_without_braces_are_not_guessed_at() -> None:
    with pytest.raises(Unreadable, match="two numbers side by side"):
        parse(r"\frac123")
