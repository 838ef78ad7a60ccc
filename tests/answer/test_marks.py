from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from constraint_first.answer.marks import (
    ANSWER_WORDS,
    bald,
    bounds,
    find_box,
    from_choice,
    from_marker,
    has_marker,
    is_rejected,
    is_supposed,
    leading_letter,
    lone_letter,
    read_phrase,
    unmarked,
    unnamed,
)

# --- assertion


_PIECES = st.sampled_from(
    (
        "it is/not/cannot be/isn't/never/neither/nor/nicht/kein/weder/noch/none of the/nothing"
        "/no one/rather than/instead of/as opposed to/unlike/ruling out/eliminating/exclude"
        "/discard/reject/the value/dismissed/n'est pas/no es/no puede ser/at least/at the most"
        "/more than/fewer than or equal to/up to/exceeds/exceeding/over/under/above/below/almost"
        "/nearly/anything but/all numbers except/except for/between/3 and/negative of"
        "/square root of/half/twice/double/triple/log base 2 of/close to/not far from"
        "/divisible by/congruent to/ending in/starts with/mindestens/mehr als/au moins/plus de"
        "/menos de/al menos/x/</>/<=/>=/!=/=</\\leq/\\ge/\\leqslant/\\neq/\\ne/\\gt/\\lt/\\neg"
        "/\\le/\\geq/\\leslant/\\geslant/\\geqslant/exceed/between 3 and/au plus/suppose/assume"
        "/assuming/imagine/whether/one might think/we may guess/you could say/people would expect"
        "/my first guess/initial idea/original answer/earlier attempt/previous answer/mistakenly"
        "/wrongly/incorrectly/erroneously/thought/believe/I doubt that/it is false that"
        "/untrue that/deny that/no reason/evidence/the/a/an/about/exactly/approximately/$/(/[/**"
        '/"/\\(/\\[/`/_/so/,/./;/\n/\x1f/but'
    ).split("/")
)


@settings(max_examples=1_500, deadline=None)
@given(st.lists(_PIECES, max_size=7), st.sampled_from([" ", "  ", "\n", ""]), st.booleans())
def test_ascii_text_is_read_like_any_other(pieces: list[str], gap: str, shouts: bool) -> None:
    before = " ".join(pieces)[-60:] + gap
    before = before.upper() if shouts else before
    text, start = f"{before}5", len(before)
    # With another letter than ASCII's ahead, every pattern is tried.
    marked = f"é. {text}"
    assert is_supposed(before) == is_supposed(f"é. {before}")
    assert is_rejected(text, start, start + 1) == is_rejected(marked, start + 3, start + 4)
    assert bounds(text, start, start + 1) == bounds(marked, start + 3, start + 4)


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
