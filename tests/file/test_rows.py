import csv
import gzip
import importlib.util
import io
import json
import os
import re
import tracemalloc
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from constraint_first.error import InputError, OutputError
from constraint_first.file import rows as row_file
from constraint_first.file.rows import (
    FORMATS,
    BadLine,
    Columns,
    ColumnUse,
    JsonLine,
    all_rows,
    append_row,
    plain_text,
    read_rows,
    read_text,
    require_good,
    row_format,
    row_stem,
    scan,
    scan_csv,
    scan_json,
    scan_parquet,
    scan_rows,
    spreadsheet_text,
)
from constraint_first.file.safe import printable
from constraint_first.problem import Json

# --- row


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("x.jsonl", '{"a": "1"}'),
        ("x.NDJSON", '{"a": "1"}'),
        ("x.json", '[{"a": "1"}]'),
        ("x.csv", "a\n1"),
        ("x.tsv", "a\n1"),
        ("x", '{"a": "1"}'),
        ("x.txt", '{"a": "1"}'),
    ],
)
def test_the_ending_tells_the_format(name: str, text: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text)
    assert [row.value for row in all_rows(tmp_path / name)] == [{"a": "1"}]
    packed = tmp_path / f"{name}.gz"
    packed.write_bytes(gzip.compress(text.encode()))
    assert [row.value for row in all_rows(packed)] == [{"a": "1"}]


def test_a_bad_row_is_passed_on_or_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text("[7]")
    (row,) = scan_rows(path)
    assert isinstance(row, BadLine)
    with pytest.raises(InputError, match=r"x.json, row 1: JSON, but a int and not an object; each"):
        list(all_rows(path))


