"""Totals of whole parts: every amount of the asked unit is a multiple of 6, so the total is one.

*Each pack holds 15 cards. Ann buys 3 packs, then 4. How many cards has she?* Whatever is done with
the packs, the answer is a multiple of 15, as long as amounts are only added, taken away and
repeated. The rule therefore keeps away from every text in which something is divided, compared or
measured in a second way; see ``_DIVIDED``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import gcd
from typing import Final

from cfr.constraint.demand import divisible, integer
from cfr.constraint.stated.numeral import WORDS
from cfr.constraint.stated.reading import Reading
from cfr.constraint.stated.statement import Stated

__all__ = ["read_combination"]

_NUMBER: Final = re.compile(
    rf"(?<![\w.,])(?:(\d+(?:,\d{{3}})*(?:\.\d+)?)|({'|'.join(WORDS)})\b)"
)
_UNITS: Final = {
    "minut": {"minute": 1, "hour": 60},
    "cent": {"cent": 1, "dollar": 100, "nickel": 5, "dime": 10, "quarter": 25},
    "centimetr": {"centimetre": 1, "cm": 1, "metre": 100, "m": 100},
    "second": {"second": 1, "minute": 60, "hour": 3600},
}
_STOP: Final = (
    r"(?:do|does|did|are|is|was|were|will|would|has|have|had|can|could|may|must|should|in|of|from|to|on"
    r"|remained|remain|left|altogether|there|celsius|more)\b"
)
_ASKED: Final = re.compile(
    rf"\bhow\s+many\s+((?:(?!{_STOP})[a-z]+\s+){{1,3}})"
    rf"|\b(?:find|what\s+is)\s+the\s+(?:total\s+)?number\s+of\s+((?:(?!{_STOP})[a-z]+\s*){{1,3}}?)(?=read\b|given\b|[.?]|that\b|on\b|in\b|{_STOP})"
    r"|\b(?:in|as\s+a\s+number\s+of)\s+(minutes|cents|centimetres|kilograms|degrees|metres|millimetres|grams|pages|points)\b"
)
# Whatever may make a part smaller than the parts that the text names.
_DIVIDED: Final = re.compile(
    r"\b(?:half|halves|halfway|halved|thirds?|quarters?|fourths?|fifths?|sixths?|tenths?|percent\w*|ratio|average|mean"
    r"|equal\w*|evenly|shar(?:e|es|ed|ing)|split|divid\w*|per|twice|thrice|doubl\w*|tripl\w*|same|fraction|speed|rate|rates"
    r"|proportion\w*|together|sum|difference|product|older|younger|taller|dozens?|pairs?|couple|another|once|single"
    r"|perimeter|area|volume|rectang\w*|triang\w*|circ\w*|radius|width|diagonal|angle|cube|sides?|fewer|less|least\s+one"
    r"|remaining|enough|needs?|how\s+much|unknown|some|several|few|both|except|probability|odds|every\s+other|prime|digits?|multiples?|divisors?|formation|over\s+when"
    r"|between|their\s+number|up\s+to|over|under|loose)\b|[%/^*=+:]"
)
_PROBABLY: Final = re.compile(
    r"\bprobability\b[^.?!;,]{0,40}?\d+\s+percent|\d+\s+percent\s+probability"
)
_COMPARED: Final = re.compile(
    r"\b(?:as|times)\s+(?:many|much|long|old)\b|\bmore\s+than\s+(?!\s*\d)|\b\d+\s+(?:more|extra|additional|others?)\b"
    r"|\b(?:each|every|per)\s+(?:\d+|two|three|four|five|ten|other)\b"
)
# A clause that tells how much there is in one of many: "each pack holds", "a win brings", "in each".
_RATE: Final = re.compile(
    r"(?:\b(?:each|every|all|any|per)\b|\ban?\s+(?:[a-z]+\s+){1,4}?"
    r"(?:has|holds?|takes?|costs?|pays?|brings?|gives?|earns?|means|counts|makes?|carries|contains|weighs|for)\b"
    r"|\b[a-z]+s\s+of\s+length\b|\bsteps\s+of\b|\bfor\s+a\b|\bby\b(?=[^.?!;]{0,40}\bfor\s+a\b))"
)
_IN_EACH: Final = re.compile(r"\s*(?:[a-z]+\s+){0,2}?(?:in|on|for|at)?\s*(?:each|every|apiece)\b|\s*for\s+an?\s")
_PER: Final = re.compile(r"\b(?:each|every|per|a\s+(?:day|week|month|year|hour|minute))\b")


@dataclass(frozen=True, slots=True)
class _Amount:
    value: Fraction
    span: tuple[int, int]
    rate: bool


def read_combination(reading: Reading) -> Iterator[Stated]:
    """Read what every total of the amounts in a text must be a multiple of."""
    if reading.question is None or reading.recoded or len(reading.plain) > _LONGEST:
        return
    plain = _PROBABLY.sub(lambda found: " " * len(found.group()), reading.plain)
    asked = _ASKED.search(plain, *reading.question)
    if asked is None or _DIVIDED.search(plain) or _COMPARED.search(plain):
        return
    unit = _stem((asked[1] or asked[2] or asked[3]).split()[-1])
    if _is_single(plain, unit) or _PER.search(plain, asked.end(), reading.question[1]):
        return
    amounts = _amounts(plain, unit)
    if amounts is not None:
        yield from _state(unit, amounts, asked.span())


def _state(unit: str, own: list[_Amount], asked: tuple[int, int]) -> Iterator[Stated]:
    common = gcd(*(one.value.numerator for one in own))
    if common > 1 and all(one.rate for one in own):
        words = f"The answer is made of amounts that are multiples of {common}."
        for span in (asked, *(one.span for one in own)):
            yield Stated("modular", divisible(common), span, words)
    elif unit in _UNITS:
        words = "The answer is made of whole amounts: an integer."
        yield Stated("dimension", integer(), asked, words)


def _is_single(plain: str, unit: str) -> bool:
    """Whether one thing of the asked kind is meant somewhere without a number."""
    stem = re.escape(unit)
    return bool(
        re.search(rf"\b(?:an?|one|the\s+last)\s+(?:[a-z]+\s+)?{stem}(?:y|ie|e)?\b", plain)
        or re.search(rf"\b(?:an?|the)\s+(?:[a-z]+\s+){{1,2}}of\s+(?:[a-z]+\s+)?{stem}", plain)
    )


def _amounts(plain: str, unit: str) -> list[_Amount] | None:
    """Find the amounts of the asked unit; None where a number may not be a whole amount."""
    scale = {_stem(name): factor for name, factor in _UNITS.get(unit, {unit: 1}).items()}
    own: list[_Amount] = []
    pending: list[tuple[Fraction, tuple[int, int]]] = []
    named = False
    for found in _NUMBER.finditer(plain):
        value = Fraction(found[1].replace(",", "")) if found[1] else Fraction(WORDS[found[2]])
        pending.append((value, found.span()))
        if _GOES_ON.match(plain, found.end()):
            continue
        nouns = [_stem(word) for word in _NOUNS.match(plain, found.end()).group().split()]
        known = next((noun for noun in nouns if noun in scale), None)
        bare = not nouns or nouns[0] in _NO_NOUN
        factor = scale[known] if known else 1
        if any((one * factor).denominator != 1 for one, _ in pending):
            return None
        if known or bare:
            named = named or known is not None
            rate = _is_rate(plain, pending[0][1][0], found.end())
            own.extend(_Amount(one * factor, span, rate) for one, span in pending)
        pending = []
    return own if named and not pending else None


def _is_rate(plain: str, start: int, end: int) -> bool:
    clause = max(plain.rfind(mark, 0, start) for mark in ".?!;")
    return bool(_RATE.search(plain, clause + 1, start) or _IN_EACH.match(plain, end))


def _stem(noun: str) -> str:
    for ending in ("ies", "ie", "y", "es", "e", "s"):
        if noun.endswith(ending) and len(noun) > len(ending) + 1:
            return noun[: -len(ending)]
    return noun


_LONGEST: Final = 1_000
_GOES_ON: Final = re.compile(r"\s*(?:,\s*(?:and\s+)?|and\s+|or\s+)\d")
_NOUNS: Final = re.compile(r"(?:\s*-?\s*(?:[a-z]+)){0,3}")
_NO_NOUN: Final = frozenset(
    _stem(word)
    for word in (
        "and or but for from to in on at a an the more less of if when then is are was it its he she"
        " they each every left remain other per with by which who that as"
    ).split()
)
