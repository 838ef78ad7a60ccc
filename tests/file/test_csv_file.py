import csv
import io
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from constraint_first.error import InputError
from constraint_first.file.rows import (
    BadLine,
    JsonLine,
    plain_text,
    require_good,
    scan_csv,
    spreadsheet_text,
)
from constraint_first.file.safe import printable


def good(path: Path) -> list[JsonLine]:
    return [*require_good(path, scan_csv(path))]


def write(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "x.csv"
    path.write_bytes(text.encode())
    return path


def test_rows_carry_the_line_they_end_on(tmp_path: Path) -> None:
    text = '\ufeffid,problem,answer\r\na,"What, ""exactly"",\nis 2+2?",4\r\n\r\n , ,\r\nb,P,\r\n'
    assert good(write(tmp_path, text)) == [
        JsonLine(3, {"id": "a", "problem": 'What, "exactly",\nis 2+2?', "answer": "4"}),
        JsonLine(6, {"id": "b", "problem": "P", "answer": ""}),
    ]


def test_names_of_columns_stay_as_they_are(tmp_path: Path) -> None:
    (row,) = good(write(tmp_path, "\n Question ,N\nP,1"))
    assert row.value == {"Question": "P", "N": "1"}


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("name", ["x.csv", "x.tsv", "x.CSV"])
def test_the_header_tells_what_stands_between_cells(
    tmp_path: Path, delimiter: str, name: str
) -> None:
    path = tmp_path / name
    header = delimiter.join(("id", '"problem, or; what"', "answer"))
    path.write_text(f"{header}\n" + delimiter.join(("a", '"1, 2; 3\t4"', "5")))
    (row,) = good(path)
    assert row.value == {"id": "a", "problem, or; what": "1, 2; 3\t4", "answer": "5"}


def test_a_single_column_has_the_delimiter_of_its_ending(tmp_path: Path) -> None:
    path = tmp_path / "x.tsv"
    path.write_text("problem\nOne, two; three?\n")
    assert [row.value for row in good(path)] == [{"problem": "One, two; three?"}]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_lines_may_end_in_any_way(tmp_path: Path, end: str) -> None:
    rows = good(write(tmp_path, end.join(("", "a;b", "1,2,3,4;x", "5;y"))))
    assert [row.value for row in rows] == [{"a": "1,2,3,4", "b": "x"}, {"a": "5", "b": "y"}]


def test_the_line_of_excel_is_no_header(tmp_path: Path) -> None:
    assert good(write(tmp_path, "sep=;\na;b\n1;2\n")) == [JsonLine(3, {"a": "1", "b": "2"})]
    assert good(write(tmp_path, "sep=;\n")) == []


def test_a_row_with_other_cells_is_bad_alone(tmp_path: Path) -> None:
    bad, row = scan_csv(write(tmp_path, "a,b\n1\n1,2\n"))
    assert isinstance(bad, BadLine)
    assert bad.place == "line 2"
    assert row == JsonLine(3, {"a": "1", "b": "2"})


def test_cells_stay_text(tmp_path: Path) -> None:
    (row,) = good(write(tmp_path, "problem,answer\n 1 + 1 ,007\n"))
    assert row.value == {"problem": " 1 + 1 ", "answer": "007"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("problem,answer\nP,4,5\n", "line 2: has 3 cells where the header has 2; .* double quotes"),
        ("problem,answer\nP\n", "line 2: has 1 cells where the header has 2"),
        ('problem,answer\n"P"x,4\n', "line 2: not CSV"),
        ('problem,answer\nP,4\n"Q,5', r"line \d: not CSV \(unexpected end of data\)"),
        (f"problem,answer\n{'9' * 17_000_000},4\n", "line 2: not CSV .*field limit"),
        ("problem,answer,Answer\nP,4,5\n", "two columns are called 'answer'; rename one"),
    ],
)
def test_what_is_wrong_is_one_line(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        good(write(tmp_path, text))
    assert "\n" not in str(caught.value)


def test_columns_without_a_name_are_nobodys(tmp_path: Path) -> None:
    (row,) = good(write(tmp_path, "problem,answer,,\nP,4,,\n"))
    assert (row.value["problem"], row.value["answer"]) == ("P", "4")


@given(
    st.lists(
        st.tuples(*[st.text(st.characters(exclude_categories=["Cs"]), min_size=1)] * 2),
        max_size=4,
    )
)
def test_reads_what_the_csv_module_writes(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, str]]
) -> None:
    written = io.StringIO(newline="")
    writer = csv.writer(written, quoting=csv.QUOTE_ALL)
    writer.writerows([("problem", "answer"), *rows])
    path = tmp_path_factory.mktemp("csv") / "x.csv"
    path.write_bytes(written.getvalue().encode())
    kept = [row for row in rows if any(cell.strip() for cell in row)]
    assert [tuple(row.value.values()) for row in good(path)] == kept


@pytest.mark.parametrize(
    "text",
    [
        "=cmd|' /C calc'!A0",
        "=1+1",
        "=5",
        "+1+cmd|x",
        "-2+3+cmd|' /C calc'!A0",
        "@SUM(1)",
        "\t=1",
        "\rx",
        " \n=1+1",
        "＝1+1",
        "-x",
        "-1/2",
        "--1",
        "'=1",
        "''=1",
    ],
)
def test_what_a_spreadsheet_would_run_is_quoted(text: str) -> None:
    assert spreadsheet_text(text) == "'" + text.replace("\r", "�")


@pytest.mark.parametrize(
    "text",
    ["", "7", "-3", "+1.5", "-1,234.5", "x = 1", "a\n=b", "'x", "'-1", r"\frac{1}{2}", "{}", "\nx"],
)
def test_other_texts_stay_as_they_are(text: str) -> None:
    assert spreadsheet_text(text) == text


def test_control_characters_are_made_visible_in_a_table() -> None:
    assert spreadsheet_text("a\x1b[2J\r\nb\rc\x9b") == "a�[2J\nb�c�"


@given(st.text(st.sampled_from("=+-@\t\r\n 1.x")) | st.text(st.characters()))
def test_no_cell_begins_like_a_formula(text: str) -> None:
    cell = spreadsheet_text(text)
    assert not cell.startswith(("\t", "\r"))
    if cell.strip().startswith(("=", "+", "-", "@")):
        assert re.fullmatch(r"[+-][0-9.,]+", cell.strip())
    assert cell.encode().decode() == cell


@given(st.text(st.sampled_from("='+-@\t\r\n 1.x\x0b�")) | st.text(st.characters()))
def test_a_cell_is_read_back_as_the_text_that_was_shown(text: str) -> None:
    assert plain_text(spreadsheet_text(text)) == printable(text.replace("\r\n", "\n"))
