"""Days from one date to another, and dates, days of the week, months and years asked for."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date
from typing import Final, Literal

from constraint_first.constraint import predicate as demand
from constraint_first.constraint.predicate import MONTHS, WEEKDAYS, all_of, between, integer
from constraint_first.constraint.stated.reading import ASK, Reading
from constraint_first.constraint.stated.statement import Stated
from constraint_first.pattern import lazy_pattern

_MONTH: Final = "|".join(MONTHS)
_DATE: Final = lazy_pattern(
    rf"\b(?:(\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?({_MONTH})|({_MONTH})\s+(\d{{1,2}})(?:st|nd"
    r"|rd|th)?)\b"
)
_DAILY: Final = lazy_pattern(r"\bdays?\b|\bdaily\b")
_COUNTED: Final = lazy_pattern(r"\bhow\s+many\b")
_ONE_A_DAY: Final = lazy_pattern(r"\b(?:each|every)\s+day\b|\bdaily\b")
_ENDS: Final = lazy_pattern(r"\binclu(?:ded?|ding|sive)\b|\bboth\b|\bfirst\s+(?:day|date)\b")
_OTHER: Final = lazy_pattern(
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
        return date(2023, MONTHS.index(found[2] or found[3]) + 1, int(found[1] or found[4]))
    except ValueError:
        return None


def _sentence(reading: Reading, at: int) -> tuple[int, int]:
    return next(span for span in reading.sentences if span[0] <= at < span[1])


_DATE_ASKED: Final = lazy_pattern(
    rf"\b(?:{ASK})\s+(?:the\s+|today's\s+|tomorrow's\s+|yesterday's\s+|on\s+)?"
    r"(?:(?!of\b|number|sum|product|digit|price|cost|weight)[a-z']+\s+){0,2}date\b"
)
_FORMAT: Final = lazy_pattern(
    r"(?<![a-z/])(?:(?P<MDY>mm?/dd?/yyyy)|(?P<DMY>dd?/mm?/yyyy)|(?P<YMD>yyyy[/-]mm?[/-]dd?))"
    r"(?![a-z/])"
)
_DAY_ASKED: Final = lazy_pattern(
    r"\b(?:what|which)\s+(?:(?:is|was|will\s+be|would\s+be)\s+the\s+)?(?:day\s+of\s+the\s+week"
    r"|weekday)\b(?!\s+number|')"
)
_MONTH_ASKED: Final = lazy_pattern(
    r"\b(?:what|which)\s+month\s+(?:of\s+the\s+year\b|is\s+it\b|was\s+it\b|will\s+it\s+be\b"
    r"|(?:was|were)\s+[a-z]+\s+born\b)"
)
_YEAR_ASKED: Final = lazy_pattern(
    r"\b(?:what|which)\s+(?:calendar\s+)?year\s+(?:is|was|will|would|did|does|do|were|are|had|has"
    r"|should|must|can|could)\b"
)
_A_YEAR: Final = lazy_pattern(r"(?<![\d.,€])(?:1[5-9]|20)\d\d(?![\d,.]*\d)")
# Another thing made of the date, a second question, or a year that begins in summer.
_OTHERWISE: Final = lazy_pattern(
    r"\band\s+(?:how|what|which|where|find|on\s+what|in\s+what)\b|\bhow\s+(?:many|much|long|old)\b"
    r"|\bsum\b|\bproduct\b|\bnumber\s+of\b|\bschool\b|\bacademic\b|\bfiscal\b|\bseason"
    r"|\bfinancial\b|\bdigits?\b|\bletters?\b|\bremainder\b|\bnumber(?:ed)?\s+from\b|\bwhat\s+age\b"
)


def read_date(reading: Reading) -> Iterator[Stated]:
    """Read that a date is asked for, or the day of the week, the month or the year."""
    if reading.question is None or reading.reworked:
        return
    plain, start = reading.plain, reading.question[0]
    if _OTHERWISE.search(plain, start):
        return
    if found := reading.asked(_DATE_ASKED):
        yield _date(plain, found, start)
    elif found := reading.asked(_DAY_ASKED):
        words = "The answer is the name of a day of the week."
        yield Stated("domain", demand.named(*WEEKDAYS), found.span(), words)
    elif found := reading.asked(_MONTH_ASKED):
        words = "The answer is the name of a month."
        yield Stated("domain", demand.named(*MONTHS), found.span(), words)
    elif (found := reading.asked(_YEAR_ASKED)) and _A_YEAR.search(plain):
        yield Stated("domain", integer(), found.span(), "The answer is a year: an integer.")


def _date(plain: str, found: re.Match[str], start: int) -> Stated:
    form = _FORMAT.search(plain, start)
    if form is None:
        return Stated("domain", demand.date(), found.span(), "The answer is a date.")
    order: Literal["MDY", "DMY", "YMD"] = "MDY" if form["MDY"] else "DMY" if form["DMY"] else "YMD"
    words = f"The answer is a date in the form {form.group().upper()}."
    return Stated(
        "format", demand.date(order), (found.start(), max(found.end(), form.end())), words
    )
