"""The rule for marks that are not wanted: commas above all."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from cfr.constraint.reply.directive import OTHERS
from cfr.constraint.reply.pattern import either
from cfr.constraint.reply.polarity import is_refused, refused_from
from cfr.constraint.reply.request import Found, Sentence

__all__ = ["read_marks"]

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
_MARK: Final = re.compile(rf"\b(?P<mark>{either(','.join(_MARKS))})s?\b(?P<free>[\s-]free\b)?")
_PRONOUN: Final = re.compile(
    r"[^.;]{0,60}?\b(?:so|and|:)?\s*(?:"
    r"(?:don't|do\s+not|never|please\s+don't)\s+(?:use|put|include|write)\s+(?:any|one|them|it)"
    r"|(?:free\s+of|without|avoid|skip|leave\s+out|drop)\s+(?:them|it|those|any)"
    r"|leave\s+(?:[a-z]+\s+){1,5}out|so\s+none(?:\s+of\s+(?:them|those))?|use\s+none"
    r"|none\s+may\s+appear|there\s+can't\s+be\s+a\s+single\s+one"
    r"|(?:can't|cannot|must\s+not|mustn't|should\s+not|shouldn't|may\s+not)"
    r"\s+(?:contain|have|use|include)\s+(?:any|one|a\s+single\s+one|them))\b"
)
"""A refusal that comes back to a mark: *I hate commas, so don't use any*."""
_SOMEWHERE: Final = re.compile(
    r"[-\s]*"
    + either("separated, splice, after, before, between, at the end, in the name, in the title")
)


def read_marks(sentence: Sentence) -> Iterator[Found]:
    """Which marks, commas above all, the reply does without."""
    plain = sentence.plain
    for found in _MARK.finditer(plain):
        start = refused_from(plain, found.start())
        if OTHERS.search(plain[:start]) or _SOMEWHERE.match(plain, found.end()):
            continue
        back = _PRONOUN.match(plain, found.end())
        at = back.end() if back else start
        refused = found["free"] or back or is_refused(plain, *found.span())
        if refused and sentence.allows(at):
            mark = _MARKS[" ".join(found["mark"].split())]
            yield sentence.found({"op": "without", "marks": [mark]}, start, found.end())
