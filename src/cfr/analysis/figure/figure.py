"""A figure as a value: drawn once, then set into a page or kept as files."""

from __future__ import annotations

import re
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from cfr.error import CfrError

__all__ = ["Caption", "Figure", "FigureError", "file_stem", "save"]

_LONGEST_STEM: Final = 48


class FigureError(CfrError):
    """A figure that cannot be drawn or kept."""

    exit_code = 2


@dataclass(frozen=True, slots=True)
class Caption:
    """What a figure is called."""

    name: str
    """A word for files, links and ids: ``gains-by-model``. No two on a page are the same."""
    title: str
    paper: tuple[str, ...] = ()
    """The labels of the paper's figures that this one makes anew: ``fig:applicability``."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A drawing for a page of any colour (SVG) and for paper (PNG). Neither shows the title."""

    name: str
    title: str
    alt: str
    """What is to be seen, in words."""
    paper: tuple[str, ...]
    svg: str
    """An element for a page: its text and axes have the page's own colour, its ground none."""
    png: bytes
    """On white."""
    notes: tuple[str, ...] = ()


def file_stem(*words: str) -> str:
    """Make a name for files and ids out of any words; different words give different names."""
    whole = "-".join(words)
    if len(whole) <= _LONGEST_STEM and re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", whole):
        return whole
    stem = re.sub(r"[^a-z0-9]+", "-", whole.lower())[:_LONGEST_STEM].strip("-")
    return f"{stem or 'figure'}-{zlib.crc32(whole.encode(errors='surrogatepass')):08x}"


def save(figure: Figure, folder: Path) -> tuple[Path, Path]:
    """Write ``NAME.svg`` and ``NAME.png`` into a folder, which is made where it is not there."""
    svg, png = (folder / f"{figure.name}.{kind}" for kind in ("svg", "png"))
    try:
        folder.mkdir(parents=True, exist_ok=True)
        svg.write_text(figure.svg + "\n", encoding="utf-8")
        png.write_bytes(figure.png)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise FigureError(f"{folder}: {reason}; choose a folder that can be written") from None
    return svg, png
