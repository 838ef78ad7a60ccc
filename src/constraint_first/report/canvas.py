"""A figure as a value: drawn once, then embedded in a page or saved as files."""

from __future__ import annotations

import importlib
import re
import textwrap
import threading
import unicodedata
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, lru_cache
from io import BytesIO, StringIO
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias
from xml.etree import ElementTree

from constraint_first.error import CfrError
from constraint_first.pattern import lazy_pattern
from constraint_first.report.statistics import Interval
from constraint_first.report.table import require, several

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.font_manager import FontProperties
    from matplotlib.transforms import Bbox, Transform


class FigureError(CfrError):
    exit_code = 2


@dataclass(frozen=True, slots=True)
class Figure:
    """A drawing for light and dark pages (SVG) and for paper (PNG). Neither shows the title."""

    name: str
    """A slug for files, links and ids, unique on a page: ``gains-by-model``."""
    title: str
    alt: str
    """The alternative text."""
    svg: str
    """An element for a page: text and axes have the page's colour, the background is
    transparent."""
    png: bytes
    """On a white background."""
    notes: tuple[str, ...] = ()
    long: bool = False
    """Whether a page collapses it, because it is tall and of interest to few readers."""


def save(figure: Figure, folder: Path) -> None:
    """Write ``NAME.svg`` and ``NAME.png`` into a folder, which is created if necessary."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{figure.name}.svg").write_text(figure.svg + "\n", encoding="utf-8")
        (folder / f"{figure.name}.png").write_bytes(figure.png)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise FigureError(f"{folder}: {reason}; choose a folder that can be written") from None


# Colours of figures, distinguishable with any colour vision, on white and near-black pages.

Colour: TypeAlias = str | tuple[str, float]
"""A hexadecimal colour, or a pair of one and its opacity, as in matplotlib."""

INK: Final = "#1b1f24"
"""The colour of text and axes on paper; on a page it is replaced by the page's own colour."""
MUTED: Final = (INK, 0.68)
FAINT: Final = (INK, 0.16)

# Okabe and Ito's colours without black and yellow. Orange and sky blue are darkened to a contrast
# of 3:1 with white; the others have it with white and with near-black.
PALETTE: Final = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#B87F00", "#3D98CF", "#7F7F7F")
GAIN: Final = PALETTE[0]
LOSS: Final = PALETTE[1]

# The lightness falls monotonically from amber to blue, so that the order is visible in greyscale.
_RAMP: Final = ("#EDB845", "#86AE8C", "#3E8FA3", "#0A5F96")


def shade(share: float) -> str:
    """Return the colour of a share: amber for none, blue for all."""
    place = min(max(share, 0.0), 1.0) * (len(_RAMP) - 1)
    first = min(int(place), len(_RAMP) - 2)
    pairs = zip(*(bytes.fromhex(one[1:]) for one in _RAMP[first : first + 2]), strict=True)
    mixed = bytes(round(one + (other - one) * (place - first)) for one, other in pairs)
    return f"#{mixed.hex()}"


CROSSING: Final = (
    "Lines across bars are 95 % BCa intervals; one that crosses zero shows no difference."
)
"""The note of a bar chart with intervals."""


def without_interval(ends: Sequence[Interval | None], noun: str) -> list[str]:
    count = sum(one is None for one in ends)
    return [f"Without an interval: {several(count, noun)}."] if count else []


# The import of matplotlib, which is optional and slow, and aliases of its types.

Style: TypeAlias = dict[str, object]
"""Properties of an artist by matplotlib's names: ``facecolor``, ``linewidth``."""
Axes: TypeAlias = Any
"""A pair of axes; matplotlib's own type leaves styles unknown."""


def load(module: str = "") -> Any:
    require("matplotlib")
    return importlib.import_module(f"matplotlib.{module}" if module else "matplotlib")


# Text in figures, cleaned (it may come from a model or a file), folded and measured.

