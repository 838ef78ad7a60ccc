"""Days from one date to another."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date
from typing import Final

from cfr.constraint.demand import all_of, between, integer
from cfr.constraint.stated.reading import Reading
from cfr.constraint.stated.statement import Stated

__all__ = ["read_days"]

_MONTHS: Final[tuple[str, ...]] = tuple(
    "january february march april may june july august september october november december".split()
)
_MONTH: Final = "|".join(_MONTHS)
_DATE: Final = re.compile(
    rf"\b(?:(\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?({_MONTH})|({_MONTH})\s+(\d{{1,2}})(?:st|nd"
    r"|rd|th)?)\b"
)
_DAILY: Final = re.compile(r"\bdays?\b|\bdaily\b")
_COUNTED: Final = re.compile(r"\bhow\s+many\b")
_ONE_A_DAY: Final = re.compile(r"\b(?:each|every)\s+day\b|\bdaily\b")
_ENDS: Final = re.compile(r"\binclu(?:ded?|ding|sive)\b|\bboth\b|\bfirst\s+(?:day|date)\b")
_OTHER: Final = re.compile(
    r"\d|\b(?:two|three|four|five|six|twice|half|week(?:s|days?|ends?)?|monday|tuesday|wednesday"
    r"|thursday|friday|saturday|sunday|except|not|second\s+day|other\s+day|hours?|leap|rest"
    r"|remain[a-z]*|left|nights?|without"
    r"|between|after)\b|\bopen\b[^?]{0,200}\bclosed\b|\bclosed\b[^?]{0,200}\bopen\b"
)


def read_days(reading: Reading) -> Iterator[Stated]:
    """Read that the days from a date to another of its year are counted, give or take the ends."""
    plain = reading.plain
    if reading.number_count != 2:
        return
    dates = [*_DATE.finditer(plain)]
    if reading.question is None or reading.recoded or len(dates) != 2:
        return
    start, end = reading.question
    counted = _COUNTED.search(plain, start, end)
    if not counted or not _DAILY.search(plain) or _OTHER.search(_DATE.sub(" ", plain)):
        return
    if not (_DAILY.search(plain, counted.end(), counted.end() + 30) or _ONE_A_DAY.search(plain)):
        return
    first, last = map(_to_date, dates)
    if first is None or last is None or last <= first:
        return
    days = (last - first).days
    leap = first <= date(2023, 2, 28) < last
    words = f"The answer counts days of which there are {days}, give or take the ends."
    predicate = all_of(integer(), between(days - 1, days + 1 + leap))
    spans = {_sentence(reading, dates[0].start())}
    spans.update(_sentence(reading, found.start()) for found in _ENDS.finditer(plain))
    for span in sorted(spans):
        yield Stated("bound", predicate, span, words)


def _to_date(found: re.Match[str]) -> date | None:
    try:
        return date(2023, _MONTHS.index(found[2] or found[3]) + 1, int(found[1] or found[4]))
    except ValueError:
        return None


def _sentence(reading: Reading, at: int) -> tuple[int, int]:
    return next(span for span in reading.sentences if span[0] <= at < span[1])
