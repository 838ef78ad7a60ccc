"""Files of JSON Lines that only grow: a row is added, and on the disk, or it is not."""

from __future__ import annotations

import json
import os
from pathlib import Path

from constraint_first.error import OutputError
from constraint_first.problem import Json

__all__ = ["append_row"]


def append_row(path: Path, value: Json) -> None:
    """Add a row to a file, and return once it is on the disk."""
    try:
        with path.open("ab+") as file:
            if file.tell():
                file.seek(-1, os.SEEK_END)
                # Whatever was cut off there stays a line of its own, and this one is not lost.
                file.write(b"" if file.read() == b"\n" else b"\n")
            file.write(_line(value))
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise OutputError(f"{path}: cannot be written ({error.strerror}); name another") from None


def _line(value: Json) -> bytes:
    try:
        return json.dumps(value, ensure_ascii=False).encode() + b"\n"
    except UnicodeEncodeError:  # a lone surrogate has no UTF-8; its ASCII escape has
        return json.dumps(value).encode() + b"\n"
