"""Amounts in running text: *at least 300*, *fewer than six*, *20 to 30*, *no more than twice*."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from cfr.constraint.stated.numeral import WORDS
from cfr.problem import Json

__all__ = ["NUMBER", "Amount", "amounts", "ordinal", "to_number"]

_LARGE: Final = {
    word: value
    for value, word in enumerate(
        "thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split(), 13
    )
} | {
    word: value * 10
    for value, word in enumerate("twenty thirty forty fifty sixty seventy eighty ninety".split(), 2)
}
_TIMES: Final = {"once": 1, "twice": 2, "thrice": 3}
_NAMED: Final = WORDS | _LARGE | _TIMES | {"a hundred": 100, "one hundred": 100, "a dozen": 12}
NUMBER: Final = (
    r"(?:\d{1,3}(?:,\d{3})+|\d{1,7}|"
    + "|".join(sorted(_NAMED, key=len, reverse=True)).replace(" ", r"\s+")
    + r")(?![\w.]*\d)(?![a-z])"
)
"""The pattern of a whole number, in digits or in words."""

_ORDINALS: Final = {
    word: value
    for value, word in enumerate(
        "first second third fourth fifth sixth seventh eighth ninth tenth".split(), 1
    )
}

_LOW: Final = (
    r"at\s+least|no\s+(?:less|fewer|shorter|lower|smaller)\s+than"
    r"|not\s+(?:less|fewer|shorter)\s+than|(?:a\s+)?minimum(?:\s+length)?(?:\s+of)?"
    r"|min\.?|at\s+minimum|>=|≥|not\s+under|not\s+below"
)
_ABOVE: Final = r"more\s+than|over|above|greater\s+than|exceeding|exceeds?|in\s+excess\s+of|>"
_HIGH: Final = (
    r"at\s+most|no\s+more\s+than|not\s+more\s+than|no\s+greater\s+than|no\s+longer\s+than"
    r"|(?:a\s+)?maximum(?:\s+length)?(?:\s+of)?|max\.?|up\s+to|not\s+exceed(?:ing)?|not\s+over"
    r"|within|<=|≤"
    r"|not\s+go\s+over|no\s+over"
)
_BELOW: Final = r"less\s+than|fewer\s+than|under|below|lower\s+than|shorter\s+than|<"
_EXACT: Final = r"exactly|precisely|strictly|only|just|a\s+total\s+of|total\s+of"
_VAGUE: Final = r"about|around|approximately|roughly|nearly|almost|circa|close\s+to|some|~|≈"
_BEFORE: Final = re.compile(
    rf"(?<![\w])(?:(?P<vague>{_VAGUE})|(?P<high>{_HIGH})|(?P<low>{_LOW})|(?P<above>{_ABOVE})"
    rf"|(?P<below>{_BELOW})|(?P<exact>{_EXACT})),?\s*(?:a\s+total\s+of\s+|the\s+)?$"
)
_NUMBER: Final = re.compile(rf"(?<![\w.,$#-]){NUMBER}")
_RANGE: Final = re.compile(
    rf"(?:\s*(?P<join>-|–|—|to|or|and)|\s+(?:word|sentence|paragraph)s?\s+(?:to|or))"
    rf"\s*(?P<end>{NUMBER})"
)
_RATE: Final = re.compile(
    r"(?:\s+[a-z]+){0,2}\s+(?:an?|per|each|every)\s+(?:day|week|month|year|hour|minute|second)\b"
)
_AFTER: Final = re.compile(
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
        """The same with what a text adds after the counted things: *200 words or less*."""
        found = _TAIL.match(tail)
        if not found or not self.bare or self.low is None:
            return self
        return replace(
            self,
            low=None if found["less"] else self.low,
            high=self.low if found["less"] else None,
            bare=False,
        )


_TAIL: Final = re.compile(
    r"\s*\(?(?:(?P<less>or\s+(?:less|fewer|under|below|shorter)|at\s+(?:the\s+)?most|max(?:imum)?"
    r"|tops|at\s+maximum)|(?:or\s+(?:more|longer|over|above)|at\s+(?:the\s+)?least|min(?:imum)?"
    r"|at\s+minimum|and\s+above))\b"
)


def to_number(text: str) -> int:
    """Read a number that NUMBER has matched."""
    word = " ".join(text.split())
    return _NAMED[word] if word in _NAMED else int(word.replace(",", ""))


def ordinal(text: str) -> int | None:
    """Read which of a row is meant: ``2nd``, ``second``, ``2``; 0 for the last."""
    if text in ("last", "final"):
        return 0
    if text in _ORDINALS:
        return _ORDINALS[text]
    if text in WORDS:
        return WORDS[text]
    digits = re.match(r"\d{1,3}", text)
    return int(digits[0]) if digits else None


def amounts(plain: str) -> Iterator[Amount]:
    """Find the amounts of a text from left to right, without vague ones (*about 300*) and rates."""
    at = 0
    while found := _NUMBER.search(plain, at):
        at = found.end()
        before = _BEFORE.search(plain[max(0, found.start() - 40) : found.start()])
        if amount := _amount(plain, found, before):
            at = amount.end
            yield amount


def _amount(plain: str, found: re.Match[str], before: re.Match[str] | None) -> Amount | None:
    low = to_number(found[0])
    start = found.start() - (len(before[0]) if before else 0)
    times = found[0] in _TIMES
    if (before and before["vague"]) or _RATE.match(plain, found.end()):
        return None
    if after := _RANGE.match(plain, found.end()):
        between = plain[max(0, found.start() - 12) : found.start()].rstrip().endswith("between")
        high = to_number(after["end"])
        if low < high and (between or after["join"] != "and"):
            return Amount(low, high, start, after.end(), times=after["end"] in _TIMES)
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


_NOT_SO: Final = re.compile(
    r"(?:\b(?:not|never|cannot|no\s+[a-z]+\s+(?:may|can|should|must|shall))|n't)\s+"
    r"(?:(?!have\s+to|need\s+to)[a-z]+\s+){0,3}$"
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
