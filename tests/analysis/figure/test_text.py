from __future__ import annotations

from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pictures import HOSTILE, read

from constraint_first.report.canvas import UNKNOWN, clean, extent, listed, wrap


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Qwen3.5-35B-A3B", "Qwen3.5-35B-A3B"),
        ("  two\n lines ", "two lines"),
        ("a\0b", f"a{UNKNOWN}b"),
        ("漢", UNKNOWN),
        ("a\u202eb", "ab"),
        ("e\u0301", "é"),
        ("x" * 61, "x" * 59 + "…"),
        (r"$\alpha$", r"$\alpha$"),
    ],
)
def test_says_what_the_font_can(text: str, said: str) -> None:
    assert clean(text) == said


@given(st.one_of(st.text(), st.sampled_from(HOSTILE)))
def test_any_text_becomes_a_line_that_xml_can_hold(text: str) -> None:
    line = clean(text)
    assert len(line) <= 60
    assert line.isprintable()
    element = ElementTree.Element("text")
    element.text = line
    assert read(ElementTree.tostring(element, encoding="unicode")).text == (line or None)
    assert clean(line) == line


def test_long_texts_are_folded_and_cut() -> None:
    folded = wrap("one two three four five six seven", 9, lines=2)
    assert folded.count("\n") == 1
    assert folded.endswith("…")
    assert max(map(len, folded.split("\n"))) <= 9


def test_measures_grow_with_text() -> None:
    width, height = extent("word", 8)
    assert extent("wordword", 8)[0] == pytest.approx(2 * width, rel=0.05)
    assert extent("word\nword", 8) == (width, 2 * height)
    assert extent("word", 16)[0] == pytest.approx(2 * width, rel=0.05)
    assert extent("word", 8, bold=True)[0] > width
    assert extent("", 8)[0] == 0


def test_lists_read_as_sentences_do() -> None:
    assert listed([]) == ""
    assert listed(["a"]) == "a"
    assert listed(["a", "", "b"]) == "a and b"
    assert listed(["a", "b", "c"]) == "a, b and c"
    assert listed("abcdef", 2) == "a, b and 4 more"


def test_a_long_name_goes_on_behind_a_hyphen_and_a_short_one_is_whole() -> None:
    assert wrap("Calibrated, ConstraintBench-1-seed-5101", 22) == (
        "Calibrated,\nConstraintBench-1-\nseed-5101"
    )
    assert wrap("Program [check=off], MATH-500", 22) == "Program [check=off],\nMATH-500"
