import pytest
from hypothesis import given
from hypothesis import strategies as st

from constraint_first.answer.marks import bald, last_value, read_phrase, trailing_maths, unnamed


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("$$5$$", "5"),
        (r"\(5\)", "5"),
        (r"\[5\]", "5"),
        ("**5**", "5"),
        ('"5"', "5"),
        ("5.", "5"),
        ("...", "..."),
        ("$5$ and $6$", "$5$ and $6$"),
        ("  5  ", "5"),
        ("$", "$"),
        ("", ""),
    ],
)
def test_an_answer_without_its_wrapping(text: str, answer: str) -> None:
    assert bald(text) == answer


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("5,", "5"),
        ("5;", "5"),
        ("*5*", "5"),
        ("5.*", "5"),
        ("__5__", "5"),
        ("“5”", "5"),
        ("5，", "5"),
    ],
)
def test_a_comma_and_other_emphasis_go_too(text: str, answer: str) -> None:
    assert bald(text) == answer


def test_a_thin_space_is_no_comma() -> None:
    assert bald(r"5\,") == r"5\,"


@pytest.mark.parametrize(
    ("rest", "phrase"),
    [
        (" 42, since it must be.", "42"),
        (" 42 (we can check it)", "42"),
        (" therefore 42.", "42"),
        (", 42", "42"),
        (" 42 — not 43 — because", "42"),
        (" the number of apples in the basket is 42", "42"),
        (" x = 2, y = -1", "x = 2, y = -1"),
        (" Total = 45", "45"),
        ("一共有42个。", "42"),
    ],
)
def test_where_a_phrase_ends(rest: str, phrase: str) -> None:
    assert read_phrase(rest) == phrase


@pytest.mark.parametrize(
    ("phrase", "value"),
    [
        ("Total = 45", "45"),
        (r"\text{Total} = 45", "45"),
        ("x = 45", "x = 45"),
        ("sin x = 1", "sin x = 1"),
    ],
)
def test_words_before_an_equals_sign(phrase: str, value: str) -> None:
    assert unnamed(phrase) == value


@pytest.mark.parametrize(
    ("sentence", "found"),
    [
        ("The roots are $1$ and $2$.", ("1, 2", "inline")),
        ("From $1$ we get $x = 2$.", ("2", "inline")),
        ("It is **odd**.", ("odd", "bold")),
        ("It is odd.", None),
    ],
)
def test_mathematics_at_the_end_of_a_sentence(sentence: str, found: tuple[str, str] | None) -> None:
    assert trailing_maths(sentence) == found


def test_the_last_value_of_a_sentence() -> None:
    assert last_value("from 3 we get $4$ and 5") == "4"
    assert last_value("from 3 we get 1,234") == "1,234"
    assert last_value("nothing") == ""


@given(st.text(max_size=120) | st.text("$*\\()[].:= \nanswerisB123", max_size=80))
def test_what_is_left_is_a_part_of_the_text(text: str) -> None:
    assert bald(text) in text
    assert unnamed(text) in text
    assert read_phrase(text) in text
