"""JSON Lines files, with the line named whenever one is not what it should be."""

from __future__ import annotations

import codecs
import gzip
import json
import os
import stat
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Final, NoReturn, cast

from constraint_first.error import InputError
from constraint_first.problem import Json

__all__ = [
    "MOST_HELD",
    "MOST_TEXT",
    "MOST_WHOLE",
    "BadLine",
    "JsonLine",
    "MemoryBound",
    "NotJson",
    "count_values",
    "decode_text",
    "parse_json",
    "read_bytes",
    "read_rows",
    "read_text",
    "require_good",
    "scan",
    "scan_text",
]

MOST_TEXT: Final = 2**26
"""Bytes of a file that is one text: a prompt, a policy, the settings of an experiment."""
MOST_WHOLE: Final = 2**28
"""Bytes of a file of rows that is read at once, as all but JSON Lines are."""
MOST_HELD: Final = 2**30
"""Bytes of memory that the rows of one file may take."""
LONGEST_LINE: Final = 2**26
_BLOCK: Final = 2**20
_SURELY_FINE: Final = 2**23
"""Bytes that a gzip file may unpack to, however small it is."""
_MOST_RATIO: Final = 100
"""How many times its size any other may; texts have 3 to 20, and gzip goes up to 1,000."""
_VALUE: Final = 64
"""Bytes that a small value takes in Python, beside its text."""

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


def read_text(path: Path, most: int = MOST_TEXT) -> str:
    """Read a whole UTF-8 file (a leading byte-order mark is dropped); ``.gz`` is unpacked."""
    return decode_text(read_bytes(path, most), str(path))


def read_bytes(path: Path, most: int = MOST_TEXT) -> bytes:
    """Read a whole file of at most so many bytes; ``.gz`` is unpacked."""
    return b"".join(_blocks(path, most))


def _blocks(path: Path, most: int) -> Iterator[bytes]:
    """Read a file piece by piece, and refuse one that goes on for longer than ``most`` bytes.

    A gzip file may hold a thousand times its size, so what counts is what comes out of it.
    """
    packed, total = path.suffix.lower() == ".gz", 0
    try:
        with _open_plain(path) as plain:
            size = os.fstat(plain.fileno()).st_size
            if not packed and size > most:
                raise InputError(_too_large(path, most))
            file = gzip.GzipFile(fileobj=plain) if packed else plain
            while block := file.read(_BLOCK):
                total += len(block)
                if packed and total > max(_SURELY_FINE, _MOST_RATIO * plain.tell()):
                    raise InputError(
                        f"{path}: unpacks to more than {_MOST_RATIO} times its size, as a "
                        "compression bomb does; if it is not one, unpack it and name the result"
                    )
                if total > most:
                    raise InputError(_too_large(path, most))
                yield block
    except (EOFError, gzip.BadGzipFile, zlib.error):
        raise InputError(f"{path}: not a whole gzip file; fetch or write it again") from None
    except IsADirectoryError:
        raise InputError(f"{path}: a folder, not a file; name a file in it") from None
    except (OSError, ValueError) as error:  # a name with a NUL in it is no OSError
        reason = error.strerror if isinstance(error, OSError) else "no file has such a name"
        raise InputError(f"{path}: cannot be read ({reason}); check the path") from None


def _open_plain(path: Path) -> BinaryIO:
    mode = path.stat().st_mode
    plain = stat.S_ISREG(mode) or stat.S_ISDIR(mode)
    if not plain and not str(path).startswith(_SHELL_INPUT):
        # One that nobody writes to, or that never ends, would be waited for without end.
        raise InputError(f"{path}: a pipe or a device, not a file; copy its content into a file")
    return path.open("rb")


def _too_large(path: Path, most: int) -> str:
    return f"{path}: larger than {most // 2**20} MB, the most that is read; split it"


def decode_text(data: bytes, where: str) -> str:
    """Decode UTF-8; ``where`` it comes from is named where it is something else."""
    refuse_other_formats(data, where)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise _not_utf8(where, line, error.start) from None


def refuse_other_formats(data: bytes, where: str) -> None:
    """Refuse what is no UTF-8 text by its first bytes."""
    for mark, name in _MARKS.items():
        if data.startswith(mark):
            raise InputError(f"{where}: {name} text; save it as UTF-8 and try again")
    for start, way in _FORMATS.items():
        if data.startswith(start):
            raise InputError(f"{where}: {way}")


def _not_utf8(where: str, line: int, byte: int) -> InputError:
    return InputError(
        f"{where}, line {line}: not UTF-8 text (byte {byte}); save it as UTF-8 and try again"
    )


class MemoryBound:
    """Adds up what rows of a file take in memory, and refuses the file where that is too much."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._held = 0

    def add(self, length: int, values: int) -> None:
        """Count a text of some length that holds so many values."""
        self._held += length + _VALUE * (values + 1)
        if self._held > MOST_HELD:
            raise InputError(
                f"{self._path}: takes more than {MOST_HELD // 2**20} MB of memory, the most that "
                "the rows of a file may; split it"
            )


def scan(path: Path) -> Iterator[JsonLine | BadLine]:
    """Read a JSON Lines file; a bad line is yielded, not raised, so that the rest can go on."""
    bound = MemoryBound(path)
    for number, line in enumerate(_lines(path), start=1):
        bound.add(len(line), count_values(line))
        if line and not line.isspace():
            yield _parse_line(number, line)


def count_values(text: str) -> int:
    """Count the values of a JSON text, at most: what takes memory beside the text itself."""
    return text.count(",") + text.count("{") + text.count("[")


def _lines(path: Path) -> Iterator[str]:
    """Read the lines of a UTF-8 file one by one; a line without end is not read whole."""
    number, length, offset, parts = 1, 0, 0, list[bytes]()

    def line(data: bytes) -> str:
        nonlocal number, offset
        try:
            decoded = data.decode()
        except UnicodeDecodeError as error:
            raise _not_utf8(str(path), number, offset + error.start) from None
        number, offset = number + 1, offset + len(data) + 1
        return decoded

    for block in _blocks(path, MOST_HELD):
        if not offset and not parts:
            refuse_other_formats(block, str(path))
            block = block.removeprefix(codecs.BOM_UTF8)
        first, *more = block.split(b"\n")
        parts.append(first)
        length += len(first)
        if more:
            yield line(b"".join(parts))
            yield from map(line, more[:-1])
            parts, length = [more[-1]], len(more[-1])
        if length > LONGEST_LINE:
            raise InputError(
                f"{path}, line {number}: longer than {LONGEST_LINE // 2**20} MB; a JSON Lines file "
                "has one row a line"
            )
    yield line(b"".join(parts))


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
        twice, _ = Counter(name for name, _ in pairs).most_common(1)[0]
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
