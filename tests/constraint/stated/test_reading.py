from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from constraint_first.constraint.stated.reading import ASK, LONGEST, Reading, plain_text


def reading(text: str) -> Reading:
    return Reading(text, plain_text(text))


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("Ann has $3$ pens. How many has Bob? Bob has 4.", "How many has Bob?"),
        ("Let $n=2.5$. Find $n$.", "Find $n$."),
        ("How far is it? Express your answer as a decimal.", "How far is it?"),
        ("If Mr. Lee runs, find his time.", "If Mr. Lee runs, find his time."),
        ("It ends at 3 p.m. on Monday. What time is it?", "What time is it?"),
    ],
)
def test_the_question_is_the_last_sentence_that_asks(text: str, question: str) -> None:
    found = reading(text).question
    assert found is not None
    assert text[slice(*found)].strip() == question


def test_a_text_that_asks_nothing() -> None:
    nothing = reading("The sum is 3.")
    assert (nothing.question, nothing.heads, nothing.tail) == (None, (), "")
    assert nothing.asked(re.compile(ASK)) is None


def test_several_things_under_letters_of_their_own() -> None:
    assert reading("(a) Find x. (b) Find y.").in_parts
    assert not reading("Which? (A) one (B) two").in_parts


def test_an_answer_that_is_wanted_in_another_form() -> None:
    assert reading("How likely is it? Give your answer in the form m+n.").recoded


def test_words_and_numbers() -> None:
    assert reading("Two 3 and 4.5").words == {"two", "and"}
    assert reading("Two 3 and 4.5").number_count == 2


@given(st.text(alphabet=st.characters(exclude_categories=())))
def test_no_character_moves(text: str) -> None:
    assert len(plain_text(text)) == len(text)


def test_no_longer_text_is_read() -> None:
    assert LONGEST == 20_000


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("Which number is even?", 1),
        ("Of 3 and 4, which is even?", 1),
        ("How many numbers which are even lie below 9?", 1),
        ("If a number which is even is halved, what is left?", 1),
    ],
)
def test_which_asks_only_where_it_opens_a_clause(text: str, count: int) -> None:
    assert len(reading(text).heads) == count


@pytest.mark.parametrize(
    ("text", "made"),
    [
        ("Find the largest even number below 9, then double it.", True),
        ("What is the chance of rain? Multiply it by 16.", True),
        ("Find the largest even number below 9.", False),
        ("How many square feet are there?", False),
    ],
)
def test_a_next_step_makes_something_else_of_the_answer(text: str, made: bool) -> None:
    assert reading(text).recoded is made


def test_larger_numbers_in_words_are_seen() -> None:
    assert reading("He has thirty-five pens.").has_large_words
    assert not reading("He has twelve pens.").has_large_words
