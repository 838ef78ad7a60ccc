"""What a worker reports of a program: both interpreters limit and word it alike."""

from __future__ import annotations

import time
from typing import Final

from constraint_first.file.safe import one_line
from constraint_first.problem import Json

OUTPUT: Final = 1 << 16
"""The most bytes that a program may print."""

TOO_LONG: Final = "TimeoutError: stopped after {:g} s"
TOO_LARGE: Final = "MemoryError: needs more than {} MB"
FLOOD: Final = f"OutputError: printed more than {OUTPUT:,} bytes"
CRASHED: Final = "MemoryError: the interpreter broke down"

_LONGEST_ERROR: Final = 400


def outcome(text: str, error: str, began: float) -> dict[str, Json]:
    return {"text": text, "error": _shortened(error), "seconds": time.monotonic() - began}


def fault(error: Exception) -> dict[str, Json]:
    """Report that the installation is at fault, not the program."""
    return {"fault": _shortened(str(error))}


def _shortened(error: str) -> str:
    return one_line(error[: 4 * _LONGEST_ERROR])[:_LONGEST_ERROR]
