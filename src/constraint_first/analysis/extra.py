"""The extra ``report``: its libraries, and what to do where they are not installed."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Final

from constraint_first.error import CfrError

__all__ = ["REPORT", "MissingExtra", "require"]

REPORT: Final = ("jinja2", "latex2mathml", "matplotlib")
"""The libraries of the extra ``report``."""


class MissingExtra(CfrError):
    """A library that is not installed."""

    exit_code = 2


def require(*names: str) -> None:
    """Refuse to go on without libraries of the extra ``report``, and say how to get them."""
    missing = [name for name in names if not _is_there(name)]
    if missing:
        raise MissingExtra(
            f"reports need {', '.join(missing)}: pip install 'constraint-first[report]'"
        )


def _is_there(name: str) -> bool:
    try:
        return find_spec(name) is not None
    except ValueError:  # a module that is half there
        return False
