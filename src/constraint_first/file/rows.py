"""Files of rows: JSON Lines, JSON, CSV and Parquet, read with bounds and named errors.

A field of a JSON or TOML object is read by its type. An error names the field, the type that it
must have and the value found instead; ``within`` adds the place: the path, and the line."""

from __future__ import annotations

import codecs
import csv
import difflib
import gzip
import importlib
import io
import json
import math
import os
import re
import reprlib
import stat
import tomllib
import zlib
from collections import Counter, defaultdict
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, Generic, NamedTuple, NoReturn, TypeVar, cast

from constraint_first.error import InputError, OutputError
from constraint_first.file.safe import LONGEST, one_line, printable
from constraint_first.pattern import lazy_pattern
from constraint_first.problem import Json

T = TypeVar("T")


class FieldError(InputError):
    """A field is missing, unknown, or of the wrong type."""

    def __init__(self, message: str, field: str = "") -> None:
        super().__init__(message)
        self.field = field
        """The name of the field; empty where it is unknown."""


@dataclass(frozen=True, slots=True)
class FieldType(Generic[T]):
    """A type that a field may have: its name in a message, and the test for it."""

    name: str
    fits: Callable[[Any], bool]


# Compared by exact type, because ``isinstance(True, int)`` holds.
TEXT: Final[FieldType[str]] = FieldType("a text", lambda value: type(value) is str)
FILLED: Final[FieldType[str]] = FieldType(
    "a text that is not blank", lambda value: TEXT.fits(value) and value.strip() != ""
)
TRUTH: Final[FieldType[bool]] = FieldType("true or false", lambda value: type(value) is bool)
WHOLE: Final[FieldType[int]] = FieldType("a whole number", lambda value: type(value) is int)
NUMBER: Final[FieldType[float]] = FieldType("a number", lambda value: type(value) in (int, float))
OBJECT: Final[FieldType[dict[str, Json]]] = FieldType("an object", lambda v: type(v) is dict)
_ABSENT: Final = object()
_NO_CHARACTER: Final = lazy_pattern("[\0\ud800-\udfff]")


def one_of(values: Sequence[T]) -> FieldType[T]:
    """Return the type of a field that is one of a few words or numbers, or null."""
    types = {type(value) for value in values}
    names = ", ".join("null" if value is None else str(value) for value in values)
    return FieldType(f"one of {names}", lambda value: type(value) in types and value in values)


def list_of(kind: FieldType[T], names: str) -> FieldType[list[T]]:
    """Return the type of a list, which may be empty; ``names`` is for messages."""
    return FieldType(
        f"a list of {names}",
        lambda value: type(value) is list and all(map(kind.fits, cast("list[Any]", value))),
    )


def read_field(row: Mapping[str, Any], name: str, kind: FieldType[T]) -> T:
    value: Any = row.get(name, _ABSENT)
    if kind.fits(value):
        return value
    if value is _ABSENT:
        raise FieldError(f"needs {name!r}, {kind.name}", name)
    # Truncated, because the value may be of any length and depth.
    raise FieldError(f"{name!r} must be {kind.name}, not {reprlib.repr(value)}", name)


def read_objects(
    row: Mapping[str, Any], name: str, reader: Callable[[dict[str, Json]], T]
) -> tuple[T, ...]:
    """Read a list of objects, each by the same reader; errors name the object."""
    found: list[T] = []
    for number, one in enumerate(read_field(row, name, list_of(OBJECT, "objects")), start=1):
        try:
            found.append(reader(one))
        except FieldError as error:
            raise FieldError(f"{name} {number}: {error}") from None
    return tuple(found)


def check_fields(row: Mapping[str, Any], kinds: Mapping[str, FieldType[Any]]) -> None:
    """Refuse a field that is unknown or of the wrong type; every field is optional."""
    for name in row:
        if name not in kinds:
            close = difflib.get_close_matches(name, kinds, n=1)
            hint = f"did you mean {close[0]!r}?" if close else f"choose from {', '.join(kinds)}"
            raise FieldError(f"there is no {reprlib.repr(name)}; {hint}", name)
        read_field(row, name, kinds[name])


