from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from constraint_first.answer.exact import as_real_set, equal_numbers, rational
from constraint_first.answer.grade import decide
from constraint_first.answer.parse import parse
from constraint_first.answer.symbolic import (
    CONTEXTS,
    DIGITS,
    FAILURES,
    Evaluator,
    OutOfReach,
    Undefined,
    Value,
)
from constraint_first.answer.syntax import Measure, Num, Op, Sym, Unreadable, clean
from constraint_first.answer.value import FORMS, decimal, interpret, read_answer, same

from .test_hostile import HOSTILE

# --- value


@pytest.mark.parametrize(
    ("text", "value", "form"),
    [
        ("12", Fraction(12), "integer"),
        ("-3", Fraction(-3), "integer"),
        (" 1,234. ", Fraction(1234), "integer"),
        ("3/7", Fraction(3, 7), "fraction"),
        (r"$\dfrac{10}{4}$", Fraction(5, 2), "fraction"),
        (r"\frac12", Fraction(1, 2), "fraction"),
        (r"-\frac{3}{7}", Fraction(-3, 7), "fraction"),
        ("0.50", Fraction(1, 2), "decimal"),
        (r"40\%", Fraction(40), "integer"),
        ("x = 5", Fraction(5), "integer"),
        (r"\boxed{\text{17}}", Fraction(17), "integer"),
        ("375 minutes", Fraction(375), "integer"),
        (r"3\frac{1}{2}", Fraction(7, 2), "fraction"),
        ("2 1/3", Fraction(7, 3), "fraction"),
        ("−1½", Fraction(-3, 2), "fraction"),
        (r"24\,\text{cm}", Fraction(24), "integer"),
        ("7 square metres", Fraction(7), "integer"),
        (r"\$12.50", Fraction(25, 2), "decimal"),
        ("five", Fraction(5), "integer"),
        ("m+n = 23", Fraction(23), "integer"),
        (r"2^{10}", Fraction(1024), "integer"),
        (r"0.\overline{3}", Fraction(1, 3), "decimal"),
        (r"\frac{0.5}{2}", Fraction(1, 4), "decimal"),
        (r"\frac{3}{-7}", Fraction(-3, 7), "fraction"),
        (r"\sqrt{9}", Fraction(3), "surd"),
        (r"\sqrt{2}\cdot\sqrt{8}", Fraction(4), "surd"),
    ],
)
def test_reads_numbers(text: str, value: Fraction, form: str) -> None:
    found = read_answer(text)
    assert found is not None
    assert (found.number, found.form) == (value, form)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "1/0",
        "2x+1",
        "12 or 13",
        "9" * 5000,
        "A or B",
        ".",
        "b",
        "(b) + 1",
        "52_8",
        "12:05 pm",
        "2^{20000}",
        "1900!",
        r"\sqrt{2^{20000}+1}",
        r"\sqrt{2^{8000}+1}\sqrt{2^{8000}+3}",
        "9" * 2000,
    ],
)
def test_leaves_alone_what_it_does_not_know(text: str) -> None:
    assert read_answer(text) is None


@pytest.mark.parametrize(
    "text",
    ["B", "(B)", r"\textbf{(B)}", r"\textbf{(B)}\ 17", "$B$", "(b)", "b)", "Option B", "B: 17"],
)
def test_reads_option_letters(text: str) -> None:
    value = read_answer(text)
    assert value is not None
    assert (value.letter, value.form) == ("B", "choice")
    assert value.number is None


@pytest.mark.parametrize(
    ("text", "coefficient", "radicand"),
    [
        (r"2\sqrt{3}", Fraction(2), 3),
        ("-3*sqrt(5)", Fraction(-3), 5),
        ("2√3", Fraction(2), 3),
        (r"\frac{3\sqrt{5}}{7}", Fraction(3, 7), 5),
        (r"\frac{1}{\sqrt{2}}", Fraction(1, 2), 2),
        (r"\sqrt{\frac{2}{3}}", Fraction(1, 3), 6),
        (r"x = 10\sqrt{6}\text{ cm}", Fraction(10), 6),
    ],
)
def test_reads_surds(text: str, coefficient: Fraction, radicand: int) -> None:
    value = read_answer(text)
    assert value is not None
    assert (value.coefficient, value.radicand, value.form) == (coefficient, radicand, "surd")
    assert value.number is None


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


