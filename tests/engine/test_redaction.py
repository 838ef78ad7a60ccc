import json
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from constraint_first.model.error import NOTHING_SECRET, Redaction

KEY = "sk-live/AbC+dEf=0123456789"
REDACTION = Redaction((KEY,))


@pytest.mark.parametrize(
    "written",
    [
        KEY,
        quote(KEY, safe=""),
        quote_plus(KEY),
        quote(KEY, safe="").replace("%2F", "%2f"),
        json.dumps(KEY)[1:-1].replace("/", "\\/"),
        KEY.replace("+", "\\u002b").replace("=", "\\u003D"),
        "".join(f"\\u{ord(c):04x}" for c in KEY),
    ],
)
def test_a_key_is_blotted_out_however_it_is_written(written: str) -> None:
    assert REDACTION.quote(f"wrong key {written}!") == "wrong key [key]!"


def test_parts_of_a_key_are_blotted_out_too() -> None:
    shown = REDACTION.quote(f"{KEY[:12]}********{KEY[-9:]}")
    assert shown == "[key]********[key]"
    assert REDACTION.quote(f"it begins with {KEY[:7]}") == f"it begins with {KEY[:7]}"


@pytest.mark.parametrize("at", range(150, 205))
def test_a_text_is_cut_only_after_the_key_is_out(at: int) -> None:
    shown = REDACTION.quote("x" * at + " key: " + KEY)
    assert len(shown) <= 200
    assert not any(KEY[n : n + 4] in shown for n in range(len(KEY) - 4))


def test_a_short_key_is_blotted_out_as_a_word_alone() -> None:
    assert Redaction(("k",)).quote("key k of Bearer k, ok?") == "key [key] of Bearer [key], ok?"
    assert Redaction(("EMPTY",)).quote("NONEMPTY EMPTY") == "NONEMPTY [key]"


def test_several_secrets_that_overlap() -> None:
    shown = Redaction(("abcdefgh12", "12345678")).quote("<abcdefgh12345678>")
    assert shown == "<[key]>"


def test_a_quotation_is_one_line_that_can_be_shown_and_stored() -> None:
    said = "no\n\nsuch \x1b[31mmodel\0 \ud83d " + "x" * 500
    shown = NOTHING_SECRET.quote(said)
    assert shown.startswith("no such \N{REPLACEMENT CHARACTER}[31mmodel")
    assert len(shown) == 200
    assert shown.isprintable()
    assert shown.encode()


def test_secrets_are_not_in_its_repr() -> None:
    assert KEY not in repr(REDACTION)


@given(st.text(max_size=300), st.text(max_size=300), st.sampled_from([KEY, "k", "p4ss"]))
def test_no_text_around_a_key_brings_it_through(before: str, after: str, key: str) -> None:
    shown = Redaction((key,)).quote(f"{before} {key} {after}")
    if len(key) >= 8:
        assert key not in shown
    assert len(shown) <= 200
    assert "\n" not in shown


def test_a_text_without_a_secret_is_clean() -> None:
    assert REDACTION.is_clean("nothing of the kind, however long " * 500)
    assert NOTHING_SECRET.is_clean(KEY)
    assert not REDACTION.is_clean("x" * 5_000 + quote(KEY, safe=""))
