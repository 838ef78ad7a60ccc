"""JSON Lines files, with the line named whenever one is not what it should be."""

from __future__ import annotations

import codecs
import gzip
import json
import stat
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NoReturn, cast

from cfr.error import InputError
from cfr.problem import Json

__all__ = [
    "BadLine",
    "JsonLine",
    "NotJson",
    "decode_text",
    "parse_json",
    "read_bytes",
    "read_rows",
    "read_text",
    "require_good",
    "scan",
    "scan_text",
]

# The longer marks first: that of UTF-32 begins like that of UTF-16.
_MARKS: Final = {
    codecs.BOM_UTF32_LE: "UTF-32",
    codecs.BOM_UTF32_BE: "UTF-32",
    codecs.BOM_UTF16_LE: "UTF-16",
    codecs.BOM_UTF16_BE: "UTF-16",
}
# What is no text at all, by its first bytes, and what to do about it.
_FORMATS: Final = {
    b"PK\x03\x04": "a spreadsheet or an archive, not text; save a spreadsheet as CSV",
    b"\xd0\xcf\x11\xe0": "a spreadsheet or a document, not text; save it as CSV",
    b"PAR1": "a Parquet file; end its name in .parquet",
    b"\x1f\x8b": "packed with gzip; end its name in .gz",
}
# Where a shell puts what it was told to read: `cfr grade <(…)`, `… | cfr grade /dev/stdin`.
_SHELL_INPUT: Final = ("/dev/fd/", "/dev/stdin", "/proc/self/fd/")


@dataclass(frozen=True, slots=True)
class JsonLine:
    """One JSON object and the line it stands on, or the row where a file has no lines."""

    number: int
    value: dict[str, Json]
    unit: str = "line"

    @property
    def place(self) -> str:
        """Where it stands, for a message."""
        return f"{self.unit} {self.number}"


@dataclass(frozen=True, slots=True)
class BadLine:
    """A line that is not a JSON object, and what is wrong with it."""

    number: int
    reason: str
    unit: str = "line"

    @property
    def place(self) -> str:
        """Where it stands, for a message."""
        return f"{self.unit} {self.number}"


def read_text(path: Path) -> str:
    """Read a whole UTF-8 file (a leading byte-order mark is dropped); ``.gz`` is unpacked."""
    return decode_text(read_bytes(path), str(path))


def read_bytes(path: Path) -> bytes:
    """Read a whole file; ``.gz`` is unpacked."""
    try:
        data = _read_plain(path)
        return gzip.decompress(data) if path.suffix.lower() == ".gz" else data
    except (EOFError, gzip.BadGzipFile, zlib.error):
        raise InputError(f"{path}: not a whole gzip file; fetch or write it again") from None
    except IsADirectoryError:
        raise InputError(f"{path}: a folder, not a file; name a file in it") from None
    except (OSError, ValueError) as error:  # a name with a NUL in it is no OSError
        reason = error.strerror if isinstance(error, OSError) else "no file has such a name"
        raise InputError(f"{path}: cannot be read ({reason}); check the path") from None


def _read_plain(path: Path) -> bytes:
    mode = path.stat().st_mode
    plain = stat.S_ISREG(mode) or stat.S_ISDIR(mode)
    if not plain and not str(path).startswith(_SHELL_INPUT):
        # One that nobody writes to, or that never ends, would be waited for without end.
        raise InputError(f"{path}: a pipe or a device, not a file; copy its content into a file")
    return path.read_bytes()


def decode_text(data: bytes, where: str) -> str:
    """Decode UTF-8; ``where`` it comes from is named where it is something else."""
    for mark, name in _MARKS.items():
        if data.startswith(mark):
            raise InputError(f"{where}: {name} text; save it as UTF-8 and try again")
    for start, way in _FORMATS.items():
        if data.startswith(start):
            raise InputError(f"{where}: {way}")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InputError(
            f"{where}, line {line}: not UTF-8 text (byte {error.start}); save it as UTF-8 and try"
            " again"
        ) from None


def scan(path: Path) -> Iterator[JsonLine | BadLine]:
    """Read a JSON Lines file; a bad line is yielded, not raised, so that the rest can go on."""
    return scan_text(read_text(path))


def scan_text(text: str) -> Iterator[JsonLine | BadLine]:
    """Read JSON Lines from a text."""
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            yield _parse_line(number, line)


def read_rows(path: Path) -> Iterator[JsonLine]:
    """Read a JSON Lines file in which every line must be a JSON object."""
    return require_good(path, scan(path))


def require_good(path: Path, rows: Iterable[JsonLine | BadLine]) -> Iterator[JsonLine]:
    """Pass rows on, and refuse the file at the first that is bad."""
    for row in rows:
        if isinstance(row, BadLine):
            way = "" if ";" in row.reason else f"; each {row.unit} must be one JSON object"
            raise InputError(f"{path}, {row.place}: {row.reason}{way}")
        yield row


class NotJson(Exception):
    """A text that is not JSON, or that Python reads as JSON and that means nothing certain."""

    def __init__(self, reason: str, line: int = 1) -> None:
        super().__init__(reason)
        self.line = line


def _refuse_constant(name: str) -> NoReturn:
    raise NotJson(f"not JSON ({name} is no value there); write null where there is none")


def _as_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise NotJson(f"the field {twice[:60]!r} is there twice; leave one out")
    return value


_DECODER: Final = json.JSONDecoder(parse_constant=_refuse_constant, object_pairs_hook=_as_object)


def parse_json(text: str) -> Any:
    """Parse strict JSON; what is wrong with any other text is raised as ``NotJson``."""
    try:
        return _DECODER.decode(text)
    except json.JSONDecodeError as error:
        raise NotJson(f"not JSON ({error.msg} at column {error.colno})", error.lineno) from None
    except RecursionError:
        raise NotJson("JSON nested too deeply") from None
    except ValueError as error:  # an integer of more digits than Python converts
        raise NotJson(f"not JSON that can be read ({str(error).split(';')[0]})") from None


def _parse_line(number: int, line: str) -> JsonLine | BadLine:
    try:
        value: object = parse_json(line)
    except NotJson as error:
        return BadLine(number, str(error))
    if not isinstance(value, dict):
        return BadLine(number, f"JSON, but a {type(value).__name__} and not an object")
    return JsonLine(number, cast("dict[str, Json]", value))