UNKNOWN: Final = "\N{REPLACEMENT CHARACTER}"
"""Replaces a character that the font does not have."""
_LONGEST: Final = 60
_LINE: Final = 1.25


def clean(text: str, longest: int = _LONGEST) -> str:
    """Make one short line of characters that the font has and XML allows."""
    known = _known()
    # Combining marks without a composed form are dropped: stacked, they would cover other text.
    text = unicodedata.normalize("NFC", text[: 8 * longest])
    kept = (c for c in text if unicodedata.category(c) not in ("Cf", "Mn", "Me"))
    spaced = (" " if c.isspace() else c for c in kept)
    drawn = "".join(c if ord(c) in known and c.isprintable() else UNKNOWN for c in spaced)
    line = " ".join(drawn.split())
    return line if len(line) <= longest else line[: longest - 1].rstrip() + "…"


def wrap(text: str, width: int, lines: int = 3) -> str:
    """Clean a text and fold it into a few lines; the rest is replaced by an ellipsis."""
    # A name that is longer than a line is broken after a hyphen, not inside a word.
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
    """Join texts into a phrase; beyond a few, give only the number of the others."""
    every = [text for text in texts if text]
    if len(every) > most:
        return f"{', '.join(every[:most])} and {len(every) - most} more"
    return " and ".join(filter(None, [", ".join(every[:-1]), *every[-1:]]))


# Conversion of matplotlib's SVG file into an element that can be embedded in any page.

_FONTS: Final = "system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif"
_NAMESPACE: Final = lazy_pattern(r"^\{[^}]*\}")
_GIVEN_ID: Final = lazy_pattern(r"[a-z][a-z0-9-]*")
_LONG_PATH: Final = 1_000
_AROUND_COMMAND: Final = lazy_pattern(r"\s*([A-Za-z])\s*")
_LONG_NUMBER: Final = lazy_pattern(r"-?\d+\.\d{2,}")
_DROPPED: Final = ("metadata", "style")


def inline(svg: str, name: str, alt: str) -> str:
    """Rewrite an SVG file as one element.

    Ids are prefixed with the figure's name, because ids of two figures on a page would collide;
    the ink becomes ``currentColor``; styles become attributes, which a strict
    Content-Security-Policy allows and the page's own styles can override.
    """
    # S314 does not apply: matplotlib wrote this text, and its DOCTYPE is cut off.
    root = ElementTree.fromstring(svg[svg.index("<svg") :])  # noqa: S314
    for element in root.iter():
        _plain(element)
    for parent in reversed([*root.iter()]):
        _prune(parent)
    values = [value for element in root.iter() for value in element.attrib.items()]
    wanted = {found[2] for key, value in values if (found := _reference(key, value))}
    for element in root.iter():
        _rename(element, name, wanted)
    root.attrib = {
        "xmlns": "http://www.w3.org/2000/svg",
        "id": name,
        "viewBox": root.attrib["viewBox"],
        "width": "100%",
        "role": "img",
        "aria-label": alt,
        "font-family": _FONTS,
        "font-weight": "400",
        "stroke-linejoin": "round",
        # A page's font may be slightly wider than the measured one.
        "overflow": "visible",
    }
    return ElementTree.tostring(root, encoding="unicode")


def _plain(element: ElementTree.Element) -> None:
    """Remove namespaces, and turn the style into attributes."""
    element.tag = _NAMESPACE.sub("", element.tag)
    found = {_NAMESPACE.sub("", key): value for key, value in element.attrib.items()}
    for declaration in filter(None, map(str.strip, found.pop("style", "").split(";"))):
        key, _, value = declaration.partition(":")
        found[key.strip()] = value.strip()
    found.pop("font-family", None)
    element.attrib = {key: _value(key, value) for key, value in found.items()}
    if not (element.text or "").strip():
        element.text = None
    element.tail = None


