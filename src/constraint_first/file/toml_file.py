"""TOML files that a person writes."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any, Final

from constraint_first.error import InputError

__all__ = ["line_of", "parse_toml"]

_LONGEST: Final = 2**22


def parse_toml(where: Path | str, text: str) -> dict[str, Any]:
    """Parse the text of a TOML file that is called ``where`` in a message."""
    if len(text) > _LONGEST:
        raise InputError(f"{where}: longer than {_LONGEST // 2**20} MB, the most that is read")
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # also a number of more digits than Python reads
        reason = str(error).split(";")[0]
        raise InputError(f"{where}: not TOML ({reason}); correct the file") from None


def line_of(text: str, name: str, start: int = 0) -> str:
    """Find the line of a setting, as ``, line 3``; the library that reads TOML keeps none.

    Empty where there is no such setting from ``start`` on.
    """
    setting = re.compile(rf"""^[ \t]*["']?{re.escape(name)}["']?\s*=""", re.MULTILINE)
    found = setting.search(text, start) if name else None
    return f", line {text.count(chr(10), 0, found.end()) + 1}" if found else ""
