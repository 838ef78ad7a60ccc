from __future__ import annotations

from itertools import combinations
from typing import Any, cast

from hypothesis import given, settings
from hypothesis import strategies as st
from pictures import HOSTILE, check, found, words

from constraint_first.report.canvas import PALETTE, Box, clean
from constraint_first.report.exhibit.stage1 import MOST_WORDS, Word, arrange, draw_cloud

WORDS = {"how many": 249, "positive integer": 96, "remainder": 30, "at least": 29, "$x$": 1}
FAMILIES = {"how many": "P1: Integer/Count", "remainder": "P2: Modular"}


def _box(word: Word) -> Box:
    return Box(word.left, word.bottom, word.left + word.width, word.bottom + word.height)


def test_every_word_is_drawn_in_the_colour_of_its_family() -> None:
    figure = check(draw_cloud(WORDS, FAMILIES))
    fills = [mark[0].attrib["fill"].upper() for mark in found(figure, "word")]
    assert fills == [PALETTE[0], "CURRENTCOLOR", PALETTE[1], "CURRENTCOLOR", "CURRENTCOLOR"]
    assert words(figure) == ["P1: Integer/Count", "P2: Modular", "other"]
    assert "how many (249), positive integer (96)" in figure.alt
    assert figure.paper == ("fig:constraint-wordcloud",)


@settings(max_examples=20, deadline=None)
@given(st.dictionaries(st.text(min_size=1, max_size=30), st.integers(1, 10**6), max_size=40))
def test_words_do_not_overlap(counts: dict[str, int]) -> None:
    placed = arrange({word: number for word, number in counts.items() if clean(word)})
    assert not any(_box(one).meets(_box(other)) for one, other in combinations(placed, 2))


def test_outlines_lie_within_their_boxes() -> None:
    for word in arrange(WORDS):
        box = cast("Any", word.path).get_extents()
        assert min(box.x0, box.y0) > -1e-6
        assert box.x1 <= word.width + 1e-6
        assert box.y1 <= word.height + 1e-6


def test_words_of_the_same_shape_grow_with_the_root_of_their_count() -> None:
    often, seldom = arrange({"word": 400, "wоrd": 100})  # the second has a Cyrillic letter
    assert abs(often.height / seldom.height - 2) < 0.01


def test_a_long_word_fits_the_sheet() -> None:
    assert arrange({"W" * 200: 10})[0].width < 4


def test_only_the_most_frequent_are_drawn() -> None:
    many = {f"word {number}": number + 1 for number in range(80)}
    figure = check(draw_cloud(many, {}))
    assert len(found(figure, "word")) == MOST_WORDS
    assert "The 60 most frequent are drawn; 20 phrases are left out." in figure.notes
    assert "word 79 (80)" in figure.alt


def test_nothing_to_draw_is_no_figure() -> None:
    assert draw_cloud({}, {}) is None
    assert draw_cloud({"never": 0, "\u200b": 5}, {}) is None


def test_hostile_words() -> None:
    figure = check(draw_cloud(dict.fromkeys(HOSTILE, 5), {name: name for name in HOSTILE}))
    assert len(found(figure, "word")) == len(HOSTILE) - 1
    assert "<script" not in figure.svg


def test_the_same_words_give_the_same_bytes() -> None:
    assert draw_cloud(WORDS, FAMILIES) == draw_cloud(dict(reversed(WORDS.items())), FAMILIES)
