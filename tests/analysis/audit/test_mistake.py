import pytest
from hypothesis import given
from hypothesis import strategies as st

from constraint_first.answer.value import read_answer, same
from constraint_first.answer.workers import Workers
from constraint_first.benchmark.constraintbench.family import ERRORS, GoldConstraint, Item, load
from constraint_first.constraint import predicate as demand
from constraint_first.constraint.predicate import Predicate
from constraint_first.report.exhibit.marks import (
    MISTAKE_LABELS,
    MISTAKES,
    Demands,
    Mistake,
    mistake,
)

MOD = "Find the remainder when $N$ is divided by $1000$."
SUM = "It is $\\frac{m}{n}$ in lowest terms. Find $m+n$."
SURD = "It is $\\frac{a\\sqrt{b}}{c}$. Find $a+b+c$."
ROOT = "It is $m\\sqrt{n}$. Find $m+n$."
BIG = "It is $\\frac{m}{n}$. Find $100m+n$."
PLAIN = "Find $x$."

SHIPPED = [*load("public"), *load("hard"), *load("public@1")]


def by_text(text: str, right: str | None, answer: str | None, benchmark: str = "") -> Mistake:
    return mistake(answer, Demands.of_text(text, right, benchmark))


def by_gold(problem: Item, answer: str | None) -> Mistake:
    return mistake(answer, Demands.of_item(problem))


