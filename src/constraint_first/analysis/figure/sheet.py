"""Sheet that every figure is drawn on: its size, its settings, and how it is saved.

Measures are in inches from the lower left corner. What reaches over an edge is not cut off: the
sheet grows. matplotlib keeps its settings in one place for the whole process, so figures are drawn
one at a time.
"""

from __future__ import annotations

import threading
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from io import BytesIO, StringIO
from typing import TYPE_CHECKING, Any, Final

from constraint_first.analysis.figure.colour import FAINT, INK, MUTED
from constraint_first.analysis.figure.figure import Caption, Figure
from constraint_first.analysis.figure.inline import inline
from constraint_first.analysis.figure.library import Axes, Style, load

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.transforms import Bbox, Transform

__all__ = ["SIZE", "SMALL", "WIDTH", "Sheet", "sheet"]

WIDTH: Final = 6.6
"""How wide figures are, in inches: on a page of 800 pixels their text is as large as the page's."""
SIZE: Final = 8.5
"""Points of text."""
SMALL: Final = 7.5
_MARGIN: Final = 0.06
_DPI: Final = 200
_DRAWING: Final = threading.Lock()
"""Held while a figure is drawn: threads that draw wait for each other."""
_SETTINGS: Final[Style] = {
    "axes.edgecolor": INK,
    "axes.facecolor": "none",
    "axes.labelcolor": INK,
    "axes.labelsize": SIZE,
    "axes.linewidth": 0.8,
    "axes.unicode_minus": True,
    "figure.dpi": 72,  # a pixel is a point: what is measured is what is drawn
    "figure.facecolor": "none",
    "font.family": "DejaVu Sans",
    "font.size": SIZE,
    "hatch.linewidth": 0.6,
    "path.simplify": False,
    "svg.fonttype": "none",
    "svg.hashsalt": "constraint-first",
    "text.color": INK,
    "text.parse_math": False,
    "text.usetex": False,
    "xtick.color": INK,
    "ytick.color": INK,
    "xtick.labelsize": SMALL,
    "ytick.labelsize": SMALL,
}


class Sheet:
    """A sheet while it is being drawn on."""

    def __init__(self, width: float, height: float) -> None:
        self.width, self.height = width, height
        self.figure: Any = load("figure").Figure(figsize=(width, height))
        # By way of the figure's own measure, which follows when the sheet grows.
        shrink = load("transforms").Affine2D().scale(1 / width, 1 / height)
        self.inches: Transform = shrink + self.figure.transFigure

    def axes(self, left: float, bottom: float, width: float, height: float) -> Axes:
        """Open axes without a frame; grid lines stand behind what is drawn."""
        sizes = (left / self.width, bottom / self.height, width / self.width, height / self.height)
        axes: Any = self.figure.add_axes(sizes)
        axes.set_axisbelow(True)
        axes.grid(color=FAINT, linewidth=0.7)
        axes.tick_params(length=0, pad=4)
        for side in axes.spines.values():
            side.set_visible(False)
        return axes

    def add(self, artist: Artist, gid: str) -> None:
        """Add a drawn thing in inches, with the id by which it can be found."""
        artist.set_gid(gid)
        if not artist.is_transform_set():
            artist.set_transform(self.inches)
        artist.set_clip_on(False)
        self.figure.add_artist(artist)

    def text(self, x: float, y: float, text: str, *, muted: bool = False, **style: object) -> None:
        """Write at a place in inches."""
        style = {"transform": self.inches, "va": "center", "linespacing": 1.15, **style}
        self.figure.text(x, y, text, color=MUTED if muted else INK, **style)

    def line(
        self,
        x: float,
        y: float,
        text: str,
        *,
        size: float = SMALL,
        muted: bool = False,
        **style: object,
    ) -> None:
        """Write one line around a height.

        Each centred by itself, words with and without descenders would stand at different heights.
        """
        low = y - 0.36 * size / 72
        self.text(x, low, text, muted=muted, va="baseline", fontsize=size, **style)

    def finish(self, caption: Caption, alt: str, notes: Iterable[str] = ()) -> Figure:
        """Keep what was drawn, as SVG and as PNG."""
        box = self._bounds()
        svg, png = StringIO(), BytesIO()
        nothing = dict.fromkeys(("Creator", "Date", "Format", "Type"))
        self.figure.savefig(svg, format="svg", bbox_inches=box, metadata=nothing)
        self.figure.savefig(
            png,
            format="png",
            dpi=_DPI,
            bbox_inches=box,
            facecolor="white",
            metadata={"Software": None},
        )
        return Figure(
            name=caption.name,
            title=caption.title,
            alt=alt,
            paper=caption.paper,
            svg=inline(svg.getvalue(), caption.name, alt),
            png=png.getvalue(),
            notes=tuple(notes),
        )

    def _bounds(self) -> Bbox:
        """Find what is drawn on, and at least the sheet itself, so that figures share one scale."""
        canvas = load("backends.backend_agg").FigureCanvasAgg(self.figure)
        drawn = self.figure.get_tightbbox(canvas.get_renderer())
        bbox = load("transforms").Bbox
        ground = bbox.from_bounds(0, 0, self.width, self.height)
        return bbox.union([drawn, ground]).padded(_MARGIN)


@contextmanager
def sheet(height: float, width: float = WIDTH) -> Generator[Sheet]:
    """Open a sheet under settings of its own, and leave matplotlib's as they were."""
    matplotlib = load()
    with _DRAWING, matplotlib.rc_context():
        matplotlib.rcdefaults()  # a person's own settings may be anything
        matplotlib.rcParams.update(_SETTINGS)
        yield Sheet(width, height)
