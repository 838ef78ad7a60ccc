"""Text that arrives in pieces, written at the width of a terminal and broken between words.

A word is written once it has ended, so that it is never broken over two lines; a pause ends it too.
Blocks of code keep their lines. In a file or a pipe every line stays as it came.
"""

from __future__ import annotations

import re
from typing import Final

from rich.cells import cell_len
from rich.text import Text

from constraint_first.cli.console import SafeConsole
from constraint_first.file.printable import printable

__all__ = ["TextStream"]

_FENCE: Final = "```"
# A line's end, spaces, one wide character (such scripts break anywhere), or a word of others.
_WIDE: Final = "\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60"
_TOKEN: Final = re.compile(rf"\n|[ \t]+|[{_WIDE}]|[^\s{_WIDE}]+|\s")


class TextStream:
    """A writer of pieces of text in one style after the other."""

    def __init__(self, console: SafeConsole) -> None:
        self._console = console
        self._room = None if console.is_unbounded else console.width
        self._column = 0
        self._gap = ""
        """Spaces that are written with the next word, if that goes on the same line."""
        self._word = ""
        self._style = ""
        self._in_code = False
        self._line = ""
        """The line so far, or as much of it as tells whether a block of code begins or ends."""

    @property
    def waits(self) -> bool:
        """Whether a word has begun and not ended."""
        return bool(self._word)

    def write(self, piece: str, style: str = "") -> None:
        """Write all words that have ended; the rest waits for the next piece."""
        if style != self._style:
            self.flush()
            self._style = style
        text, self._word = self._word + printable(piece), ""
        if self._room is None:
            self._print(text)
            return
        parts: list[str] = _TOKEN.findall(text)
        if parts and not self._is_whole(parts[-1]):
            self._word = parts.pop()
        self._print("".join(map(self._placed, parts)))

    def flush(self) -> None:
        """Write what waits."""
        word, self._word = self._word, ""
        self._print(self._placed(word) if word else "")

    def end(self) -> None:
        """Write what waits and end the line."""
        self.flush()
        self._print("\n")
        self.restart()

    def restart(self) -> None:
        """Forget what waits: the next piece begins a new text on a new line."""
        self._column, self._gap, self._word, self._line, self._in_code = 0, "", "", "", False

    def _is_whole(self, part: str) -> bool:
        return self._in_code or part.isspace() or cell_len(part[0]) > 1

    def _placed(self, part: str) -> str:
        """Return a part as it is written: behind its spaces, or on a line of its own."""
        if part == "\n":
            self._in_code ^= self._line.startswith(_FENCE)
            self._column, self._gap, self._line = 0, "", ""
            return part
        if part.isspace():
            self._gap += part
            return ""
        if len(self._line) < len(_FENCE):
            self._line += part
        gap, self._gap = self._gap, ""
        width = cell_len(gap + part)
        beyond = self._room is not None and self._column + width > self._room
        if beyond and self._column and not self._in_code:
            self._column = cell_len(part)
            return f"\n{part}"
        self._column += width
        return gap + part

    def _print(self, text: str) -> None:
        if text:
            self._console.print(Text(text, self._style), end="", soft_wrap=True)
