"""Files that are larger than they look, or than memory: read no further than a bound."""

import gzip
import json
import os
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from constraint_first.error import InputError
from constraint_first.file import (
    rows as csv_file,
)
from constraint_first.file import (
    rows as json_file,
)
from constraint_first.file import (
    rows as jsonl,
)
from constraint_first.file import (
    rows as parquet_file,
)
from constraint_first.file.rows import FORMATS, read_text, scan, scan_rows

MB = 2**20


@pytest.fixture(autouse=True)
def _small_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jsonl, "MOST_HELD", 4 * MB)
    monkeypatch.setattr(jsonl, "LONGEST_LINE", MB)
    monkeypatch.setattr(jsonl, "_SURELY_FINE", MB)
    for reader in (json_file, csv_file, parquet_file):
        monkeypatch.setattr(reader, "MOST_WHOLE", 4 * MB)


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


@pytest.mark.parametrize("ending", FORMATS)
def test_a_file_of_20_gb_is_refused_unread(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"x{ending}"
    path.touch()
    os.truncate(path, 20 * 10**9)
    with pytest.raises(InputError, match=r"larger than \d+ MB, the most that is read; split it"):
        list(scan_rows(path))
    with pytest.raises(InputError, match="larger than 64 MB"):
        read_text(path)


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
def test_small_values_count_by_what_they_take_in_memory(
    tmp_path: Path, name: str, content: str
) -> None:
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
def test_a_parquet_file_counts_by_what_comes_out_of_it(
    tmp_path: Path, column: list[str | None]
) -> None:
    arrow: Any = pytest.importorskip("pyarrow")
    parquet: Any = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "x.parquet"
    parquet.write_table(arrow.table({"a": column}), path)
    assert path.stat().st_size < MB / 2
    with pytest.raises(InputError, match=r"x\.parquet: takes more than 4 MB of memory"):
        list(scan_rows(path))


def test_names_that_come_twice_are_found_in_time(tmp_path: Path) -> None:
    names = [f"c{n}" for n in range(30_000)]
    path = tmp_path / "x.csv"
    path.write_text(",".join([*names, names[-1]]) + "\n")
    with pytest.raises(InputError, match="two columns are called 'c29999'"):
        list(scan_rows(path))
    pairs = ", ".join(f'"{name}": 1' for name in [*names, names[-1]])
    with pytest.raises(jsonl.NotJson, match="'c29999' is there twice"):
        jsonl.parse_json(f"{{{pairs}}}")


def test_what_is_large_and_well_packed_is_read(tmp_path: Path) -> None:
    rows = [json.dumps({"n": n, "text": str(n * 7919)}) for n in range(10_000)]
    path = tmp_path / "x.jsonl.gz"
    path.write_bytes(gzip.compress("\n".join(rows).encode()))
    assert [row.value["n"] for row in scan(path) if isinstance(row, jsonl.JsonLine)] == [
        *range(10_000)
    ]


def test_lines_are_whole_wherever_a_block_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "x.jsonl"
    path.write_bytes('\ufeff{"a": "é€😀"}\r\n\n{"a": 2}\n{"a": "é"}'.encode())
    whole = list(scan(path))
    for size in range(4, 20):
        monkeypatch.setattr(jsonl, "_BLOCK", size)
        assert list(scan(path)) == whole
    path.write_bytes(b'{"a": 1}\n{"a": "\xff"}\n')
    with pytest.raises(InputError, match=r"line 2: not UTF-8 text \(byte 16\)"):
        list(scan(path))
