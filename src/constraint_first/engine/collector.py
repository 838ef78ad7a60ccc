"""The garbage collector, at the pace of many calls at a time."""

from __future__ import annotations

import gc
from collections.abc import Generator
from contextlib import contextmanager
from typing import Final

__all__ = ["collecting_rarely"]

_OBJECTS_A_COLLECTION: Final = 20_000


@contextmanager
def collecting_rarely(objects: int = _OBJECTS_A_COLLECTION) -> Generator[None]:
    """Let the garbage collector look less often.

    A call makes hundreds of objects that live until its reply comes. At Python's own pace the
    collector goes through them again and again and finds nothing: a tenth of all time. The more
    objects come between two looks, the longer each of them stops everything.
    """
    before = gc.get_threshold()
    gc.set_threshold(max(before[0], objects) if before[0] else 0, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)
