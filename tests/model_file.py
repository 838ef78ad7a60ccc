"""GGUF files made by hand: a whole header and no weights to speak of."""

import struct
from pathlib import Path

CONTEXT = 2048
_TENSOR_DATA = bytes(128)


def text(value: str) -> bytes:
    return struct.pack("<Q", len(value)) + value.encode()


def pair(name: str, kind: int, value: bytes) -> bytes:
    return text(name) + struct.pack("<I", kind) + value


def header(*more: bytes, context: int | None = CONTEXT) -> bytes:
    """Make the header of a model with one tensor; more pairs may be added."""
    limit = [] if context is None else [pair("tiny.context_length", 4, struct.pack("<I", context))]
    pairs = [
        pair("general.architecture", 8, text("tiny")),
        *limit,
        pair("tokenizer.chat_template", 8, text("{{ messages }}")),
        *more,
    ]
    tensor = text("weight") + struct.pack("<IQQIQ", 2, 4, 4, 0, 32)
    return b"GGUF" + struct.pack("<IQQ", 3, 1, len(pairs)) + b"".join(pairs) + tensor


def write_model(path: Path, *more: bytes, context: int | None = CONTEXT) -> Path:
    """Write a model file that can be inspected and not be loaded."""
    path.write_bytes(header(*more, context=context) + _TENSOR_DATA)
    return path