def check_text(text: str, name: str, longest: int) -> str:
    """Return a text that every database and endpoint accepts; raise the reason for any other."""
    if found := _NO_CHARACTER.search(text):
        what = "a NUL character" if found[0] == "\0" else "half a surrogate pair"
        raise FieldError(f"{name!r} has {what} as character {found.start() + 1}; replace it", name)
    if len(text) > longest:
        raise FieldError(f"{name!r} has {len(text):,} characters; {longest:,} are the most", name)
    return text


@contextmanager
def within(where: object) -> Generator[None]:
    """Add the place of the fields to errors that are raised in this context."""
    try:
        yield
    except FieldError as error:
        raise FieldError(f"{where}: {error}", error.field) from None


# TOML files written by hand.

_LONGEST: Final = 2**22


def parse_toml(where: Path | str, text: str) -> dict[str, Any]:
    if len(text) > _LONGEST:
        raise InputError(f"{where}: longer than {_LONGEST // 2**20} MB, the most that is read")
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # also an integer of too many digits
        reason = str(error).split(";")[0]
        raise InputError(f"{where}: not TOML ({reason}); correct the file") from None


def line_of(text: str, name: str, start: int = 0) -> str:
    """Find the line of a setting, as ``, line 3``; the TOML parser does not report it."""
    setting = re.compile(rf"""^[ \t]*["']?{re.escape(name)}["']?\s*=""", re.MULTILINE)
    found = setting.search(text, start) if name else None
    return f", line {text.count(chr(10), 0, found.end()) + 1}" if found else ""


def append_row(path: Path, value: Json) -> None:
    """Append a row to a file, and return once it is on disk."""
    try:
        with path.open("ab+") as file:
            if file.tell():
                file.seek(-1, os.SEEK_END)
                # A row truncated by a crash stays a line of its own, and the new row is complete.
                file.write(b"" if file.read() == b"\n" else b"\n")
            file.write(_line(value))
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise OutputError(f"{path}: cannot be written ({error.strerror}); name another") from None


def _line(value: Json) -> bytes:
    try:
        return json.dumps(value, ensure_ascii=False).encode() + b"\n"
    except UnicodeEncodeError:  # a lone surrogate cannot be encoded as UTF-8, its escape can
        return json.dumps(value).encode() + b"\n"


# JSON Lines files; errors name the line.

MOST_TEXT: Final = 2**26
"""The most bytes of a text file: a prompt, a policy, the settings of an experiment."""
MOST_WHOLE: Final = 2**28
"""The most bytes of a file of rows that is read at once; only JSON Lines files are streamed."""
MOST_HELD: Final = 2**30
"""The most bytes of memory for the rows of one file."""
LONGEST_LINE: Final = 2**26
_BLOCK: Final = 2**20
_SURELY_FINE: Final = 2**23
"""The unpacked bytes that every gzip file is allowed, however small it is."""
_MOST_RATIO: Final = 100
"""The compression ratio allowed beyond that: texts have 3 to 20, a gzip bomb up to 1,000."""
_VALUE: Final = 64
"""Bytes of memory that a small Python value takes in addition to its text."""

# Longer byte-order marks first: the one of UTF-32 begins with that of UTF-16.
_MARKS: Final = {
    codecs.BOM_UTF32_LE: "UTF-32",
    codecs.BOM_UTF32_BE: "UTF-32",
    codecs.BOM_UTF16_LE: "UTF-16",
    codecs.BOM_UTF16_BE: "UTF-16",
}
# Binary formats by their first bytes, with the advice for the user.
_FORMATS: Final = {
    b"PK\x03\x04": "a spreadsheet or an archive, not text; save a spreadsheet as CSV",
    b"\xd0\xcf\x11\xe0": "a spreadsheet or a document, not text; save it as CSV",
    b"PAR1": "a Parquet file; end its name in .parquet",
    b"\x1f\x8b": "packed with gzip; end its name in .gz",
}
# Pipes that a shell passes as files: `cfr grade <(…)`, `… | cfr grade /dev/stdin`.
_SHELL_INPUT: Final = ("/dev/fd/", "/dev/stdin", "/proc/self/fd/")


