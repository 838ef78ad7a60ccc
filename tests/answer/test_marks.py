from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from constraint_first.answer.marks import (
    ANSWER_WORDS,
    bald,
    find_box,
    from_choice,
    from_marker,
    has_marker,
    leading_letter,
    lone_letter,
    read_phrase,
    unmarked,
    unnamed,
)

# --- box


@given(st.text(alphabet=r"\boxedf{} 12,and$", max_size=120))
def test_no_text_breaks_it(text: str) -> None:
    box = find_box(text)
    assert box is None or box.content is None or box.closed


# --- phrase


@given(st.text(max_size=120) | st.text("$*\\()[].:= \nanswerisB123", max_size=80))
def test_what_is_left_is_a_part_of_the_text(text: str) -> None:
    assert bald(text) in text
    assert unnamed(text) in text
    assert read_phrase(text) in text


# --- choice


@given(st.text(max_size=120) | st.text("ABCDI ()[]{}*$.,-is not", max_size=80))
def test_a_letter_is_a_part_of_the_text(text: str) -> None:
    found = from_choice(text)
    assert found is None or found[0] in text
    assert leading_letter(text) in text
    assert lone_letter(text) in text


# --- marker


@pytest.mark.parametrize("word", ANSWER_WORDS)
def test_an_answer_word_of_another_language(word: str) -> None:
    for text in (f"{word}: 42", f"**{word.capitalize()}:** 42", f"{word} = $42$."):
        assert from_marker(text) == ("42", "marker")


def test_the_first_of_several_options_is_no_mark() -> None:
    assert not has_marker("A: 12\nB: 15")
    assert has_marker("A: 12")


@given(st.text(max_size=120) | st.text("$*\\()[].:= \nanswerisB123", max_size=80))
def test_what_is_taken_is_a_part_of_the_text(text: str) -> None:
    found = from_marker(text)
    assert found is None or found[0] in text
    assert unmarked(text) in text
