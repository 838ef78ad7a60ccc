"""What a question says of the whole number that it asks for: *the largest prime factor of 84*.

``read_properties`` starts where a text begins to describe a number and goes on from property to
property as long as nothing but connecting words stands between them. It stops at the first word it
does not know, and at *or* and *not*: what it returns is stated without an if.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final, TypeAlias

from constraint_first.constraint.predicate import (
    Predicate,
    above,
    all_of,
    at_least,
    at_most,
    below,
    between,
    divides,
    divisible,
    integer,
    prime,
)
from constraint_first.constraint.stage1 import Kind
from constraint_first.constraint.stated.reading import (
    ANOTHER_BASE,
    ASK,
    INTEGER,
    NUMBERS,
    ORDINALS,
    WORDS,
    Reading,
    to_integer,
    to_integers,
)
from constraint_first.constraint.stated.statement import Stated
from constraint_first.pattern import lazy_pattern

_Found: TypeAlias = Iterator[tuple[Kind, Predicate, str]]
_Builder: TypeAlias = Callable[[re.Match[str]], _Found]

_N: Final = f"({INTEGER})"
_L: Final = f"({NUMBERS})"
# What may follow the number of a bound: a noun would make it a bound on something else.
_FOLLOW: Final = (
    r"(?=\s*(?:[.,;:?!)]|$|(?:and(?!\s+\d+(?!\d|\s+(?:more|less)\s+than))|but|that|which|is|are"
    r"|has|have|whose|with|inclusive|exclusive|can|such|when|where|if|for|so|divisible)\b))"
)
# What follows *prime*: any other noun may be something else, like *the prime factorization*.
_OF_A_NUMBER: Final = (
    r"(?=\s*(?:[.,;:?!)]|$|(?:number|integer|divisor|factor|and|that|which|whose|with|[a-z]"
    r"|between|greater|less|larger|smaller|above|below)\b))"
)
_LARGER: Final = r"(?:strictly\s+)?(?:greater|larger|more|bigger)\s+than|above|exceeds"
_SMALLER: Final = r"(?:strictly\s+)?(?:less|smaller|fewer)\s+than|below|under"


def _divisible(found: re.Match[str]) -> _Found:
    for by in filter(None, to_integers(found[1])):
        yield "modular", divisible(by), f"The answer is a multiple of {by}."


def _divides(found: re.Match[str]) -> _Found:
    for number in filter(None, to_integers(found[1])):
        yield "structure", divides(number), f"The answer divides {number}."


def _bound(build: Callable[[int], Predicate], words: str) -> _Builder:
    def read(found: re.Match[str]) -> _Found:
        value = to_integer(found[1])
        yield "bound", build(value), f"The answer is {words} {value}."

    return read


def _length(found: re.Match[str]) -> _Found:
    length = WORDS.get(found[1]) or int(found[1])
    if 0 < length <= 30:
        range_of_it = between(10 ** (length - 1), 10**length - 1)
        yield "bound", range_of_it, f"The answer has {found[1]} digits."


def _prime(_: re.Match[str]) -> _Found:
    yield "structure", prime(), "The answer is a prime number."


_PROPERTIES: Final[tuple[tuple[re.Pattern[str], _Builder], ...]] = tuple(
    (lazy_pattern(pattern), build)
    for pattern, build in (
        (rf"(?:divisible\s+by|multiple\s+of)\s+(?:both\s+)?{_L}{_FOLLOW}", _divisible),
        (
            rf"(?:(?:positive|proper)\s+)?(?:divisor|factor)\s+of\s+(?:both\s+)?{_L}{_FOLLOW}",
            _divides,
        ),
        (rf"(?:{_LARGER})\s+{_N}{_FOLLOW}", _bound(above, "greater than")),
        (rf"(?:{_SMALLER})\s+{_N}{_FOLLOW}", _bound(below, "less than")),
        (
            rf"({'|'.join(WORDS)}|\d\d?)\s*-?\s*digit(?=\s+(?:positive\s+|perfect\s+|odd\s+"
            rf"|even\s+)?"
            r"(?:number|integer|prime|multiple|divisor|factor|square|cube|palindrome)\b)",
            _length,
        ),
        (rf"prime\b{_OF_A_NUMBER}", _prime),
    )
)
_LINK: Final = lazy_pattern(
    r"[\s,]*(?:\b(?:and|that|which|is|be|both|also|a|an|the|number|integer|whole"
    r"|positive)\b[\s,]*)*"
)
# How a property can begin; it spares most places the trial of every pattern.
_BEGINS: Final = lazy_pattern(
    r"divis|multiple|positive|proper|factor|\d|strictly|greater|larger|more|bigger|above|exceeds"
    rf"|less|smaller|fewer|below|under|prime|{'|'.join(WORDS)}"
)
_OR: Final = lazy_pattern(
    r"[\s,]*(?:of\s+them\s*)?or\b|\s*(?:plus|minus|times)\b|\s+(?:in|by)\s+absolute\b"
)
_MOST: Final = 6


def read_properties(plain: str, start: int, end: int) -> tuple[list[Stated], int]:
    """Read the properties that follow one another from a place on, and where they end."""
    found: list[Stated] = []
    position = start
    for _ in range(_MOST):
        link = _LINK.match(plain, position, end)
        at = link.end() if link else position
        one = _read_one(plain, at, end)
        if one is None:
            break
        stated, after = one
        if _OR.match(plain, after, end):
            return [], start
        found.extend(stated)
        position = after
    return found, position


def _read_one(plain: str, at: int, end: int) -> tuple[list[Stated], int] | None:
    if not _BEGINS.match(plain, at, end):
        return None
    for pattern, build in _PROPERTIES:
        if match := pattern.match(plain, at, end):
            stated = [Stated(kind, rule, match.span(), words) for kind, rule, words in build(match)]
            return stated, match.end()
    return None


_HEAD: Final = lazy_pattern(
    rf"\b{ASK}\s+(?:the\s+|an?\s+)?(?:(?:smallest|largest|greatest|least|biggest|highest|lowest"
    rf"|minimum|maximum|only|unique|single|possible|common|next|{'|'.join(ORDINALS)})\s+)*"
)
_WHOLE: Final = lazy_pattern(
    r"(?:(positive|negative|non-?negative)\s+)?(?:(?:even|odd|composite|prime|perfect|square|"
    rf"(?:{'|'.join(WORDS)}|\d\d?)-digit)\s+)*"
    r"(?:integers?\b(?!\s+(?:coefficient|part|side|coordinate|length|ratio|exponent|pair|point"
    r"|lattice|program|vector|percent|triple|tuple|power|multiple\s+of\s+(?!\d+(?![\d./]))))"
    r"|whole\s+number\b(?!\s+percent)"
    r"|natural\s+number\b)"
)
_NOUN: Final = lazy_pattern(
    r"(?:(?:positive|whole|natural|integer)\s+)*"
    r"(?:(?:number|integer|year|value)\b(?!\s+of\b)(?:\s+[a-z]\b)?)?"
)
# An operation before any clause that describes the number: *the largest digit times four*.
_OPERATED: Final = lazy_pattern(
    rf"\b{ASK}\s+(?:(?!(?:such|that|which|whose|when|if|for|so|where|with|to|what"
    rf"|find)\b)[^\s?!]+\s+){{1,16}}?"
    r"(?:divided\s+by|times|plus|minus|multiplied|increased|decreased|squared|cubed|halved"
    r"|doubled)\b"
)
# A negative number, or one that may begin with zeros, has so many digits and another range.
_UNUSUAL: Final = lazy_pattern(
    r"(?<!non)(?<!non-)\bnegative\b|\babsolute\b|\bleading\s+zero|\b(?:lock|code|pin|password)\b"
)


def read_asked(reading: Reading) -> Iterator[Stated]:
    """Read what the question itself says of the number that it asks for."""
    if reading.question is None:
        return
    plain, end = reading.plain, reading.question[1]
    found: list[Stated] = []
    for at in reading.heads[:1]:
        if head := _HEAD.match(plain, at, end):
            if whole := _WHOLE.match(plain, head.end(), end):
                found.append(_whole_number(whole))
            described = [*_described(plain, head.end(), end)]
            if described and not _UNUSUAL.search(plain):
                found.extend(described)
    if found and not reading.asked(_OPERATED) and not ANOTHER_BASE.search(plain):
        yield from found


def _whole_number(found: re.Match[str]) -> Stated:
    sign = found[1] or ""
    if sign.startswith("non"):
        words = "The answer is a whole number."
        return Stated("domain", all_of(integer(), at_least(0)), found.span(), words)
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
    if before or (noun and noun.end() > start):
        yield from read_properties(plain, at, end)[0]
