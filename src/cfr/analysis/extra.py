"""What only a report needs, and what to do where it is not installed."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from cfr.error import CfrError

__all__ = ["MissingExtra", "needs"]


class MissingExtra(CfrError):
    """A library that is not installed."""

    exit_code = 2


@contextmanager
def needs(*names: str) -> Generator[None]:
    """Turn a missing library of the extra ``report`` into a line that says how to get it."""
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] in names:
            raise MissingExtra(
                f"reports need {error.name}: pip install 'constraint-first[report]'"
            ) from None
        raise
