"""Sentences and paragraphs taken apart and put together in other groups; no word is changed."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Final

__all__ = ["group_lines", "group_sentences", "split_sentences"]

_SENTENCE: Final = re.compile(r"[^\n]*?(?:[.!?…]{1,9}[\"'”’)\]*_]{0,9}(?:\s+|$)|\n+|$)")
_NUMBER: Final = re.compile(r"\W*\d{0,3}[.)]\s*")
"""A piece that is no sentence by itself: the number of a list item."""


def split_sentences(text: str) -> list[str]:
    """Cut a text behind its sentences and lines; joined again they are the text."""
    pieces = [found[0] for found in _SENTENCE.finditer(text) if found[0]]
    joined: list[str] = []
    for piece in pieces:
        if joined and (_NUMBER.fullmatch(joined[-1]) or not piece.strip()):
            joined[-1] += piece
        else:
            joined.append(piece)
    return joined or [text]


def group_lines(parts: Sequence[str], groups: int, gap: str) -> list[str]:
    """Join neighbours to so many groups of about the same number of parts."""
    ends = [round(len(parts) * n / groups) for n in range(groups + 1)]
    joined = (gap.join(part.strip() for part in parts[start:end]) for start, end in pairwise(ends))
    return [one for one in joined if one]


def group_sentences(text: str, groups: int) -> list[str]:
    """Cut a text between sentences into so many groups, or fewer where it has fewer sentences."""
    sentences = [one for one in split_sentences(text) if one.strip()]
    return group_lines(sentences, min(groups, len(sentences)), " ") if sentences else []