class JsonLine(NamedTuple):
    """One JSON object and its line, or its row where a file has no lines."""

    number: int
    value: dict[str, Json]
    unit: str = "line"

    @property
    def place(self) -> str:
        return f"{self.unit} {self.number}"


class BadLine(NamedTuple):
    """A line that is not a JSON object, and what is wrong with it."""

    number: int
    reason: str
    unit: str = "line"

    @property
    def place(self) -> str:
        return f"{self.unit} {self.number}"


def read_text(path: Path, most: int = MOST_TEXT) -> str:
    """Read a whole UTF-8 file (a leading byte-order mark is dropped); ``.gz`` is unpacked."""
    return decode_text(read_bytes(path, most), str(path))


def read_bytes(path: Path, most: int = MOST_TEXT) -> bytes:
    """Read a whole file of at most ``most`` bytes; ``.gz`` is unpacked."""
    return b"".join(_blocks(path, most))


def _blocks(path: Path, most: int) -> Iterator[bytes]:
    """Read a file piece by piece; refuse one of more than ``most`` bytes when unpacked."""
    packed, total = path.suffix.lower() == ".gz", 0
    try:
        mode = path.stat().st_mode
        file_or_folder = stat.S_ISREG(mode) or stat.S_ISDIR(mode)
        if not file_or_folder and not str(path).startswith(_SHELL_INPUT):
            # Reading a pipe without a writer, or an endless device, would block for ever.
            raise InputError(
                f"{path}: a pipe or a device, not a file; copy its content into a file"
            )
        with path.open("rb") as plain:
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
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        reason = error.strerror if isinstance(error, OSError) else "no file has such a name"
        raise InputError(f"{path}: cannot be read ({reason}); check the path") from None


def _too_large(path: Path, most: int) -> str:
    return f"{path}: larger than {most // 2**20} MB, the most that is read; split it"


def decode_text(data: bytes, where: str) -> str:
    """Decode UTF-8; the error for any other encoding names the source, ``where``."""
    refuse_other_formats(data, where)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise _not_utf8(where, line, error.start) from None


def refuse_other_formats(data: bytes, where: str) -> None:
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


@dataclass(slots=True)
class MemoryBound:
    """Estimates the memory of a file's rows, and refuses the file where it is too much."""

    path: Path
    _held: int = 0

    def add(self, length: int, values: int) -> None:
        self._held += length + _VALUE * (values + 1)
        if self._held > MOST_HELD:
            raise InputError(
                f"{self.path}: takes more than {MOST_HELD // 2**20} MB of memory, the most that "
                "the rows of a file may; split it"
            )


def scan(path: Path) -> Iterator[JsonLine | BadLine]:
    """Read a JSON Lines file; a bad line is yielded, not raised, so that reading can continue."""
    bound = MemoryBound(path)
    for number, line in enumerate(_lines(path), start=1):
        bound.add(len(line), count_values(line))
        if line and not line.isspace():
            yield _parse_line(number, line)


def count_values(text: str) -> int:
    """Return an upper bound of the values in a JSON text, each of which takes memory."""
    return text.count(",") + text.count("{") + text.count("[")


def _lines(path: Path) -> Iterator[str]:
    """Read the lines of a UTF-8 file one by one; an overlong line is not read to its end."""
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


def read_rows(path: Path) -> Iterator[JsonLine]:
    """Read a JSON Lines file in which every line must be a JSON object."""
    return require_good(path, scan(path))


def require_good(path: Path, rows: Iterable[JsonLine | BadLine]) -> Iterator[JsonLine]:
    """Yield rows; raise an error at the first bad one."""
    for row in rows:
        if isinstance(row, BadLine):
            way = "" if ";" in row.reason else f"; each {row.unit} must be one JSON object"
            raise InputError(f"{path}, {row.place}: {row.reason}{way}")
        yield row


