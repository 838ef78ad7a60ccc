import os
from pathlib import Path

import pytest

from constraint_first.error import OutputError
from constraint_first.file.safe import atomic_file, refuse_overwrite


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_the_file_takes_its_name_when_it_is_complete(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    with atomic_file(path) as temporary:
        temporary.write_text("half")
        assert not path.exists()
        assert temporary.parent == tmp_path, "a rename is atomic only within one file system"
        temporary.write_text("whole")
    assert path.read_text() == "whole"
    assert names(tmp_path) == ["out.jsonl"]


def _fail(temporary: Path, error: type[BaseException]) -> None:
    temporary.write_text("half")
    raise error


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_what_was_there_stays_when_the_writing_fails(
    tmp_path: Path, error: type[BaseException]
) -> None:
    path = tmp_path / "out"
    path.write_text("earlier")
    with pytest.raises(error), atomic_file(path) as temporary:
        _fail(temporary, error)
    assert path.read_text() == "earlier"
    assert names(tmp_path) == ["out"]


def test_a_file_that_is_replaced_is_whole_for_those_who_have_it_open(tmp_path: Path) -> None:
    path = tmp_path / "out"
    path.write_text("earlier")
    with path.open() as reader, atomic_file(path) as temporary:
        temporary.write_text("later")
        assert reader.read() == "earlier"
    assert path.read_text() == "later"


def test_a_name_without_a_folder_is_in_the_current_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with atomic_file(Path("here")) as temporary:
        temporary.write_bytes(b"\x00")
    assert (tmp_path / "here").read_bytes() == b"\x00"


@pytest.mark.parametrize(("mask", "mode"), [(0o022, 0o644), (0o077, 0o600)])
def test_others_may_read_it_as_far_as_the_user_lets_them(
    tmp_path: Path, mask: int, mode: int
) -> None:
    before = os.umask(mask)
    try:
        with atomic_file(tmp_path / "out") as temporary:
            temporary.touch()
        assert os.umask(mask) == mask, "the user's mask is as it was"
    finally:
        os.umask(before)
    assert (tmp_path / "out").stat().st_mode & 0o777 == mode


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match=r"a folder, not a file; name a file in it"):
        atomic_file(tmp_path).__enter__()
    (tmp_path / "file").touch()
    for path in (tmp_path / "none" / "out", tmp_path / "file" / "out"):
        with pytest.raises(OutputError, match=r"out: cannot be written \(.*in a folder that"):
            atomic_file(path).__enter__()


def test_a_full_disk_is_one_line(tmp_path: Path) -> None:
    path = tmp_path / "out"
    message = r"out: cannot be written \(No space left on device\)"
    with pytest.raises(OutputError, match=message), atomic_file(path):
        raise OSError(28, "No space left on device")
    assert names(tmp_path) == []


def test_a_failed_write_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "out.jsonl"
    path.write_bytes(b"old\n")

    def full_disk(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full_disk)
    with (
        pytest.raises(OutputError, match="No space left on device"),
        atomic_file(path) as temporary,
    ):
        temporary.write_bytes(b"new\n")
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
