"""The one door to matplotlib, which is optional and slow to import."""

from __future__ import annotations

import importlib
from typing import Any

from cfr.analysis.extra import require

__all__ = ["load"]


def load(module: str = "") -> Any:
    """Import matplotlib, or a module of it. Its own types are partial; none pass this door."""
    require("matplotlib")
    return importlib.import_module(f"matplotlib.{module}" if module else "matplotlib")
