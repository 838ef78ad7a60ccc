"""What is left out or paired: numbers without the multiples, lists without the extremes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from math import comb
from typing import Final

from constraint_first.constraint.predicate import all_of, between, integer
from constraint_first.constraint.stated.numeral import INTEGER, NUMBERS, to_integer, to_integers
from constraint_first.constraint.stated.reading import Reading
from constraint_first.constraint.stated.statement import Stated
from constraint_first.pattern import lazy_pattern

_RANGE: Final = lazy_pattern(
    rf"(?:\bfrom\s+(?:page\s+)?)?({INTEGER})\s+to\s+(?:page\s+)?({INTEGER})"
    r"|(?<!\d)(\d+)\s*\\leq?\s*[a-z]\s*\\leq?\s*(\d+)"
)
_MULTIPLE: Final = lazy_pattern(rf"\b(?:multiples?\s+of|divisible\s+by)\s+({INTEGER})")
_NEGATED: Final = lazy_pattern(
    r"\b(?:not|no|never|instead|except|skip\w*|wip\w*\s+out|thrown?\s+away|throws\s+away"
    r"|remov\w*|cross\w*\s+out"
    r"|eras\w*|exclud\w*|without|leav\w*\s+out|delet\w*|neither)\b"
)
_HOW_MANY: Final = lazy_pattern(r"\bhow\s+many\b|\bfind\s+the\s+number\s+of\b")
_OTHER: Final = lazy_pattern(
    r"\b(?:primes?|even|odd|squares?|cubes?|digits?|sums?|twice|two|three|four|five|half|percent"
    r"|both\s+(?!included)|also|or|pairs?|triples?|subsets?|palindromes?|factors?|divisors?|powers?"
    r"|sets?|ways?|tuples?|fractions?|random|first|every\s+other|multiples\s+of\s+\d+\s+(?:from"
    r"|that))\b"
)
_ALL: Final = lazy_pattern(r"\d+")


def read_without(reading: Reading) -> Iterator[Stated]:
    """Read how many numbers of a range there are when the multiples of one number are left out."""
    plain = reading.plain
    if reading.number_count != 3:
        return
    if (
        reading.question is None
        or reading.recoded
        or not _HOW_MANY.search(plain, *reading.question)
    ):
        return
    ranges, multiples = [*_RANGE.finditer(plain)], [*_MULTIPLE.finditer(plain)]
    if len(ranges) != 1 or len(multiples) != 1 or len(_ALL.findall(plain)) != 3:
        return
    if len(_NEGATED.findall(plain)) != 1 or _OTHER.search(plain):
        return
    low, high = (to_integer(end) for end in ranges[0].groups() if end)
    by = to_integer(multiples[0][1])
    if not by or low >= high:
        return
    count = high - low + 1 - (high // by - (low - 1) // by)
    begin = max(plain.rfind(mark, 0, multiples[0].start()) for mark in ".?!,") + 1
    words = f"The answer counts the {count} numbers that are left, give or take the ends."
    predicate = all_of(integer(), between(count - 1, count + 1))
    yield Stated("bound", predicate, (begin, multiples[0].end()), words)


_LARGEST: Final = (
    r"(?:largest|highest|greatest|heaviest|dearest|longest|tallest|best|biggest|oldest)"
)
_SMALLEST: Final = r"(?:smallest|lowest|least|lightest|cheapest|shortest|worst|youngest)"
_EXTREMES: Final = lazy_pattern(
    rf"\bthe\s+top\s+[a-z]+\s+and\s+the\s+bottom\s+[a-z]+\b|\b(?:the\s+)?(?:{_LARGEST}\s+and\s+"
    rf"(?:the\s+)?{_SMALLEST}|{_SMALLEST}\s+and\s+(?:the\s+)?{_LARGEST})\b"
)
_LEFT_OUT: Final = lazy_pattern(
    r"\bleav\w*\s+out\b|\bleft\s+out\b|\bnot\s+count|\ball\s+but\b|\bput\s+aside\b|\bwithout\b"
    r"|\bexcept\b|\bdrop"
    r"|\bignor|\bstrik|\bstruck\b|\bdo\s+not\s+count|\bremov|\bset\s+aside\b|\bcross\w*\s+out\b"
    r"|\bdiscard|\btakes?\s+away\b"
)
_LIST: Final = lazy_pattern(NUMBERS)
_DIGITS: Final = lazy_pattern(r"\d+(?:\s*,\s*\d+)*(?:\s*,?\s+and\s+\d+)?")
_NO_SUM: Final = lazy_pattern(
    r"\baverage|\bmean\b|\bproduct\b|\bdivid|\bper\b|\bdifference|[%+*/^]"
)


def read_extremes(reading: Reading) -> Iterator[Stated]:
    """Read that a list is added up without its extremes: each of the rest is between two others."""
    plain = reading.plain
    found = _EXTREMES.search(plain)
    if reading.question is None or reading.recoded or not found or not _LEFT_OUT.search(plain):
        return
    groups = [to_integers(one.group()) for one in _DIGITS.finditer(plain)]
    lists, alone = [g for g in groups if len(g) > 3], [g[0] for g in groups if len(g) == 1]
    if len(lists) != 1 or len(alone) != len(groups) - 1 or len(alone) != 1 or _NO_SUM.search(plain):
        return
    rest = sorted(lists[0])[1:-1]
    if not _TIMES.search(plain):
        return
    times, slack = alone[0], rest[0] // 2
    low, high = times * (sum(rest) - slack), times * (sum(rest) + slack)
    words = f"The answer is {times} times the sum of the {len(rest)} numbers in between."
    begin = max(plain.rfind(mark, 0, found.start()) for mark in ".?!,") + 1
    yield Stated("bound", between(low, high), (begin, found.end()), words)


_TIMES: Final = lazy_pattern(
    r"\b(?:times|multipl[a-z]+\s+(?:[a-z]+\s+){0,3}?by)\b|\d\s+[a-z]+\s+(?:an?|per|(?:from|of"
    r"|for)\s+each)\b"
)
_EVERY_PAIR: Final = lazy_pattern(
    r"\b(?:each|every)\s+[a-z]+\b[^.?!,;]{1,40}?\b(?:each|every)\s+other\s+[a-z]+"
    r"|\b(?:every|any|each)\s+two\s+(?:of\s+\d+\s+)?[a-z]+"
    r"|\beveryone\b[^.?!,;]{1,40}?\beveryone\s+else\b"
    r"|\beach\s+[a-z]+\s+is\s+[a-z]+\s+once\s+with\s+each\s+other\s+[a-z]+"
)
_TWICE: Final = lazy_pattern(
    r"\btwice\b|\btwo\s+games\b|\bthree\s+times\b|\btwo\s+(?:lines|photo|matches)|\bhalf\b"
    r"|\bper\b|\baverage|[%+*/^]|\.\d"
)


def read_pairs(reading: Reading) -> Iterator[Stated]:
    """Read that every two of a group meet once: there are no more pairs than that."""
    plain = reading.plain
    found = _EVERY_PAIR.search(plain)
    if reading.question is None or reading.recoded or not found or _TWICE.search(plain):
        return
    groups = [to_integers(one.group()) for one in _LIST.finditer(plain)]
    if len(groups) != 2 or sorted(map(len, groups))[0] != 1:
        return
    nouns = [_stem_after(plain, one.end()) for one in _LIST.finditer(plain)]
    meeting = [
        number
        for number, noun in enumerate(nouns)
        if len(groups[number]) > 1
        or noun in found.group()
        or (noun == "people" and "everyone" in found.group())
    ]
    if len(meeting) != 1:
        return
    sizes, times = groups[meeting[0]], groups[1 - meeting[0]][0]
    least, most = (times * sum(map(count, sizes)) for count in (_chain, _all_pairs))
    words = f"The answer is from {least} to {most}: every two meet once."
    yield Stated("bound", between(least, most), found.span(), words)


def _chain(size: int) -> int:
    return max(size - 1, 0)


def _all_pairs(size: int) -> int:
    return comb(size, 2)


def _stem_after(plain: str, at: int) -> str:
    words = re.match(r"\s*([a-z]+)(?:\s+([a-z]+s)\b)?", plain[at : at + 40])
    return (words[2] or words[1]).rstrip("s") if words else "-"
