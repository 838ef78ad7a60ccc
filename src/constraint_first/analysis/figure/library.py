"""Import of matplotlib, which is optional and slow, and the types that figures use of it."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from constraint_first.analysis.extra import require

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.transforms import Transform

__all__ = ["Axes", "Axis", "Style", "load"]

Style: TypeAlias = dict[str, object]
"""Properties of a drawn thing by matplotlib's names: ``facecolor``, ``linewidth``."""


class Axis(Protocol):
    """One scale of a pair of axes, as far as figures use it."""

    def set_major_locator(self, _locator: object, /) -> object: ...
    def set_minor_locator(self, _locator: object, /) -> object: ...
    def set_major_formatter(self, _formatter: object, /) -> object: ...


class Axes(Protocol):
    """A pair of axes, as far as figures use it; matplotlib's own type leaves styles unknown."""

    xaxis: Axis
    yaxis: Axis
    transData: Transform  # noqa: N815

    def add_patch(self, patch: Artist, /) -> object: ...
    def axvline(self, x: float, /, **style: object) -> object: ...
    def get_xlim(self) -> tuple[float, float]: ...
    def plot(self, xs: Sequence[float], ys: Sequence[float], /, **style: object) -> object: ...
    def scatter(self, xs: Sequence[float], ys: Sequence[float], /, **style: object) -> object: ...
    def set_xlabel(self, label: str, /, **style: object) -> object: ...
    def set_ylabel(self, label: str, /, **style: object) -> object: ...
    def set_xlim(self, left: float, right: float, /) -> object: ...
    def set_ylim(self, bottom: float, top: float, /) -> object: ...
    def set_xscale(self, name: str, /) -> object: ...
    def set_xticks(self, _ticks: Sequence[float], /) -> object: ...
    def set_yticks(self, _ticks: Sequence[float], /) -> object: ...
    def set_xticklabels(self, labels: Sequence[str], /) -> object: ...


def load(module: str = "") -> Any:
    """Import matplotlib, or a module of it."""
    require("matplotlib")
    return importlib.import_module(f"matplotlib.{module}" if module else "matplotlib")