def test_names() -> None:
    assert all(row_format(Path(f"a b{ending}.gz")) == ending for ending in FORMATS)
    assert row_format(Path("x.txt")) == row_format(Path("x.gz")) == row_format(Path()) == ""
    assert [row_stem(Path(name)) for name in ("d/x.csv", "x.jsonl.gz", "x.y.json")] == [
        "x",
        "x",
        "x.y",
    ]


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"PK\x03\x04xx", "a spreadsheet or an archive, not text; save a spreadsheet as CSV"),
        (b"PAR1xx", "a Parquet file; end its name in .parquet"),
        (gzip.compress(b"{}", mtime=0), "packed with gzip; end its name in .gz"),
    ],
)
def test_what_is_no_text_says_what_it_is(data: bytes, said: str, tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_bytes(data)
    with pytest.raises(InputError, match=f"x.csv: {said}"):
        list(all_rows(tmp_path / "x.csv"))


# --- csv file


def good(path: Path) -> list[JsonLine]:
    return [*require_good(path, scan_csv(path))]


def write(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "x.csv"
    path.write_bytes(text.encode())
    return path


@pytest.mark.parametrize(
    ("name", "text", "rows"),
    [
        (
            "x.csv",
            '\ufeffid,problem,answer\r\na,"What, ""exactly"",\nis 2+2?",4\r\n\r\n , ,\r\nb,P,\r\n',
            [
                JsonLine(3, {"id": "a", "problem": 'What, "exactly",\nis 2+2?', "answer": "4"}),
                JsonLine(6, {"id": "b", "problem": "P", "answer": ""}),
            ],
        ),
        ("x.tsv", "problem\nOne, two?\n", [JsonLine(2, {"problem": "One, two?"})]),
        ("x.csv", "\na;b\n1,2,3;x", [JsonLine(3, {"a": "1,2,3", "b": "x"})]),
        ("x.csv", "\r\na;b\r\n1,2,3;x", [JsonLine(3, {"a": "1,2,3", "b": "x"})]),
        ("x.csv", "\ra;b\r1,2,3;x", [JsonLine(3, {"a": "1,2,3", "b": "x"})]),
        ("x.csv", "sep=;\na;b\n1;2\n", [JsonLine(3, {"a": "1", "b": "2"})]),  # Excel's own line
        ("x.csv", "sep=;\n", []),
    ],
)
def test_tables_are_read_with_the_line_that_a_row_ends_on(
    name: str, text: str, rows: list[JsonLine], tmp_path: Path
) -> None:
    (tmp_path / name).write_bytes(text.encode())
    assert good(tmp_path / name) == rows


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("name", ["x.csv", "x.tsv", "x.CSV"])
def test_the_header_shows_the_delimiter(tmp_path: Path, delimiter: str, name: str) -> None:
    path = tmp_path / name
    header = delimiter.join(("id", '"problem, or; what"', "answer"))
    path.write_text(f"{header}\n" + delimiter.join(("a", '"1, 2; 3\t4"', "5")))
    (row,) = good(path)
    assert row.value == {"id": "a", "problem, or; what": "1, 2; 3\t4", "answer": "5"}


def test_a_row_with_other_cells_is_bad_alone(tmp_path: Path) -> None:
    bad, row = scan_csv(write(tmp_path, "a,b\n1\n1,2\n"))
    assert isinstance(bad, BadLine)
    assert bad.place == "line 2"
    assert row == JsonLine(3, {"a": "1", "b": "2"})


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


FORMULAS = [
    *("=cmd|' /C calc'!A0", "=1+1", "=5", "+1+cmd|x", "-2+3+cmd|' /C calc'!A0", "@SUM(1)"),
    *("\t=1", "\rx", " \n=1+1", "＝1+1", "-x", "-1/2", "--1", "'=1", "''=1"),
]
TEXTS = [
    *("", "7", "-3", "+1.5", "-1,234.5", "x = 1", "a\n=b", "'x", "'-1", r"\frac{1}{2}", "{}", "\nx")
]


@pytest.mark.parametrize("text", [*FORMULAS, *TEXTS])
def test_what_a_spreadsheet_would_run_is_quoted(text: str) -> None:
    quoted = "'" + text.replace("\r", "�")
    assert spreadsheet_text(text) == (quoted if text in FORMULAS else text)


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


# --- json file


def scanned(tmp_path: Path, text: str) -> list[JsonLine | BadLine]:
    path = tmp_path / "x.json"
    path.write_text(text)
    return [*scan_json(path)]


ONE, NOT = JsonLine(1, {"a": 1}, "row"), "JSON, but a int and not an object"


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ('[{"a": 1}]', [ONE]),
        ('\ufeff\n{\n "a": 1\n}\n', [ONE]),
        ('{"data": [{"a": 1}]}', [ONE]),
        ('{"name": "x", "rows": [{"a": 1}]}', [ONE]),
        ('{"problems": [{"a": 1}]}', [ONE]),
        ("", []),
        (" \n", []),
        ("[]", []),
        ("7", [BadLine(1, NOT, "row")]),
        ('[{"a": 1}, 7]', [ONE, BadLine(2, NOT, "row")]),
        # JSON Lines under this name
        ('{"a": 1}\n\n7\n', [JsonLine(1, {"a": 1}), BadLine(3, NOT)]),
    ],
)
def test_rows_of_a_json_file(text: str, rows: list[JsonLine | BadLine], tmp_path: Path) -> None:
    assert scanned(tmp_path, text) == rows


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


# --- jsonl


def write_jsonl(tmp_path: Path, data: bytes) -> Path:
    path = tmp_path / "x.jsonl"
    path.write_bytes(data)
    return path


