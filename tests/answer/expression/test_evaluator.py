"""Values to many digits; the digits are checked against known expansions and Python's own."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from constraint_first.answer.exact import rational
from constraint_first.answer.parse import parse
from constraint_first.answer.symbolic import (
    CONTEXTS,
    DIGITS,
    FAILURES,
    MORE_DIGITS,
    Evaluator,
    OutOfReach,
    Undefined,
    Value,
)
from constraint_first.answer.syntax import Measure, Num, Sym, Unreadable, clean


def value(text: str, digits: int = DIGITS, **point: str) -> Value:
    mp = CONTEXTS[digits]
    evaluate = Evaluator(digits, {name: mp.mpf(at) for name, at in point.items()})
    return evaluate(parse(clean(text)))


@pytest.mark.parametrize(
    ("text", "expansion"),
    [
        (r"\pi", "3.14159265358979323846264338327950288419716939937510"),
        ("e", "2.71828182845904523536028747135266249775724709369995"),
        (r"\sqrt{2}", "1.41421356237309504880168872420969807856967187537694"),
        (r"\ln 2", "0.69314718055994530941723212145817656807550013436025"),
        (r"\frac{1+\sqrt{5}}{2}", "1.61803398874989484820458683436563811772030917980576"),
    ],
)
def test_fifty_digits_of_known_numbers(text: str, expansion: str) -> None:
    exact = Fraction(expansion)
    found = value(text)
    mantissa, exponent = found.man_exp
    assert abs(Fraction(int(mantissa)) * Fraction(2) ** int(exponent) - exact) < Fraction(1, 10**49)


@pytest.mark.parametrize(
    ("text", "number"),
    [
        (r"\sin(\pi/6)", 0.5),
        (r"\sin 30^\circ", 0.5),
        (r"\log_2 8", 3),
        (r"\log 1000", 3),
        ("log(e)", 1),
        (r"\sqrt[3]{-8}", -2),
        ("cbrt(27)", 3),
        ("5!", 120),
        ("7!!", 105),
        (r"\binom{5}{2}", 10),
        (r"\binom{2}{5}", 0),
        (r"\lfloor -3.5 \rfloor", -4),
        (r"\lceil -3.5 \rceil", -3),
        (r"\lfloor \sqrt{2}\sqrt{2} \rfloor", 2),
        ("|-3|", 3),
        (r"50\%", 0.5),
        (r"(-7) \bmod 3", 2),
        (r"-7 \bmod 3", -1),
        ("max(1, 2, 3)", 3),
        ("min(1, 2, 3)", 1),
        ("2^{-3}", 0.125),
        ("arctan(1)", math.pi / 4),
        ("i^2", -1),
    ],
)
def test_operations(text: str, number: float) -> None:
    assert complex(value(text)) == pytest.approx(complex(number), abs=1e-15)  # pyright: ignore


def test_variables_have_the_values_of_the_point() -> None:
    assert value("x^2 + y", x="3", y="0.5") == 9.5
    assert value("a(b)", a="3", b="2") == 6, "a letter before a bracket is a factor"


@pytest.mark.parametrize(
    "text", ["1/0", "0^0", "0^{-1}", r"\ln 0", r"\log_2 0", r"5 \bmod 0", r"\sqrt[0]{2}"]
)
def test_what_does_not_exist_is_undefined(text: str) -> None:
    with pytest.raises(Undefined):
        value(text)


@pytest.mark.parametrize(
    "text",
    [
        "9^{9^{9^9}}",
        "10^{100000000}",
        "10^{-100000000}",
        "100000!",
        "(-3)!",
        "2.5!",
        r"\binom{1000000000}{2}",
        r"\sin(10^{30})",
        r"e^{e^{e^{e^e}}}",
        r"\lfloor i \rfloor",
        "x",
        "f(2)",
        r"\{1, 2\}",
        r"\infty",
        "gcd(4.5, 6)",
    ],
)
def test_what_is_too_large_or_unknown_is_out_of_reach(text: str) -> None:
    with pytest.raises(OutOfReach):
        value(text)


def test_a_unit_has_no_value() -> None:
    with pytest.raises(OutOfReach, match="unit"):
        Evaluator(DIGITS)(Measure(Num(Fraction(5)), "cm"))
    with pytest.raises(OutOfReach, match="too many digits"):
        Evaluator(DIGITS)(Num(Fraction(10) ** 30_000))


def test_more_digits_are_more_digits() -> None:
    coarse, fine = value(r"\pi", DIGITS), value(r"\pi", MORE_DIGITS)
    mp = CONTEXTS[MORE_DIGITS]
    assert 0 < abs(mp.convert(coarse) - fine) < mp.mpf(10) ** -DIGITS
    assert abs(fine - mp.pi) < mp.mpf(10) ** -MORE_DIGITS


def test_a_context_of_its_own_leaves_the_librarys_alone() -> None:
    from mpmath import mp  # pyright: ignore

    value(r"\pi", MORE_DIGITS)
    assert mp.dps == 15  # pyright: ignore


moderate = st.fractions(-100, 100, max_denominator=10**6)


@given(moderate, moderate, st.integers(1, 9))
def test_rational_arithmetic_agrees_with_the_exact_tier(a: Fraction, b: Fraction, n: int) -> None:
    text = f"(({a})*({b}) - ({a})/({abs(b) + 1}))^{n} + |{b}|"
    exact, mp = rational(parse(text)), CONTEXTS[DIGITS]
    assert exact is not None
    gap = abs(value(text) - mp.mpf(exact.numerator) / exact.denominator)
    assert gap <= 1e-50 * max(1, abs(exact)), "nine factors lose no more than a few of sixty digits"


PIECES = [*"()+-*/^!%|", "x", "pi", "2", "0", "0.5", "sin", r"\sqrt", "{3}", r"\ln ", "i", "99"]


@given(st.lists(st.sampled_from(PIECES), max_size=9).map("".join))
def test_every_tree_has_a_value_or_fails_as_announced(text: str) -> None:
    try:
        found = value(text, x="0.7")
    except (*FAILURES, Unreadable):
        return
    assert CONTEXTS[DIGITS].isfinite(found)


def test_symbols_alone() -> None:
    assert Evaluator(DIGITS)(Sym("i")) ** 2 == -1
    with pytest.raises(OutOfReach, match="oo has no value"):
        Evaluator(DIGITS)(Sym("oo"))
