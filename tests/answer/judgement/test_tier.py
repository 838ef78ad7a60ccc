from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from constraint_first.answer import exact
from constraint_first.answer.canonical import interpret
from constraint_first.answer.grade import (
    MAX_LENGTH,
    Equivalence,
    Ruling,
    asks_percent,
    decide,
    decide_trees,
    spell_variables,
)
from constraint_first.answer.syntax import Node, Num, Op

CONE = "A cone has the height $h$. What is its volume?"


@pytest.mark.parametrize(
    ("answer", "gold", "problem", "read"),
    [
        (r"6\text{h}", "6", CONE, "6 h "),
        (r"6\mathrm{ h }", "6h", CONE, "6 h "),
        (r"6\text{h}", "6", "", r"6\text{h}"),
        (r"6\text{h}", "6", "Tom's walk of 5 h is 30 km/h. How long is it?", r"6\text{h}"),
        (r"6\text{m}", "6", r"A pole of $5\text{ m}$ stands in it.", r"6\text{m}"),
        (r"6\text{h}", r"6\text{ h}", CONE, r"6\text{h}"),
        (r"6\text{cm}", "6", CONE, r"6\text{cm}"),
    ],
)
def test_a_letter_of_the_problem_is_no_unit(
    answer: str, gold: str, problem: str, read: str
) -> None:
    assert spell_variables(answer, gold, problem) == read


@pytest.mark.parametrize(
    ("pred", "gold", "why"),
    [
        ("42", "42", "equal as integers"),
        ("+042", "42", "equal as integers"),
        ("-0", "0", "equal as integers"),
        (" 42 ", "42", "equal as integers"),
        ("41", "42", "different as integers"),
        ("-42", "42", "different as integers"),
        ("x + y", "x + y", "the same text"),
        ("B", "(B)", "equal as choices"),
        ("C", "(B)", "different as choices"),
        ("True", "yes", "equal as yes or no"),
        ("no", "yes", "different as yes or no"),
        ("1/2", "0.5", "equal by exact arithmetic"),
        ("1/3", "0.5", "different by exact arithmetic"),
        ("1, 2", r"\{2, 1\}", "equal by exact arithmetic"),
        ("x > 3", r"(3, \infty)", "equal by exact arithmetic"),
        ("The Pacific Ocean", "pacific ocean", "equal as words"),
        ("the atlantic ocean", "pacific ocean", "different as words"),
        (r"\foo ^ 2", r"\foo^2.", "the same text but for spacing"),
        ("east of Eden", "17", "the answer cannot be read as mathematics"),
    ],
)
def test_what_it_is_sure_of(pred: str, gold: str, why: str) -> None:
    ruling = decide(pred, gold)
    assert ruling == Ruling("different" not in why and "cannot" not in why, why)


@pytest.mark.parametrize(
    ("pred", "gold"), [(r"\sqrt{8}", r"2\sqrt{2}"), ("2x", "x+x"), (r"\sin 1", "0.841471")]
)
def test_what_needs_values_is_left_to_the_other_tier(pred: str, gold: str) -> None:
    assert decide(pred, gold) == Ruling(None, "not decided by exact arithmetic")


def test_what_nobody_can_read_is_not_passed_on() -> None:
    unread = decide("5", r"\foo^2")
    assert (unread.same, unread.readable) == (None, False)
    long = decide("x" * (MAX_LENGTH + 1), "5")
    assert long == Ruling(None, "too long to be read as mathematics", readable=False)
    assert decide("9" * 1_000_000, "9" * 1_000_000).same is True
    assert decide("9" * 1_000_000, "8" * 1_000_000).same is False


@pytest.mark.parametrize(
    ("pred", "gold", "percent", "same"),
    [
        (r"25\%", "25", True, True),
        (r"25\%", "25", False, False),
        ("25", r"25\%", True, True),
        (r"25\%", "0.25", False, True),
        ("26", r"25\%", True, False),
    ],
)
def test_a_percentage_is_its_number_where_one_is_asked_for(
    pred: str, gold: str, percent: bool, same: bool
) -> None:
    assert decide(pred, gold, percent=percent).same is same


@pytest.mark.parametrize(
    ("problem", "asks"),
    [
        ("What percentage is red?", True),
        ("Find the PERCENT of …", True),
        (r"A 5\% solution", True),
        ("Find x.", False),
        ("", False),
    ],
)
def test_a_problem_that_asks_for_a_percentage(problem: str, asks: bool) -> None:
    assert asks_percent(problem) is asks


def equivalence(answer: bool | None) -> Equivalence:
    """One that says the same of every two scalars."""

    def say(pred: Node, gold: Node) -> bool | None:
        return answer

    return Equivalence(say, say, percent=False)


@pytest.mark.parametrize("answer", [True, False, None])
def test_trees_are_compared_each_with_each(answer: bool | None) -> None:
    one, other = Op("^", (Num(Fraction(2)), Num(Fraction(3)))), Num(Fraction(9))
    assert decide_trees([one], [other], equivalence(answer)) is answer
    assert decide_trees([], [other], equivalence(answer)) is False


def test_any_way_to_read_both_that_matches_counts() -> None:
    arithmetic = Equivalence(exact.leaf, lambda _pred, _gold: None, percent=False)
    thousand, listed = interpret("1,234")
    assert decide_trees([thousand, listed], interpret("1234"), arithmetic) is True
    assert decide_trees([listed, thousand], interpret("1234"), arithmetic) is True
    assert decide_trees([listed], interpret("1234"), arithmetic) is False


ANSWERS = st.text(max_size=30) | st.text(r"0123456789,.()[]{}\xy=<>±-+/% ", max_size=20)


@given(ANSWERS)
def test_an_answer_is_itself(text: str) -> None:
    assert decide(text, text).same is True


@given(ANSWERS, ANSWERS)
def test_every_two_texts_have_a_ruling(pred: str, gold: str) -> None:
    ruling = decide(pred, gold)
    assert ruling.same in (True, False, None)
    assert ruling.why
    assert ruling == decide(pred, gold)
    assert ruling.readable or ruling.same is None


@given(st.integers(), st.integers())
def test_integers_are_compared_by_value(pred: int, gold: int) -> None:
    assert decide(str(pred), f"{gold:+}").same is (pred == gold)
    assert decide(f"{pred:,}", str(gold)).same is (pred == gold)
