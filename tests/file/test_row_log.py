import json
from pathlib import Path

import pytest

from constraint_first.error import OutputError
from constraint_first.file.rows import append_row
from constraint_first.problem import Json


def test_rows_are_added_one_by_one(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    rows: list[Json] = [{"a": 1}, {"b": "é"}, {"c": "\ud800"}]
    for row in rows:
        append_row(path, row)
    assert [json.loads(line) for line in path.read_bytes().splitlines()] == rows


def test_a_line_that_was_cut_off_harms_no_other(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_bytes(b'{"a": ')
    append_row(path, {"b": 2})
    assert path.read_bytes() == b'{"a": \n{"b": 2}\n'


def test_what_cannot_be_written_is_said(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="cannot be written"):
        append_row(tmp_path, {})
