"""Word cloud of the phrases that restrict answers (paper: figure "constraint wordcloud").

Words are set one by one, the most frequent first, each at the first free place of a spiral from the
middle. Nothing is left to chance, and no two overlap.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from constraint_first.analysis.figure.colour import INK, PALETTE
from constraint_first.analysis.figure.figure import Caption, Figure
from constraint_first.analysis.figure.key import KeyEntry, draw_key
from constraint_first.analysis.figure.library import load
from constraint_first.analysis.figure.placing import Box
from constraint_first.analysis.figure.sheet import WIDTH, Sheet, sheet
from constraint_first.analysis.figure.text import clean, font, listed
from constraint_first.analysis.notation import several

if TYPE_CHECKING:
    from matplotlib.path import Path
    from matplotlib.transforms import Bbox

__all__ = ["CLOUD", "MOST_WORDS", "Word", "arrange", "draw_cloud"]

CLOUD: Final = Caption(
    "constraint-wordcloud",
    "Words that restrict answers, by frequency",
    ("fig:constraint-wordcloud",),
)
MOST_WORDS: Final = 60
_SMALLEST: Final = 8.0
_LARGEST: Final = 34.0
_WIDEST: Final = 3.6
_LONGEST: Final = 40
_APART: Final = (0.08, 0.05)
_FLAT: Final = 0.5
"""How tall the spiral is to its width."""
_FILLED: Final = 8.0
"""Square inches that all words together are to cover."""
_STEP: Final = 0.06
_PLACES: Final = 40_000
_AT_ONCE: Final = 1_500
Floats: TypeAlias = NDArray[np.float64]
_Outline: TypeAlias = "tuple[str, Path, Bbox]"


@dataclass(frozen=True, slots=True)
class Word:
    """A word in its place: inches from the middle of the cloud to its lower left corner."""

    text: str
    key: str
    """The word as it was given."""
    left: float
    bottom: float
    width: float
    height: float
    path: Path
    """Its outline in inches, from that corner."""


def draw_cloud(
    words: Mapping[str, int], families: Mapping[str, str], caption: Caption = CLOUD
) -> Figure | None:
    """Draw cue phrases, sized by the root of how often they occur and coloured by family."""
    often = {word: number for word, number in words.items() if number > 0 and clean(word)}
    if not often:
        return None
    shown = dict(sorted(often.items(), key=lambda item: (-item[1], item[0]))[:MOST_WORDS])
    if not (placed := arrange(shown)):
        return None
    looks = _looks(shown, families)
    left, low = min(w.left for w in placed), min(w.bottom for w in placed)
    wide = max(w.left + w.width for w in placed) - left
    tall = max(w.bottom + w.height for w in placed) - low
    with sheet(tall) as page:
        start = (WIDTH - wide) / 2 - left
        for number, word in enumerate(placed):
            colour = looks[families.get(word.key, "")]
            _draw(page, word, (start + word.left, word.bottom - low), f"word-{number}", colour)
        entries = [
            KeyEntry(family or "other", {"facecolor": colour}, f"key-{number}")
            for number, (family, colour) in enumerate(looks.items())
        ]
        if any(looks):
            draw_key(page, entries, 0, WIDTH, tall + 0.25)
        return page.finish(caption, _alt(often, shown), _notes(often, shown))


def arrange(words: Mapping[str, int]) -> list[Word]:
    """Find a place for each word that can be seen, in the order given, from the middle outwards."""
    drawn = {word: _outline(clean(word, _LONGEST)) for word in words}
    outlines = {word: outline for word, outline in drawn.items() if outline}
    sizes = _sizes(words, outlines)
    taken: list[Box] = []
    placed: list[Word] = []
    spiral = _spiral()
    for word, (text, path, box) in outlines.items():
        scale = sizes[word]
        wide, tall = box.width * scale, box.height * scale
        x, y = _free(spiral, taken, wide + _APART[0], tall + _APART[1])
        taken.append(Box.around(x, y, (wide + _APART[0]) / 2, (tall + _APART[1]) / 2))
        shape = load("transforms").Affine2D().translate(-box.x0, -box.y0).scale(scale)
        placed.append(
            Word(text, word, x - wide / 2, y - tall / 2, wide, tall, shape.transform_path(path))
        )
    return placed


def _outline(text: str) -> _Outline | None:
    """Return a text with its path and its box, as inches at a size of one point."""
    textpath = load("textpath").text_to_path
    vertices, codes = textpath.get_text_path(font(1, bold=True), text, ismath=False)
    path = load("path").Path(np.asarray(vertices) / textpath.FONT_SCALE / 72, codes)
    # What ends a contour has no place of its own; the points that steer curves lie outside of them.
    placed = path.vertices[np.asarray(path.codes) != path.CLOSEPOLY]
    if not len(placed):
        return None  # a blank that Unicode does not call one
    return text, path, load("transforms").Bbox([placed.min(axis=0), placed.max(axis=0)])


def _sizes(words: Mapping[str, int], outlines: Mapping[str, _Outline]) -> dict[str, float]:
    """Give each word its points: the root of its count, in a measure that fills the sheet."""
    most = max((words[word] for word in outlines), default=1)
    area = sum(
        words[word] / most * box.width * box.height for word, (_, _, box) in outlines.items()
    )
    largest = min(max(math.sqrt(_FILLED / max(area, 1e-9)), _SMALLEST), _LARGEST)
    return {
        word: min(
            max(largest * math.sqrt(number / most), _SMALLEST), _WIDEST / outlines[word][2].width
        )
        for word, number in words.items()
        if word in outlines
    }


def _spiral() -> Floats:
    """Return places from the middle outwards, evenly apart."""
    turn = _STEP / (2 * math.pi)
    angle = np.sqrt(2 * _STEP / turn * np.arange(_PLACES))
    return np.column_stack((turn * angle * np.cos(angle), _FLAT * turn * angle * np.sin(angle)))


def _free(spiral: Floats, taken: Sequence[Box], wide: float, tall: float) -> tuple[float, float]:
    """Return the first place where a box of this size meets no other."""
    if not taken:
        return 0.0, 0.0
    left, bottom, right, top = np.asarray(taken).T
    for start in range(0, len(spiral), _AT_ONCE):
        x, y = spiral[start : start + _AT_ONCE].T[:, :, None]
        across = (x - wide / 2 < right) & (left < x + wide / 2)
        free = ~(across & (y - tall / 2 < top) & (bottom < y + tall / 2)).any(axis=1)
        if free.any():
            found = spiral[start + int(free.argmax())]
            return float(found[0]), float(found[1])
    return 0.0, float(bottom.min()) - tall


def _looks(words: Mapping[str, int], families: Mapping[str, str]) -> dict[str, str]:
    """Give each family a colour, the most frequent first; words of none have the ink's."""
    weight: dict[str, int] = {}
    for word, number in words.items():
        family = families.get(word, "")
        weight[family] = weight.get(family, 0) + number
    ordered = sorted(filter(None, weight), key=lambda family: (-weight[family], family))
    looks = {family: PALETTE[at % len(PALETTE)] for at, family in enumerate(ordered)}
    return looks | ({"": INK} if "" in weight else {})


def _draw(page: Sheet, word: Word, spot: tuple[float, float], gid: str, colour: str) -> None:
    """Draw a word as an outline: its place was found for these very shapes."""
    moved = load("transforms").Affine2D().translate(*spot).transform_path(word.path)
    patch = load("patches").PathPatch(moved, facecolor=colour, linewidth=0)
    patch.set_in_layout(False)  # it lies on the sheet; measuring it again would take long
    page.add(patch, gid)


def _alt(often: Mapping[str, int], shown: Mapping[str, int]) -> str:
    said = listed((f"{clean(word, _LONGEST)} ({shown[word]:,})" for word in shown), 10)
    return (
        f"A cloud of {several(len(shown), 'phrase')} out of {len(often):,}, by frequency: {said}."
    )


def _notes(often: Mapping[str, int], shown: Mapping[str, int]) -> list[str]:
    notes = ["The area of a phrase grows with how often it occurs; very long ones are set smaller."]
    if len(often) > len(shown):
        left_out = several(len(often) - len(shown), "phrase")
        notes.append(f"The {len(shown)} most frequent are drawn; {left_out} are left out.")
    return notes