class NotJson(Exception):
    """A text is not JSON, or ambiguous JSON that Python accepts (NaN, duplicate keys)."""

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
    """Parse strict JSON; raise ``NotJson`` with the reason for any other text."""
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
        return _as_line(number, parse_json(line))
    except NotJson as error:
        return BadLine(number, str(error))


def _as_line(number: int, value: Any, unit: str = "line") -> JsonLine | BadLine:
    if isinstance(value, dict):
        return JsonLine(number, cast("dict[str, Json]", value), unit)
    return BadLine(number, f"JSON, but a {type(value).__name__} and not an object", unit)


# CSV and TSV files: read to the same rows as JSON Lines, written for spreadsheets.

_DELIMITERS: Final = (",", ";", "\t")
_LONGEST_CELL: Final = 4 * LONGEST
_FIRST_LINE: Final = lazy_pattern(r"\s*([^\r\n]*)")
_QUOTED: Final = lazy_pattern(r'"[^"]*"?')
# Beginnings of cells that a spreadsheet evaluates as formulas (OWASP, CSV Injection), full-width
# forms included. A plain number is not one: it has the same value either way. Apostrophes before
# them match too, so that ``plain_text`` can remove exactly the one that was added.
_FORMULA: Final = lazy_pattern(
    r"'*(?:[\t\ufffd]|[\s\ufffd]*(?:[=@＝＠]|[+\-＋－](?![0-9][0-9.,]*\Z)))"
)


def scan_csv(path: Path) -> Iterator[JsonLine | BadLine]:
    """Read a table; the header shows the delimiter, and a row's line is its last one."""
    text, bound = read_text(path, MOST_WHOLE), MemoryBound(path)
    delimiter = _delimiter(text, "\t" if ".tsv" in map(str.lower, path.suffixes) else ",")
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        rows = _filled(reader)
        first = next(rows, list[str]())
        if first[:1] == ["sep="]:  # Excel's own line that declares the delimiter
            first = next(rows, list[str]())
        header = [name.strip() for name in first]
        names = [name.lower() for name in header]
        (twice, count), *_ = Counter(filter(None, names)).most_common(1) or [("", 0)]
        if count > 1:
            raise InputError(f"{path}: two columns are called {twice!r}; rename one")
        for cells in rows:
            bound.add(sum(map(len, cells)), len(cells))
            if len(cells) == len(header):
                yield JsonLine(reader.line_num, dict(zip(header, cells, strict=True)))
            else:
                reason = f"has {len(cells)} cells where the header has {len(header)}"
                way = "put a text with commas or line breaks in double quotes"
                yield BadLine(reader.line_num, f"{reason}; {way}")
    except csv.Error as error:
        way = "; shorten it or write JSON Lines" if "larger than field limit" in str(error) else ""
        raise InputError(f"{path}, line {reader.line_num}: not CSV ({error}){way}") from None


def _filled(reader: Iterator[list[str]]) -> Iterator[list[str]]:
    """Yield rows that are not empty; replies may exceed the csv module's limit for a cell."""
    while True:
        before = csv.field_size_limit(_LONGEST_CELL)
        try:
            cells = next(reader, None)
        finally:
            csv.field_size_limit(before)
        if cells is None:
            return
        if any(cell.strip() for cell in cells):
            yield cells


def _delimiter(text: str, usual: str) -> str:
    first = _FIRST_LINE.match(text)
    header = _QUOTED.sub("", first[1] if first else "")
    return max((usual, *_DELIMITERS), key=header.count)


def spreadsheet_text(text: str) -> str:
    """Make a text safe to open in a spreadsheet: put an apostrophe before a formula."""
    shown = printable(text.replace("\r\n", "\n"))
    return f"'{shown}" if _FORMULA.match(shown) else shown


def plain_text(cell: str) -> str:
    """Remove the apostrophe that ``spreadsheet_text`` put before a formula, and no other."""
    return cell[1:] if cell.startswith("'") and _FORMULA.match(cell[1:]) else cell


# JSON files that hold rows: a list of objects, one object, or an object with such a list.

# Names of the list in an object that contains the rows.
_LISTS: Final = ("data", "rows", "problems", "questions", "examples", "items")


