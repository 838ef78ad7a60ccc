"""Folding: texts in lines of a width, broken between words and never inside a number."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from rich.cells import cell_len
from rich.console import ConsoleOptions, RenderResult
from rich.text import Text

from constraint_first.cli.console import AnyConsole, SafeConsole

__all__ = ["Folded", "Kind", "fold", "longest_line", "longest_piece", "room_of"]

# Between words, but not in "[34.6, 39.7]", "36.8% – 49.2%", "3 / 4", "95 %" or "1 min 20 s".
# What rules most places out comes first in both: a name can be megabytes long.
_SPACE: Final = re.compile(
    r"(?=[ \t])(?!(?<=\d,)\s[−+-]?\d|(?<=\d)\s(?:[–/]\s\d|%|(?:h|min|s)\b)|(?<=\d\sh|min)\s\d"
    r"|(?<=%)\s–\s|(?<=[–/])\s\d)[ \t]+"
)
# In a name behind what joins its parts; never inside a number.
_SEAM: Final = re.compile(r"(?<=[-,(\[/_])(?:(?<![-_])(?=[^\W\d_])|(?<=[A-Za-z)\]][-_])(?=[^\W_]))")

Kind: TypeAlias = Literal["number", "name", "prose"]
"""Numbers stay whole; names fold between their parts as well, prose between words alone."""


@dataclass(frozen=True, slots=True)
class Folded:
    """A line of text that folds between words, and in names between their parts."""

    text: Text

    def __rich_console__(self, console: AnyConsole, options: ConsoleOptions) -> RenderResult:
        """Write it; a part that has no seam goes beyond the edge rather than being split."""
        room = room_of(console, options)
        for line in [self.text] if room is None else fold(self.text, room, "name"):
            whole = options.update(width=max(line.cell_len, 1), no_wrap=True, overflow="ignore")
            yield from console.render(line, whole)


def room_of(console: AnyConsole, options: ConsoleOptions) -> int | None:
    """Measure the room for a line; None in a file or a pipe, where lines may be of any length."""
    return None if isinstance(console, SafeConsole) and console.is_unbounded else options.max_width


def fold(text: Text, width: int, kind: Kind = "prose") -> list[Text]:
    """Fold a text at its seams into lines of a width; a piece that is longer stays whole."""
    return [
        line for part in text.split("\n", allow_blank=True) for line in _fold(part, width, kind)
    ]


def _fold(text: Text, width: int, kind: Kind) -> list[Text]:
    if text.cell_len <= width or kind == "number":
        return [text]
    lines = _pack(text, width, _SPACE)
    # Only what is too long between two spaces is folded at its seams.
    return (
        [part for line in lines for part in _pack(line, width, _SEAM)] if kind == "name" else lines
    )


def _pack(text: Text, width: int, seam: re.Pattern[str]) -> list[Text]:
    """Put as much into each line as goes in, and one piece at least."""
    lines, begin, end = list[Text](), 0, 0
    for upto in (*(match.end() for match in seam.finditer(text.plain)), len(text.plain)):
        if cell_len(text.plain[begin:upto].rstrip()) > width and end > begin:
            lines.append(text[begin:end])
            begin = end
        end = upto
    lines.append(text[begin:])
    for line in lines:
        line.rstrip()
    return lines


def longest_line(text: Text) -> int:
    """Measure a text with nothing folded."""
    return max((line.cell_len for line in text.split("\n")), default=0)


def longest_piece(text: Text, kind: Kind) -> int:
    """Measure a text with all folded that can be."""
    return max((line.cell_len for line in fold(text, 1, kind)), default=0)
