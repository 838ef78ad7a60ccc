"""Is a benchmark what it should be? Checked before a single call is paid for."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from constraint_first.error import InputError
from constraint_first.problem import Problem

__all__ = ["Origin", "check"]


@dataclass(frozen=True, slots=True)
class Origin:
    """Where problems come from, in the words of an error message."""

    name: str
    """A file, or a dataset."""
    unit: str = "line"
    """What its problems are numbered by."""
    hint: str = ""
    """Where else gold answers may be, for whoever has none."""


def check(
    origin: Origin, placed: Sequence[tuple[int, Problem]], counts: Sequence[int] = ()
) -> None:
    """Refuse a set with empty texts or answers, duplicates, or a number of problems not expected.

    ``placed`` has each problem with its line; no ``counts`` means that any number will do.
    """
    if not placed:
        raise InputError(f"{origin.name}: has no problems")
    _no_gaps(origin, placed, "text", lambda problem: problem.text)
    _no_gaps(origin, placed, "gold answer", lambda problem: problem.answer or "")
    _no_repeats(origin, placed, "id", lambda problem: problem.id)
    _no_repeats(origin, placed, "problem text", lambda problem: " ".join(problem.text.split()))
    if counts and len(placed) not in counts:
        expected = " or ".join(map(str, counts))
        raise InputError(
            f"{origin.name}: has {len(placed)} problems where a complete copy has {expected}; "
            "get a complete copy, or name the file itself to use it as it is"
        )


def _no_gaps(
    origin: Origin, placed: Sequence[tuple[int, Problem]], what: str, read: Callable[[Problem], str]
) -> None:
    if gaps := [line for line, problem in placed if not read(problem).strip()]:
        hint = origin.hint if what == "gold answer" else ""
        raise InputError(
            f"{origin.name}: no {what} in {origin.unit} {_some(gaps)}; every problem needs one"
            f"{hint}"
        )


def _no_repeats(
    origin: Origin, placed: Sequence[tuple[int, Problem]], what: str, read: Callable[[Problem], str]
) -> None:
    lines: defaultdict[str, list[int]] = defaultdict(list)
    for line, problem in placed:
        lines[read(problem)].append(line)
    for value, found in lines.items():
        if len(found) > 1:
            raise InputError(
                f"{origin.name}: the same {what} ({_short(value)}) in {origin.unit}s "
                f"{_some(found)}; each must stand there once"
            )


def _some(lines: Sequence[int]) -> str:
    shown = ", ".join(map(str, lines[:5]))
    return shown if len(lines) <= 5 else f"{shown} and {len(lines) - 5} more"


def _short(value: str) -> str:
    return repr(value if len(value) <= 40 else value[:39] + "…")
