"""A figure as a value: drawn once, then set into a page or kept as files."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from constraint_first.error import CfrError

__all__ = ["Caption", "Figure", "FigureError", "save"]


class FigureError(CfrError):
    """A figure that cannot be drawn or kept."""

    exit_code = 2


@dataclass(frozen=True, slots=True)
class Caption:
    """Name, title and paper labels of a figure."""

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
    long: bool = False
    """Whether a page folds it: it is tall, and not what most readers look for."""


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
