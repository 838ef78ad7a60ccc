"""Colours of figures, told apart with any colour vision, on white pages and near-black ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, TypeAlias

__all__ = ["FAINT", "GAIN", "INK", "LOSS", "MUTED", "PALETTE", "Colour", "contrast", "shade"]

Colour: TypeAlias = str | tuple[str, float]
"""A hexadecimal colour, or one with its opacity, as matplotlib takes it."""

INK: Final = "#1b1f24"
"""Text and axes. On paper it is this; in a page it becomes the page's own colour."""
MUTED: Final = (INK, 0.68)
FAINT: Final = (INK, 0.16)

# Okabe and Ito's colours, less black and yellow. Orange and sky blue are darkened until they stand
# out from white at 3:1, as the others do from white and from near-black alike.
PALETTE: Final = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#B87F00", "#3D98CF", "#7F7F7F")
GAIN: Final = PALETTE[0]
LOSS: Final = PALETTE[1]

# From amber to blue the lightness falls all the way, so that the order also shows in grey.
_RAMP: Final = ("#EDB845", "#86AE8C", "#3E8FA3", "#0A5F96")


def shade(share: float) -> str:
    """Return the colour of a share: amber for none, blue for all."""
    place = min(max(share, 0.0), 1.0) * (len(_RAMP) - 1)
    first = min(int(place), len(_RAMP) - 2)
    pairs = zip(_channels(_RAMP[first]), _channels(_RAMP[first + 1]), strict=True)
    mixed = [round(one + (other - one) * (place - first)) for one, other in pairs]
    return "#" + "".join(f"{channel:02x}" for channel in mixed)


def contrast(one: str, other: str) -> float:
    """Return the contrast ratio of two colours (WCAG 2), from 1 to 21."""
    darker, lighter = sorted(_luminance(_channels(colour)) for colour in (one, other))
    return (lighter + 0.05) / (darker + 0.05)


def _channels(colour: str) -> list[int]:
    return [int(colour[at : at + 2], 16) for at in (1, 3, 5)]


def _luminance(channels: Sequence[int]) -> float:
    linear = [
        c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4
        for c in (channel / 255 for channel in channels)
    ]
    return sum(w * c for w, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))
