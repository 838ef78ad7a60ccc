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
    MAX_TOKENS,
    Measure,
    Node,
    Num,
    Op,
    Sym,
    Unreadable,
    clean,
    fold,
    tokenize,
    walk,
)

# --- parse


X, Y, Z = Sym("x"), Sym("y"), Sym("z")


def power(base: Node, exponent: Node) -> Op:
    return Op("^", (base, exponent))


def test_words_behind_a_letter_are_no_unit() -> None:
    with pytest.raises(Unreadable, match="words behind a letter"):
        parse("a circle")


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


# --- tokens


def test_a_text_of_too_many_tokens_is_refused() -> None:
    assert len(tokenize("+" * MAX_TOKENS)) == MAX_TOKENS
    with pytest.raises(Unreadable, match="too long"):
        tokenize("+" * (MAX_TOKENS + 2))


@given(st.text(max_size=100))
def test_folding_twice_is_folding_once(text: str) -> None:
    assert fold(fold(text)) == fold(text)
