import os
import struct
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from model_file import header, pair, text, write_model

from constraint_first.model import local as gguf
from constraint_first.model.error import ModelFileError
from constraint_first.model.local import inspect

OTHERS = (
    pair("tiny.scale", 6, struct.pack("<f", 0.5)),
    pair("tokens", 9, struct.pack("<IQ", 8, 2) + text("a") + text("b")),
    pair("scores", 9, struct.pack("<IQ", 6, 3) + bytes(12)),
)


def test_a_whole_file_tells_its_context(tmp_path: Path) -> None:
    seen = inspect(write_model(tmp_path / "m.gguf", *OTHERS))
    assert (seen.architecture, seen.context) == ("tiny", 2048)


@pytest.mark.parametrize(
    "limit",
    [b"", pair("tiny.context_length", 8, text("long")), pair("context_length", 4, bytes(4))],
)
def test_a_file_need_not_tell_its_context(tmp_path: Path, limit: bytes) -> None:
    more = [limit] if limit else []
    assert inspect(write_model(tmp_path / "m.gguf", *more, context=None)).context is None


def test_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(ModelFileError, match="no such file"):
        inspect(tmp_path / "m.gguf")


def test_another_kind_of_file(tmp_path: Path) -> None:
    path = tmp_path / "m.gguf"
    path.write_bytes(b"PK\x03\x04 not a model")
    with pytest.raises(ModelFileError, match="not a GGUF"):
        inspect(path)
    with pytest.raises(ModelFileError, match="not a file"):
        inspect(tmp_path)


@given(length=st.integers(4, len(header(*OTHERS)) + 32))
def test_a_file_cut_anywhere_is_noticed(tmp_path_factory: pytest.TempPathFactory, length: int):
    path = write_model(tmp_path_factory.getbasetemp() / "cut.gguf", *OTHERS)
    path.write_bytes(path.read_bytes()[:length])
    with pytest.raises(ModelFileError, match="cut short"):
        inspect(path)


@pytest.mark.parametrize(
    "lie",
    [
        struct.pack("<IQQ", 3, 0, 2**60),  # so many pairs, all of them zeros
        struct.pack("<IQQ", 3, 2**60, 0),
        struct.pack("<IQQQI", 3, 1, 0, 0, 2**31),  # a tensor of so many dimensions
        struct.pack("<IQQQI", 3, 0, 1, 0, 9) + struct.pack("<IQ", 9, 2**60) * 5_000,
    ],
)
def test_a_header_that_lies_about_its_length_is_not_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lie: bytes
) -> None:
    monkeypatch.setattr(gguf, "_LONGEST_HEADER", 2**20)
    path = tmp_path / "m.gguf"
    path.write_bytes(b"GGUF" + lie)
    os.truncate(path, 20 * 10**9)
    with pytest.raises(ModelFileError, match="damaged or cut short"):
        inspect(path)


def test_a_pipe_is_no_model_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "m.gguf")
    with pytest.raises(ModelFileError, match="not a file"):
        inspect(tmp_path / "m.gguf")
