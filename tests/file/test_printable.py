import re
import unicodedata
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cfr.file.printable import printable

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
