from pathlib import Path

import pytest

from constraint_first.error import OutputError
from constraint_first.model.batch import FileLimits, RequestFile


def test_a_file_is_full_at_so_many_requests_or_bytes(tmp_path: Path) -> None:
    file = RequestFile(tmp_path / "a.jsonl", FileLimits(requests=2, size=100))
    file.add(b"x" * 9 + b"\n")
    assert file.has_room(b"x" * 90)
    assert not file.has_room(b"x" * 91)
    file.add(b"y\n")
    assert not file.has_room(b"z\n")
    assert file.path.read_bytes() == b"xxxxxxxxx\ny\n"
    assert (file.requests, file.size) == (2, 12)


def test_a_line_beyond_the_limit_has_a_file_to_itself(tmp_path: Path) -> None:
    assert RequestFile(tmp_path / "a.jsonl", FileLimits(size=1)).has_room(b"xx\n")


def test_the_limits_are_those_of_openai() -> None:
    assert FileLimits() == FileLimits(50_000, 200_000_000)


def test_a_disk_that_takes_nothing_is_named(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="cannot be written"):
        RequestFile(tmp_path / "none" / "a.jsonl").add(b"x\n")
