import gzip
from pathlib import Path

import pytest

from cfr.error import InputError
from cfr.file.jsonl import BadLine, JsonLine, read_rows, read_text, scan


def write(tmp_path: Path, data: bytes) -> Path:
    path = tmp_path / "x.jsonl"
    path.write_bytes(data)
    return path


def test_rows_carry_their_line(tmp_path: Path) -> None:
    path = write(tmp_path, b'\xef\xbb\xbf{"a": 1}\r\n\n  \n{"a": "\xe2\x80\xa8"}\n')
    assert list(read_rows(path)) == [JsonLine(1, {"a": 1}), JsonLine(4, {"a": "\u2028"})]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"{oops}", "not JSON"),
        (b"[1]", "a list and not an object"),
        (b'"x"', "a str and not an object"),
        (b"[" * 100_000, "nested too deeply"),
        (b'{"n": ' + b"9" * 5_000 + b"}", "cannot|limit|that can be read"),
    ],
)
def test_a_bad_line_is_named(tmp_path: Path, line: bytes, reason: str) -> None:
    path = write(tmp_path, b'{"a": 1}\n' + line + b'\n{"a": 2}\n')
    with pytest.raises(InputError, match=f"line 2: .*({reason})"):
        list(read_rows(path))
    rows = list(scan(path))
    assert [type(row) for row in rows] == [JsonLine, BadLine, JsonLine]


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"none\.txt: cannot be read \(No such file"):
        read_text(tmp_path / "none.txt")
    with pytest.raises(InputError, match="a folder, not a file"):
        read_text(tmp_path)
    with pytest.raises(InputError, match=r"not UTF-8 text \(byte 1\)"):
        read_text(write(tmp_path, b"a\xff"))


def test_a_packed_file_is_unpacked_and_a_damaged_one_is_named(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl.gz"
    path.write_bytes(gzip.compress(b'{"a": 1}\n'))
    assert [row.value for row in read_rows(path)] == [{"a": 1}]
    for damaged in (path.read_bytes()[:-9], b'{"a": 1}'):
        path.write_bytes(damaged)
        with pytest.raises(InputError, match="not a whole gzip file"):
            list(read_rows(path))
