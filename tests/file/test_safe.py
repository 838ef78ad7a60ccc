from __future__ import annotations

import json
import math
import os
import re
import unicodedata
from pathlib import Path
from types import MappingProxyType
from xml.etree import ElementTree

import orjson
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from constraint_first.error import OutputError
from constraint_first.file import safe as storable
from constraint_first.file.safe import (
    LONGEST,
    MOST,
    atomic_file,
    expand_user,
    file_stem,
    one_line,
    printable,
    printable_json,
    refuse_overwrite,
    storable_count,
    storable_json,
    storable_text,
)

# --- printable


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


def test_a_line_is_joined_and_cut_in_its_middle() -> None:
    assert one_line(" a\r\n\tb\x1b ") == "a b\N{REPLACEMENT CHARACTER}"
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
    assert printable_json({"é": "√2\x9b\u202e"}) == '{"é": "√2\\u009b\\u202e"}'


# --- storable


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
        ("é" * (LONGEST + 5), "é" * LONGEST),
    ],
    ids=["NUL", "half", "halves", "pair", "long"],
)
def test_what_a_text_becomes(text: str, kept: str) -> None:
    assert storable_text(text) == kept


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


# --- stem


@given(st.text(max_size=200), st.text(max_size=200))
def test_any_words_make_safe_names_that_tell_them_apart(one: str, other: str) -> None:
    stems = file_stem(one), file_stem(other)
    for stem in stems:
        assert stem.isascii()
        assert stem.replace("-", "").isalnum()
        assert len(stem) < 60
    assert (one == other) == (stems[0] == stems[1])


# --- path


def test_a_home_folder_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/ada")
    assert expand_user("~/x.jsonl") == Path("/home/ada/x.jsonl")
    for other in ("x~.jsonl", "~nobody-here/x.jsonl"):
        assert expand_user(other) == Path(other)


# --- atomic


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_the_file_takes_its_name_when_it_is_complete(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    path.write_text("earlier")
    with path.open() as reader, atomic_file(path) as temporary:
        temporary.write_text("half")
        assert reader.read() == path.read_text() == "earlier"
        assert temporary.parent == tmp_path, "a rename is atomic only within one file system"
        temporary.write_text("whole")
    assert path.read_text() == "whole"
    assert names(tmp_path) == ["out.jsonl"]


def _fail(temporary: Path, error: type[BaseException]) -> None:
    temporary.write_text("half")
    raise error


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_a_failed_write_keeps_the_old(tmp_path: Path, error: type[BaseException]) -> None:
    path = tmp_path / "out"
    path.write_text("earlier")
    with pytest.raises(error), atomic_file(path) as temporary:
        _fail(temporary, error)
    assert path.read_text() == "earlier"
    assert names(tmp_path) == ["out"]


def test_a_name_without_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with atomic_file(Path("here")) as temporary:
        temporary.write_bytes(b"\x00")
    assert (tmp_path / "here").read_bytes() == b"\x00"


@pytest.mark.parametrize(("mask", "mode"), [(0o022, 0o644), (0o077, 0o600)])
def test_a_new_file_has_the_users_mask(tmp_path: Path, mask: int, mode: int) -> None:
    before = os.umask(mask)
    try:
        with atomic_file(tmp_path / "out") as temporary:
            temporary.touch()
        assert os.umask(mask) == mask, "the user's mask is as it was"
    finally:
        os.umask(before)
    assert (tmp_path / "out").stat().st_mode & 0o777 == mode


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match=r"a folder, not a file; name a file in it"):
        atomic_file(tmp_path).__enter__()
    (tmp_path / "file").touch()
    for path in (tmp_path / "none" / "out", tmp_path / "file" / "out"):
        with pytest.raises(OutputError, match=r"out: cannot be written \(.*in a folder that"):
            atomic_file(path).__enter__()


def test_a_full_disk_keeps_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "out.jsonl"
    path.write_bytes(b"old\n")

    def full_disk(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full_disk)
    with (
        pytest.raises(OutputError, match="No space left on device"),
        atomic_file(path) as temporary,
    ):
        temporary.write_bytes(b"new\n")
    assert path.read_bytes() == b"old\n"
    assert list(tmp_path.iterdir()) == [path]


def test_refuses_what_cannot_or_should_not_be_written(tmp_path: Path) -> None:
    there = tmp_path / "there.jsonl"
    there.write_text("kept")
    with pytest.raises(OutputError, match="exists already"):
        refuse_overwrite(there, force=False)
    refuse_overwrite(there, force=True)
    with pytest.raises(OutputError, match="a folder"):
        refuse_overwrite(tmp_path, force=True)
    with pytest.raises(OutputError, match="there is no folder"):
        refuse_overwrite(tmp_path / "nowhere" / "out.jsonl", force=False)
