"""Times of day that are asked for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from constraint_first.constraint.predicate import clock
from constraint_first.constraint.stated.reading import Reading
from constraint_first.constraint.stated.statement import Stated
from constraint_first.pattern import lazy_pattern

_AUXILIARY: Final = (
    r"(?:is|was|will|would|does|did|do|should|must|can|could|has|had|shall|may|might)\b"
)
_ASKED: Final = lazy_pattern(
    rf"\b(?:what|which)\s+time\s+(?:of\s+(?:the\s+)?day\s+|in\s+the\s+(?:morning|afternoon"
    rf"|evening)\s+|(?:to|at)\s+the\s+nearest\s+minute\s*,?\s+|on\s+[a-z]+day\s+)?{_AUXILIARY}"
    r"|\bwhat\s+(?:is|was|will\s+be|would\s+be)\s+the\s+(?:correct\s+|current\s+|actual\s+|local"
    r"\s+|departure\s+|arrival\s+|real\s+|earliest\s+|latest\s+)?time(?:\s+of\s+day)?\s*(?:\?"
    r"|(?:now|when|shown|on\s+the\s+clock|in\s+[a-z]+\s*\?))"
)
# Without a time of day in the text, *what time* may be a length of time, counted from a start.
_TOLD: Final = lazy_pattern(
    r"\d\s*(?:[ap]\.?\s?m\b|o\s?'?\s?clock\b)|(?<![\d:])(?:[01]?\d|2[0-4]):[0-5]\d\b(?!:)|\bnoon\b|\bmidnight\b|\bo'clock\b"
    r"|\bhh?\s*:\s*mm\b"
)
# A length of time, a number of minutes, or a second thing that is asked for.
_OTHERWISE: Final = lazy_pattern(
    r"\b(?:in|how\s+many|number\s+of|as|of)\s+(?:whole\s+)?(?:hours?|minutes?|seconds?)\b"
    r"|\b(?:takes?|took|spend|spent|need(?:ed)?|required|allowed|left|saved?|lost|lose|gain(?:ed)?"
    r"|remain[a-z]*)\b|\bdegrees?\b|\bangle\b|\band\s+(?:how|what|which|where|find|at\s+what)\b"
    r"|\bhow\s+(?:long|far|much|many)\b|\blast\s+for\b|\bfraction\b|\bratio\b|\bpercent|%"
    r"|\bdigits?\b|\bhours?\s+(?:after|past|since|from|before)\s+(?:the\s+)?(?:start|beginning)\b"
)
# Times of races are told in minutes and seconds.
_RACE: Final = lazy_pattern(
    r"\brac(?:e|ing)|\brecord\b|\blaps?\b|\bmarathon|(?<!\d)(?:2[5-9]|[3-9]\d):\d\d"
)
_LENGTH: Final = lazy_pattern(r"\b(?:in|within|for|after|since|until\s+after)\s+$")
_HOURS: Final = lazy_pattern(r"\b(?:in|using|on|with)\s+(?:the\s+|a\s+)?(12|24)\s*-?\s*hours?\b")


def read_clock(reading: Reading) -> Iterator[Stated]:
    """Read that a time of day is asked for, and on what clock."""
    found = reading.asked(_ASKED)
    if found is None or reading.question is None or reading.reworked:
        return
    plain, start = reading.plain, reading.question[0]
    if not _TOLD.search(plain) or _OTHERWISE.search(plain, start) or _RACE.search(plain):
        return
    if _LENGTH.search(plain[max(start, found.start() - 12) : found.start()]):
        return
    hours = {int(one[1]) for one in _HOURS.finditer(plain, start)}
    chosen = 12 if hours == {12} else 24 if hours == {24} else None
    words = "The answer is a time of day: hours, and minutes from 00 to 59."
    if chosen:
        words = f"The answer is a time on a {chosen}-hour clock, with minutes from 00 to 59."
    yield Stated("format", clock(chosen), found.span(), words)
