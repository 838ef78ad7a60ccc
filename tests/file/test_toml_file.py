from pathlib import Path

import pytest

from constraint_first.error import InputError
from constraint_first.file.fields import line_of, parse_toml


def test_a_table_is_read() -> None:
    assert parse_toml("f.toml", "[a]\nb = 1") == {"a": {"b": 1}}


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
    with pytest.raises(
        InputError, match=rf"^x/f\.toml: not TOML \({reason}.*\); correct the file$"
    ):
        parse_toml(Path("x/f.toml"), text)


def test_the_line_of_a_setting() -> None:
    text = 'a = 1\n\n[t]\n"b" = 2\nab = 3\nb = 4\n'
    assert line_of(text, "a") == ", line 1"
    assert line_of(text, "b") == ", line 4"
    assert line_of(text, "b", text.index("ab")) == ", line 6"
    assert line_of(text, "c") == line_of(text, "") == line_of(text, "a", 3) == ""


def test_a_file_has_a_length() -> None:
    with pytest.raises(InputError, match=r"^x\.toml: longer than 4 MB, the most that is read$"):
        parse_toml("x.toml", "#" * (2**22 + 1))
