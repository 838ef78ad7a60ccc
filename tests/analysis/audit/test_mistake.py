import pytest
from hypothesis import given
from hypothesis import strategies as st

from cfr.analysis.audit.mistake import MISTAKE_LABELS, MISTAKES, Mistake, mistake, mistake_on_item
from cfr.analysis.audit.scoring import classify
from cfr.benchmark.constraintbench.item import ERRORS
from cfr.benchmark.constraintbench.split import load

MOD = "Find the remainder when $N$ is divided by $1000$."
SUM = "It is $\\frac{m}{n}$ in lowest terms. Find $m+n$."
SURD = "It is $\\frac{a\\sqrt{b}}{c}$. Find $a+b+c$."
ROOT = "It is $m\\sqrt{n}$. Find $m+n$."
BIG = "It is $\\frac{m}{n}$. Find $100m+n$."
PLAIN = "Find $x$."


@pytest.mark.parametrize(
    ("text", "gold", "answer", "expected"),
    [
        # Not reduced.
        (MOD, "16", "1016", "forgot_modular_reduction"),
        (MOD, "16", "\\boxed{2{,}016}", "forgot_modular_reduction"),
        (MOD, "16", "2,016", "forgot_modular_reduction"),
        (MOD, "24", "2^{10}", "forgot_modular_reduction"),
        (MOD, "999", "-1", "forgot_modular_reduction"),
        (MOD, "0", "1" + "0" * 500, "forgot_modular_reduction"),
        ("What is the units digit of $18^6$?", "4", "34012224", "forgot_modular_reduction"),
        ("Compute $40 \\bmod 7$.", "5", "40", "forgot_modular_reduction"),
        (PLAIN, "16", "1016", "other"),  # no modulus is stated
        ("How many leave a remainder of 1 when divided by 7?", "5", "12", "other"),
        # Not encoded.
        (SUM, "10", "\\frac{3}{7}", "encoded_form_not_applied"),
        (SUM, "10", "3/7", "encoded_form_not_applied"),
        (SUM, "10", "$\\dfrac{3}{7}$", "encoded_form_not_applied"),
        (SUM, "10", "6/14", "encoded_form_not_applied"),  # by its value
        (SUM, "20", "6/14", "encoded_form_not_applied"),  # as it is written
        (SUM, "7", "0.75", "encoded_form_not_applied"),
        (SURD, "15", "\\frac{3\\sqrt{5}}{7}", "encoded_form_not_applied"),
        (ROOT, "5", "2\\sqrt{3}", "encoded_form_not_applied"),
        (ROOT, "4", "\\sqrt{3}", "encoded_form_not_applied"),  # its factor is 1
        (BIG, "307", "\\frac37", "encoded_form_not_applied"),
        (SUM, "10", "\\frac{3}{8}", "not_an_integer"),
        (PLAIN, "10", "\\frac{3}{7}", "not_an_integer"),  # no code is stated
        # Not an integer.
        (PLAIN, "204", "204.5", "not_an_integer"),
        (PLAIN, "3", "\\pi", "not_an_integer"),
        (PLAIN, "4", "1+\\sqrt{2}", "not_an_integer"),
        (PLAIN, "90^\\circ", "118.1^\\circ", "not_an_integer"),
        (PLAIN, "5", "x + \\frac12", "other"),  # not a number
        (PLAIN, "80", "75\\%", "other"),  # a percentage is the number that it names
        (PLAIN, "\\frac12", "\\frac13", "other"),  # the right answer is none either
        # Out of range.
        (MOD, "16", "4017", "out_of_range"),
        ("Find the largest prime less than 100.", "97", "101", "out_of_range"),
        ("Find the largest prime less than 100.", "97", "100", "out_of_range"),
        ("Find the largest prime less than 100.", "97", "89", "other"),
        ("What is the probability of rain?", "\\frac{1}{3}", "2", "out_of_range"),
        # No answer.
        (PLAIN, "5", None, "no_answer"),
        (PLAIN, "5", " \n", "no_answer"),
        # Nothing to judge by, or nothing wrong that could be seen.
        (PLAIN, None, "5", "other"),
        (PLAIN, "(1, 2)", "7", "other"),
        (PLAIN, "\\text{east}", "7", "other"),
        (PLAIN, "5", "5.0", "other"),
        (PLAIN, "5", "eval(__import__('os').abort())", "other"),
    ],
)
def test_what_an_answer_shows(
    text: str, gold: str | None, answer: str | None, expected: Mistake
) -> None:
    assert mistake(text, gold, answer) == expected


def test_aime_answers_have_a_range_of_their_own() -> None:
    assert mistake(PLAIN, "204", "1204", "aime24") == "out_of_range"
    assert mistake(PLAIN, "204", "-4", "aime25") == "out_of_range"
    assert mistake(PLAIN, "204", "205", "aime24") == "other"
    assert mistake(PLAIN, "204", "1204", "gsm8k") == "other"


@pytest.mark.parametrize(
    "answer",
    [
        "9" * 5_000,
        "9^{9^{9^{9}}}",
        "{" * 900 + "1" + "}" * 900,
        "(" * 900 + "1" + ")" * 900,
        "\\sqrt{" * 30 + "2" + "}" * 30,
        "\\frac{1}{" * 80 + "2" + "}" * 80,
        "20000!" * 30,
        "1" + "+1" * 490,
        "\\sin(" * 30 + "1" + ")" * 30,
        "-" * 999,
        "\x00\x1b[2J\ud800",
        "1/0",
        "\\infty",
    ],
)
def test_hostile_answers_end_in_a_class(answer: str) -> None:
    assert mistake(SUM + " " + MOD, "16", answer, "aime24") in MISTAKES


@given(st.text(max_size=60) | st.text("0123456789+-/\\{}()sqrtfac^ .,%$", max_size=60))
def test_any_answer_has_a_class(answer: str) -> None:
    found = mistake(SUM, "16", answer)
    assert (found == "no_answer") == (not answer.strip())


def test_constraintbench_is_classed_by_its_gold_constraints() -> None:
    for item in load("mini"):
        assert mistake_on_item(item, None) == "no_answer"
        assert mistake_on_item(item, item.answer) == "other"
        for lure in item.tempting:
            # A fraction that is only not in lowest terms has the right value.
            expected = classify(item, lure.answer) and lure.error
            assert mistake_on_item(item, lure.answer) == (expected or "other")


def test_every_class_has_a_label_and_takes_in_those_of_constraintbench() -> None:
    assert set(ERRORS) < set(MISTAKES) == set(MISTAKE_LABELS)
