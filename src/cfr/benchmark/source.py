"""Problems from where a person keeps them: the command line, standard input, a file."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

from cfr.error import InputError
from cfr.file.jsonl import JsonLine, read_rows, read_text
from cfr.problem import Problem

__all__ = ["names_file", "problem_from", "read_problems"]

_TEXT_FIELDS: Final = ("problem", "question", "text")
_FILE_ENDINGS: Final = frozenset({".jsonl", ".json", ".txt", ".md", ".tex", ".csv"})


def read_problems(source: str) -> list[Problem]:
    """Read the problem, or the problems, that a command-line argument stands for.

    ``-`` is standard input; a file that ends in ``.jsonl`` has one problem a line, any other file
    is one problem; everything else is the problem's own text.
    """
    if source == "-":
        return [_posed(_read_stdin(), "standard input")]
    if not names_file(source):
        return [_posed(source, "the problem")]
    path = Path(source).expanduser()
    if path.suffix.lower() != ".jsonl":
        return [_posed(read_text(path), str(path))]
    problems = [problem_from(row, path) for row in read_rows(path)]
    if not problems:
        raise InputError(f"{path}: has no problems; each line must be an object with a 'problem'")
    return problems


def names_file(source: str) -> bool:
    """Tell a file's name from a problem's text: no problem is one word with a file's ending."""
    if any(character.isspace() for character in source):
        return _exists(source)
    return Path(source).suffix.lower() in _FILE_ENDINGS or _exists(source)


def problem_from(row: JsonLine, path: Path) -> Problem:
    """Read a problem from a line of a file."""
    text = next((row.value[name] for name in _TEXT_FIELDS if name in row.value), None)
    where = f"{path}, line {row.number}"
    if not isinstance(text, str):
        raise InputError(f"{where}: has no text under 'problem' (or 'question', or 'text')")
    answer = row.value.get("answer")
    return Problem(
        text=_posed(text, where).text,
        id=str(row.value.get("id", row.number)),
        answer=None if answer is None else str(answer),
        benchmark=path.stem,
    )


def _posed(text: str, where: str) -> Problem:
    if not text.strip():
        raise InputError(f"{where}: is empty; give the text of a problem")
    return Problem(text.strip())


def _read_stdin() -> str:
    try:
        return sys.stdin.buffer.read().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(
            f"standard input: not UTF-8 text (byte {error.start}); convert it and try again"
        ) from None


def _exists(source: str) -> bool:
    try:
        return bool(source) and Path(source).expanduser().exists()
    except (OSError, ValueError, RuntimeError):  # too long, or with a NUL: no file has such a name
        return False
