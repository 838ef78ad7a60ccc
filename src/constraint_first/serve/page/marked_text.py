"""A problem's text with stretches of it marked, its formulas as MathML all the same."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from operator import itemgetter
from typing import Final

from markupsafe import Markup, escape

from constraint_first.analysis.report.mathematics import formula_spans, to_html
from constraint_first.constraint.router import FAMILIES, Cue
from constraint_first.constraint.stated import Stated

__all__ = ["TextMark", "cue_marks", "mark_text", "quote_words", "stated_marks"]

_OPEN: Final = "\ue000"
_CLOSE: Final = "\ue001"
_OURS: Final = re.compile(f"[{_OPEN}{_CLOSE}]")
_BLANK_LINE: Final = re.compile(r"\n\s*\n")
_LONGEST: Final = 20_000
"""Characters that are shown; no mark goes beyond them."""
_GONE: Final = "\N{REPLACEMENT CHARACTER}"


@dataclass(frozen=True, slots=True)
class TextMark:
    """A stretch of a text, the class that it is shown in, and what is said of it."""

    start: int
    end: int
    name: str
    title: str


def cue_marks(cues: Iterable[Cue]) -> Iterator[TextMark]:
    """Mark the words that make the router act, each family in a colour of its own."""
    for cue in cues:
        number = FAMILIES.index(cue.family)
        title = f"cue: {cue.family.replace('_', ' ')}"
        yield from (TextMark(*span, f"cue cue-{number}", title) for span in cue.spans)


def stated_marks(stated: Iterable[Stated]) -> Iterator[TextMark]:
    """Mark the words that state a constraint."""
    return (TextMark(*one.span, "stated", one.sentence) for one in stated)


def mark_text(text: str, marks: Iterable[TextMark]) -> Markup:
    """Write a text as HTML, with its marks.

    A mark that begins or ends within a formula takes in the whole of it; one that goes beyond its
    paragraph is left out.
    """
    text = _OURS.sub(_GONE, text)
    formulas = formula_spans(text)
    fitting = [_around(mark, formulas) for mark in marks if 0 <= mark.start < mark.end <= len(text)]
    stretches = list(
        _stretches([m for m in fitting if not _BLANK_LINE.search(text, m.start, m.end)])
    )
    stretches = [one for n, one in enumerate(stretches, 1) if one.end + 2 * n <= _LONGEST]
    pieces, at = list[str](), 0
    for one in stretches:
        pieces += (text[at : one.start], _OPEN, text[one.start : one.end], _CLOSE)
        at = one.end
    html = to_html("".join((*pieces, text[at:])), limit=_LONGEST)
    tags = iter(stretches)
    return Markup(_OURS.sub(lambda found: _tag(found[0], tags), html))  # noqa: S704 (escaped)


def quote_words(text: str, span: tuple[int, int]) -> str:
    """Quote a stretch of a text, with the whole of any formula that it touches."""
    mark = _around(TextMark(*span, "", ""), formula_spans(text))
    return text[mark.start : mark.end].strip()


def _around(mark: TextMark, formulas: Sequence[tuple[int, int]]) -> TextMark:
    first = bisect_right(formulas, mark.start, key=itemgetter(1))
    touched = formulas[first : bisect_left(formulas, mark.end, key=itemgetter(0))]
    start = min((mark.start, *(one[0] for one in touched)))
    end = max((mark.end, *(one[1] for one in touched)))
    return TextMark(start, end, mark.name, mark.title)


def _stretches(marks: Sequence[TextMark]) -> Iterator[TextMark]:
    """Cut marks where others begin or end, so that none lies across another."""
    ends = sorted({end for mark in marks for end in (mark.start, mark.end)})
    later = deque(sorted(enumerate(marks), key=lambda one: one[1].start))
    here: dict[int, TextMark] = {}
    for start, end in pairwise(ends):
        here = {number: mark for number, mark in here.items() if mark.end > start}
        while later and later[0][1].start <= start:
            here.update([later.popleft()])
        if here:
            found = [mark for _, mark in sorted(here.items(), key=itemgetter(0))]
            names = " ".join(dict.fromkeys(mark.name for mark in found))
            titles = "; ".join(dict.fromkeys(mark.title for mark in found))
            yield TextMark(start, end, names, titles)


def _tag(found: str, tags: Iterator[TextMark]) -> str:
    if found == _CLOSE:
        return "</mark>"
    mark = next(tags)
    return f'<mark class="{escape(mark.name)}" title="{escape(mark.title)}">'
