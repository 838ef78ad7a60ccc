from __future__ import annotations

from pathlib import Path

import pytest

from cfr.benchmark.constraintbench.file import refuse_overwrite, write_whole
from cfr.error import OutputError


def test_writes_and_leaves_nothing_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    write_whole(path, b"one\n")
    write_whole(path, b"two\n")
    assert path.read_bytes() == b"two\n"
    assert list(tmp_path.iterdir()) == [path]
    assert path.stat().st_mode & 0o400


def test_a_failed_write_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "out.jsonl"
    path.write_bytes(b"old\n")

    def full_disk(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full_disk)
    with pytest.raises(OutputError, match="No space left on device"):
        write_whole(path, b"new\n")
    assert path.read_bytes() == b"old\n"
    assert list(tmp_path.iterdir()) == [path]


def test_refuses_what_cannot_or_should_not_be_written(tmp_path: Path) -> None:
    there = tmp_path / "there.jsonl"
    there.write_text("kept")
    with pytest.raises(OutputError, match="exists already"):
        refuse_overwrite(there, force=False)
    refuse_overwrite(there, force=True)
    with pytest.raises(OutputError, match="a folder"):
        refuse_overwrite(tmp_path, force=True)
    with pytest.raises(OutputError, match="there is no folder"):
        refuse_overwrite(tmp_path / "nowhere" / "out.jsonl", force=False)