def _value(key: str, value: str) -> str:
    """Shorten a value: a hundredth of a point is below the resolution of any screen."""
    if value == INK:
        return "currentColor"
    # Long paths are outlines of words, for which a tenth is enough.
    places = 1 if key == "d" and len(value) > _LONG_PATH else 2
    if key == "d":
        value = _AROUND_COMMAND.sub(r"\1", value.strip())

    def rounded(number: re.Match[str]) -> str:
        short = f"{float(number[0]):.{places}f}".rstrip("0").rstrip(".")
        return "0" if short == "-0" else short

    return _LONG_NUMBER.sub(rounded, value)


def _prune(parent: ElementTree.Element) -> None:
    """Drop metadata, styles, and empty groups and definitions."""
    for child in [*parent]:
        empty = child.tag in ("g", "defs") and not len(child)
        if child.tag in _DROPPED or (empty and not _GIVEN_ID.fullmatch(child.get("id", ""))):
            parent.remove(child)


def _reference(key: str, value: str) -> tuple[str, str, str] | None:
    """Split a reference to an id into the text before it, the text after it, and the id."""
    if key == "href" and value.startswith("#"):
        return "#", "", value[1:]
    if value.startswith("url(#"):
        return "url(#", ")", value[5:-1]
    return None


def _rename(element: ElementTree.Element, name: str, wanted: set[str]) -> None:
    """Prefix ids and references with the name; drop matplotlib's generated ids."""
    own = element.get("id", "")
    if own in wanted or _GIVEN_ID.fullmatch(own):
        element.set("id", f"{name}-{own}")
    elif own:
        del element.attrib["id"]
    for key, value in element.attrib.items():
        if found := _reference(key, value):
            element.set(key, f"{found[0]}{name}-{found[2]}{found[1]}")


# The sheet that every figure is drawn on: its size, its settings, and its output.
#
# Measures are in inches from the lower left corner. A sheet grows if a drawing extends over its
# edge. matplotlib's settings are global to the process, so figures are drawn one at a time.

