import json
import re
import unicodedata
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from constraint_first.file.safe import one_line, printable, printable_json

ANY_TEXT = st.text(st.characters())  # surrogates included


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain\ttext\nof two lines", "plain\ttext\nof two lines"),
        ("∑ é 漢字 🙂 \u200d", "∑ é 漢字 🙂 \u200d"),
        ("\x1b[2J", "\N{REPLACEMENT CHARACTER}[2J"),
        ("a\x00b", "a\N{REPLACEMENT CHARACTER}b"),
        ("a\rb", "a\N{REPLACEMENT CHARACTER}b"),
        ("\x9b31m", "\N{REPLACEMENT CHARACTER}31m"),
        ("\u202egnp.exe", "\N{REPLACEMENT CHARACTER}gnp.exe"),
        ("\u2066x\u2069", "\N{REPLACEMENT CHARACTER}x\N{REPLACEMENT CHARACTER}"),
        ("\ud800", "\N{REPLACEMENT CHARACTER}"),
        ("\uffff", "\N{REPLACEMENT CHARACTER}"),
    ],
)
def test_shows_what_would_otherwise_be_obeyed(text: str, shown: str) -> None:
    assert printable(text) == shown


@given(ANY_TEXT)
def test_no_control_character_is_left(text: str) -> None:
    left = {unicodedata.category(character) for character in printable(text) if character > "\n"}
    assert not left & {"Cc", "Cs"}


@given(ANY_TEXT)
def test_every_character_keeps_its_place(text: str) -> None:
    """Spans into a text stay true of what is shown of it."""
    shown = printable(text)
    assert len(shown) == len(text)
    assert all(
        new in (old, "\N{REPLACEMENT CHARACTER}") for new, old in zip(shown, text, strict=True)
    )
    assert printable(shown) == shown


@given(ANY_TEXT)
def test_utf_8_and_xml_can_hold_it(text: str) -> None:
    escaped = re.sub(r"[&<>]", "", printable(text))
    (parsed,) = ElementTree.fromstring(f"<a><b>{escaped}</b></a>".encode())  # noqa: S314
    assert (parsed.text or "") == escaped


@given(ANY_TEXT)
def test_a_name_stays_on_its_line(text: str) -> None:
    assert len(one_line(text).splitlines()) <= 1
    assert one_line(text) == printable(one_line(text)).strip()


def test_words_are_kept_apart_where_a_line_was_broken() -> None:
    assert one_line(" a\r\n\tb\x1b ") == "a b\N{REPLACEMENT CHARACTER}"


def test_the_beginning_and_the_end_of_a_huge_message_are_kept() -> None:
    assert one_line("x" * 1_000) == "x" * 1_000
    shown = one_line(f"x.jsonl: {'y' * 10**6}; shorten it")
    assert len(shown) < 1_000
    assert shown.startswith("x.jsonl: yyy")
    assert shown.endswith("yyy; shorten it")


@given(st.recursive(ANY_TEXT | st.integers(), lambda inner: st.dictionaries(ANY_TEXT, inner)))
def test_json_is_exact_and_printable(value: object) -> None:
    for indent in (None, 2):
        written = printable_json(value, indent)
        assert json.loads(written) == value
        assert printable(written) == written
        assert written.encode()


def test_json_stays_readable() -> None:
    assert printable_json({"é": "√2\x9b\u202e"}) == '{"é": "√2\\u009b\\u202e"}'
