"""An answer that a reply gives as a JSON object: its only field, or the one named for an answer."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from typing import Final, cast

from constraint_first.answer.extraction.marker import ANSWER_WORDS

__all__ = ["find_object_answer"]

_LONGEST: Final = 20_000
_START: Final = re.compile(r"^[^\S\n]*\{\s*[\"'}]", re.MULTILINE)
_END: Final = re.compile(r"\}\s*(?:```)?\s*\Z")
_BAD_ESCAPE: Final = re.compile(r"\\(?![\"\\/u])")
_NAMES: Final = (
    *("finalanswer", "correctanswer", "answer", "answers", *ANSWER_WORDS, "答案", "정답", "答え"),
    *"ans final finalresult result results correctoption correctchoice option choice".split(),
    *"selected output value solution response prediction".split(),
)
"""What the field is called, the surest names first."""
_LONGEST_VALUE: Final = 300
_MOST_LAYERS: Final = 4


def find_object_answer(text: str) -> str | None:
    """Find the answer in the JSON object at the end of a reply; None where it has no such field."""
    if _END.search(text, max(0, len(text) - 40)) is None:
        return None
    starts = [match.start() for match in _START.finditer(text)]
    for start in starts[:3]:
        raw = text[start : text.rindex("}") + 1].strip()
        if len(raw) < _LONGEST and isinstance(value := _load(raw), dict):
            return _answer(cast("dict[str, object]", value), _MOST_LAYERS)
    return None


def _load(raw: str) -> object:
    with suppress(ValueError, RecursionError):
        return json.loads(raw)
    with suppress(ValueError, RecursionError):  # LaTeX with its backslashes as they are
        return json.loads(_BAD_ESCAPE.sub(r"\\\\", raw))
    return None


def _answer(fields: dict[str, object], layers: int) -> str | None:
    named = {re.sub(r"[\W_]+", "", key).lower(): value for key, value in fields.items()}
    for name in _NAMES:
        if name in named:
            return _written(named[name], layers)
    return _written(next(iter(fields.values())), layers) if len(fields) == 1 else None


def _written(value: object, layers: int) -> str | None:
    """Write a value as a person would; a list as its items, an object as the answer in it."""
    if isinstance(value, dict):
        return _answer(cast("dict[str, object]", value), layers - 1) if layers else None
    if isinstance(value, list):
        items = [_written(item, 0) for item in cast("list[object]", value)]
        return ", ".join(item for item in items if item)
    if value is None:
        return ""
    if isinstance(value, str):
        return value if len(value) < _LONGEST_VALUE else None
    return json.dumps(value)