def test_rows_carry_their_line(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path, b'\xef\xbb\xbf{"a": 1}\r\n\n  \n{"a": "\xe2\x80\xa8"}\n')
    assert list(read_rows(path)) == [JsonLine(1, {"a": 1}), JsonLine(4, {"a": "\u2028"})]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"{oops}", "not JSON"),
        (b"[1]", "a list and not an object"),
        (b'"x"', "a str and not an object"),
        (b"[" * 100_000, "nested too deeply"),
        (b'{"n": NaN}', r"NaN is no value there\); write null where there is none$"),
        (b'{"n": [-Infinity]}', "-Infinity is no value there"),
        (b'{"a": 1, "b": 2, "a": 3}', "the field 'a' is there twice; leave one out"),
        (b'{"a": {"b": 2, "b": 3}}', "the field 'b' is there twice"),
        (b'{"n": ' + b"9" * 5_000 + b"}", "cannot|limit|that can be read"),
    ],
)
def test_a_bad_line_is_named(tmp_path: Path, line: bytes, reason: str) -> None:
    path = write_jsonl(tmp_path, b'{"a": 1}\n' + line + b'\n{"a": 2}\n')
    with pytest.raises(InputError, match=f"line 2: .*({reason})"):
        list(read_rows(path))
    rows = list(scan(path))
    assert [type(row) for row in rows] == [JsonLine, BadLine, JsonLine]


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"none\.txt: cannot be read \(No such file"):
        read_text(tmp_path / "none.txt")
    with pytest.raises(InputError, match="a folder, not a file"):
        read_text(tmp_path)
    with pytest.raises(InputError, match=r"x\.jsonl, line 2: not UTF-8 text \(byte 3\)"):
        read_text(write_jsonl(tmp_path, b"a\nb\xff"))
    with pytest.raises(InputError, match="no file has such a name"):
        read_text(tmp_path / "a\0b")


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-32", "utf-32-be"])
def test_other_encodings_are_named(tmp_path: Path, encoding: str) -> None:
    name = encoding[:6].upper()
    path = write_jsonl(tmp_path, "\ufeff{}".encode(encoding))
    with pytest.raises(InputError, match=rf"x\.jsonl: {name} text; save it as UTF-8"):
        read_text(path)


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    pipe = tmp_path / "x.jsonl"
    os.mkfifo(pipe)
    for path in (pipe, Path("/dev/zero")):
        with pytest.raises(InputError, match="a pipe or a device, not a file; copy its content"):
            read_text(path)


def test_what_a_shell_passes_on_is_read() -> None:
    reader, writer = os.pipe()
    os.write(writer, b'{"a": 1}')
    os.close(writer)
    assert read_text(Path(f"/dev/fd/{reader}")) == '{"a": 1}'
    os.close(reader)


