import json
import math
from types import MappingProxyType

import orjson
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from constraint_first.file import safe as storable
from constraint_first.file.safe import LONGEST, MOST, storable_count, storable_json, storable_text

ODD = '\0\x01\ud83d\ude00\ud800\udfff\ufffd\U0001f600é\u2028\\"'
TEXTS = st.text() | st.text(st.sampled_from("ab" + ODD) | st.characters())
SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | TEXTS
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner) | st.dictionaries(TEXTS, inner), max_leaves=20
)


def is_sound(text: str) -> bool:
    """Say whether a text is Unicode without NUL."""
    return "\0" not in text and text.encode("utf-8", "replace").decode() == text


@given(TEXTS)
@example("\ud83d\ude00")
@example("a\ud83d")
def test_any_text_is_made_sound_and_a_sound_one_is_not_touched(text: str) -> None:
    kept = storable_text(text)
    assert is_sound(kept)
    assert storable_text(kept) is kept
    assert (kept is text) == is_sound(text)


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("a\0b", "a\ufffdb"),
        ("half \ud83d pair", "half \ufffd pair"),
        ("\ude00\ud83d", "\ufffd\ufffd"),
        ("\ud83d\ude00", "\U0001f600"),  # two pieces of a stream that were put together
    ],
)
def test_what_a_text_becomes(text: str, kept: str) -> None:
    assert storable_text(text) == kept


def test_a_text_that_is_too_long_is_cut() -> None:
    assert len(storable_text("é" * (LONGEST + 5))) == LONGEST


@given(st.integers() | st.floats())
@example(2**63)
@example(math.nan)
@example(math.inf)
@example(-500)
def test_any_count_is_brought_into_the_range_of_a_column(count: float) -> None:
    kept = storable_count(count)
    assert type(kept) is int
    assert 0 <= kept <= MOST
    assert kept == count or not (0 <= count <= MOST and count == int(count))


@given(VALUES, st.sampled_from([LONGEST, 40, 0]))
def test_any_value_becomes_json_that_everybody_reads(value: object, room: int) -> None:
    text = storable_json(value, room)
    assert is_sound(text)
    assert orjson.loads(text) == json.loads(text)
    assert storable_json(orjson.loads(text), room) == text
    assert "\\u0000" not in text.replace("\\\\", "")


@given(
    st.recursive(
        st.none()
        | st.booleans()
        | st.integers(-(2**63), 2**63 - 1)
        | st.floats(allow_nan=False, allow_infinity=False)
        | st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"])),
        lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from("abc"), inner),
        max_leaves=20,
    )
)
def test_what_could_be_stored_before_is_unchanged(value: object) -> None:
    assert storable_json(value) == orjson.dumps(value).decode()
    walked = storable._Cut(LONGEST).kept(value, 99)  # pyright: ignore[reportPrivateUsage]
    assert walked == value


@pytest.mark.parametrize(
    ("value", "kept"),
    [
        ({"n": 9**99}, {"n": str(9**99)}),
        ({"n": -(2**63), "m": 2**70}, {"n": -(2**63), "m": str(2**70)}),
        ([math.nan, math.inf, 10**5000], [None, None, hex(10**5000)]),
        ({"\ud83d": "\0", "é": ("\ud83d",)}, {"\ufffd": "\ufffd", "é": ["\ufffd"]}),
        (MappingProxyType({"a": 1}), {"a": 1}),
        ({1: {"no": "JSON", "set": {2}}}, {"1": {"no": "JSON", "set": "{2}"}}),
    ],
)
def test_what_a_value_becomes(value: object, kept: object) -> None:
    assert orjson.loads(storable_json(value)) == kept


def test_what_is_nested_too_deeply_is_cut_there() -> None:
    deep: object = "at the bottom"
    for _ in range(100_000):
        deep = [deep]
    text = storable_json({"deep": deep, "after": 1})
    assert "bottom" not in text
    assert "…" in text
    assert orjson.loads(text)["after"] == 1


def test_what_takes_too_much_room_is_cut_and_the_first_of_it_kept() -> None:
    huge = {"first": "a", "rows": [{"n": n, "text": "x" * 50} for n in range(100)], "last": "b"}
    kept = orjson.loads(storable_json(huge, room=1_000))
    assert kept["first"] == "a"
    assert kept["rows"][:5] == huge["rows"][:5]
    assert 10 < len(kept["rows"]) < 20
    assert "last" not in kept
