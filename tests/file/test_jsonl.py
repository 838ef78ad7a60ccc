import gzip
import os
from pathlib import Path

import pytest

from constraint_first.error import InputError
from constraint_first.file.rows import BadLine, JsonLine, read_rows, read_text, scan


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
        (b'{"n": NaN}', r"NaN is no value there\); write null where there is none$"),
        (b'{"n": [-Infinity]}', "-Infinity is no value there"),
        (b'{"a": 1, "b": 2, "a": 3}', "the field 'a' is there twice; leave one out"),
        (b'{"a": {"b": 2, "b": 3}}', "the field 'b' is there twice"),
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
    with pytest.raises(InputError, match=r"x\.jsonl, line 2: not UTF-8 text \(byte 3\)"):
        read_text(write(tmp_path, b"a\nb\xff"))
    with pytest.raises(InputError, match="no file has such a name"):
        read_text(tmp_path / "a\0b")


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-32", "utf-32-be"])
def test_other_encodings_are_named(tmp_path: Path, encoding: str) -> None:
    name = encoding[:6].upper()
    path = write(tmp_path, "\ufeff{}".encode(encoding))
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
