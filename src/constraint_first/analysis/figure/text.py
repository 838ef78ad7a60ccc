"""Text in figures: cleaned, folded and measured.

It may come from a model or a file, so none is drawn as it stands.
"""

from __future__ import annotations

import re
import textwrap
import unicodedata
from collections.abc import Iterable
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Final

from constraint_first.analysis.figure.library import load

if TYPE_CHECKING:
    from matplotlib.font_manager import FontProperties

__all__ = ["UNKNOWN", "clean", "extent", "font", "listed", "wrap"]

UNKNOWN: Final = "\N{REPLACEMENT CHARACTER}"
"""Stands for a character that the font does not have."""
_LONGEST: Final = 60
_LINE: Final = 1.25


def clean(text: str, longest: int = _LONGEST) -> str:
    """Make one short line that the font can draw and XML can hold."""
    known = _known()
    # Marks that could not be composed are dropped: stacked, they would reach over other words.
    text = unicodedata.normalize("NFC", text[: 8 * longest])
    kept = (c for c in text if unicodedata.category(c) not in ("Cf", "Mn", "Me"))
    spaced = (" " if c.isspace() else c for c in kept)
    drawn = "".join(c if ord(c) in known and c.isprintable() else UNKNOWN for c in spaced)
    line = " ".join(drawn.split())
    return line if len(line) <= longest else line[: longest - 1].rstrip() + "…"


def wrap(text: str, width: int, lines: int = 3) -> str:
    """Clean a text and fold it into a few lines; what does not fit gives way to an ellipsis."""
    # A name that is longer than a line goes on behind a hyphen, not inside a word.
    long = re.compile(rf"\S{{{width + 1},}}")
    parted = long.sub(lambda name: name[0].replace("-", "-\0 "), clean(text))
    broken = textwrap.wrap(parted, width, max_lines=lines, placeholder="…")
    return "\n".join(line.replace("\0 ", "").replace("\0", "") for line in broken)


@lru_cache(maxsize=4096)
def extent(text: str, size: float, *, bold: bool = False) -> tuple[float, float]:
    """Return the width and the height of a text of one or more lines, in inches."""
    measure = load("textpath").text_to_path.get_text_width_height_descent
    lines = text.split("\n") or [""]
    width = max(measure(line, font(size, bold=bold), False)[0] if line else 0.0 for line in lines)
    return width / 72, len(lines) * size * _LINE / 72


def font(size: float, *, bold: bool = False) -> FontProperties:
    """Return the font of all figures, which matplotlib brings along."""
    return load("font_manager").FontProperties(fname=_path(bold=bold), size=size)


@cache
def _path(*, bold: bool) -> str:
    name = "DejaVuSans-Bold.ttf" if bold else "DejaVuSans.ttf"
    return f"{load().get_data_path()}/fonts/ttf/{name}"


@cache
def _known() -> frozenset[int]:
    """List the characters that both weights of the font can draw."""
    read = load("font_manager").get_font
    regular, bold = (read(_path(bold=heavy)).get_charmap() for heavy in (False, True))
    return frozenset(regular) & frozenset(bold)


def listed(texts: Iterable[str], most: int = 6) -> str:
    """Join texts into a phrase; beyond a few, say only how many more there are."""
    every = [text for text in texts if text]
    if len(every) > most:
        return f"{', '.join(every[:most])} and {len(every) - most} more"
    return " and ".join(filter(None, [", ".join(every[:-1]), *every[-1:]]))
