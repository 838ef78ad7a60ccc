import json
from pathlib import Path
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from constraint_first.cli.text import RowFields, good_rows, text_field, with_progress, writing
from constraint_first.error import OutputError
from constraint_first.file.rows import JsonLine
from constraint_first.problem import Json

from .conftest import open_terminal

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)
json_rows = st.dictionaries(st.text(st.characters(), max_size=5), json_values, max_size=3)


FIELDS = RowFields(("id", "pred", "gold"), ("pred", "gold"))


def read(tmp_path: Path, *lines: str) -> tuple[list[int], int]:
    path = tmp_path / "in.jsonl"
    path.write_text("\n".join(lines))
    found = good_rows(path, FIELDS, {})
    return [row.number for row in found.rows], found.bad


def test_rows_with_all_fields(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = ('{"id": 1, "pred": null, "gold": 7}', "", '{"id": [2], "pred": "x", "gold": ["7"]}')
    assert read(tmp_path, *lines) == ([1, 3], 0)
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("{oops", "not JSON (Expecting property name enclosed in double quotes at column 2)"),
        ("7", "JSON, but a int and not an object"),
        ('{"id": 1, "gold": 1}', "no field 'pred'"),
        ('{"id": 1, "pred": 1}', "no field 'gold'"),
        ('{"id": 1, "pred": 1, "gold": " "}', "field 'gold' is empty"),
        ('{"id": 1, "pred": [1], "gold": 1}', "field 'pred' is a list, not text"),
        ('{"id": 1, "pred": {}, "gold": 1}', "field 'pred' is a dict, not text"),
        (
            '{"id": 1, "pred": 1, "gold": true}',
            "'gold' must be a text or a number, or a list of these, not True",
        ),
        ('{"id": 1, "pred": 1, "gold": null}', "field 'gold' is null"),
        ('{"id": 1, "pred": 1, "gold": []}', "field 'gold' is null"),
        (
            '{"id": 1, "pred": NaN, "gold": 1}',
            "not JSON (NaN is no value there); write null where there is none",
        ),
        (
            '{"id": 1, "pred": 1, "gold": 1, "pred": 2}',
            "the field 'pred' is there twice; leave one out",
        ),
    ],
)
def test_the_others_are_reported_and_counted(
    line: str, reason: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    good = '{"id": 1, "pred": "x", "gold": "7"}'
    assert read(tmp_path, good, line, good) == ([1, 3], 1)
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err == f"cfr: {tmp_path / 'in.jsonl'}, line 2: {reason}; skipped\n"


@pytest.mark.parametrize(
    ("value", "text"),
    [("7.0", "7.0"), (7, "7"), (7.0, "7.0"), (-2.5, "-2.5"), ("", ""), (None, None)],
)
def test_a_field_as_text(value: Json, text: str | None) -> None:
    assert text_field(JsonLine(1, {"pred": value}), "pred") == text
    assert text_field(JsonLine(1, {}), "pred") is None


@given(st.lists(json_rows, max_size=4))
def test_what_is_written_is_read_again(
    tmp_path_factory: pytest.TempPathFactory, rows: list[dict[str, Json]]
) -> None:
    """Lone surrogates, line separators and all: each row stays one line of UTF-8."""
    path = tmp_path_factory.mktemp("rows") / "out.jsonl"
    with writing(path) as write:
        for row in rows:
            write(row)
    lines = path.read_bytes().decode("utf-8").split("\n")
    assert [json.loads(line) for line in lines if line] == rows
    assert len(lines) == len(rows) + 1


def test_texts_stay_readable_where_they_can(tmp_path: Path) -> None:
    with writing(tmp_path / "out") as write:
        write({"answer": "√2 é"})
        write({"answer": "√2 \ud800"})
    written = (tmp_path / "out").read_text(encoding="utf-8")
    assert written == '{"answer": "√2 é"}\n{"answer": "√2 \\ud800"}\n'


def test_standard_output_without_a_path(capsys: pytest.CaptureFixture[str]) -> None:
    with writing(None) as write:
        write({"id": 1})
        assert capsys.readouterr().out == '{"id": 1}\n', "a reader sees each row at once"


def test_a_file_appears_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "out"
    rows: list[dict[str, Json]] = [{"id": 1}, {"id": cast("Json", object())}]
    with pytest.raises(TypeError, match="serializable"), writing(path) as write:
        list(map(write, rows))
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(OutputError, match="cannot be written"):
        writing(tmp_path / "none" / "out").__enter__()


def test_progress_passes_everything_on(capsys: pytest.CaptureFixture[str]) -> None:
    assert list(with_progress(iter("abc"), 3, "Reading")) == ["a", "b", "c"]
    assert capsys.readouterr() == ("", "")


def test_progress_shows_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = open_terminal(monkeypatch)
    assert list(with_progress(iter("abc"), 3, "Reading")) == ["a", "b", "c"]
    assert "Reading" in screen.getvalue()
