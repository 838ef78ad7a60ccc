"""Amounts that belong together: things of two kinds, one amount between two others, prices, pieces.

Each rule asks for exactly the numbers that it explains. A text with one number more is about
something else, and nothing is read from it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction
from typing import Final

from constraint_first.constraint.predicate import (
    Predicate,
    above,
    all_of,
    at_least,
    at_most,
    below,
    between,
    integer,
    parity,
)
from constraint_first.constraint.stated.quantity import FUNCTION_WORDS, stem
from constraint_first.constraint.stated.reading import Reading
from constraint_first.constraint.stated.statement import Stated
from constraint_first.pattern import lazy_pattern

_NUMBER: Final = lazy_pattern(r"(?<![\w.,])\d+(?:,\d{3})*(?:\.\d+)?(?!\w)")
_MORE: Final = lazy_pattern(
    r"\bhalf\b|\btwice\b|\bpercent|%|\baverage|\bratio\b|[/^*=+]|\bthird\b|\bdouble|-\s*\d"
    r"|\bneeds?\b"
)


def _numbers(plain: str) -> list[re.Match[str]]:
    return [*_NUMBER.finditer(plain)]


def _value(found: re.Match[str]) -> Fraction:
    return Fraction(found.group().replace(",", ""))


# --- Things of two kinds: so many in all, so much in all, so much for each.

_ASKED: Final = lazy_pattern(
    r"\bhow\s+many\s+(?:of\s+(?:them|the|these)\b)?([^?.,]{1,60})|\bnumber\s+of\s+([^?.,]{1,60})"
)
_SEGMENT: Final = lazy_pattern(r"[^.,;:?!]+?(?=\s+and\s|[.,;:?!]|$)")
_EACH: Final = lazy_pattern(
    r"\b(?:each|every|per|an?|ones?|others?|[a-z]+s\s+(?:hold|weigh|cost|take)s?)\b"
)
_PLAIN_WORDS: Final = frozenset(
    stem(word)
    for word in (
        "the a an are is were was there of them did does do has have had buy bought if in for"
        " on each"
        " how many number find what and be been worth"
    ).split()
)


def read_kinds(reading: Reading) -> Iterator[Stated]:
    """Read how many things of one of two kinds there can be, by number and by total."""
    plain = reading.plain
    if not 4 <= reading.number_count <= 7:
        return
    numbers = _numbers(plain)
    if reading.question is None or not 4 <= len(numbers) <= 6 or _MORE.search(plain):
        return
    asked = _ASKED.search(plain, *reading.question)
    firsts = {_value(one): one for one in reversed(numbers)}
    given = [
        one
        for one in numbers
        if not asked or one.start() < asked.start() or one.start() > asked.end()
    ]
    if (
        asked is None
        or len(firsts) != 4
        or len(given) != 4
        or any(value.denominator != 1 for value in firsts)
    ):
        return
    if reading.recoded:
        return
    words = {stem(word) for word in re.findall(r"[a-z0-9]+", asked[1] or asked[2])} - _PLAIN_WORDS
    total = max(firsts)
    unit = _noun(plain, firsts[total])
    if not unit or unit in FUNCTION_WORDS:
        return
    heads = re.findall(r"[a-z]+", asked[1] or asked[2])[:3]
    counted = {stem(word) for word in (*heads, *re.findall(r"\bof (them)\b", asked.group()))}
    others = [firsts[value] for value in sorted(firsts) if value != total]
    first, second, count = _kinds(plain, words, unit, others)
    if first is None or second is None or count is None:
        return
    if not counted & {_noun(plain, count), "them"}:
        return
    here, there, things = _value(first), _value(second), _value(count)
    if here == there or not 0 <= (total - there * things) / (here - there) <= things:
        return
    if ((total - there * things) / (here - there)).denominator != 1:
        return
    most = total // here
    limit = at_most(min(most, things.numerator))
    side = _more_than_half(here, there, things, total)
    text = f"The answer is at most {most}: each takes {here} of {total}."
    yield Stated("bound", all_of(integer(), limit, side), first.span(), text)
    if there % 2 == 0 and here % 2 == 1:
        which = "odd" if total % 2 else "even"
        yield Stated("parity", parity(which), second.span(), f"The answer is {which}.")


def _more_than_half(
    here: Fraction, there: Fraction, things: Fraction, total: Fraction
) -> Predicate:
    middle = things / 2
    even = (here + there) * middle
    if total == even:
        return between(middle, middle)
    return above(middle) if (total > even) == (here > there) else below(middle)


def _kinds(
    plain: str, words: set[str], unit: str, numbers: list[re.Match[str]]
) -> tuple[re.Match[str] | None, re.Match[str] | None, re.Match[str] | None]:
    """Tell the asked kind, the other kind and the number of things, by the words beside them."""
    scores: dict[int, int] = {}
    for place, one in enumerate(numbers):
        segment = next(
            (s.group() for s in _SEGMENT.finditer(plain) if s.start() <= one.start() < s.end()), ""
        )
        if not _EACH.search(segment) and _noun(plain, one) in (unit, ""):
            return None, None, None
        scores[place] = len(words & {stem(word) for word in re.findall(r"[a-z0-9]+", segment)})
    nouns = [_noun(plain, one) for one in numbers]
    rates = [place for place, noun in enumerate(nouns) if noun in (unit, "")]
    counts = [place for place in scores if place not in rates]
    if len(counts) != 1 or len(rates) != 2 or scores[rates[0]] == scores[rates[1]]:
        return None, None, None
    here, there = sorted(rates, key=lambda place: -scores[place])
    return numbers[here], numbers[there], numbers[counts[0]]


def _noun(plain: str, one: re.Match[str]) -> str:
    word = re.match(r"\s*([a-z]+)", plain[one.end() : one.end() + 40])
    return stem(word[1]) if word else ""


# --- One amount between two others: one is 6 more, one 2 less, and all together are given.

_UP: Final = r"more|older|longer|heavier|taller|higher|dearer|larger"
_DOWN: Final = r"fewer|less|younger|shorter|lighter|lower|cheaper|smaller"
_COMPARED: Final = lazy_pattern(
    rf"(?<![\w.,])(\d+)\s+(?:[a-z]+\s+)?(?:({_UP})|({_DOWN}))\s+than\s+(?:on\s+|in\s+)?"
    rf"(?:an?\s+|the\s+)?([a-z]{{2,}})"
)
_TOGETHER: Final = lazy_pattern(
    r"\btogether\b|\badd\s+up\b|\bshare\b|\bin\s+all\b|\baltogether\b|\bsum\b|\btotal\b"
)
# The total must be that of all: two of them together would leave the third out.
_OF_ALL: Final = lazy_pattern(r"\ball\b|\bshare\b|\bthe\s+three\b")
_SEVERAL: Final = lazy_pattern(
    r"\band\b|\bboth\b|\bdifference\b|\bin\s+(?:all|total)\b|\btogether\b"
)
_MEASURE: Final = lazy_pattern(
    r"\b(?:months?|years?|metres?|meters?|grams?|kilograms?|centimetres?|minutes?|hours?"
    r"|litres?|degrees?)\b"
)


def read_between_others(reading: Reading) -> Iterator[Stated]:
    """Read the range of an amount that lies between two others, when all of them add up."""
    plain = reading.plain
    if reading.number_count != 3:
        return
    compared = [*_COMPARED.finditer(plain)]
    if reading.question is None or reading.recoded or len(compared) != 2 or _MORE.search(plain):
        return
    up = next((one for one in compared if one[2]), None)
    down = next((one for one in compared if one[3]), None)
    numbers = _numbers(plain)
    if up is None or down is None or up[4] != down[4] or len(numbers) != 3:
        return
    question = plain[slice(*reading.question)]
    if not re.search(rf"\b{up[4]}\b", question) or not _TOGETHER.search(plain) or "degree" in plain:
        return
    if _COMPARED.search(question) or not _OF_ALL.search(plain) or reading.has_large_words:
        return
    if _SEVERAL.search(question, max(question.find("how"), question.find("what"), 0)):
        return
    total = max(map(_value, numbers))
    low, high = Fraction(int(down[1])), (total - int(up[1])) / 2
    if low >= high:
        return
    if _MEASURE.search(plain):
        predicate = all_of(above(low), below(high))
    else:
        predicate = all_of(integer(), at_least(low), at_most(high))
    words = f"The answer is more than {low} and less than {high}."
    for kind, one in (("monotonic", up), ("bound", down)):
        begin = max(plain.rfind(mark, 0, one.start()) for mark in ".?!,") + 1
        yield Stated(
            "monotonic" if kind == "monotonic" else "bound", predicate, (begin, one.end()), words
        )


# --- The price of one, where the price of all is also told in round figures.

# What makes the price of one another than its share in the price of all.
_OTHER_PRICE: Final = lazy_pattern(
    r"\bdiscount|\bcoupon|\btax\b|\btip\b|\bchange\b|\bfree\b|\boff\b|\bplus\b|\bfor\s+one\b|\bboth\b"
    r"|\b(?:an?|one|each)\s+[a-z]+\s+(?:costs?|is)\s+€?\s*\d"
)
_ONE: Final = lazy_pattern(r"\b(?:one|each|single|this\s+price|price\s+of\s+an?)\b")


def read_price(reading: Reading) -> Iterator[Stated]:
    """Read the range of the price of one thing from the rounded price of all of them."""
    plain = reading.plain
    if reading.number_count != 3:
        return
    rounded = re.search(r"\bround(?:s|ed)?\b", plain)
    numbers = _numbers(plain)
    if reading.question is None or rounded is None or len(numbers) != 3 or _MORE.search(plain):
        return
    exact = [one for one in numbers if "." in one.group()]
    whole = [one for one in numbers if "." not in one.group()]
    if len(exact) != 1 or not _ONE.search(plain, *reading.question):
        return
    price = _value(exact[0])
    near = [one for one in whole if abs(_value(one) - price) <= Fraction(1, 2)]
    others = [one for one in whole if one not in near]
    if len(near) != 1 or len(others) != 1 or not _value(others[0]):
        return
    if not _THINGS.match(plain, others[0].end()) or _OTHER_PRICE.search(plain):
        return
    label, count = _value(near[0]), _value(others[0])
    low, high = ((label + side) / count for side in (Fraction(-1, 2), Fraction(1, 2)))
    begin, end = sorted((rounded.start(), near[0].start()))
    words = f"The answer is from {low} to {high}: {count} of them cost about {label}."
    yield Stated("bound", between(low, high), (begin, end + len(near[0].group())), words)


# --- So many pieces of the same length, given in two units and asked for in the smaller one.

_LENGTH: Final = lazy_pattern(
    r"(?<![\w.,])(\d+)\s+m(?:etres?|eters?)?\s+(\d+)\s+c(?:m|entimet(?:re|er)s?)\b"
)
_IN_SMALL: Final = lazy_pattern(
    r"\bin\s+centimet(?:re|er)s(?:\s+only)?\b|\bhow\s+many\s+centimet(?:re|er)s\b|\bby\s+the\s+"
    r"centimet(?:re|er)\b"
)
_PARTED: Final = lazy_pattern(
    r"\bcut\s+into\b|\bdivid|\bshare|\bsplit\b|\bone\b|\bsingle\b|\bleft\b|\bremain|\bgr[eo]w|\bsaw"
    r"|\badds?\b|\bshorter|\blonger|\btaller|\bhigher|\bless\b|\bapart\b|\boverlap|(?<!without\s)gaps?\b"
    r"|\baverage|\bper\b|\bside\s+by\s+side|\bstack|\barea\b|\bvolume\b|\bbetween\b|\bfirst\b|\blast\b"
)
_TOTAL: Final = lazy_pattern(r"\btotal\b|\b(?:al)?together\b|\bin\s+all\b|\bsum\b")
_ALIKE: Final = lazy_pattern(
    r"\beach\b|\bevery\b|\ball\s+\d|\bpieces\s+of\s+\d|\bof\s+(?:length\s+)?\d"
)
# A number of things, not of units: what stands after it is a noun in the plural.
_THINGS: Final = lazy_pattern(
    r"\s+(?:[a-z]+\s+)?(?!(?:dollar|cent|euro|hour|minute|second|day|week|month|year|met|centimet"
    r"|millimet|kilomet|gram|kilo|litre|liter|time|degree|percent|feet|foot|inch|ounce|pound)[a-z]*\b)"
    r"[a-z]{2,}s\b"
)


def read_pieces(reading: Reading) -> Iterator[Stated]:
    """Read between which lengths so many equal pieces lie, laid end to end."""
    plain = reading.plain
    lengths, numbers, unit = (
        [*_LENGTH.finditer(plain)],
        _numbers(plain),
        [*_IN_SMALL.finditer(plain)],
    )
    if reading.question is None or len(lengths) != 1 or len(numbers) != 3 or not unit:
        return
    if _MORE.search(plain) or _PARTED.search(plain) or not _ALIKE.search(plain):
        return
    if _TOTAL.search(plain, 0, reading.question[0]):
        return
    counts = [one for one in numbers if not lengths[0].start() <= one.start() < lengths[0].end()]
    if (
        len(counts) != 1
        or not _THINGS.match(plain, counts[0].end())
        or lengths[0][2] == "0"
        or re.search(r"\beach\b|\bevery\b", plain[slice(*reading.question)][:30])
    ):
        return
    count, metres = int(_value(counts[0])), int(lengths[0][1])
    low, high = 100 * metres * count, 100 * (metres + 1) * count
    words = f"The answer is from {low} to {high} centimetres."
    for one in unit:
        yield Stated("dimension", all_of(above(low), below(high)), one.span(), words)