WIDTH: Final = 6.6
"""The width of figures in inches: on a page of 800 pixels their text is as large as the page's."""
SIZE: Final = 8.5
"""The font size in points."""
SMALL: Final = 7.5
_MARGIN: Final = 0.06
_DPI: Final = 200
_DRAWING: Final = threading.Lock()
_SETTINGS: Final[Style] = {
    "axes.edgecolor": INK,
    "axes.facecolor": "none",
    "axes.labelcolor": INK,
    "axes.labelsize": SIZE,
    "axes.linewidth": 0.8,
    "axes.unicode_minus": True,
    "figure.dpi": 72,  # one pixel per point, so that measured text sizes are exact
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

    def __init__(self, height: float) -> None:
        self.height = height
        self.figure: Any = load("figure").Figure(figsize=(WIDTH, height))
        # Composed with the figure's transform, which is updated when the sheet grows.
        shrink = load("transforms").Affine2D().scale(1 / WIDTH, 1 / height)
        self.inches: Transform = shrink + self.figure.transFigure

    def axes(self, left: float, bottom: float, width: float, height: float) -> Axes:
        """Open axes without a frame; grid lines are behind the data."""
        sizes = (left / WIDTH, bottom / self.height, width / WIDTH, height / self.height)
        axes: Any = self.figure.add_axes(sizes)
        axes.set_axisbelow(True)
        axes.grid(color=FAINT, linewidth=0.7)
        axes.tick_params(length=0, pad=4)
        for side in axes.spines.values():
            side.set_visible(False)
        return axes

    def add(self, artist: Artist, gid: str) -> None:
        """Add an artist with coordinates in inches, and give it an id."""
        artist.set_gid(gid)
        if not artist.is_transform_set():
            artist.set_transform(self.inches)
        artist.set_clip_on(False)
        self.figure.add_artist(artist)

    def text(self, x: float, y: float, text: str, *, muted: bool = False, **style: object) -> None:
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
        """Write one line, vertically centred at ``y``."""
        # Placed by the baseline: centring would shift words with descenders upwards.
        low = y - 0.36 * size / 72
        self.text(x, low, text, muted=muted, va="baseline", fontsize=size, **style)

    def finish(self, name: str, title: str, alt: str, notes: Iterable[str] = ()) -> Figure:
        box = self._bounds()
        svg, png = StringIO(), BytesIO()
        nothing = dict.fromkeys(("Creator", "Date", "Format", "Type"))
        self.figure.savefig(svg, format="svg", bbox_inches=box, metadata=nothing)
        on_paper: Style = {"dpi": _DPI, "facecolor": "white", "metadata": {"Software": None}}
        self.figure.savefig(png, format="png", bbox_inches=box, **on_paper)
        drawn = inline(svg.getvalue(), name, alt)
        return Figure(name, title, alt, drawn, png.getvalue(), tuple(notes))

    def _bounds(self) -> Bbox:
        """Return the drawn area, at least the whole sheet, so that figures have one scale."""
        canvas = load("backends.backend_agg").FigureCanvasAgg(self.figure)
        drawn = self.figure.get_tightbbox(canvas.get_renderer())
        bbox = load("transforms").Bbox
        ground = bbox.from_bounds(0, 0, WIDTH, self.height)
        return bbox.union([drawn, ground]).padded(_MARGIN)


@contextmanager
def sheet(height: float) -> Generator[Sheet]:
    """Open a sheet with its own settings, and restore matplotlib's settings afterwards."""
    matplotlib = load()
    with _DRAWING, matplotlib.rc_context():
        matplotlib.rcdefaults()  # ignore the user's matplotlibrc
        matplotlib.rcParams.update(_SETTINGS)
        yield Sheet(height)


# The legend of a figure.

_HATCHES: Final = ("", "////", "....", "xxxx", "----")
_SWATCH: Final = 0.17
_KEY_LINE: Final = 0.18


def series_look(series: int) -> Style:
    hatch = _HATCHES[series // len(PALETTE) % len(_HATCHES)]
    colour = PALETTE[series % len(PALETTE)]
    return {"facecolor": colour, "edgecolor": INK, "linewidth": 0.6, "hatch": hatch or None}


def draw_key(
    page: Sheet, entries: Sequence[tuple[str, Style, object]], left: float, right: float, y: float
) -> None:
    """Draw swatches with names and ids between two edges, in lines above ``y``."""
    places: list[tuple[float, int, str]] = []
    across, line = left, 0
    for name in (clean(name, 40) for name, *_ in entries):
        width = _SWATCH + 0.06 + extent(name, SMALL)[0]
        if across > left and across + width > right:
            across, line = left, line + 1
        places.append((across, line, name))
        across += width + 0.18
    for (_, look, gid), (x, row, name) in zip(entries, places, strict=True):
        middle = y + _KEY_LINE * (line - row)
        shape = load("patches").Rectangle((x, middle - 0.05), _SWATCH, 0.1, **look)
        page.add(shape, f"key-{gid}")
        page.line(x + _SWATCH + 0.06, middle, name)


# Layout of rows: labels, bars or marks on a scale, and columns of numbers on the right.

_LANE: Final = 0.2
_GAP: Final = 0.12
_BETWEEN: Final = 0.14
_LABEL_WIDTH: Final = 25
_HEIGHT_OF_BAR: Final = 0.15
_CLEAR: Final = ("gain", "share", "p (Holm)")
"""The columns of numbers that are not drawn in the muted colour."""

Numbers: TypeAlias = tuple[str, Sequence[str]]
"""A column of numbers on the right: a heading and a text for each lane."""


class Rows:
    """Layout of rows, measured before anything is drawn: bands of a label and some lanes."""

    def __init__(self, bands: Sequence[tuple[str, int]], columns: Sequence[Numbers]) -> None:
        self._labels = [wrap(label, _LABEL_WIDTH) for label, _ in bands]
        self._columns = columns
        # The positions of labels and lanes are in inches from the top.
        self.centres: list[float] = []
        self.lanes: list[float] = []
        below = 0.0
        for (_, lanes), label in zip(bands, self._labels, strict=True):
            tall = max(lanes * _LANE, extent(label, SIZE)[1]) + _GAP
            middle = below + tall / 2
            self.centres.append(middle)
            first = middle - (lanes - 1) * _LANE / 2
            self.lanes += [first + lane * _LANE for lane in range(lanes)]
            below += tall
        self.height = below
        self._widths = [max(extent(t, SMALL)[0] for t in (head, *texts)) for head, texts in columns]
        # The left and right edges of the scale, in inches.
        self.left = max(extent(label, SIZE)[0] for label in self._labels) + 0.12
        self.right = WIDTH - sum(width + _BETWEEN for width in self._widths)

    def draw(self, page: Sheet, panels: int = 1) -> list[Axes]:
        """Write labels and columns, and open axes whose y is in inches from the top."""
        between = 0.45
        width = (self.right - self.left - between * (panels - 1)) / panels
        lefts = [self.left + panel * (width + between) for panel in range(panels)]
        every = [page.axes(left, 0, width, self.height) for left in lefts]
        for axes in every:
            axes.set_ylim(self.height, 0)
            axes.set_yticks([])
        for number, (y, label) in enumerate(zip(self.centres, self._labels, strict=True)):
            style: Style = {"ha": "right", "fontsize": SIZE, "gid": f"label-{number}"}
            page.text(self.left - 0.1, self.height - y, label, muted=False, **style)
        edge = self.right
        for (heading, texts), wide in zip(self._columns, self._widths, strict=True):
            edge += wide + _BETWEEN
            page.line(edge, self.height + 0.1, heading, ha="right", muted=True)
            for y, text in zip(self.lanes, texts, strict=True):
                page.line(edge, self.height - y, text, ha="right", muted=heading not in _CLEAR)
        return every

    def draw_key(self, page: Sheet, names: Sequence[str]) -> None:
        entries = [(name, series_look(at), at) for at, name in enumerate(names)]
        draw_key(page, entries, self.left, self.right, self.height + 0.1)


def draw_bar(axes: Axes, length: float, y: float, gid: str, series: int = 0) -> None:
    corner = (min(length, 0.0), y - _HEIGHT_OF_BAR / 2)
    look = series_look(series) | {"clip_on": False, "gid": gid}
    axes.add_patch(load("patches").Rectangle(corner, abs(length), _HEIGHT_OF_BAR, **look))


def draw_interval(
    axes: Axes, ends: tuple[float, float], y: float, gid: str, *, colour: Colour = INK
) -> None:
    ticks: Style = {"marker": "|", "markersize": 5, "markeredgewidth": 1.1}
    axes.plot(ends, (y, y), color=colour, linewidth=1.1, clip_on=False, gid=gid, **ticks)


def set_gain_scale(axes: Axes, values: Sequence[float], label: str) -> None:
    """Give a scale of gains: room for every value, round numbers, and a line at zero."""
    low, high = min([0.0, *values]), max([0.0, *values])
    room = 0.05 * (high - low) or 1.0
    axes.set_xlim(low - room * (low < 0 or high == 0), high + room * (high > 0 or low == 0))

    def tick(value: float, _: int) -> str:
        return f"{value:+g}".replace("-", "−") if abs(value) > 1e-9 else "0"

    ticker = load("ticker")
    axes.xaxis.set_major_locator(ticker.MaxNLocator(nbins=6, steps=[1, 2, 5, 10]))
    axes.xaxis.set_major_formatter(ticker.FuncFormatter(tick))
    axes.axvline(0, color=INK, linewidth=1, zorder=1.5, gid="zero")
    axes.set_xlabel(label, fontsize=SMALL, color=MUTED)


# Placement of labels that overlap neither each other nor their marks.

_DIRECTIONS: Final = (
    *((1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (1, -1), (-1, 1), (-1, -1)),
    *((1, 0.5), (1, -0.5), (-1, 0.5), (-1, -0.5)),
)
_DISTANCES: Final = (0.1, 0.17, 0.28, 0.42, 0.6, 0.8, 1.05)
_WITHOUT_LINE: Final = 0.12
_PER_LINE: Final = 0.16
_PER_CROSSING: Final = 0.7


class Box(NamedTuple):
    left: float
    bottom: float
    right: float
    top: float

    @classmethod
    def around(cls, x: float, y: float, wide: float, tall: float) -> Box:
        return cls(x - wide, y - tall, x + wide, y + tall)

    @classmethod
    def between(cls, one: tuple[float, float], other: tuple[float, float]) -> Box:
        (a, b), (c, d) = one, other
        return cls(min(a, c), min(b, d), max(a, c), max(b, d))

    def meets(self, other: Box) -> bool:
        across = self.left < other.right and other.left < self.right
        return across and self.bottom < other.top and other.bottom < self.top

    def within(self, other: Box) -> bool:
        across = other.left <= self.left and self.right <= other.right
        return across and other.bottom <= self.bottom and self.top <= other.top


@dataclass(frozen=True, slots=True)
class Spot:
    mark: tuple[float, float]
    """The position of the labelled mark."""
    box: Box
    distance: float

    @property
    def near(self) -> tuple[float, float]:
        """The point of its box that is nearest to the mark."""
        (x, y), (left, bottom, right, top) = self.mark, self.box
        return min(max(x, left), right), min(max(y, bottom), top)

    def steps(self) -> Iterator[Box]:
        """Yield points along the line to the mark, if the label needs a line."""
        if self.distance > _WITHOUT_LINE:
            (x, y), (to_x, to_y) = self.mark, self.near
            for part in (step / 12 for step in range(1, 12)):
                yield Box.around(x + part * (to_x - x), y + part * (to_y - y), 0.01, 0.01)

    def draw(self, page: Sheet, text: str, gid: str, *, bold: bool = False) -> None:
        """Draw the label, with a thin line if it is not beside its mark."""
        x, y = (self.box.left + self.box.right) / 2, (self.box.bottom + self.box.top) / 2
        if self.distance > _WITHOUT_LINE:
            xs, ys = zip(self.mark, self.near, strict=True)
            line = load("lines").Line2D(xs, ys, color=MUTED, linewidth=0.5, zorder=0)
            page.add(line, f"{gid}-line")
        weight = "bold" if bold else "normal"
        page.text(x, y, text, ha="center", fontsize=SMALL, weight=weight, gid=gid)


def place(
    labels: Sequence[tuple[str, tuple[float, float]]],
    inside: Box,
    taken: Sequence[Box],
    crossed: Sequence[Box],
    size: float,
) -> list[Spot | None]:
    """Give each label in turn the best free place near its mark; None if there is none.

    No label covers a box in ``taken``; those in ``crossed`` are covered only if unavoidable.
    """
    full = [*taken]
    spots: list[Spot | None] = []
    for text, mark in labels:
        wide, tall = extent(text, size, bold=True)
        free: list[Spot] = []
        for distance, (across, up) in product(_DISTANCES, _DIRECTIONS):
            x = mark[0] + across * (distance + (wide + 0.04) / 2)
            y = mark[1] + up * (distance + tall / 2)
            box = Box.around(x, y, (wide + 0.04) / 2, tall / 2)
            if box.within(inside) and not any(map(box.meets, full)):
                free.append(Spot(mark, box, distance))
        found = min(free, key=lambda s: _cost(s, full, crossed), default=None)
        spots.append(found)
        full += [found.box] if found else []
    return spots


def _cost(spot: Spot, full: Sequence[Box], crossed: Sequence[Box]) -> float:
    """Add up a label's distance, the lines that it covers, and the boxes that its line crosses."""
    covers = sum(spot.box.meets(other) for other in crossed)
    own = Box.around(*spot.mark, 0.01, 0.01)
    runs_over = sum(
        any(step.meets(other) for step in spot.steps()) for other in full if not own.meets(other)
    )
    return spot.distance + _PER_LINE * covers + _PER_CROSSING * runs_over
