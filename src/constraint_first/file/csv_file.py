"""CSV and TSV files: read as the same rows as JSON Lines, written for spreadsheets."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from constraint_first.error import InputError
from constraint_first.file.jsonl import MOST_WHOLE, BadLine, JsonLine, MemoryBound, read_text
from constraint_first.file.printable import printable
from constraint_first.file.storable import LONGEST

__all__ = ["plain_text", "scan_csv", "spreadsheet_text"]

_DELIMITERS: Final = (",", ";", "\t")
_LONGEST_CELL: Final = 4 * LONGEST
_FIRST_LINE: Final = re.compile(r"\s*([^\r\n]*)")
_QUOTED: Final = re.compile(r'"[^"]*"?')
# What makes a spreadsheet compute a cell instead of showing it (OWASP, CSV Injection), full-width
# forms included. A mere number is none: it means the same either way. What has an apostrophe there
# already counts as well, so that one can always be taken away again.
_FORMULA: Final = re.compile(
    r"'*(?:[\t\ufffd]|[\s\ufffd]*(?:[=@＝＠]|[+\-＋－](?![0-9][0-9.,]*\Z)))"
)


def scan_csv(path: Path) -> Iterator[JsonLine | BadLine]:
    """Read a table with a header; each row carries the line that it ends on.

    The header tells what stands between two cells: a comma, a semicolon or a tab.
    """
    text, bound = read_text(path, MOST_WHOLE), MemoryBound(path)
    delimiter = _delimiter(text, "\t" if ".tsv" in map(str.lower, path.suffixes) else ",")
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        rows = _filled(reader)
        first = next(rows, list[str]())
        if first[:1] == ["sep="]:  # a line of Excel's own, about what stands between cells
            first = next(rows, list[str]())
        header = [name.strip() for name in first]
        names = [name.lower() for name in header]
        (twice, count), *_ = Counter(filter(None, names)).most_common(1) or [("", 0)]
        if count > 1:
            raise InputError(f"{path}: two columns are called {twice!r}; rename one")
        for cells in rows:
            bound.add(sum(map(len, cells)), len(cells))
            yield _by_name(reader.line_num, header, cells)
    except csv.Error as error:
        way = "; shorten it or write JSON Lines" if "larger than field limit" in str(error) else ""
        raise InputError(f"{path}, line {reader.line_num}: not CSV ({error}){way}") from None


def _filled(reader: Iterator[list[str]]) -> Iterator[list[str]]:
    """Pass rows on that are not empty; a reply may be longer than the module's limit for a cell."""
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


def _by_name(line: int, header: list[str], cells: list[str]) -> JsonLine | BadLine:
    if len(cells) != len(header):
        return BadLine(
            line,
            f"has {len(cells)} cells where the header has {len(header)}; "
            "put a text with commas or line breaks in double quotes",
        )
    return JsonLine(line, dict(zip(header, cells, strict=True)))


def spreadsheet_text(text: str) -> str:
    """Make a text safe to open in a spreadsheet: an apostrophe stands before a formula."""
    shown = printable(text.replace("\r\n", "\n"))
    return f"'{shown}" if _FORMULA.match(shown) else shown


def plain_text(cell: str) -> str:
    """Take away the apostrophe that ``spreadsheet_text`` put before a formula, and no other."""
    return cell[1:] if cell.startswith("'") and _FORMULA.match(cell[1:]) else cell