@pytest.mark.parametrize(
    ("pred", "digits", "gold", "same"),
    [
        ("0.333333", 6, Fraction(1, 3), True),
        ("0.33333", 5, Fraction(1, 3), False),
        ("0.666667", 6, Fraction(2, 3), True),
        ("0.666666", 6, Fraction(2, 3), True),
        ("0.666668", 6, Fraction(2, 3), False),
        ("0.333334", 6, Fraction(1, 3), False),
        ("0.000333333", 6, Fraction(1, 3000), True),
        ("-0.333333", 6, Fraction(1, 3), False),
        ("0.125", 3, Fraction(1, 8), True),
    ],
)
def test_six_digits_make_a_decimal_equal(
    pred: str, digits: int, gold: Fraction, same: bool
) -> None:
    assert equal_numbers(Fraction(pred), digits, gold, None) is same
    assert equal_numbers(gold, None, Fraction(pred), digits) is same


@pytest.mark.parametrize("text", [r"\sqrt{2}", "x", r"\pi", "1/0", "10^{10^9}", "99999!", "0^0"])
def test_what_is_not_a_moderate_rational_is_left_alone(text: str) -> None:
    assert rational(parse(text)) is None


# --- evaluator


def value(text: str, digits: int = DIGITS, **point: str) -> Value:
    mp = CONTEXTS[digits]
    evaluate = Evaluator(digits, {name: mp.mpf(at) for name, at in point.items()})
    return evaluate(parse(clean(text)))


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


@pytest.mark.parametrize(
    ("text", "same"),
    [
        (r"(0,2)\cup(1,3)", "(0,3)"),
        (r"[0,1]\cup[1,2]", "[0,2]"),
        (r"[0,1)\cup(1,2]", r"[0,2]\setminus\{1\}"),
        (r"(0,3)\cap[1,5)", "[1,3)"),
        (r"\mathbb{R}\setminus[-2,3]", r"(3,\infty)\cup(-\infty,-2)"),
        (r"\mathbb{R}\setminus\{\sqrt2\}", r"x\ne\sqrt2"),
        (r"(0,\sqrt2)\cup(1,\pi)", r"(0,\pi)"),
        (r"(0,1)\cap(2,3)", r"\emptyset"),
        (r"\{1\}\cup\{2\}", r"\{1,2\}"),
        (r"(-1,2]\cup\{2\}", "(-1,2]"),
    ],
)
def test_operations_are_worked_out(text: str, same: str) -> None:
    (left,), (right,) = interpret(text), interpret(same)
    assert as_real_set(left) == as_real_set(right) is not None


@pytest.mark.parametrize(
    ("text", "other"),
    [
        (r"(0,1)\cup(1,2)", "(0,2)"),
        (r"(-1,1)\cup\{2\}", "(-1,2]"),
        (r"\mathbb{R}\setminus(-2,3)", r"(-\infty,-2)\cup(3,\infty)"),
    ],
)
def test_open_and_closed_ends_are_kept_apart(text: str, other: str) -> None:
    (left,), (right,) = interpret(text), interpret(other)
    assert as_real_set(left) != as_real_set(right)


def test_ends_of_unknown_order_leave_a_set_as_it_is() -> None:
    close = Op("+", (Sym("pi"), Op("/", (Sym("e"), Op("^", (Sym("pi"), Sym("e")))))))
    assert as_real_set(Op("()", (Sym("a"), Sym("pi")))) is None
    assert as_real_set(Op("()", (Sym("pi"), close))) is not None
    (root,) = interpret(r"(\sqrt{2}+\sqrt{3}, \sqrt{5+2\sqrt{6}})")
    assert as_real_set(root) is None
