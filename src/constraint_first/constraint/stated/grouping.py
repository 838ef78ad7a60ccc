"""Things in equal groups: how many there are is a multiple of the group, or divides the whole."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from constraint_first.constraint.predicate import divides, divisible
from constraint_first.constraint.stated.numeral import INTEGER, to_integer, to_integers
from constraint_first.constraint.stated.reading import Reading
from constraint_first.constraint.stated.statement import Stated
from constraint_first.pattern import lazy_pattern

_L: Final = rf"({INTEGER}(?:\s*,\s*{INTEGER}|\s+(?:and|or)\s+{INTEGER})*)"
_NONE_LEFT: Final = (
    r"(?:with\s+(?:nobody|none|nothing|no\s+one)\s+left|without\s+(?:any\s+|a\s+)?(?:left"
    r"|remainder)"
    r"|always\s+fill|exactly\b(?!\s+(?:\d|an?\b|one\b|two\b|three\b|four\b|five\b|half\b)))"
)
# Each pattern names the group (a noun that must not be what is counted) and its size or sizes.
_GROUPS: Final = tuple(
    lazy_pattern(pattern)
    for pattern in (
        rf"\b(?:in|into)\s+(?:full|complete|whole)\s+(?P<group>[a-z]+)\s+of\s+{_L}",
        rf"\ball\s+[a-z]+\s+stand\s+in\s+(?P<group>[a-z]+)\s+of\s+{_L}",
        rf"\bonly\s+in\s+(?:(?:full|complete|whole)\s+)?(?P<group>[a-z]+)\s+of\s+{_L}",
        rf"\bfills?\s+(?P<group>[a-z]+)\s+of\s+{_L}\s+exactly\b",
        rf"\b(?:in|into)\s+(?P<group>[a-z]+)\s+of\s+{_L}[^.?!;]{{0,40}}?{_NONE_LEFT}",
        rf"\b(?:each|every)\s+(?P<group>[a-z]+)\s+must\s+(?:contain|hold)\s+exactly\s+{_L}",
        rf"\b(?:each|every)\s+(?P<group>[a-z]+)\s+holds\s+exactly\s+{_L}[^.?!]{{0,40}}\bonly\s+"
        r"full\b",
        rf"\bequally\s+among\s+{_L}\s+(?P<group>[a-z]+)\s*,?\s*{_NONE_LEFT}",
    )
)
_STEPS: Final = lazy_pattern(
    rf"\bcount(?:s|ing)?\s+in\s+steps\s+of\s+({INTEGER})\s*,?\s*"
    rf"(?:from\s+0\b|beginning\s+with\s+({INTEGER})\s+itself|starting\s+(?:from|with|at)\s+0\b)"
)
_TOGETHER: Final = lazy_pattern(
    rf"\bevery\s+{_L}\s+([a-z]+?)s\b[^.?!]{{0,60}}?\btogether\s+at\s+([a-z]+)\s+0\b"
)
_WHOLES: Final = tuple(
    lazy_pattern(pattern)
    for pattern in (
        rf"({INTEGER})\s+[a-z]+\s+can\s+be\s+shared\s+(?:out\s+)?equally\s+among\s+them\s+"
        rf"{_NONE_LEFT}",
        rf"({INTEGER})\s+(?!metres|meters|feet|inches|miles|litres|liters|hours|kilo"
        r"|centi)[a-z]+\s+in(?:to)?\s+equal\s+(?P<group>rows|groups|teams|stacks|piles"
        r"|columns)\b",
        rf"({INTEGER})\s+(?P<item>[a-z]+)\s+into\s+[a-z]+\s*,\s*the\s+same\s+number\s+into\s+"
        r"each\b",
        rf"\bof\s+({INTEGER})\s+(?P<item>[a-z]+)\s+is\s+cut\s+into\s+equal\s+"
        r"[a-z]+\s*,\s*each\s+a\s+whole\s+number\s+of\s+[a-z]+\s+long\b",
    )
)
_HOW_MANY: Final = lazy_pattern(
    r"\bhow\s+many\s+(?:of\s+(?:the\s+|these\s+)?)?(?:more\s+)?([a-z]+)"
)
_OTHERWISE: Final = lazy_pattern(r"\bwhich\s|\bwhat\s+(?:number|is\s+(?:it|the\s+last))\b")
_REST: Final = lazy_pattern(
    r"\bleft\b(?!\s*(?:out|over)?\s*,)|\bremain|\bmore\b(?!\s+than)|\bextra\b|\bspare\b|\bneed"
    r"|\bmissing\b|\bcannot\b|\bnot\b"
    r"|\bwithout\b|\beach\b|\bper\b|\bleftover|\badd"
)
_CHANGED: Final = lazy_pattern(
    r"\b(?:removed?|added|broken|breaks|loses?|lost|gives?|gave|eats?|ate|buys?\s+another|half"
    r"|percent|loose|single|extra|keeps?|kept|left\s+over\s+[a-z]+|remain[a-z]*|besides|alone"
    r"|uses?|used"
    r"|drops?|returns?|returned|too\s+(?:many|few)|now|joins?|joined|arrives?|comes?|came|late)\b|%"
)


def read_grouping(reading: Reading) -> Iterator[Stated]:
    """Read that things stand in equal groups and that none is left over."""
    if reading.question is None or reading.recoded:
        return
    plain, (start, end) = reading.plain, reading.question
    counted = reading.asked(_HOW_MANY)
    if not counted and not _OTHERWISE.search(plain, start, end):
        return
    if _CHANGED.search(plain):
        return
    noun = counted[1] if counted else ""
    if _STEPS.search(plain) and re.search(
        r"\bwhich\s+one\b|\bwhat\s+number\s+is\s+this\b|\bwhich\s+number\b", plain[start:end]
    ):
        found = _STEPS.search(plain)
        if found and found[2] in (None, found[1]):
            yield from _multiples(found[1], found.span())
    if (found := _TOGETHER.search(plain)) and re.search(
        rf"\bat\s+which\s+{found[3]}\b[^?]*\btogether\b", plain[start:end]
    ):
        yield from _multiples(found[1], found.span(1))
    pointed = counted is None and re.search(r"\bwhat\s+is\s+it\s*\?", plain[start:end])
    if not (counted or pointed) or (counted and _REST.search(plain, counted.end(), end)):
        return
    for pattern in _GROUPS:
        for found in pattern.finditer(plain):
            if found["group"] != noun:
                yield from _multiples(
                    found[1] if found.re.groupindex["group"] == 2 else found[2], found.span()
                )
    for pattern in _WHOLES:
        for found in pattern.finditer(plain):
            named = found.groupdict()
            if noun == (named.get("group") or named.get("item") or noun):
                number = to_integer(found[1])
                words = f"The answer divides {number}."
                yield Stated("structure", divides(number), found.span(), words)


def _multiples(numbers: str, span: tuple[int, int]) -> Iterator[Stated]:
    for by in to_integers(numbers):
        if by:
            yield Stated("modular", divisible(by), span, f"The answer is a multiple of {by}.")
