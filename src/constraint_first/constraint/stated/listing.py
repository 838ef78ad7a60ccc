"""Lists that are asked for in order."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, Literal

from constraint_first.constraint.predicate import listed
from constraint_first.constraint.stated.numeral import WORDS
from constraint_first.constraint.stated.reading import ASK, Reading
from constraint_first.constraint.stated.statement import Stated
from constraint_first.pattern import lazy_pattern

_VERB: Final = lazy_pattern(
    r"(?:please\s+|now\s+)?(?:list|write|arrange|order|put|give|enter|express|sort|rank|state|find"
    r"|name|provide|report|type|place|solve|determine)\b"
)
_SMALL: Final = r"(?:smallest|least|lowest)"
_LARGE: Final = r"(?:largest|greatest|highest|biggest)"
_ORDER: Final = lazy_pattern(
    r"\bin\s+(?:(?:strictly|numerical|numerically)\s+)?(?:(?P<up>ascending|increasing)|descending"
    r"|decreasing)\s+(?:numerical\s+)?order\b"
    rf"|\bfrom\s+(?:the\s+)?(?:(?P<least>{_SMALL})\s+to\s+(?:the\s+)?{_LARGE}|{_LARGE}\s+to\s+"
    rf"(?:the\s+)?{_SMALL})\b"
)
# What may follow: how to separate the items, or the items themselves.
_REST: Final = lazy_pattern(
    r"[\s,)]*(?:(?:and\s+)?(?:separated?|separating|using|with)\b[^.?!:]{0,60})?"
    r"(?::[^a-z]{1,300}(?:\band\b[^a-z]{1,40})?)?[\s.?!)]*$"
)
# What is made of the list, or what is no list of numbers: a number of ordered digits, say.
_OTHERWISE: Final = lazy_pattern(
    r"\bhow\s+many\b|\bnumber\s+of\b|\bsum\b|\bproduct\b|\bmedian\b|\bdigits?\b|\bletters?\b"
    r"|\bprobability\b|\bdifference\b|\bwhat\s+is\b"
    r"|\bpolynomial\b|\bterms?\b|\bexponents?\b|\bpowers?\b|\bone\s+(?:way|example)\b|\bposition"
    r"|\bif\b|\babsolute\b|\bmodul|\bpermutation|\bwhich\s+(?:one|number|is)\b"
    r"|\bunless\b|\b(?:first|second|third|fourth|fifth|last)\b|\bbase\b|\bbinary\b|\bbut\b|\bnot\b"
    r"|\bnon-|\brows?\b|\bcolumns?\b|\bthen\b|\bform\b|\bmultipl|\btimes\b|\blet\b"
    r"|\bconcat|\bcoded?\b|\bremainder"
)
_NO_NUMBERS: Final = lazy_pattern(
    r"\bpairs?\b|\btriples?\b|\btuples?\b|\bpoints?\b|\bcoordinates\b|\bvectors?\b|\bintervals?\b"
)
_LENGTH: Final = lazy_pattern(
    rf"(?:{ASK})\s+(?:the|these|all)\s+({'|'.join(WORDS)}|\d)\s+(?:(?:positive|negative|real"
    r"|prime|consecutive|different|distinct|integer|even|odd)\s+){0,2}(?:numbers|integers|primes"
    r"|solutions|roots|values)\b"
)


def read_listing(reading: Reading) -> Iterator[Stated]:
    """Read that numbers are to be given in order, and how many where the question counts them."""
    if reading.question is None or reading.reworked:
        return
    plain, (start, _) = reading.plain, reading.question
    if _NO_NUMBERS.search(plain) or _OTHERWISE.search(plain, start):
        return
    for begin, end in reading.sentences:
        sentence = plain[begin:end].lstrip()
        order = _ORDER.search(plain, begin, end) if begin >= start else None
        if order and _VERB.match(sentence) and _REST.match(plain[order.end() : end]):
            yield _listed(reading, order)
            return


def _listed(reading: Reading, found: re.Match[str]) -> Stated:
    order: Literal["increasing", "decreasing"] = (
        "increasing" if found["up"] or found["least"] else "decreasing"
    )
    counted = reading.asked(_LENGTH)
    length = (WORDS.get(counted[1]) or int(counted[1])) if counted else None
    many = f"{length} numbers" if length else "numbers"
    words = f"The answer is a list of {many} in {order} order."
    return Stated("format", listed(order, length), found.span(), words)
