"""LaTeX commands in JSON, where ``\\f``, ``\\t`` and ``\\n`` are escapes: which is which.

"\\frac" written with one backslash is valid JSON, and decodes to a form feed and "rac". A line of
mathematics has no other use for most of these control characters before a letter; a tab and a line
break have, and are a command only before the rest of its name.
"""

from __future__ import annotations

import re
from typing import Final

__all__ = ["COMMAND_AFTER_N", "COMMAND_AFTER_T", "begins_command", "restore_commands"]

COMMAND_AFTER_N: Final = r"(?:eq?|u|abla|otin?|eg|mid|less|leq|geq|ewline|ot|cong)(?![a-z])"
r"""How the commands go on that begin with ``\n``."""
COMMAND_AFTER_T: Final = (
    r"(?:anh?|ext(?:bf|it|rm|sf|tt|sc|up|normal|style)?|imes|heta|au|frac|op?|riangle[a-z]*"
    r"|herefore|binom|ilde)(?![a-z])"
)
r"""How the commands go on that begin with ``\t``."""

_AFTER_R = r"(?:ho|ight(?:arrow)?|angle|floor|ceil|vert|brace|brack)(?![a-z])"
# A line break is common in prose, so only what is no word stands for a command here.
_EATEN: Final = re.compile(
    rf"[\a\b\v\f](?=[A-Za-z])|\r(?={_AFTER_R})|\t(?={COMMAND_AFTER_T})"
    r"|\n(?=(?:eq|u|mid|abla|otin)(?![a-z]))"
)
_ESCAPES: Final = {
    "\a": r"\a", "\b": r"\b", "\v": r"\v", "\f": r"\f", "\r": r"\r", "\t": r"\t", "\n": r"\n",
}  # fmt: skip


def restore_commands(text: str) -> str:
    """Give back the LaTeX commands that were decoded into control characters."""
    return text if text.isprintable() else _EATEN.sub(lambda match: _ESCAPES[match[0]], text)


def begins_command(text: str, at: int) -> bool:
    """Say whether the white space at a place is what a decoder left of a command."""
    return text[at] != "\n" and _EATEN.match(text, at) is not None