def test_a_packed_file_is_unpacked_and_a_damaged_one_is_named(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl.gz"
    path.write_bytes(gzip.compress(b'{"a": 1}\n'))
    assert [row.value for row in read_rows(path)] == [{"a": 1}]
    for damaged in (path.read_bytes()[:-9], b'{"a": 1}'):
        path.write_bytes(damaged)
        with pytest.raises(InputError, match="not a whole gzip file"):
            list(read_rows(path))


# --- parquet file


def test_values_become_those_of_json(tmp_path: Path) -> None:
    arrow: Any = pytest.importorskip("pyarrow", reason="pyarrow is not installed here")
    parquet: Any = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed here")
    columns = {
        "id": [1, None],
        "problem": ["P", "Q"],
        "answer": [4.5, float("nan")],
        "day": [date(2024, 1, 2), None],
        "price": [Decimal("1.50"), None],
        "raw": [b"x", None],
        "nested": [{"a": [1, None]}, None],
        "sure": [True, False],
    }
    parquet.write_table(arrow.table(columns), tmp_path / "x.parquet")
    first, second = scan_parquet(tmp_path / "x.parquet")
    assert first == JsonLine(
        1,
        {
            "id": 1,
            "problem": "P",
            "answer": 4.5,
            "day": "2024-01-02",
            "price": "1.50",
            "raw": "x",
            "nested": {"a": [1, None]},
            "sure": True,
        },
        "row",
    )
    assert second.place == "row 2"
    assert (second.value["id"], second.value["answer"], second.value["nested"]) == (None,) * 3


def test_a_file_that_is_none(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow", reason="pyarrow is not installed here")
    for data in (b"", b"no", b"PAR1" + b"x" * 50 + b"PAR1"):
        (tmp_path / "x.parquet").write_bytes(data)
        with pytest.raises(InputError, match=r"x.parquet: not a Parquet file that can") as caught:
            list(scan_parquet(tmp_path / "x.parquet"))
        assert "\n" not in str(caught.value)


@pytest.mark.skipif(importlib.util.find_spec("pyarrow") is not None, reason="pyarrow is here")
def test_without_the_library_what_to_install_is_said(tmp_path: Path) -> None:
    (tmp_path / "x.parquet").write_bytes(b"PAR1")
    with pytest.raises(InputError, match=r"x.parquet: reading Parquet needs pip .*\[parquet\]"):
        list(scan_parquet(tmp_path / "x.parquet"))


# --- column


USUAL = {"pred": ("pred", "reply"), "gold": ("gold", "answer", "solution")}


def find(row: dict[str, str], name: str, **chosen: str) -> list[str]:
    return [*Columns(USUAL, chosen).find(row, name)]


def test_columns_are_found_by_usual_names_or_chosen_ones() -> None:
    row = {"Solution": "", " ANSWER ": "", "x": ""}
    assert find(row, "gold") == [" ANSWER ", "Solution"]
    assert find(row, "pred") == []
    row = {"answer": "", "solution": "", "x": ""}
    assert find(row, "gold", gold="X") == ["x"]
    assert find(row, "gold", pred="Answer") == ["solution"]


def test_what_is_not_there_is_named() -> None:
    rows = [JsonLine(1, {"replies": "", "gold": ""})]
    with pytest.raises(InputError, match=r"f.csv: no column is called 'reply'.*mean 'replies'"):
        Columns(USUAL, {"pred": "reply"}).check(Path("f.csv"), rows)
    said = r"f.csv: has no text under 'pred' \(or 'reply'\); choose one of 'replies', 'gold' with"
    with pytest.raises(InputError, match=said):
        Columns(USUAL).check(Path("f.csv"), rows, ("gold", "pred"))
    Columns(USUAL, {"pred": "reply"}).check(Path("f.csv"), [], ("pred",))
    with pytest.raises(InputError, match="--columns prd=…: nothing here is called 'prd'"):
        Columns(USUAL, {"prd": "x"})


def test_many_columns_are_not_all_listed() -> None:
    row = {f"c{n}": "" for n in range(30)}
    assert "'c19' and 10 more with --columns" in Columns(USUAL).absent(row, "pred")
    assert Columns(USUAL, {"pred": "x"}).absent(row, "pred") == "has no text under 'x'"
    assert "choose one of none with" in Columns(USUAL).absent({}, "pred")


def test_what_was_taken_is_one_line() -> None:
    use = ColumnUse(Path("f.csv"), "rows")
    assert use.describe(0, ("pred", "gold")) == "f.csv: 0 rows"
    use.add("pred", "reply")
    assert use.describe(1, ("pred", "gold")) == "f.csv: 1 row; pred from 'reply'"
    assert (use.saw("pred"), use.saw("gold")) == (True, False)
    use.add("pred", "pred")
    use.add("gold", "answer", "after ####")
    told = "pred from 'reply' or 'pred', gold from 'answer' (after ####, in 1 of 2)"
    assert use.describe(2, ("pred", "gold")) == f"f.csv: 2 rows; {told}"
    use.add("gold", "answer")
    assert use.describe(2, ("gold",)).endswith("gold from 'answer' (1 after ####, 1 as written)")


# --- row log


def test_rows_are_added_one_by_one(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    rows: list[Json] = [{"a": 1}, {"b": "é"}, {"c": "\ud800"}]
    for row in rows:
        append_row(path, row)
    assert [json.loads(line) for line in path.read_bytes().splitlines()] == rows
    path.write_bytes(b'{"a": ')  # a line that was cut off harms no other
    append_row(path, {"b": 2})
    assert path.read_bytes() == b'{"a": \n{"b": 2}\n'
    with pytest.raises(OutputError, match="cannot be written"):
        append_row(tmp_path, {})


# --- bound


MB = 2**20


@pytest.fixture
def small_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row_file, "MOST_HELD", 4 * MB)
    monkeypatch.setattr(row_file, "LONGEST_LINE", MB)
    monkeypatch.setattr(row_file, "_SURELY_FINE", MB)
    monkeypatch.setattr(row_file, "MOST_WHOLE", 4 * MB)


small = pytest.mark.usefixtures("small_bounds")


def pack(path: Path, piece: bytes, size: int) -> Path:
    """Write a gzip file of so many bytes, a thousandth of that on the disk."""
    with gzip.open(path, "wb") as file:
        for _ in range(size // MB):
            file.write(piece * (MB // len(piece)))
    return path


PIECES = {
    "zeros": b"\0",
    "blank lines": b"\n",
    "blanks": b" ",
    "rows": b'{"problem": "What is 1 + 1?", "answer": "2"}\n',
    "empty rows": b"{}\n",
    "open brackets": b"[",
}


@small
@pytest.mark.parametrize("ending", [one for one in FORMATS if one != ".parquet"])
@pytest.mark.parametrize("piece", PIECES)
def test_a_compression_bomb_is_not_unpacked(tmp_path: Path, ending: str, piece: str) -> None:
    path = pack(tmp_path / f"x{ending}.gz", PIECES[piece], 64 * MB)
    tracemalloc.start()
    try:
        with pytest.raises(InputError, match=r"x\.\w+\.gz.*(times its size|longer than 1 MB|MB)"):
            list(scan_rows(path))
        assert tracemalloc.get_traced_memory()[1] < 40 * MB
    finally:
        tracemalloc.stop()


@small
@pytest.mark.parametrize("ending", FORMATS)
def test_a_file_of_20_gb_is_refused_unread(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"x{ending}"
    path.touch()
    os.truncate(path, 20 * 10**9)
    with pytest.raises(InputError, match=r"larger than \d+ MB, the most that is read; split it"):
        list(scan_rows(path))
    with pytest.raises(InputError, match="larger than 64 MB"):
        read_text(path)


@small
def test_a_line_without_end_is_not_read_whole(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_bytes(b'{"a": 1}\n' + b"x" * (3 * MB))
    rows = scan(path)
    assert next(rows)
    with pytest.raises(InputError, match=r"x\.jsonl, line 2: longer than 1 MB"):
        list(rows)


def nested_objects(count: int) -> str:
    return json.dumps({"a": [{}] * count})


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("x.jsonl", "{}\n" * 100_000),
        ("x.jsonl", "\n" * 100_000),
        ("x.jsonl", f"{nested_objects(1_000)}\n" * 100),
        ("x.json", json.dumps([{}] * 100_000)),
        ("x.json", nested_objects(100_000)),
        ("x.json", json.dumps([0.5] * 100_000)),
        ("x.csv", "a,b\n" + "1,2\n" * 50_000),
        ("x.tsv", "\t".join(f"c{n}" for n in range(1_000)) + ("\n1" + "\t" * 999) * 100),
    ],
)
@small
def test_small_values_count_by_their_memory(tmp_path: Path, name: str, content: str) -> None:
    path = tmp_path / name
    path.write_text(content)
    assert path.stat().st_size < MB
    with pytest.raises(InputError, match=rf"{name}: takes more than 4 MB of memory, the most"):
        list(scan_rows(path))


@pytest.mark.parametrize(
    "column",
    [["x" * 10_000] * 5_000, [None] * 500_000],
    ids=["one text in many rows", "rows without a value"],
)
@small
def test_parquet_counts_by_what_comes_out(tmp_path: Path, column: list[str | None]) -> None:
    arrow: Any = pytest.importorskip("pyarrow")
    parquet: Any = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "x.parquet"
    parquet.write_table(arrow.table({"a": column}), path)
    assert path.stat().st_size < MB / 2
    with pytest.raises(InputError, match=r"x\.parquet: takes more than 4 MB of memory"):
        list(scan_rows(path))


@small
def test_names_that_come_twice_are_found_in_time(tmp_path: Path) -> None:
    names = [f"c{n}" for n in range(30_000)]
    path = tmp_path / "x.csv"
    path.write_text(",".join([*names, names[-1]]) + "\n")
    with pytest.raises(InputError, match="two columns are called 'c29999'"):
        list(scan_rows(path))
    pairs = ", ".join(f'"{name}": 1' for name in [*names, names[-1]])
    with pytest.raises(row_file.NotJson, match="'c29999' is there twice"):
        row_file.parse_json(f"{{{pairs}}}")


@small
def test_what_is_large_and_well_packed_is_read(tmp_path: Path) -> None:
    rows = [json.dumps({"n": n, "text": str(n * 7919)}) for n in range(10_000)]
    path = tmp_path / "x.jsonl.gz"
    path.write_bytes(gzip.compress("\n".join(rows).encode()))
    assert [row.value["n"] for row in scan(path) if isinstance(row, row_file.JsonLine)] == [
        *range(10_000)
    ]


@small
def test_lines_are_whole_across_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x.jsonl"
    path.write_bytes('\ufeff{"a": "é€😀"}\r\n\n{"a": 2}\n{"a": "é"}'.encode())
    whole = list(scan(path))
    for size in range(4, 20):
        monkeypatch.setattr(row_file, "_BLOCK", size)
        assert list(scan(path)) == whole
    path.write_bytes(b'{"a": 1}\n{"a": "\xff"}\n')
    with pytest.raises(InputError, match=r"line 2: not UTF-8 text \(byte 16\)"):
        list(scan(path))
