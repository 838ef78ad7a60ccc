from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from constraint_first.answer.exact import as_real_set, rational
from constraint_first.answer.grade import decide
from constraint_first.answer.parse import parse
from constraint_first.answer.symbolic import (
    CONTEXTS,
    DIGITS,
    FAILURES,
    Evaluator,
    OutOfReach,
    Value,
)
from constraint_first.answer.syntax import Measure, Num, Op, Sym, Unreadable, clean
from constraint_first.answer.value import FORMS, decimal, interpret, read_answer, same

from .test_hostile import HOSTILE

# --- value


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_hostile_text_has_a_small_value_or_none(text: str) -> None:
    value = read_answer(text)
    if value is not None:
        assert len(str(value.coefficient)) < 10_000
        assert len(str(value.radicand)) < 10_000


def test_surds_are_compared_by_value() -> None:
    long, short, other = map(read_answer, (r"\sqrt{12}", r"2\sqrt{3}", r"3\sqrt{2}"))
    assert long
    assert short
    assert other
    assert same(long, short)
    assert not same(short, other)
    assert short.number is None


def test_an_unreduced_fraction_has_the_same_value_but_is_not_reduced() -> None:
    unreduced, lowest = read_answer("6/14"), read_answer("3/7")
    assert unreduced
    assert lowest
    assert same(unreduced, lowest)
    assert (unreduced.reduced, lowest.reduced) == (False, True)


@given(st.fractions(max_denominator=10**6))
def test_what_is_written_is_read_back(value: Fraction) -> None:
    found = read_answer(str(value))
    assert found is not None
    assert found.number == value


@given(st.integers(-(10**9), 10**9), st.integers(0, 6))
def test_decimals_are_read_back(scaled: int, places: int) -> None:
    value = Fraction(scaled, 10**places)
    found = read_answer(decimal(value, places))
    assert found is not None
    assert found.number == value


def test_a_decimal_that_does_not_fit_is_an_error() -> None:
    with pytest.raises(ValueError, match="more than 2 decimals"):
        decimal(Fraction(1, 3), 2)


LOOKS_LIKE_ONE = st.text(r"0123456789.,/-+%()\{}sqrtfac$ ABx=", max_size=20)


@given(st.text(max_size=40) | LOOKS_LIKE_ONE)
def test_any_text_has_one_value_or_none(text: str) -> None:
    value = read_answer(text)
    assert read_answer(f"  {text}  ") == value
    if value is None:
        return
    assert value.form in FORMS
    assert (value.form == "choice") == bool(value.letter)
    assert value.number is None or (value.radicand == 1 and not value.letter)
    assert value.radicand >= 1
    assert value.written is None or abs(value.coefficient) == Fraction(*value.written)
    assert same(value, value)


# --- exact


INTEGERS = st.integers(-(10**12), 10**12)
WHOLES = st.integers(1, 10**6)


def forms(value: Fraction) -> list[str]:
    over, under = value.numerator, value.denominator
    return [
        f"{over}/{under}",
        rf"\frac{{{over}}}{{{under}}}",
        rf"\dfrac{{{2 * over}}}{{{2 * under}}}",
        f"$x = {over}/{under}$",
        f"{over} / {under}",
        rf"{over}\cdot\frac{{1}}{{{under}}}",
    ]


@given(INTEGERS, WHOLES)
def test_a_fraction_is_itself_in_every_form(over: int, under: int) -> None:
    gold = f"{over}/{under}"
    assert [form for form in forms(Fraction(over, under)) if not decide(form, gold).same] == []


@given(INTEGERS, WHOLES, WHOLES)
def test_another_fraction_is_never_it(over: int, under: int, step: int) -> None:
    gold = f"{over}/{under}"
    other = Fraction(over, under) + Fraction(step, under)
    assert [form for form in forms(other) if decide(form, gold).same is not False] == []


@given(INTEGERS)
def test_separators_and_signs_do_not_matter(number: int) -> None:
    grouped = f"{number:,}"
    written = [
        grouped,
        grouped.replace(",", "{,}"),
        grouped.replace(",", r"\,"),
        grouped.replace(",", r",\!"),
        str(number).replace("-", "−"),
        f"{number}.0",
        f"{number}.",
        f"${grouped}$",
    ]
    assert [text for text in written if not decide(text, str(number)).same] == []


# --- evaluator


def value(text: str, digits: int = DIGITS, **point: str) -> Value:
    mp = CONTEXTS[digits]
    evaluate = Evaluator(digits, {name: mp.mpf(at) for name, at in point.items()})
    return evaluate(parse(clean(text)))


def test_a_unit_has_no_value() -> None:
    with pytest.raises(OutOfReach, match="unit"):
        Evaluator(DIGITS)(Measure(Num(Fraction(5)), "cm"))
    with pytest.raises(OutOfReach, match="too many digits"):
        Evaluator(DIGITS)(Num(Fraction(10) ** 30_000))


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


# --- real set


def test_ends_of_unknown_order_leave_a_set_as_it_is() -> None:
    close = Op("+", (Sym("pi"), Op("/", (Sym("e"), Op("^", (Sym("pi"), Sym("e")))))))
    assert as_real_set(Op("()", (Sym("a"), Sym("pi")))) is None
    assert as_real_set(Op("()", (Sym("pi"), close))) is not None
    (root,) = interpret(r"(\sqrt{2}+\sqrt{3}, \sqrt{5+2\sqrt{6}})")
    assert as_real_set(root) is None
