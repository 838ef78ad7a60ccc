"""Totals of whole parts: every amount of the asked unit is a multiple of 6, so the total is one.

*Each pack holds 15 cards. Ann buys 3 packs, then 4. How many cards has she?* Whatever is done with
the packs, the answer is a multiple of 15, as long as amounts are only added, taken away and
repeated. The rule therefore keeps away from every text in which something is divided, compared or
measured in a second way; see ``_DIVIDED``.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from math import gcd
from typing import Final

from constraint_first.constraint.predicate import between, congruent, divisible, integer
from constraint_first.constraint.stated.quantity import Amount, Other, read_amounts, stem
from constraint_first.constraint.stated.reading import Reading
from constraint_first.constraint.stated.statement import Stated
from constraint_first.constraint.stated.unit import read_scale
from constraint_first.pattern import lazy_pattern

_LONGEST: Final = 1_000
_UNITS: Final = {
    "minut": {"minut": 1, "hour": 60},
    "cent": {"cent": 1, "dollar": 100, "nickel": 5, "dim": 10, "quarter": 25},
    "centimetr": {"centimetr": 1, "cm": 1, "metr": 100, "m": 100},
}
_STOP: Final = (
    r"(?:do|does|did|are|is|was|were|will|would|has|have|had|can|could|may|must|should|in|of"
    r"|from|to|on"
    r"|remained|remain|left|altogether|there|celsius|more|lie|go|that|burnt|read|given|at)\b"
)
_ASKED: Final = lazy_pattern(
    rf"\b(?:how\s+many|(?:find|what\s+is)\s+the\s+(?:total\s+)?number\s+of|what\s+number\s+of)\s+"
    rf"((?:(?!{_STOP}|and\b)[a-z]+\b\s*){{1,3}})(?={_STOP}|[?.])"
    r"|\b(?:in|as\s+a\s+number\s+of)\s+(minutes|cents|centimetres|kilograms|degrees|metres"
    r"|millimetres|grams)\b"
    r"|\b(?:final\s+|what\s+)(score)\b|\bteam's\s+(total)\b"
)
_IN_UNIT: Final = lazy_pattern(r"\b(?:in|as\s+a\s+number\s+of)\s+(cents|minutes)\b")
_SHOWN: Final = lazy_pattern(
    r"\b(?:what|which)\s+number\b|\bhow\s+much\s+change\b|\bexpress\s+the\b"
)
# Whatever may make a part smaller than the parts that the text names.
DIVIDING: Final = frozenset(
    (
        "half halves halfway halved third thirds quarter quarters fourth fourths fifth fifths sixth"
        " tenth tenths ratio average mean evenly share shares shared sharing split twice thrice"
        " same fraction speed rate rates together sum difference product older younger taller dozen"
        " dozens pair pairs couple single perimeter area volume radius width diagonal angle cube"
        " fewer less remaining enough need needs unknown several both except probability odds prime"
        " digit digits multiple multiples divisor divisors formation loose meet meets met"
        " catch catches overtake overtakes"
    ).split()
)
"""Words of a text in which a total need not be made of the amounts that it names."""
_DIVIDING_STEMS: Final = (
    "percent",
    "equal",
    "divid",
    "doubl",
    "tripl",
    "proportion",
    "rectang",
    "triang",
    "circ",
)
# No word boundary in front: a pattern that begins with letters is searched for much faster.
_DIVIDED: Final = lazy_pattern(
    r"some\s+(?!of\s+it)[a-z]+|few\b(?<!too few)|every\s+other\b|left\s+over\b|over\s+when\b"
    r"|\d\s+[a-z]+\s+and\s+an?\s+[a-z]+\s*[.?!]|their\s+number\b|up\s+to\b|between\s+\d|past\s+"
    r"the\s+hour\b"
)
_SYMBOL: Final = lazy_pattern(r"[%/^*=+]|\d\s*:\s*\d")
_PROBABLY: Final = lazy_pattern(
    r"\bprobability\b[^.?!;,]{0,60}?\d+\s+percent|\d+\s+percent\s+probability"
)
_COMPARED: Final = lazy_pattern(
    r"(?:as|times)\s+(?:many|much|long|old)\b|more\s+than\s+(?!\s*\d)|(?<!from\s)each\s+other\b"
    r"|\d\s+(?:more\b(?!\s+times)|extra\b|additional\b|others?\b)"
    r"|(?:each|every|per)\s+(?:\d|two\b|three\b|four\b|five\b)|every\s+other\b"
)
_SHARED: Final = lazy_pattern(
    r"\bper\b|\b(?:do|does|did|will|can|would|should|must|is|are|has|have)\s+(?:each|every)\b"
    r"|\b(?:in|for|on|to)\s+(?:each|every)\b|\b(?:in|on|for)\s+an?\s+(?:box|bag|pack|group)\b"
    r"|\beach\s*\?|\ba\s+(?:day|week|month|year|hour|minute)\b"
)
_GIVEN_TO_EACH: Final = lazy_pattern(
    r"\b(?:give|get|receive|put|pay|have|hold|contain|need|take|eat|read)s?\s+(?:to\s+|in\s+)?"
    r"(?:each|every|one)\b"
)
_TIMES: Final = lazy_pattern(r"\b(second|minute|hour|day|week|fortnight|month|year|decade)s?\b")
# Amounts for several things at once: the amount for one of them need not be whole.
_BY_THE_LOT: Final = lazy_pattern(
    r"\b\d+\s+(?:[a-z]+\s+){1,2}?(?:costs?|for|weighs?|are\s+sold|sells?|takes?|lasts?)\b"
    r"|\bto\s+[a-z]+\s+"
    r"(?:\d+|an?|one)\b"
)
# So much in so long, so many of these for so many of those: the answer may be a proportion.
_TIME: Final = r"(?:\d+|two|three|four|five|ten)\s+(?:second|minute|hour|day|week|month|year)s?\b"
_BY_PROPORTION: Final = lazy_pattern(
    rf"\d\s+[a-z]+(?:\s+[a-z]+){{0,2}}\s+(?:in|per|every)\s+({_TIME})"
)
_FOR_TIME: Final = lazy_pattern(
    r"\d\s+[a-z]+(?:\s+[a-z]+){0,2}\s+for\s+(\d+)\s+(?:day|week|month|year)s?\b"
    r"|\bfor\s+(?P<other>\d+)\s+(?:day|week|month|year)s?\s*\?"
)
# So long for so many: *it takes 6 minutes to fill 4 jars*.
_FOR_MANY: Final = lazy_pattern(
    r"\b(?:takes?|took|needs?|needed|requires?)\b[^.?!]{0,40}?\bto\s+[a-z]+\s+(?:[a-z]+\s+){0,2}?\d"
)
_CLOCK: Final = frozenset(("second", "minut", "hour", "day", "week", "month", "year"))
_TIMES_GIVEN: Final = lazy_pattern(rf"\b{_TIME}")
_OF_A_LOT: Final = lazy_pattern(
    r"\b(?:for|with|of)\s+\d+\s+[a-z]+\s+(?!each\b|every\b)(?:[a-z]+s|has|have)\s+$"
)
_PARTED: Final = lazy_pattern(
    r"\b(?:sawn?|saws|broken|breaks?|cuts?|middle|alike|fold(?:s|ed)?|bends?|bent|an?\s+"
    r"(?:piece|part|share))\b"
)
_START: Final = lazy_pattern(
    r"\b(?:starts?|begins?|started|began|shows?|reads?|at\s+first|at\s+the\s+start|it\s+is"
    r"|the\s+air\s+has)\b"
)
_REMAINDER: Final = lazy_pattern(r"\bremainder\b[^,.;]{0,20},?\s*$")
_WHOLE: Final = lazy_pattern(
    r"\bto\s+begin\s+with\b|\bwas\s+all\s+the\b|\b(?:are|were)\s+there\b|\bare\s+in\s+the\b"
    r"|\bat\s+the\s+start\b|\bwas\s+all\b"
)
_OTHERS: Final = lazy_pattern(r"\bothers?\b|\bthe\s+rest\b|\ba\s+(?:losing|clear|dry|lost)\b")
_TEMPERATURE: Final = lazy_pattern(r"\b(?:temperature|thermometer|celsius)\b")
_CHANGE: Final = lazy_pattern(r"\b(?:fall|fell|drop|change|rise|colder|warmer|lose|difference)\b")


def read_combination(reading: Reading) -> Iterator[Stated]:
    """Read what every total of the amounts in a text must be a multiple of."""
    if reading.question is None or len(reading.plain) > _LONGEST:
        return
    plain, words = reading.plain, reading.words
    if reading.has_large_words:
        return
    if "probability" in words:
        plain = _PROBABLY.sub(lambda found: " " * len(found.group()), plain)
        words = frozenset(re.findall(r"[a-z]+", plain))
    if words & DIVIDING or any(word.startswith(_DIVIDING_STEMS) for word in words):
        return
    start, end = reading.question
    asked = _ASKED.search(plain, start, end)
    if asked is None and _SHOWN.search(plain, start, end):
        asked = _IN_UNIT.search(plain)
    if asked is None or any(p.search(plain) for p in (_SYMBOL, _DIVIDED, _COMPARED)):
        return
    unit = stem(next(filter(None, asked.groups())).split()[-1])
    unit = "point" if unit in ("scor", "total") else unit
    scale = _UNITS.get(unit) or read_scale(unit, words)
    if scale is None:
        return
    times = {found[1] for found in _TIMES.finditer(plain)}
    if (
        _is_proportion(plain, unit)
        or _is_single(plain, unit)
        or (len(times) > 1 and ("hour" not in scale or "second" in times))
    ):
        return
    if (
        asked.re.pattern == _ASKED.pattern
        and asked[1]
        and (
            _SHARED.search(plain, asked.end(), min(end, asked.end() + 40))
            or _GIVEN_TO_EACH.search(plain, asked.end(), end)
        )
    ):
        return
    amounts = read_amounts(plain, scale)
    if amounts is None or any(one.doubled or _OF_A_LOT.search(one.clause) for one in amounts[0]):
        return
    own, others = amounts
    if _is_related(plain, others):
        yield from _multiple(own, asked.span(), plain[start:end])
        yield from _two_kinds(plain, own, others)
    if unit in _UNITS and not _BY_THE_LOT.search(plain) and not _PARTED.search(plain):
        words = "The answer is made of whole amounts: an integer."
        yield Stated("dimension", integer(), asked.span(), words)


_SINGLE: Final = lazy_pattern(
    r"\b(?:an?|one|another|each|every|any|per|the\s+last)\s+([a-z]+)(?:\s+([a-z]+))?"
)
_HEAP: Final = lazy_pattern(
    r"\b(?:an?|the)\s+(?:[a-z]+\s+){0,2}?(?!number)[a-z]+\s+of\s+([a-z]+)(?:\s+([a-z]+))?"
)


def _is_single(plain: str, unit: str) -> bool:
    """Whether one thing of the asked kind, or an unknown heap of them, is meant somewhere."""
    for one in _SINGLE.finditer(plain):
        words = [word for word in one.groups() if word]
        if any(stem(word) == unit and not word.endswith("s") for word in words):
            return True
    heaps = (word for one in _HEAP.finditer(plain) for word in one.groups() if word)
    return any(word.startswith(unit) for word in heaps)


def _is_proportion(plain: str, unit: str) -> bool:
    """Whether so much is told of one length of time, and another is given or asked for."""
    if _FOR_MANY.search(plain) or len({one[1] for one in _FOR_TIME.finditer(plain)}) > 1:
        return True
    found = _BY_PROPORTION.search(plain)
    if found is None:
        return False
    return unit in _CLOCK or any(one.group() != found[1] for one in _TIMES_GIVEN.finditer(plain))


def _multiple(own: list[Amount], asked: tuple[int, int], question: str) -> Iterator[Stated]:
    """State what all the amounts are multiples of, but for one that is added as it is."""
    alone = [one for one in own if not one.rate or _REMAINDER.search(one.clause)]
    rates = [one for one in own if one not in alone]
    common = gcd(*(one.value.numerator for one in rates)) if rates else 0
    spans = (asked, *(one.span for one in own))
    if common > 1 and not alone:
        words = f"The answer is made of amounts that are multiples of {common}."
        yield from (Stated("modular", divisible(common), span, words) for span in spans)
    elif common > 1 and len(alone) == 1 and _is_kept(alone[0], question):
        rest = alone[0].value.numerator % common
        words = f"The answer leaves the remainder {rest} when divided by {common}."
        yield from (Stated("modular", congruent(rest, common), span, words) for span in spans)


def _is_related(plain: str, others: list[Other]) -> bool:
    """Whether every other thing that is counted is also one that the amounts are told of.

    Students who sit on seats are not: they make seats of students, and no multiple is certain.
    """
    nouns = {one.noun for one in others if one.noun not in ("tim", "")}
    # So much of it for one and so much of it in all: the answer may be their quotient.
    if any(len({one.rate for one in others if one.noun == noun}) > 1 for noun in nouns):
        return False
    words = (
        Counter(stem(word) for word in re.findall(r"[a-z]+", plain)) if nouns else Counter[str]()
    )
    return all(words[noun] > 1 or _told_of(plain, noun) for noun in nouns)


def _told_of(plain: str, noun: str) -> bool:
    told = (word for found in _TOLD_OF.finditer(plain) for word in found.groups() if word)
    return any(stem(word) == noun for word in told)


_TOLD_OF: Final = lazy_pattern(r"\b([a-z]+)\s+each\b|\b([a-z]+)\s+with\s+\d")


def _two_kinds(plain: str, own: list[Amount], others: list[Other]) -> Iterator[Stated]:
    """State the range of a total of things of two kinds, when their number is given."""
    if len(own) != 2 or not all(one.rate for one in own) or not _OTHERS.search(plain):
        return
    if len({one.value for one in others}) == 2:
        low, high = sorted(one.value for one in own)
        count = max(one.value for one in others)
        words = f"The answer is from {count} times {low} to {count} times {high}."
        span = own[0].span[0], own[1].span[1]
        yield Stated("bound", between(count * low, count * high), span, words)


def _is_kept(alone: Amount, question: str) -> bool:
    """Whether an amount goes into the answer as it is, once and whole."""
    if _REMAINDER.search(alone.clause):
        return bool(_WHOLE.search(question))
    if _START.search(alone.clause):
        return bool(_TEMPERATURE.search(question)) and not _CHANGE.search(question)
    return False
