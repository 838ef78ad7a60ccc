from functools import reduce
from pathlib import Path
from typing import Any, cast

import pytest

from constraint_first.error import InputError
from constraint_first.file.rows import (
    FILLED,
    NUMBER,
    OBJECT,
    TEXT,
    TRUTH,
    WHOLE,
    FieldError,
    FieldType,
    check_fields,
    check_text,
    line_of,
    list_of,
    one_of,
    parse_toml,
    read_field,
    read_objects,
    within,
)

# --- field


WORD = one_of(("raw", "propagated"))
LEVEL = one_of((1, 2, 3))
MARK = one_of(("yes", None))
TEXTS = list_of(TEXT, "texts")
DEEP = reduce(lambda inner, _: [inner], range(100_000), cast("list[Any]", []))


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ("", TEXT),
        ("\ud800", TEXT),
        ("x", FILLED),
        (False, TRUTH),
        (10**30, WHOLE),
        (0.5, NUMBER),
        (1, NUMBER),
        ({}, OBJECT),
        ([], TEXTS),
        (["a"], TEXTS),
        ("raw", WORD),
        (3, LEVEL),
        (None, MARK),
    ],
)
def test_a_field_of_its_type_is_read(value: object, kind: FieldType[object]) -> None:
    assert read_field({"x": value}, "x", kind) is value


@pytest.mark.parametrize(
    ("value", "kind", "said"),
    [
        (3, TEXT, "'x' must be a text, not 3"),
        (" ", FILLED, "'x' must be a text that is not blank, not ' '"),
        (1, TRUTH, "'x' must be true or false, not 1"),
        (True, WHOLE, "'x' must be a whole number, not True"),
        (1.0, WHOLE, "'x' must be a whole number, not 1.0"),
        (None, NUMBER, "'x' must be a number, not None"),
        ([], OBJECT, r"'x' must be an object, not \[\]"),
        (["a", 1], TEXTS, r"'x' must be a list of texts, not \['a', 1\]"),
        ("row", WORD, "'x' must be one of raw, propagated, not 'row'"),
        (["raw"], WORD, "'x' must be one of raw, propagated, not"),
        (True, LEVEL, "'x' must be one of 1, 2, 3, not True"),
        ("no", MARK, "'x' must be one of yes, null, not 'no'"),
    ],
)
def test_a_field_of_another_type_is_named(value: object, kind: FieldType[Any], said: str) -> None:
    with pytest.raises(FieldError, match=f"^{said}"):
        read_field({"x": value}, "x", kind)
    with pytest.raises(FieldError, match=f"^needs 'x', {kind.name}$"):
        read_field({}, "x", kind)


@pytest.mark.parametrize("value", ["a" * 10_000, DEEP, 10**4_000], ids=["long", "deep", "large"])
def test_what_stands_there_is_cut_short(value: object) -> None:
    with pytest.raises(FieldError) as caught:
        read_field({"x": value}, "x", TRUTH)
    assert len(str(caught.value)) < 100


def test_objects_in_a_list_are_numbered() -> None:
    def name(row: dict[str, Any]) -> str:
        return read_field(row, "name", TEXT)

    assert read_objects({"x": [{"name": "a"}, {"name": "b"}]}, "x", name) == ("a", "b")
    with pytest.raises(FieldError, match=r"^x 2: needs 'name', a text$"):
        read_objects({"x": [{"name": "a"}, {}]}, "x", name)
    with pytest.raises(FieldError, match=r"^'x' must be a list of objects, not "):
        read_objects({"x": ["a"]}, "x", name)


def test_a_field_that_nobody_knows_is_refused_with_the_one_that_was_meant() -> None:
    kinds = {"methods": TEXTS, "runs": WHOLE}
    check_fields({}, kinds)
    check_fields({"runs": 1}, kinds)
    with pytest.raises(FieldError, match=r"^there is no 'metods'; did you mean 'methods'\?$"):
        check_fields({"metods": []}, kinds)
    with pytest.raises(FieldError, match=r"^there is no 'zzz'; choose from methods, runs$"):
        check_fields({"zzz": []}, kinds)
    with pytest.raises(FieldError, match=r"^'runs' must be a whole number"):
        check_fields({"runs": "1"}, kinds)


def test_places_are_said_from_the_outside_in() -> None:
    said = r"^f\.toml: price: needs 'input', a number$"
    with pytest.raises(FieldError, match=said) as caught, within("f.toml"), within("price"):
        read_field({}, "input", NUMBER)
    assert caught.value.field == "input"
    with pytest.raises(ValueError, match=r"^other$"), within("f.toml"):
        raise ValueError("other")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("ab\0", "'id' has a NUL character as character 3; replace it"),
        ("\ud83d", "'id' has half a surrogate pair as character 1; replace it"),
        ("x" * 6, "'id' has 6 characters; 5 are the most"),
    ],
)
def test_a_text_that_no_database_takes(text: str, said: str) -> None:
    with pytest.raises(FieldError) as caught:
        check_text(text, "id", 5)
    assert (str(caught.value), caught.value.field) == (said, "id")
    assert check_text("\x1b π😀", "id", 5) == "\x1b π😀"


# --- toml file


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("a = ", "Invalid value"),
        ("a = 1\na = 2", "Cannot overwrite a value"),
        ("a = " + "9" * 5_000, "Exceeds the limit"),
        ("a = " + "[" * 5_000, "maximum recursion depth exceeded"),
    ],
)
def test_what_is_not_toml_is_named_with_its_file(text: str, reason: str) -> None:
    with pytest.raises(InputError, match=rf"^x/f\.toml: not TOML \({reason}.*\); correct the"):
        parse_toml(Path("x/f.toml"), text)


def test_a_table_is_read_that_is_not_too_long() -> None:
    assert parse_toml("f.toml", "[a]\nb = 1") == {"a": {"b": 1}}
    with pytest.raises(InputError, match=r"^x\.toml: longer than 4 MB, the most that is read$"):
        parse_toml("x.toml", "#" * (2**22 + 1))


def test_the_line_of_a_setting() -> None:
    text = 'a = 1\n\n[t]\n"b" = 2\nab = 3\nb = 4\n'
    assert line_of(text, "a") == ", line 1"
    assert line_of(text, "b") == ", line 4"
    assert line_of(text, "b", text.index("ab")) == ", line 6"
    assert line_of(text, "c") == line_of(text, "") == line_of(text, "a", 3) == ""
