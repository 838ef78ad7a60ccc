"""Quantities with a natural range: probabilities, shares of a group, angles; and option letters."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from cfr.constraint.demand import above, all_of, at_most, between, option
from cfr.constraint.stated.reading import ASK, Reading
from cfr.constraint.stated.statement import Stated

__all__ = ["read_angle", "read_chance", "read_options", "read_share"]

_CHANCE: Final = re.compile(
    rf"\b(?:{ASK})\s+(?:the\s+)?(?:exact\s+|total\s+|conditional\s+)?probability\s+(?:that"
    r"|of)\b|\bhow\s+likely\s+is\b"
)
_NOT_A_CHANCE: Final = re.compile(
    r"\bpercent|%|\bper\s+cent|\bodds\b|\brecipro|\bratio\b|\btimes\b|\bmaxim"
    r"|\b[a-z]\s*\+\s*[a-z]\b|\bnumerator\b"
)
_SHARE: Final = re.compile(
    r"\bwhat\s+percent(?:age)?\s+of\s+(?:the\s+|all\s+|these\s+|her\s+|his\s+|their\s+)*"
    r"(?:students|people|children|members|voters|adults|boys|girls|men|women|players|employees"
    r"|class|group)\b"
)
_COMPARED: Final = re.compile(
    r"\bmore\b|\bless\b|\bincrease|\bdecrease|\bchange|\bcompared\b|\bthe\s+number\b"
)
_WHOLE_OF: Final = re.compile(
    r"\bpercent(?:age)?\s+of\s+(?:the\s+)?[a-z]+\s+(?:is|are|equals?)\s+the\b"
)
_ANGLE: Final = re.compile(
    rf"\b(?:{ASK})\s+(?:the\s+)?(?:degree\s+)?(?:measure|size|value)?(?:\s*,?\s*in\s+"
    r"degrees\s*,?\s*)?\s*(?:of\s+)?"
    r"(?:the\s+)?(?:(acute|obtuse|smallest|largest|interior|vertex|base|remaining|third|other"
    r"|missing)\s+)*"
    r"(?:interior\s+)?(?:angle\b(?!s)|\\angle\s*\{?[a-z]{1,3}|m\\angle)"
)
_NOT_AN_ANGLE: Final = re.compile(
    r"\bradians?\b|\\angle[^.?]{1,40}[+*/-]|\btan|\bsin|\bcos|\bsum\b|\btotal\b|\bturn|\brotat"
    r"|\bsweep|\bcover|\bhands?\b|\bminus\b|\bplus\b|\btimes\b|=\s*-|\bcopies\b|\bspin|\brevol"
    r"|\bwheel|\bmov"
    r"|\bdirected\b"
    r"|\bpolar\b|\bcomplex\b|\bin\s+terms\b|\bfraction\b|\bratio\b|\bangle\s+between\b"
)
_OPTION: Final = re.compile(
    r"(?:\(|\\t?(?:ext)?(?:bf|rm)?\{\s*\(?|(?:^|\n)\s*)([a-j])\s*[).](?=\s|\}|\\|\)|\d)"
)


def read_chance(reading: Reading) -> Iterator[Stated]:
    """Read that a probability itself is asked for."""
    found = reading.asked(_CHANCE)
    if found and not reading.recoded and not _NOT_A_CHANCE.search(reading.plain):
        words = "The answer is a probability: from 0 to 1."
        yield Stated("bound", between(0, 1), found.span(), words)


def read_share(reading: Reading) -> Iterator[Stated]:
    """Read that the share of a group of people is asked for, in percent."""
    found = reading.asked(_SHARE)
    if not found or not reading.question or reading.recoded:
        return
    if not any(one.search(reading.plain, *reading.question) for one in (_COMPARED, _WHOLE_OF)):
        words = "The answer is the percentage of a group: from 0 to 100."
        yield Stated("bound", between(0, 100), found.span(), words)


def read_angle(reading: Reading) -> Iterator[Stated]:
    """Read that the size of one angle is asked for, in degrees."""
    found = reading.asked(_ANGLE)
    if found and not reading.recoded and not _NOT_AN_ANGLE.search(reading.plain):
        words = "The answer is an angle: more than 0 and at most 360 degrees."
        yield Stated("dimension", all_of(above(0), at_most(360)), found.span(), words)


def read_options(reading: Reading) -> Iterator[Stated]:
    """Read which letters there are to choose from; an answer that is no letter is not judged."""
    found = [*_OPTION.finditer(reading.plain)]
    letters = "".join(one[1].upper() for one in found)
    if len(letters) >= 3 and letters == "ABCDEFGHIJ"[: len(letters)]:
        words = f"An answer that is a letter is one of {', '.join(letters)}."
        yield Stated("format", option(letters), (found[0].start(), found[-1].end()), words)