def scan_json(path: Path) -> Iterator[JsonLine | BadLine]:
    """Read the rows of a JSON file, numbered from 1; JSON Lines in a .json file are accepted."""
    text = read_text(path, MOST_WHOLE)
    if not text or text.isspace():
        return
    MemoryBound(path).add(len(text), count_values(text))
    try:
        value = parse_json(text)
    except NotJson as error:
        if "Extra data" not in str(error):
            raise InputError(f"{path}, line {error.line}: {error}; mend it there") from None
        lines = enumerate(text.split("\n"), start=1)
        yield from (_parse_line(number, line) for number, line in lines if line.strip())
        return
    for number, row in enumerate(rows_in(value), start=1):
        yield _as_line(number, row, "row")


def rows_in(value: object) -> list[Any]:
    """List the rows of a JSON value: a list, a list in an object, or the object alone."""
    if isinstance(value, list):
        return cast("list[Any]", value)
    if isinstance(value, dict):
        for name in _LISTS:
            held = cast("dict[str, Any]", value).get(name)
            if isinstance(held, list) and any(isinstance(one, dict) for one in cast("Any", held)):
                return cast("list[Any]", held)
    return [value]


# Parquet files, read as the same rows as JSON Lines, with the library ``pyarrow``.

_ROWS_AT_ONCE: Final = 100


def scan_parquet(path: Path) -> Iterator[JsonLine]:
    """Read the rows of a Parquet file, numbered from 1; NaN is no value."""
    data, bound = read_bytes(path, MOST_WHOLE), MemoryBound(path)
    try:
        arrow: Any = importlib.import_module("pyarrow")
        parquet: Any = importlib.import_module("pyarrow.parquet")
    except ImportError:
        raise InputError(
            f"{path}: reading Parquet needs pip install 'constraint-first[parquet]'; "
            ".jsonl, .json, .csv and .tsv need nothing"
        ) from None
    try:
        before = 0
        for batch in parquet.ParquetFile(arrow.BufferReader(data)).iter_batches(_ROWS_AT_ONCE):
            # Parquet compresses: a tiny file may hold one text in a million rows, or empty rows.
            bound.add(batch.nbytes, batch.num_rows * (batch.num_columns + 1))
            for number, row in enumerate(batch.to_pylist(), start=before + 1):
                plain = {str(name): _plain(value) for name, value in row.items()}
                yield JsonLine(number, plain, "row")
            before += batch.num_rows
    except (arrow.ArrowException, OSError, ValueError) as error:
        said = one_line(str(error))[:100]
        raise InputError(f"{path}: not a Parquet file that can be read ({said})") from None


def _plain(value: Any) -> Json:
    """Convert a value to JSON: Parquet also has dates, decimals and bytes."""
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return None if math.isnan(value) else value
    if isinstance(value, list | tuple):
        return [_plain(one) for one in cast("list[Any]", value)]
    if isinstance(value, dict):
        held = cast("dict[Any, Any]", value)
        return {str(name): _plain(one) for name, one in held.items()}
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


# Files of rows in all supported formats: the one reader for every command.

_SCANS: Final[dict[str, Callable[[Path], Iterator[JsonLine | BadLine]]]] = {
    ".jsonl": scan,
    ".ndjson": scan,
    ".json": scan_json,
    ".csv": scan_csv,
    ".tsv": scan_csv,
    ".parquet": scan_parquet,
}
FORMATS: Final = tuple(_SCANS)
"""The endings of files of rows; ``.gz`` may follow any of them."""


def scan_rows(path: Path) -> Iterator[JsonLine | BadLine]:
    return _SCANS.get(row_format(path), scan)(path)


def all_rows(path: Path) -> Iterator[JsonLine]:
    return require_good(path, scan_rows(path))


def row_format(path: Path) -> str:
    """Return the format of a file of rows by its ending; empty for other files."""
    ending = _unpacked(path).suffix.lower()
    return ending if ending in _SCANS else ""


def row_stem(path: Path) -> str:
    return _unpacked(path).stem


def _unpacked(path: Path) -> Path:
    return path.with_suffix("") if path.suffix.lower() == ".gz" else path


