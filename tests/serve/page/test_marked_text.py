import re

from hypothesis import given
from hypothesis import strategies as st
from paged import HOSTILE

from constraint_first.constraint.router import route
from constraint_first.constraint.stated.read import read_stated
from constraint_first.serve.page.site import (
    TextMark,
    cue_marks,
    mark_text,
    quote_words,
    stated_marks,
)

TEXT = "Find the remainder when $3^5$ is divided by 7."


def test_cues_and_demands_are_marked_and_formulas_drawn() -> None:
    marks = (*cue_marks(route(TEXT)), *stated_marks(read_stated(TEXT)))
    html = mark_text(TEXT, marks)
    cue = '<mark class="cue cue-1 stated" title="cue: modular remainder; The answer is a remainder'
    assert cue in html
    assert "<math>" in html
    assert html.count("<mark") == html.count("</mark>") == 3


def test_a_mark_takes_in_the_whole_of_a_formula() -> None:
    inside = TEXT.index("^")
    html = mark_text(TEXT, [TextMark(inside, inside + 1, "a", "b")])
    assert re.search(r'<mark class="a" title="b"><math>.*</math></mark> is divided', html)


def test_a_mark_beyond_its_paragraph_or_its_text_is_left_out() -> None:
    text = "One.\n\nTwo."
    out = [TextMark(0, 9, "a", ""), TextMark(3, 99, "b", ""), TextMark(2, 2, "c", "")]
    assert mark_text(text, out) == "<p>One.</p>\n<p>Two.</p>\n"


def test_what_a_text_or_a_title_says_is_not_obeyed() -> None:
    html = mark_text(HOSTILE, [TextMark(0, 8, '"><script>', '"><script>alert(1)</script>')])
    assert "<script" not in html
    assert html.count("<mark") == html.count("</mark>") == 1


@given(
    st.text(alphabet="ab $\\`*\n\ue000\ue001<&", max_size=40),
    st.lists(st.tuples(st.integers(-2, 45), st.integers(-2, 45)), max_size=5),
)
def test_every_mark_that_opens_closes(text: str, spans: list[tuple[int, int]]) -> None:
    html = mark_text(text, [TextMark(*span, "m", "t") for span in spans])
    assert html.count("<mark") == html.count("</mark>")
    depth = 0
    for found in re.findall("<mark|</mark>", html):
        depth += 1 if found == "<mark" else -1
        assert depth in (0, 1)
    assert not re.search("[\ue000\ue001]", html)


def test_words_are_quoted_with_whole_formulas() -> None:
    inside = TEXT.index("^")
    assert quote_words(TEXT, (inside, inside + 1)) == "$3^5$"
    assert quote_words(TEXT, (4, inside)) == "the remainder when $3^5$"
    assert quote_words(TEXT, (4, 8)) == "the"


def test_what_is_not_shown_of_a_long_text_is_not_marked() -> None:
    text = TEXT * 2_000
    html = mark_text(text, cue_marks(route(text)))
    assert 100 < html.count("<mark") == html.count("</mark>") < 1_000
    assert "characters left out" in html
