"""JSON Lines files, with the line named whenever one is not what it should be."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from cfr.error import InputError
from cfr.problem import Json

__all__ = ["BadLine", "JsonLine", "read_rows", "read_text", "scan"]


@dataclass(frozen=True, slots=True)
class JsonLine:
    """One JSON object and the line it stands on."""

    number: int
    value: dict[str, Json]


@dataclass(frozen=True, slots=True)
class BadLine:
    """A line that is not a JSON object, and what is wrong with it."""

    number: int
    reason: str


def read_text(path: Path) -> str:
    """Read a whole UTF-8 file (a leading byte-order mark is dropped); ``.gz`` is unpacked."""
    try:
        data = path.read_bytes()
        if path.suffix.lower() == ".gz":
            data = gzip.decompress(data)
        return data.decode("utf-8-sig")
    except (EOFError, gzip.BadGzipFile, zlib.error):
        raise InputError(f"{path}: not a whole gzip file; fetch or write it again") from None
    except UnicodeDecodeError as error:
        raise InputError(
            f"{path}: not UTF-8 text (byte {error.start}); save it as UTF-8 and try again"
        ) from None
    except IsADirectoryError:
        raise InputError(f"{path}: a folder, not a file; name a file in it") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}); check the path") from None


def scan(path: Path) -> Iterator[JsonLine | BadLine]:
    """Read a JSON Lines file; a bad line is yielded, not raised, so that the rest can go on."""
    for number, line in enumerate(read_text(path).split("\n"), start=1):
        if line.strip():
            yield _parse(number, line)


def read_rows(path: Path) -> Iterator[JsonLine]:
    """Read a JSON Lines file in which every line must be a JSON object."""
    for row in scan(path):
        if isinstance(row, BadLine):
            raise InputError(
                f"{path}, line {row.number}: {row.reason}; each line must be one JSON object"
            )
        yield row


def _parse(number: int, line: str) -> JsonLine | BadLine:
    try:
        value: object = json.loads(line)
    except json.JSONDecodeError as error:
        return BadLine(number, f"not JSON ({error.msg} at column {error.colno})")
    except RecursionError:
        return BadLine(number, "JSON nested too deeply")
    except ValueError as error:  # an integer of more digits than Python converts
        return BadLine(number, f"not JSON that can be read ({str(error).split(';')[0]})")
    if not isinstance(value, dict):
        return BadLine(number, f"JSON, but a {type(value).__name__} and not an object")
    return JsonLine(number, cast("dict[str, Json]", value))