@pytest.mark.parametrize(
    ("text", "right", "answer", "expected"),
    [
        # Not reduced.
        (MOD, "16", "1016", "forgot_modular_reduction"),
        (MOD, "16", "\\boxed{2{,}016}", "forgot_modular_reduction"),
        (MOD, "16", "2,016", "forgot_modular_reduction"),
        (MOD, "24", "2^{10}", "forgot_modular_reduction"),
        (MOD, "999", "-1", "forgot_modular_reduction"),
        (MOD, "0", "1" + "0" * 500, "forgot_modular_reduction"),
        ("What is the units digit of $18^6$?", "4", "34012224", "out_of_range"),
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
        (SURD, "15", "\\frac{3\\sqrt{5}}{7}", "not_an_integer"),
        (ROOT, "5", "2\\sqrt{3}", "not_an_integer"),
        (ROOT, "4", "\\sqrt{3}", "not_an_integer"),
        (BIG, "307", "\\frac37", "not_an_integer"),
        (SUM, "10", "\\frac{3}{8}", "not_an_integer"),
        (PLAIN, "10", "\\frac{3}{7}", "not_an_integer"),  # no code is stated
        # Not an integer.
        (PLAIN, "204", "204.5", "not_an_integer"),
        (PLAIN, "3", "\\pi", "not_an_integer"),
        (PLAIN, "4", "1+\\sqrt{2}", "not_an_integer"),
        (PLAIN, "90^\\circ", "118.1^\\circ", "not_an_integer"),
        (PLAIN, "5", "x + \\frac12", "other"),  # not a number
        (SUM, "\\frac32", "1+\\sqrt{2}", "other"),  # the right answer is not whole either
        (PLAIN, "80", "75\\%", "other"),  # a percentage is the number that it names
        (PLAIN, "\\frac12", "\\frac13", "other"),  # the right answer is none either
        # Out of range.
        (MOD, "16", "4017", "out_of_range"),
        ("Find the largest prime less than 100.", "97", "101", "out_of_range"),
        ("Find the largest prime less than 100.", "97", "100", "out_of_range"),
        ("Find the largest prime less than 100.", "97", "89", "other"),
        ("What is the probability of rain?", "\\frac{1}{3}", "2", "out_of_range"),
        ("What is the probability of rain?", "\\frac{1}{3}", "\\sqrt{2}", "out_of_range"),
        ("What is the probability of rain?", "\\frac{1}{3}", "\\frac{\\sqrt{2}}{2}", "other"),
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
    text: str, right: str | None, answer: str | None, expected: Mistake
) -> None:
    assert by_text(text, right, answer) == expected


def test_aime_answers_have_a_range_of_their_own() -> None:
    assert by_text(PLAIN, "204", "1204", "aime24") == "out_of_range"
    assert by_text(PLAIN, "204", "-4", "aime25") == "out_of_range"
    assert by_text(PLAIN, "204", "205", "aime24") == "other"
    assert by_text(PLAIN, "204", "1204", "gsm8k") == "other"


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
    assert by_text(SUM + " " + MOD, "16", answer, "aime24") in MISTAKES


@given(st.text(max_size=60) | st.text("0123456789+-/\\{}()sqrtfac^ .,%$", max_size=60))
def test_any_answer_has_a_class(answer: str) -> None:
    found = by_text(SUM, "16", answer)
    assert (found == "no_answer") == (not answer.strip())


@pytest.mark.parametrize("problem", SHIPPED, ids=lambda problem: problem.id)
def test_each_tempting_answer_gets_its_label(problem: Item) -> None:
    right = read_answer(problem.answer)
    assert right is not None
    assert by_gold(problem, None) == "no_answer"
    assert by_gold(problem, problem.answer) == "other"
    for lure in problem.tempting:
        value = read_answer(lure.answer)
        assert value is not None
        if problem.version > 1 or lure.error != "forgot_modular_reduction":
            # An unreduced fraction has the right value, so a grader by value takes it for right.
            expected = "other" if same(value, right) else lure.error
            assert by_gold(problem, lure.answer) == expected


@pytest.mark.parametrize("problem", load("public@1"), ids=lambda problem: problem.id)
def test_only_the_right_value_before_its_reduction_forgot_one(problem: Item) -> None:
    asked = [p["modulus"] for p in Demands.of_item(problem).predicates if "modulus" in p]
    right = read_answer(problem.answer)
    for lure in problem.tempting:
        value = read_answer(lure.answer)
        if lure.error == "forgot_modular_reduction" and value and right:
            found = by_gold(problem, lure.answer)
            assert found in ("forgot_modular_reduction", "out_of_range", "broken_condition")
            if found == "forgot_modular_reduction":
                assert value.number is not None
                assert right.number is not None
                gap = value.number - right.number
                assert any(isinstance(m, int) and gap % m == 0 for m in asked)


def item(answer: str, *predicates: Predicate) -> Item:
    rules = tuple(GoldConstraint("domain", "rule", one) for one in predicates)
    return Item("text", answer, "integer", rules, (), "explicit", "family", 1, 1, 1)


@pytest.mark.parametrize(
    ("problem", "answer", "error"),
    [
        (item("3", demand.least_residue(7)), "24", "forgot_modular_reduction"),
        (item("3", demand.least_residue(7)), "25", "out_of_range"),
        (item("3", demand.least_residue(7)), "5", "other"),
        (item("3", demand.least_residue(7)), "7/2", "not_an_integer"),
        (item("3", demand.least_residue(7)), r"1+\sqrt{2}", "not_an_integer"),
        (item("2", demand.encoded("m+n", (3, 7), 4)), "10", "forgot_modular_reduction"),
        (item("10", demand.encoded("m+n", (3, 7))), "3/7", "encoded_form_not_applied"),
        (item("10", demand.encoded("m+n", (3, 7))), "11", "other"),
        (item("5", demand.encoded("a+b", (2, 3))), r"2\sqrt{3}", "encoded_form_not_applied"),
        (item("5", demand.encoded("a+b", (2, 3))), r"1+2\sqrt{3}", "encoded_form_not_applied"),
        (item("4", demand.integer()), "4.5", "not_an_integer"),
        (item("4", demand.integer()), r"3\frac{1}{2}", "not_an_integer"),
        (item("4", demand.between(0, 9)), "12", "out_of_range"),
        (item("4", demand.between(0, 9)), r"12\,\text{cm}", "out_of_range"),
        (item("1/2", demand.between(0, 1)), "3/2", "out_of_range"),
        (item("4", demand.parity("even")), "5", "ignored_parity"),
        (item("4", demand.parity("even")), "7 square metres", "ignored_parity"),
        (item("4", demand.congruent(1, 3)), "5", "broken_condition"),
        (item("4", demand.congruent(1, 3)), "7", "other"),  # a search asks for no remainder
        (item("4", demand.divisible(2)), "9", "broken_condition"),
        (item("4", demand.divisible(2)), "9/2", "not_an_integer"),
        (item("1/2", demand.not_whole()), "1", "misled_by_cue"),
        (item("B", demand.form("choice")), "17", "encoded_form_not_applied"),
        (item("B", demand.form("choice")), "C", "other"),
        (item("4", demand.integer()), "C", "other"),
        (item("4", demand.all_of(demand.integer(), demand.above(0))), "-4", "out_of_range"),
        (item("4", demand.integer()), "no idea", "other"),
        (item("4", demand.integer()), None, "no_answer"),
        (item("4", demand.integer()), "4.0", "other"),
        (item("1/2", demand.between(0, 1)), r"\frac{2}{4}", "other"),
        (item("1/2", demand.between(0, 1)), r"\pi", "other"),
    ],
)
def test_other_wrong_answers_are_judged_by_what_they_break(
    problem: Item, answer: str | None, error: Mistake
) -> None:
    assert by_gold(problem, answer) == error


def test_a_demand_that_the_right_answer_breaks_is_no_demand() -> None:
    text = "Find the largest prime less than 100."
    assert by_text(text, "997", "1001") == "other"


def test_a_constant_that_takes_too_long_is_in_no_class(monkeypatch: pytest.MonkeyPatch) -> None:
    def out_of_time(*_: object) -> None:
        return None

    monkeypatch.setattr(Workers, "is_whole", out_of_time)
    assert by_text(PLAIN, "3", r"\pi") == "other"


def test_every_class_has_a_label_and_takes_in_those_of_constraintbench() -> None:
    assert set(ERRORS) < set(MISTAKES) == set(MISTAKE_LABELS)
