"""Text that somebody else wrote, made harmless to whatever shows it."""

from __future__ import annotations

import json
import re
from typing import Any, Final

__all__ = ["one_line", "printable", "printable_json"]

_LONGEST_LINE: Final = 1_000

_UNPRINTABLE: Final = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]"
)
# Marks of direction and width are part of texts that people read; for programs they are escaped.
_ESCAPED: Final = re.compile(rf"{_UNPRINTABLE.pattern[:-1]}\u061c\u200b-\u200f\u2060\ufeff]")


def printable(text: str) -> str:
    """Show control characters instead of obeying them, and whatever UTF-8 or XML cannot hold."""
    return text if text.isprintable() else _UNPRINTABLE.sub("\N{REPLACEMENT CHARACTER}", text)


def one_line(text: str) -> str:
    """Make a name or a message printable and one line long; of a huge one both ends are kept."""
    line = printable(" ".join(text.split()))
    if len(line) > _LONGEST_LINE:
        return f"{line[: _LONGEST_LINE // 2]} … {line[-_LONGEST_LINE // 3 :]}"
    return line


def printable_json(value: Any, indent: int | None = None) -> str:
    """Write a value as JSON that loses nothing: what is not printable stands there escaped."""
    written = json.dumps(value, ensure_ascii=False, indent=indent)
    return written if written.isprintable() else _ESCAPED.sub(_escape, written)


def _escape(character: re.Match[str]) -> str:
    return f"\\u{ord(character[0]):04x}"
