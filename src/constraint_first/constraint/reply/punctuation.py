"""The rule for marks that are not wanted: commas above all."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from constraint_first.constraint.reply.pattern import either
from constraint_first.constraint.reply.polarity import is_refused, refused_from, refused_later
from constraint_first.constraint.reply.request import Found, Sentence
from constraint_first.pattern import lazy_pattern

_MARKS: Final = {
    "comma": ",",
    "semicolon": ";",
    "exclamation mark": "!",
    "exclamation point": "!",
    "question mark": "?",
    "colon": ":",
    "asterisk": "*",
    "hashtag": "#",
}
_MARK: Final = lazy_pattern(rf"\b(?P<mark>{either(','.join(_MARKS))})s?\b(?P<free>[\s-]free\b)?")
_SOMEWHERE: Final = lazy_pattern(
    r"[-\s]*"
    + either("separated, splice, after, before, between, at the end, in the name, in the title")
)


def read_marks(sentence: Sentence) -> Iterator[Found]:
    """Which marks, commas above all, the reply does without."""
    plain = sentence.plain
    for found in _MARK.finditer(plain):
        start = refused_from(plain, found.start())
        if _SOMEWHERE.match(plain, found.end()):
            continue
        later = refused_later(plain, found.end())
        refused = found["free"] or later or is_refused(plain, *found.span())
        if refused and sentence.allows(later or start):
            mark = _MARKS[" ".join(found["mark"].split())]
            yield sentence.found({"op": "without", "marks": [mark]}, start, found.end())
