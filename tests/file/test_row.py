import gzip
from pathlib import Path

import pytest

from constraint_first.error import InputError
from constraint_first.file.rows import FORMATS, BadLine, all_rows, row_format, row_stem, scan_rows


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
