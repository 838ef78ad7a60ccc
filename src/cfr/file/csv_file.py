"""CSV and TSV files: read as the same rows as JSON Lines, written for spreadsheets."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from cfr.error import InputError
from cfr.file.jsonl import BadLine, JsonLine, read_text
from cfr.file.printable import printable

__all__ = ["scan_csv", "spreadsheet_text"]

_DELIMITERS: Final = (",", ";", "\t")
_FIRST_LINE: Final = re.compile(r"\s*([^\r\n]*)")
_QUOTED: Final = re.compile(r'"[^"]*"?')
# What makes a spreadsheet compute a cell instead of showing it (OWASP, CSV Injection), full-width
# forms included. A mere number is none: it means the same either way.
_FORMULA: Final = re.compile(r"[\t\r]|\s*(?:[=@＝＠]|[+\-＋－](?![0-9][0-9.,]*\Z))")


def scan_csv(path: Path) -> Iterator[JsonLine | BadLine]:
    """Read a table with a header; each row carries the line that it ends on.

    The header tells what stands between two cells: a comma, a semicolon or a tab.
    """
    text = read_text(path)
    delimiter = _delimiter(text, "\t" if ".tsv" in map(str.lower, path.suffixes) else ",")
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        first = next(_filled(reader), list[str]())
        if first[:1] == ["sep="]:  # a line of Excel's own, about what stands between cells
            first = next(_filled(reader), list[str]())
        header = [name.strip() for name in first]
        names = [name.lower() for name in header]
        if twice := next((name for name in names if name and names.count(name) > 1), None):
            raise InputError(f"{path}: two columns are called {twice!r}; rename one")
        for cells in _filled(reader):
            yield _by_name(reader.line_num, header, cells)
    except csv.Error as error:
        way = "; shorten it or write JSON Lines" if "larger than field limit" in str(error) else ""
        raise InputError(f"{path}, line {reader.line_num}: not CSV ({error}){way}") from None


def _filled(rows: Iterable[list[str]]) -> Iterator[list[str]]:
    return (cells for cells in rows if any(cell.strip() for cell in cells))


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
    quote = "'" if _FORMULA.match(text) else ""
    return quote + printable(text.replace("\r\n", "\n"))
