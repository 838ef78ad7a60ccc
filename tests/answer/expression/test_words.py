import pytest
from hypothesis import given
from hypothesis import strategies as st

from constraint_first.answer.canonical import (
    NUMERALS,
    absence_verdict,
    choice_letter,
    choice_verdict,
    plain_words,
    truth_verdict,
    words_verdict,
)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (r"\text{The Eiffel Tower.}", "eiffel tower"),
        ("  An  EVEN\nnumber ", "even number"),
        ("$**odd**$", "odd"),
        (r"\mathrm{No}!", "no"),
        ("(east)", "east"),
        ("", ""),
        ("it is a", ""),
        ("x" * 4_000, ""),
    ],
)
def test_words_without_their_typesetting(text: str, words: str) -> None:
    assert plain_words(text) == words


@given(st.text(max_size=80))
def test_plain_words_are_plain(text: str) -> None:
    assert not set(plain_words(text)) & set("{}$*`\\\n")


@pytest.mark.parametrize(
    ("text", "letter"),
    [
        ("B", "B"),
        ("(B)", "B"),
        ("(b)", "B"),
        ("b)", "B"),
        (r"\textbf{(B)}\ 17", "B"),
        ("Option B", "B"),
        ("Answer: C.", "C"),
        ("B: 17", "B"),
        ("J", "J"),
        ("b", None),
        ("K", None),
        ("AB", None),
        ("", None),
        ("A or B", None),
        ("A + 1", None),
        ("(b) + 1", None),
    ],
)
def test_the_letter_of_an_option(text: str, letter: str | None) -> None:
    assert choice_letter(text) == letter


@pytest.mark.parametrize(
    ("pred", "gold", "verdict"),
    [
        ("B", "B", True),
        ("(b) 17", r"\textbf{(B)}", True),
        ("C", "(B)", False),
        ("option c", "B", False),
        ("17", "B", None),
        ("B", "17", None),
        ("b", "x", None),
        ("B", "(B) 17", True),
        ("A, C", "A and C", True),
        ("CA", "AC", False),
        ("A", "A and C", None),
        ("A, B", "A, C", False),
    ],
)
def test_choices_are_compared_where_gold_is_one(pred: str, gold: str, verdict: bool | None) -> None:
    assert choice_verdict(pred, gold) is verdict


@pytest.mark.parametrize(
    ("pred", "gold", "verdict"),
    [
        ("Yes.", "yes", True),
        (r"\text{True}", "Yes", True),
        ("no", "True", False),
        ("5", "yes", False),
        ("是", "yes", True),
        ("yes", r"\text{No}", False),
        ("yes", "Y", True),
        ("no", "F", True),
        ("true", "F", False),
        ("5", "T", None),
        ("yes", "5", None),
        ("yes", "yes and no", None),
    ],
)
def test_yes_and_no(pred: str, gold: str, verdict: bool | None) -> None:
    assert truth_verdict(pred, gold) is verdict


@pytest.mark.parametrize(
    ("pred", "gold", "verdict"),
    [
        ("The Pacific Ocean", r"\text{pacific ocean}", True),
        ("atlantic ocean", "pacific ocean", False),
        ("seven", "7", True),
        ("12", "Twelve", True),
        ("six", "7", False),
        ("east", "x+1", None),
        ("x", "xy", None),
        ("east", "", None),
        ("isosceles", "isosceles 30", None),
    ],
)
def test_words_are_compared_where_gold_is_words(pred: str, gold: str, verdict: bool | None) -> None:
    assert words_verdict(pred, gold) is verdict


@pytest.mark.parametrize(
    ("pred", "gold", "verdict"),
    [
        ("No solution exists.", "no solution", True),
        ("There is no solution", "no solution", True),
        (r"\text{no solutions exist}", "No solution", True),
        ("there are no solutions", "no solution exists", True),
        ("no real solutions", "no real solution", True),
        ("no real solution", "no solution", None),
        ("no solution", "no real solutions", None),
        ("the solution is 3", "no solution", None),
        ("no answer", "no solution", None),
        ("no solution", "0", None),
    ],
)
def test_ways_to_say_that_there_is_no_solution(pred: str, gold: str, verdict: bool | None) -> None:
    assert absence_verdict(pred, gold) is verdict


def test_numerals_count_from_zero_to_twelve() -> None:
    assert list(NUMERALS.values()) == [str(number) for number in range(13)]
    assert NUMERALS["seven"] == "7"


@given(st.text(max_size=40), st.text(max_size=40))
def test_no_two_texts_break_a_comparison(pred: str, gold: str) -> None:
    for compare in (absence_verdict, choice_verdict, truth_verdict, words_verdict):
        assert compare(pred, gold) in (True, False, None)
        assert compare(gold, gold) in (True, None), "a text is never another than itself"
