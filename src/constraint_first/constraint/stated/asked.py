"""The number that a question names: *the largest two-digit multiple of 7 that is odd*."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from constraint_first.constraint.predicate import all_of, at_least, at_most, integer
from constraint_first.constraint.stated.numeral import ORDINALS, WORDS
from constraint_first.constraint.stated.property import read_properties
from constraint_first.constraint.stated.reading import ASK, Reading
from constraint_first.constraint.stated.statement import Stated
from constraint_first.pattern import lazy_pattern

_ADJECTIVE: Final = (
    r"(?:smallest|largest|greatest|least|biggest|highest|lowest|minimum|maximum|only|unique|single"
    rf"|possible|common|next|{'|'.join(ORDINALS)})"
)
_HEAD: Final = lazy_pattern(
    rf"\b(?:{ASK}|which(?:\s+is)?)\s+(?:the\s+|an?\s+)?(?:(?:{_ADJECTIVE})\s+)*"
)
_WHOLE: Final = lazy_pattern(
    r"(?:(positive|negative|non-?negative)\s+)?(?:(?:even|odd|composite|prime|perfect|square|"
    rf"(?:{'|'.join(WORDS)}|\d\d?)-digit)\s+)*"
    r"(?:integers?\b(?!\s+(?:coefficient|part|side|coordinate|length))|whole\s+number\b"
    r"|natural\s+number\b)"
)
_NOUN: Final = lazy_pattern(
    r"(?:(?:positive|negative|whole|natural|integer|composite|real|rational)\s+)*"
    r"(?:(?:number|integer|year|one|value|code)\b(?!\s+of\b)(?:\s+[a-z]\b)?)?"
)
_RELATIVE: Final = lazy_pattern(
    r"\s*(?:(?:that|which)\s+)?(?:one|they|you|we|it|he|she)\s+can\s+[a-z]+(?:\s+with\s+"
    r"[^.?!,]{1,80})?"
)
# An operation before any clause that describes the number: *the largest digit times four*.
_OPERATED: Final = lazy_pattern(
    rf"\b{ASK}\s+(?:(?!(?:such|that|which|whose|when|if|for|so|where|with|to|what"
    rf"|find)\b)[^\s?!]+\s+){{1,16}}?"
    r"(?:divided\s+by|times|plus|minus|multiplied|increased|decreased|squared|cubed|halved"
    r"|doubled)\b"
)
ANOTHER_BASE: Final = lazy_pattern(
    r"\bbase\b|\bbinary\b|\bhexadecimal\b|\boctal\b|\bternary\b|_\{?\d"
)


def read_asked(reading: Reading) -> Iterator[Stated]:
    """Read what the question itself says of the number that it asks for."""
    if reading.question is None:
        return
    end = reading.question[1]
    found: list[Stated] = []
    for at in reading.heads:
        if head := _HEAD.match(reading.plain, at, end):
            if whole := _WHOLE.match(reading.plain, head.end(), end):
                found.append(_whole_number(whole))
            found.extend(_described(reading.plain, head.end(), end))
    if found and reading.asked(_OPERATED):
        return
    if found and not reading.recoded and not ANOTHER_BASE.search(reading.plain):
        yield from found


def _whole_number(found: re.Match[str]) -> Stated:
    sign = found[1] or ""
    if sign.startswith("non"):
        return Stated(
            "domain", all_of(integer(), at_least(0)), found.span(), "The answer is a whole number."
        )
    if sign:
        bound = at_least(1) if sign == "positive" else at_most(-1)
        words = f"The answer is a {sign} integer."
        return Stated("domain", all_of(integer(), bound), found.span(), words)
    return Stated("domain", integer(), found.span(), "The answer is an integer.")


def _described(plain: str, start: int, end: int) -> Iterator[Stated]:
    """Read the properties before the noun, and those after it."""
    before, at = read_properties(plain, start, end)
    yield from before
    noun = _NOUN.match(plain, at if before else start, end)
    at = noun.end() if noun else at
    if not before and (noun is None or noun.end() == start):
        return
    relative = _RELATIVE.match(plain, at, end)
    after, _ = read_properties(plain, relative.end() if relative else at, end)
    yield from after
