"""Notation of numbers in tables and sentences, the same everywhere."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Final

from constraint_first.error import CfrError

NONE: Final = "–"
"""Stands where there is no number."""


def decimal(value: float | None, places: int = 1) -> str:
    """Write a number with a true minus sign."""
    if value is None:
        return NONE
    text = f"{value:,.{places}f}"
    # A hair below zero is zero.
    return text.replace("-", "−") if float(text.replace(",", "")) else text.lstrip("-")


def whole(value: float | None) -> str:
    return decimal(value, 0)


def percent(value: float | None, places: int = 1) -> str:
    """Write a share of one in per cent."""
    return NONE if value is None else decimal(100 * value, places) + " %"


def share(part: int, whole: int) -> str:
    return f"{part:,} ({percent(part / whole)})" if whole else NONE


def counted(part: int, whole: int) -> str:
    return f"{part:,} / {whole:,}"


def several(count: int, noun: str, many: str = "") -> str:
    return f"{count:,} {noun if count == 1 else many or noun + 's'}"


def span(low: int, high: int) -> str:
    """Write a range of counts, or the one count that it is."""
    return str(low) if low == high else f"{low}–{high}"


def points(value: float | None) -> str:
    """Write a difference in points, with its sign."""
    if value is None:
        return NONE
    text = decimal(value)
    return text if text.startswith("−") or not float(text.replace(",", "")) else f"+{text}"


def interval(ends: tuple[float, float] | None, places: int = 1) -> str:
    """Write both ends in brackets, with a space ahead; nothing where there is no interval."""
    if ends is None:
        return ""
    low, high = (decimal(end, places) for end in ends)
    return f" [{low}, {high}]"


def scored(value: float, ends: tuple[float, float] | None) -> str:
    return decimal(value) + interval(ends)


def p_value(value: float | None) -> str:
    """Write a p-value for people: 0.03, 0.004, < 0.001; which side of 0.05 it is on always shows.

    ``exact_p`` writes the same for programs.
    """
    if value is None:
        return NONE
    if value < 0.001:
        return "< 0.001"
    if value >= 0.995:
        return "1"
    places = 3 if value < 0.01 else 2
    while value != 0.05 and float(f"{value:.{places}f}") == 0.05:
        places += 1
    return f"{value:.{places}f}"


def exact_p(value: float | None) -> str:
    """Write a p-value with two significant digits at least; it is never written as zero."""
    if value is None:
        return NONE
    if value >= 0.001:
        return f"{value:.4f}".rstrip("0").ljust(4, "0") if value < 1 else "1"
    return f"{value:.1e}" if value > 0 else "< 1e-300"


def times(value: float | None) -> str:
    return NONE if value is None else decimal(value, 2) + "×"


# The extra ``report``: its libraries, and what to do where they are not installed.

REPORT: Final = ("jinja2", "latex2mathml", "matplotlib")
"""The libraries of the extra ``report``."""


class MissingExtra(CfrError):
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
