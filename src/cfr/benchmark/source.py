"""Problems from where a person keeps them: the command line, standard input, a file."""

from __future__ import annotations

import reprlib
import sys
from math import isfinite
from pathlib import Path
from typing import Final

from cfr.error import InputError
from cfr.file.field import FieldError, FieldType, check_text, read_field, within
from cfr.file.jsonl import JsonLine, decode_text, read_rows, read_text
from cfr.file.path import expand_user
from cfr.problem import Json, Problem

__all__ = [
    "LONGEST_ID",
    "LONGEST_TEXT",
    "names_file",
    "problem_from",
    "read_gold",
    "read_problems",
    "read_stdin",
]

_TEXT_FIELDS: Final = ("problem", "question", "text")
LONGEST_TEXT: Final = 1_000_000
"""Characters of a problem or of a gold answer: more than any model reads."""
LONGEST_ID: Final = 500
"""PostgreSQL has no index over texts of more than 2,700 bytes."""
_PLAIN: Final[FieldType[str | float]] = FieldType(
    "a text or a number", lambda value: type(value) in (str, int) or _is_finite(value)
)
_FILE_ENDINGS: Final = frozenset({".jsonl", ".json", ".txt", ".md", ".tex", ".csv"})


def read_problems(source: str) -> list[Problem]:
    """Read the problem, or the problems, that a command-line argument stands for.

    ``-`` is standard input; a file that ends in ``.jsonl`` has one problem a line, any other file
    is one problem; everything else is the problem's own text.
    """
    if source == "-":
        return [_only(read_stdin(), "standard input")]
    if not names_file(source):
        return [_only(source, "the problem")]
    path = expand_user(source)
    if path.suffix.lower() != ".jsonl":
        return [_only(read_text(path), str(path))]
    problems = [problem_from(row, path) for row in read_rows(path)]
    if not problems:
        raise InputError(f"{path}: has no problems; each line must be an object with a 'problem'")
    return problems


def _only(text: str, where: str) -> Problem:
    with within(where):
        return Problem(_posed(text))


def names_file(source: str) -> bool:
    """Tell a file's name from a problem's text: no problem is one word with a file's ending."""
    if any(character.isspace() for character in source):
        return _exists(source)
    return Path(source).suffix.lower() in _FILE_ENDINGS or _exists(source)


def problem_from(row: JsonLine, path: Path) -> Problem:
    """Read a problem from a line of a file."""
    with within(f"{path}, line {row.number}"):
        answer = read_gold(row.value.get("answer"), "answer")
        return Problem(
            text=_posed(_read_text(row.value)),
            id=_read_id(row),
            answer=answer and check_text(answer, "answer", LONGEST_TEXT),
            benchmark=path.stem,
        )


def read_gold(value: Json, name: str) -> str | None:
    """Read a gold answer: a text, a number, or a list of them, which stand there all together."""
    parts = value if isinstance(value, list) else [] if value is None else [value]
    if not all(map(_PLAIN.fits, parts)):
        wanted = f"{_PLAIN.name}, or a list of these"
        raise FieldError(f"{name!r} must be {wanted}, not {reprlib.repr(value)}", name)
    return ", ".join(map(str, parts)) if parts else None


def _read_text(row: dict[str, Json]) -> str:
    text = next((row[name] for name in _TEXT_FIELDS if name in row), None)
    if not isinstance(text, str):
        raise FieldError("has no text under 'problem' (or 'question', or 'text')")
    return text


def _read_id(row: JsonLine) -> str:
    """Read what a problem is called; one without a name goes by its line."""
    if row.value.get("id") in (None, ""):
        return str(row.number)
    return check_text(str(read_field(row.value, "id", _PLAIN)), "id", LONGEST_ID)


def _posed(text: str) -> str:
    if not text.strip():
        raise FieldError("is empty; give the text of a problem")
    return check_text(text.strip(), "problem", LONGEST_TEXT)


def read_stdin() -> str:
    """Read all of standard input."""
    try:
        return decode_text(sys.stdin.buffer.read(), "standard input")
    except (AttributeError, OSError):  # closed, or a folder
        raise InputError("standard input: cannot be read; give it a text") from None


def _is_finite(value: object) -> bool:
    return type(value) is float and isfinite(value)


def _exists(source: str) -> bool:
    try:
        return bool(source) and expand_user(source).exists()
    except (OSError, ValueError):  # too long, or with a NUL: no file has such a name
        return False
