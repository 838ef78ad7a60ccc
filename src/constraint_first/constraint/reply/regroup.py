"""Sentences and paragraphs taken apart and put together in other groups; no word is changed."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Final

from constraint_first.constraint.reply.measure import count_sentences
from constraint_first.constraint.reply.protected import Span, protected_spans
from constraint_first.pattern import lazy_pattern

_SENTENCE: Final = lazy_pattern(r"[^\n]*?(?:[.!?…]{1,9}[\"'”’)\]*_]{0,9}(?:\s+|$)|\n+|$)")
_NUMBER: Final = lazy_pattern(r"\W*\d{0,3}[.)]\s*")
"""A piece that is no sentence by itself: the number of a list item."""
_TAIL: Final = 24
"""Characters at the end of a piece that decide whether a sentence ends there."""


@lru_cache(maxsize=8)
def split_sentences(text: str) -> list[str]:
    """Cut a text behind its sentences and lines; joined again they are the text.

    Nothing is cut behind an abbreviation or inside a stretch that is protected.
    """
    inside = iter([*protected_spans(text), Span(len(text), len(text))])
    span, starts, may_cut = next(inside), [0], False
    for found in _SENTENCE.finditer(text):
        if may_cut and found[0].strip():
            starts.append(found.start())
        at = found.end()
        while span.end <= at < len(text):
            span = next(inside)
        tail = text[max(starts[-1], at - _TAIL) : at]
        may_cut = not span.start < at < span.end and _is_whole(tail)
    return [text[start:end] for start, end in pairwise((*starts, len(text)))]


def _is_whole(tail: str) -> bool:
    """Whether a piece of text with this end is one that a sentence or a line ends with."""
    if _NUMBER.fullmatch(tail):
        return False
    return tail.endswith("\n") or count_sentences(f"{tail.rstrip()} x") > 1


def group_lines(parts: Sequence[str], groups: int, gap: str) -> list[str]:
    """Join neighbours to so many groups of about the same number of parts."""
    ends = [round(len(parts) * n / groups) for n in range(groups + 1)]
    joined = (gap.join(part.strip() for part in parts[start:end]) for start, end in pairwise(ends))
    return [one for one in joined if one]


def group_sentences(text: str, groups: int) -> list[str]:
    """Cut a text between sentences into so many groups, or fewer where it has fewer sentences."""
    sentences = [one for one in split_sentences(text) if one.strip()]
    most = min(groups, len(sentences))
    ends = [round(len(sentences) * n / most) for n in range(most + 1)] if most else []
    return ["".join(sentences[start:end]).strip() for start, end in pairwise(ends)]
