from pathlib import Path

import pytest

from constraint_first.error import InputError
from constraint_first.file.rows import BadLine, JsonLine, rows_in, scan_json


def scanned(tmp_path: Path, text: str) -> list[JsonLine | BadLine]:
    path = tmp_path / "x.json"
    path.write_text(text)
    return [*scan_json(path)]


@pytest.mark.parametrize(
    "text",
    [
        '[{"a": 1}]',
        '\ufeff\n{\n "a": 1\n}\n',
        '{"data": [{"a": 1}]}',
        '{"name": "x", "rows": [{"a": 1}]}',
        '{"problems": [{"a": 1}]}',
    ],
)
def test_one_row_in_many_ways(tmp_path: Path, text: str) -> None:
    assert scanned(tmp_path, text) == [JsonLine(1, {"a": 1}, "row")]


def test_json_lines_under_this_name(tmp_path: Path) -> None:
    rows = scanned(tmp_path, '{"a": 1}\n\n{"a": 2}\n7\n')
    assert rows[:2] == [JsonLine(1, {"a": 1}), JsonLine(3, {"a": 2})]
    assert isinstance(rows[2], BadLine)


@pytest.mark.parametrize("text", ["", " \n", "[]"])
def test_no_rows(tmp_path: Path, text: str) -> None:
    assert scanned(tmp_path, text) == []


def test_members_that_are_no_rows(tmp_path: Path) -> None:
    reason = "JSON, but a int and not an object"
    assert scanned(tmp_path, '[{"a": 1}, 7]')[1] == BadLine(2, reason, "row")
    assert scanned(tmp_path, "7") == [BadLine(1, reason, "row")]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('[{"a": 1},\n{oops}]', "x.json, line 2: not JSON .*at column 2"),
        ("[NaN]", "line 1: not JSON .NaN is no value there"),
        ('[{"a": 1, "a": 2}]', "the field 'a' is there twice"),
        ("[" * 99_999, "JSON nested too deeply"),
    ],
)
def test_what_is_not_json_is_one_line(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(InputError, match=said) as caught:
        scanned(tmp_path, text)
    assert "\n" not in str(caught.value)


def test_a_list_of_other_things_is_part_of_the_row() -> None:
    row = {"problem": "P", "data": [1, 2]}
    assert rows_in(row) == [row]
