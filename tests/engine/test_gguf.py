import struct
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cfr.engine.error import ModelFileError
from cfr.engine.gguf import inspect


def text(value: str) -> bytes:
    return struct.pack("<Q", len(value)) + value.encode()


def pair(name: str, kind: int, value: bytes) -> bytes:
    return text(name) + struct.pack("<I", kind) + value


PAIRS = (
    pair("general.architecture", 8, text("tiny")),
    pair("tiny.context_length", 4, struct.pack("<I", 2048)),
    pair("tokenizer.chat_template", 8, text("{{ messages }}")),
    pair("tiny.scale", 6, struct.pack("<f", 0.5)),
    pair("tokens", 9, struct.pack("<IQ", 8, 2) + text("a") + text("b")),
    pair("scores", 9, struct.pack("<IQ", 6, 3) + bytes(12)),
)
TENSOR = text("weight") + struct.pack("<IQQIQ", 2, 4, 4, 0, 32)
HEADER = b"GGUF" + struct.pack("<IQQ", 3, 1, len(PAIRS)) + b"".join(PAIRS) + TENSOR
WHOLE = HEADER + bytes(128)


def test_a_whole_file_tells_its_context(tmp_path: Path) -> None:
    path = tmp_path / "m.gguf"
    path.write_bytes(WHOLE)
    seen = inspect(path)
    assert (seen.architecture, seen.context, seen.chat_template) == ("tiny", 2048, True)


def test_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(ModelFileError, match="no such file"):
        inspect(tmp_path / "m.gguf")


def test_another_kind_of_file(tmp_path: Path) -> None:
    path = tmp_path / "m.gguf"
    path.write_bytes(b"PK\x03\x04 not a model")
    with pytest.raises(ModelFileError, match="not a GGUF"):
        inspect(path)
    with pytest.raises(ModelFileError, match="cannot be read"):
        inspect(tmp_path)


@given(length=st.integers(4, len(HEADER) + 32))
def test_a_file_cut_anywhere_is_noticed(tmp_path_factory: pytest.TempPathFactory, length: int):
    path = tmp_path_factory.getbasetemp() / "cut.gguf"
    path.write_bytes(WHOLE[:length])
    with pytest.raises(ModelFileError, match="cut short"):
        inspect(path)
