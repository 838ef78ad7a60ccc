"""CSV files: read as the same rows as JSON Lines, written for spreadsheets."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from cfr.error import InputError
from cfr.file.jsonl import JsonLine, read_text
from cfr.file.printable import printable
from cfr.problem import Json

__all__ = ["plain_text", "read_csv", "spreadsheet_text"]

# What makes a spreadsheet compute a cell instead of showing it (OWASP, CSV Injection), full-width
# forms included. A mere number is none: it means the same either way. What has an apostrophe there
# already counts as well, so that one can always be taken away again.
_FORMULA: Final = re.compile(
    r"'*(?:[\t\ufffd]|[\s\ufffd]*(?:[=@＝＠]|[+\-＋－](?![0-9][0-9.,]*\Z)))"
)


def read_csv(path: Path) -> Iterator[JsonLine]:
    """Read a CSV file with a header; each row carries the line that it ends on."""
    reader = csv.reader(io.StringIO(read_text(path), newline=""), strict=True)
    try:
        header = [name.strip().lower() for name in next(reader, list[str]())]
        if not {"problem", "question", "text"} & set(header):
            raise InputError(
                f"{path}: its first line names no column 'problem' (or 'question', or 'text'); "
                "give the columns names: id,problem,answer"
            )
        if twice := next((name for name in header if name and header.count(name) > 1), None):
            raise InputError(f"{path}: two columns are called {twice!r}; rename one")
        for cells in reader:
            if any(cell.strip() for cell in cells):
                yield JsonLine(reader.line_num, _by_name(path, reader.line_num, header, cells))
    except csv.Error as error:
        way = "; shorten it or write JSON Lines" if "larger than field limit" in str(error) else ""
        raise InputError(f"{path}, line {reader.line_num}: not CSV ({error}){way}") from None


def _by_name(path: Path, line: int, header: list[str], cells: list[str]) -> dict[str, Json]:
    if len(cells) != len(header):
        raise InputError(
            f"{path}, line {line}: has {len(cells)} cells where the header has {len(header)}; "
            "put a text with commas or line breaks in double quotes"
        )
    return dict(zip(header, cells, strict=True))


def spreadsheet_text(text: str) -> str:
    """Make a text safe to open in a spreadsheet: an apostrophe stands before a formula."""
    shown = printable(text.replace("\r\n", "\n"))
    return f"'{shown}" if _FORMULA.match(shown) else shown


def plain_text(cell: str) -> str:
    """Take away the apostrophe that ``spreadsheet_text`` put before a formula, and no other."""
    return cell[1:] if cell.startswith("'") and _FORMULA.match(cell[1:]) else cell
