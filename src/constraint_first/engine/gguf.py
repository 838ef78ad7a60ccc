"""The header of a GGUF file: enough to tell a whole model from a broken one before loading it."""

from __future__ import annotations

import stat
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final

from constraint_first.engine.error import ModelFileError

__all__ = ["GGUF", "inspect"]

_STRING, _ARRAY = 8, 9
# Bytes of each scalar type, by its number in the format.
_WIDTH: Final = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}
_LONGEST_HEADER: Final = 2**26
_MOST_DIMENSIONS: Final = 16
_TOO_MUCH: Final = (MemoryError, OverflowError, RecursionError)


@dataclass(frozen=True, slots=True)
class GGUF:
    """A model file's own description: its architecture and context limit."""

    architecture: str
    context: int | None
    """The most tokens of context that it was trained with, where it says so."""


def inspect(path: Path) -> GGUF:
    """Read a model file's header, and refuse a file that is missing, foreign or cut short."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise ModelFileError(f"{path}: not a file; give one that ends in .gguf")
        with path.open("rb") as file:
            return _read(path, file)
    except FileNotFoundError:
        raise ModelFileError(f"{path}: there is no such file; check the path") from None
    except OSError as error:
        raise ModelFileError(f"{path}: cannot be read ({error.strerror})") from None
    except (struct.error, UnicodeDecodeError, KeyError, *_TOO_MUCH):
        raise ModelFileError(f"{path}: damaged or cut short; fetch it again") from None


def _read(path: Path, file: BinaryIO) -> GGUF:
    if file.read(4) != b"GGUF":
        raise ModelFileError(f"{path}: not a GGUF model file; give one that ends in .gguf")
    _version, tensors, pairs = _unpack(file, "IQQ")
    values = dict(_pair(file) for _ in range(pairs))
    last = max((_tensor_offset(file) for _ in range(tensors)), default=0)
    if file.tell() + last >= path.stat().st_size:
        raise ModelFileError(f"{path}: cut short; fetch it again")
    architecture = str(values.get("general.architecture", ""))
    context = values.get(f"{architecture}.context_length")
    return GGUF(architecture, context if isinstance(context, int) else None)


def _pair(file: BinaryIO) -> tuple[str, str | int | None]:
    name = _string(file)
    (kind,) = _unpack(file, "I")
    return name, _value(file, kind)


def _value(file: BinaryIO, kind: int) -> str | int | None:
    """Read a value; arrays and fractions are passed over."""
    if kind == _STRING:
        return _string(file)
    if kind == _ARRAY:
        inner, count = _unpack(file, "IQ")
        if inner in _WIDTH:
            file.seek(_WIDTH[inner] * count, 1)
        else:
            for _ in range(count):
                _value(file, inner)
        return None
    data = file.read(_WIDTH[kind])
    if len(data) < _WIDTH[kind]:
        raise struct.error
    return int.from_bytes(data, "little")


def _tensor_offset(file: BinaryIO) -> int:
    _string(file)
    (dimensions,) = _unpack(file, "I")
    if dimensions > _MOST_DIMENSIONS:
        raise struct.error
    *_, offset = _unpack(file, f"{dimensions}QIQ")
    return offset


def _string(file: BinaryIO) -> str:
    (length,) = _unpack(file, "Q")
    if length > 2**24:
        raise struct.error
    return file.read(length).decode("utf-8", "replace")


def _unpack(file: BinaryIO, layout: str) -> tuple[int, ...]:
    # How many entries there are is the file's own word, and a false one is not followed for ever.
    if file.tell() > _LONGEST_HEADER:
        raise struct.error
    layout = "<" + layout
    return struct.unpack(layout, file.read(struct.calcsize(layout)))