# Columns of a file of rows: the column of each field, found by name or chosen by the user.

_MOST_NAMES = 20


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns of a command's fields, found by their usual names unless the user chose one."""

    usual: Mapping[str, Sequence[str]]
    """For each field the names that its column may have, the best first; case does not matter."""
    chosen: Mapping[str, str] = field(default_factory=dict[str, str])
    """The column that the user chose, for some fields."""

    def __post_init__(self) -> None:
        for name in self.chosen:
            if name not in self.usual:
                raise InputError(
                    f"--columns {name}=…: nothing here is called {name!r}; "
                    f"choose from {', '.join(self.usual)}"
                )

    def check(self, path: Path, rows: Sequence[JsonLine], needed: Sequence[str] = ()) -> None:
        """Refuse a file where no row has a chosen column, or any for a field that is needed."""
        names = dict.fromkeys(name for row in rows for name in row.value)
        for name, column in self.chosen.items():
            if rows and column.lower() not in _by_name_column(tuple(names)):
                close = difflib.get_close_matches(column, names, n=1)
                hint = f"did you mean {close[0]!r}? It has" if close else "it has"
                raise InputError(
                    f"{path}: no column is called {column!r} (--columns {name}=…); {hint} "
                    f"{_list(names)}"
                )
        for name in needed if rows else ():
            if next(self.find(names, name), None) is None:
                raise InputError(f"{path}: {self.absent(names, name)}")

    def find(self, row: Mapping[str, object], name: str) -> Iterator[str]:
        """Yield the columns of a row that may contain a field, the best first."""
        wanted = (self.chosen[name],) if name in self.chosen else self.usual[name]
        there = _by_name_column(tuple(row))
        others = {one.lower() for field, one in self.chosen.items() if field != name}
        return (there[one] for one in map(str.lower, wanted) if one in there and one not in others)

    def absent(self, row: Mapping[str, object], name: str) -> str:
        """Return a message: the row lacks a field, its columns, and the way out."""
        if name in self.chosen:
            return f"has no text under {self.chosen[name]!r}"
        first, *others = self.usual[name]
        usual = f"{first!r} (or {', '.join(map(repr, others))})"
        return f"has no text under {usual}; choose one of {_list(row)} with --columns {name}=NAME"


@lru_cache(maxsize=64)  # the rows of a file mostly have the same columns
def _by_name_column(columns: tuple[str, ...]) -> dict[str, str]:
    return {column.strip().lower(): column for column in reversed(columns)}


def _list(names: Mapping[str, object]) -> str:
    shown = [repr(name[:60]) for name in [*names][:_MOST_NAMES]]
    more = f" and {len(names) - len(shown)} more" if len(names) > len(shown) else ""
    return ", ".join(shown) + more if shown else "none"


@dataclass(slots=True)
class ColumnUse:
    """Counts how often each column was read, and describes that in one line."""

    path: Path
    noun: str
    _found: dict[str, Counter[tuple[str, str]]] = field(
        default_factory=lambda: defaultdict(Counter)
    )

    def add(self, name: str, column: str, how: str = "") -> None:
        self._found[name][column, how] += 1

    def saw(self, name: str) -> bool:
        return name in self._found

    def describe(self, count: int, fields: Sequence[str]) -> str:
        noun = self.noun.removesuffix("s") if count == 1 else self.noun
        told = [self._field(name, count) for name in fields if self.saw(name)]
        return f"{self.path}: {count:,} {noun}" + (f"; {', '.join(told)}" if told else "")

    def _field(self, name: str, count: int) -> str:
        found = self._found[name]
        columns = " or ".join(repr(one[:60]) for one in dict.fromkeys(one for one, _ in found))
        hows = Counter[str]()
        for (_, how), number in found.items():
            hows[how] += number
        parts = [f"{number:,} {how or 'as written'}" for how, number in hows.items()]
        if len(hows) == 1:
            parts = [how for how in hows if how]
        if hows.total() < count:
            parts.append(f"in {hows.total():,} of {count:,}")
        return f"{name} from {columns}" + (f" ({', '.join(parts)})" if parts else "")
