"""Amounts in running text: *at least 300*, *fewer than six*, *20 to 30*, *no more than twice*."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

from constraint_first.constraint.reply.number import NUMBER, TIMES, to_number
from constraint_first.pattern import lazy_pattern
from constraint_first.problem import Json

_MORE: Final = r"(?:more|longer|greater|larger|bigger|higher)\s+than"
_LESS: Final = r"(?:less|fewer|shorter|smaller|lower)\s+than"
_IS: Final = r"(?:\s+(?:of|is|being|should\s+be|must\s+be))?\s*[:=]?"
_LOW: Final = (
    rf"at\s+(?:the\s+)?(?:very\s+)?least|(?:no|not|nothing|never)\s+{_LESS}"
    r"|not\s+(?:go\s+|be\s+)?(?:under|below)|nothing\s+(?:under|below)|at\s+minimum|>=|≥"
    rf"|(?:a\s+)?(?:floor|min(?:imum|\.)?)(?:\s+(?:length|word\s+count))?{_IS}"
)
_ABOVE: Final = (
    rf"{_MORE}|over|above|exceeding|exceeds?|in\s+excess\s+of|past|beyond|upwards?\s+of|>"
)
_KEPT: Final = (
    r"(?:limit|restrict|keep|hold|confine|trim|cut|condense|shorten|squeeze|narrow)"
    r"(?:ed|s|t?ing|ting|ming|med)?"
)
_HIGH: Final = (
    rf"at\s+(?:the\s+)?(?:very\s+)?most|(?:no|not|nothing|never)\s+{_MORE}|up\s+to|within"
    r"|not\s+(?:to\s+)?exceed(?:ing)?|(?:no|not|nothing)\s+(?:go\s+|be\s+)?(?:over|above|past)|<=|≤"
    rf"|(?:a\s+)?max(?:imum|\.)?(?:\s+(?:length|word\s+count))?{_IS}"
    rf"|(?:limit|cap|ceiling){_IS}|{_KEPT}(?:\s+[\w'-]+){{0,6}}\s+to"
    r"|cap(?:s|ped|ping)?(?:\s+[\w'-]+){0,4}\s+at"
)
_BELOW: Final = rf"{_LESS}|under|below|short\s+of|<"
_EXACT: Final = r"exactly|precisely|strictly|only|just|a\s+total\s+of|total\s+of"
_VAGUE: Final = (
    r"about|around|approximately|roughly|nearly|almost|circa|close\s+to|some|~|≈|approx\.?|ca\.?"
    r"|say|in\s+the\s+(?:region|neighbou?rhood)\s+of|something\s+like|maybe|perhaps"
    # Anything over 100 words: whether that is wanted is said after it.
    r"|(?:anything|everything|whatever)\s+(?:(?!in\b)[a-z]+\s+){0,2}?(?:over|above|below|under|"
    rf"{_MORE}|{_LESS})"
)
_BEFORE: Final = lazy_pattern(
    rf"(?<![\w])(?:(?P<vague>{_VAGUE})|(?P<high>{_HIGH})|(?P<low>{_LOW})|(?P<above>{_ABOVE})"
    rf"|(?P<below>{_BELOW})|(?P<exact>{_EXACT})),?\s*(?:a\s+total\s+of\s+|the\s+)?$"
)
_BACK: Final = 60
"""How far before a number the words are looked for that belong to it."""
_NUMBER: Final = lazy_pattern(rf"(?<![\w.,$#-]){NUMBER}")
_RANGE: Final = lazy_pattern(
    rf"(?:\s*(?P<join>-|–|—|to|or|and)|\s+(?:word|sentence|paragraph)s?\s+(?:to|or))"
    rf"\s*(?P<end>{NUMBER})"
)
_RATE: Final = lazy_pattern(
    r"(?:\s+[a-z]+){0,2}\s+(?:an?|per|each|every)\s+(?:day|week|month|year|hour|minute|second)\b"
)
_AFTER: Final = lazy_pattern(
    r"\s*(?P<plus>\+)|\s+(?:or|and)\s+(?P<more>more|above|greater|over|longer)\b"
    r"|\s+or\s+(?P<less>fewer|less|below|under|shorter)\b"
)


@dataclass(frozen=True, slots=True)
class Amount:
    """A count with its ends, and where a text has it."""

    low: int | None
    high: int | None
    start: int
    end: int
    number: int = 0
    """Where the number itself is, after words like *at least*."""
    bare: bool = False
    """Whether the text has the number alone, without a word like *exactly* or *at least*."""
    times: bool = False
    """Whether it says how often: once, twice."""

    @property
    def ends(self) -> dict[str, Json]:
        """The ends as arguments of a predicate."""
        return {k: v for k, v in (("low", self.low), ("high", self.high)) if v is not None}

    @property
    def at_least(self) -> Amount:
        """The same, where a number alone asks for no less than itself."""
        return replace(self, high=None) if self.bare else self

    def widened(self, tail: str) -> Amount:
        """The same with what a text adds after the counted things: *200 words or less*.

        Without ends where that is vague: *200 words or so*.
        """
        found = _TAIL.match(tail)
        if not found or not self.bare or self.low is None:
            return self
        if found["vague"]:
            return replace(self, low=None, high=None)
        low = None if found["less"] else self.low
        high = None if found["more"] else self.low
        return replace(self, low=low, high=high, bare=False)


_TAIL: Final = lazy_pattern(
    r"\s*[(,:-]?\s*(?:(?:and|but)\s+)?(?:"
    r"(?P<exact>exactly|only|precisely|on\s+the\s+dot|flat"
    r"|no\s+more(?:,?\s+(?:and\s+)?no|\s+(?:and|or|nor)(?:\s+no)?)\s+(?:less|fewer)"
    r"|not\s+one\s+more\s+(?:and|or|nor)\s+(?:one\s+)?(?:less|fewer))"
    r"|(?P<less>or\s+(?:less|fewer|under|below|shorter)|at\s+(?:the\s+)?(?:very\s+)?most"
    r"|max(?:imum)?|is\s+(?:the|my|your|our)\s+(?:[a-z]+\s+)?(?:ceiling|limit|max(?:imum)?|cap)"
    r"|tops|(?:at|as)\s+(?:(?:a|the)\s+)?maximum|no\s+more(?!\s+than)|no\s+longer(?!\s+than)"
    r"|not\s+(?:one|a\s+\w+)\s+more)"
    r"|(?P<more>or\s+(?:more|longer|over|above|greater)|at\s+(?:the\s+)?(?:very\s+)?least"
    r"|is\s+(?:the|my|your|our)\s+(?:[a-z]+\s+)?(?:floor|minimum)|min(?:imum)?"
    r"|(?:at|as)\s+(?:(?:a|the)\s+)?(?:bare\s+)?minimum|and\s+(?:above|up|over))"
    r"|(?P<vague>or\s+so|or\s+thereabouts|give\s+or\s+take|approximately|roughly))\b"
)


@lru_cache(maxsize=128)
def amounts(plain: str) -> tuple[Amount, ...]:
    """Find the amounts of a text from left to right, without vague ones (*about 300*) and rates."""
    found: list[Amount] = []
    for amount in _single(plain):
        last = found[-1] if found else None
        if last and _AND.fullmatch(plain, last.end, amount.start) and _completes(last, amount):
            low, high = last.low or amount.low, last.high or amount.high
            found[-1] = replace(amount, start=last.start, low=low, high=high)
        else:
            found.append(amount)
    return tuple(found)


_AND: Final = lazy_pattern(r"\s*,?\s*(?:and|but|yet)\s+")


@lru_cache(maxsize=128)
def _single(plain: str) -> tuple[Amount, ...]:
    """The amounts of a text, those with two ends as two."""
    amounts: list[Amount] = []
    at = 0
    while found := _NUMBER.search(plain, at):
        at = found.end()
        before = _BEFORE.search(plain[max(0, found.start() - _BACK) : found.start()])
        if amount := _amount(plain, found, before):
            at = amount.end
            amounts.append(replace(amount, number=found.start()))
    return tuple(amounts)


def both_ends(plain: str, amount: Amount, end: int) -> Amount:
    """The same with its other end, where that follows: *at least 5 words but no more than 9*."""
    for other in _single(plain):
        if other.number < end:
            continue
        told = other.widened(plain[other.end :])
        linked = _LINK.fullmatch(plain, end, other.start) and _NOTHING_ELSE.match(plain, other.end)
        if linked and not told.bare and _completes(amount, told):
            return replace(amount, low=amount.low or told.low, high=amount.high or told.high)
        return amount
    return amount


def _completes(one: Amount, other: Amount) -> bool:
    return (one.low is None) == (other.high is None) != (one.high is None)


_LINK: Final = lazy_pattern(
    r"(?:\s+(?:of\s+them|or\s+(?:more|fewer|less)|at\s+(?:the\s+)?(?:least|most)|minimum))*"
    r"\s*,?\s*(?:but|and|yet|though)\s+(?:[a-z']+\s+){0,5}"
)


def counts_of(plain: str, things: re.Pattern[str]) -> Iterator[tuple[Amount, int]]:
    """Find the amounts of some things, and where each ends: *five gaps*, *gaps, five of them*."""
    for amount in amounts(plain):
        if noun := things.match(plain, amount.end):
            yield amount.widened(plain[noun.end() :]), noun.end()
        elif things.search(plain, 0, amount.start):
            back = _OF_THEM.match(plain, amount.end)
            told = amount.widened(plain[back.end() if back else amount.end :])
            if back or (not told.bare and _NOTHING_ELSE.match(plain, amount.end)):
                yield told, amount.end


_OF_THEM: Final = lazy_pattern(r"\s+of\s+(?:them|those|these)\b(?!\s+[a-z]{3,}s\b)")
_NOTHING_ELSE: Final = lazy_pattern(
    r"(?:\s+(?:at|as|or|minimum|the|very|a|least|most|more|less|fewer|in\s+total|total|please))*"
    r"\s*(?:$|[.;:,)!])"
)


def _amount(plain: str, found: re.Match[str], before: re.Match[str] | None) -> Amount | None:
    low = to_number(found[0])
    start = found.start() - (len(before[0]) if before else 0)
    times = found[0] in TIMES
    if (before and before["vague"]) or _RATE.match(plain, found.end()):
        return None
    if after := _RANGE.match(plain, found.end()):
        between = plain[max(0, found.start() - 12) : found.start()].rstrip().endswith("between")
        high = to_number(after["end"])
        if low < high and (between or after["join"] != "and"):
            return Amount(low, high, start, after.end(), times=after["end"] in TIMES)
    after = _AFTER.match(plain, found.end())
    end = after.end() if after else found.end()
    if before and not before["exact"]:
        not_so = _NOT_SO.search(plain[max(0, start - 40) : start])
        if not_so and (before["above"] or before["below"]):
            return _opposite(before, low, start - len(not_so[0]), end, times=times)
        return Amount(*_ends(before, low), start, end, times=times)
    if after:
        return (
            Amount(None, low, start, end, times=times)
            if after["less"]
            else Amount(low, None, start, end, times=times)
        )
    return Amount(low, low, start, end, bare=before is None, times=times)


_NOT_SO: Final = lazy_pattern(
    r"(?:\b(?:not|never|cannot|nothing|without|avoid|before|rejects?|refuses?"
    r"|no\s+[a-z]+\s+(?:may|can|should|must|shall))|n't)\s+"
    r"(?:(?!have\s+to|need\s+to)[a-z-]+\s+){0,5}$"
)


def _opposite(before: re.Match[str], number: int, start: int, end: int, *, times: bool) -> Amount:
    """Read *do not use more than 80*."""
    if before["above"]:
        return Amount(None, number, start, end, times=times)
    return Amount(number, None, start, end, times=times)


def _ends(before: re.Match[str], number: int) -> tuple[int | None, int | None]:
    if before["high"]:
        return None, number
    if before["below"]:
        return None, number - 1
    return (number + 1 if before["above"] else number), None
