"""Quantities with a natural range: probabilities, percentages, angles; and option letters."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from constraint_first.constraint.predicate import above, all_of, at_most, between, option
from constraint_first.constraint.stated.reading import ASK, Reading
from constraint_first.constraint.stated.statement import Stated
from constraint_first.pattern import lazy_pattern

_CHANCE: Final = lazy_pattern(
    rf"\b(?:{ASK})\s+(?:the\s+)?(?:exact\s+|total\s+|conditional\s+)?probability\s+(?:that"
    r"|of)\b|\bhow\s+likely\s+is\b"
)
# Two parts of a whole beside each other: *what percent of the girls are boys* is a ratio.
_PEERS: Final = lazy_pattern(
    r"\bpercent(?:age)?\s+of\s+(?:the\s+)?(?:boys|girls|men|women|males|females)\s+(?:are|were)\s+"
    r"(?:boys|girls|men|women|males|females)\b"
)
# What is never negative, and so never falls by more than all of it.
_SIZES: Final = (
    r"(?:price|cost|area|volume|perimeter|circumference|length|population|weight|mass|salary)"
)
_PERCENT: Final = lazy_pattern(r"\bpercent|%|\bper\s+cent")
_NOT_A_CHANCE: Final = lazy_pattern(
    r"\bodds\b|\bmultipl(?:y|ied)\b|\brecipro|\bratio\b|\btimes\b|\bmaxim|\b[a-z]\s*\+\s*[a-z]\b|\bnumerator\b"
)
_CHANCE_IN_PERCENT: Final = lazy_pattern(
    rf"\b(?:{ASK})\s+(?:the\s+)?percent(?:age)?\s+(?:chance|probability)\s+(?:that|of)\b"
)
# A whole that is there: not one that is planned, or was once, or is owed.
_WHOLE: Final = (
    r"(?:(?:the|all|these|those|her|his|their|its|my|our|your)\s+){1,2}(?:(?!of\b|number|amount"
    r"|original|previous|last|old|needed|required|planned|ordered|expected|usual|normal|average"
    r"|target)[a-z-]+\s+){0,2}?"
)
_MANY: Final = (
    r"[a-z]{2,}s(?<!ss)(?<!costs)(?<!expenses)(?<!sales)(?<!wages)(?<!earnings)(?<!savings)"
)
# What the things of a whole are or do, what is done with them, and of what a whole is made.
_ARE: Final = (
    r"(?:are|were|will\s+be|would\s+be|have(?!\s+to\b)|had|do\s+not|did\s+not|don't|didn't|like"
    r"|liked|prefer|preferred|pass|passed|fail|failed|chose|voted|survived|enrolled)"
)
_DONE: Final = (
    r"(?:did|does|do|has|have)\s+[a-z]+\s+(?:get\s+(?:right|correct|wrong)|answer|miss|win|lose|eat"
    r"|sell|use|keep|complete|solve|make|made|eaten|sold|used|answered|missed|lost|won)"
)
_IS: Final = r"(?:is|was|are|were|has|had|does\s+not|did\s+not|passed|failed|likes|liked|voted)"
_MADE: Final = (
    r"(?:is|was|are|were|will\s+be)(?=\s+(?:not\s+)?(?:un)?(?:shaded|painted|colou?red|filled|full"
    r"|empty|acid|water|alcohol|salt|sugar|gold|silver|copper)\b)"
)
_NO_PART: Final = (
    r"(?!\s+(?:not\s+)?(?:covered|paid|produced|made|met|sold|reached|achieved|earned|the|an?|as"
    r"|equal|equivalent|that|those|these|his|her|their|there|needed|required|to|\d|€|more|less"
    r"|fewer|twice|half|double|compared)\b)"
)
_SHARE: Final = lazy_pattern(
    rf"\bwhat\s+percent(?:age)?\s+of\s+{_WHOLE}(?:(?:{_MANY}|people|children|men|women)\s+{_ARE}"
    rf"|{_MANY}\s+{_DONE}|(?:class|group|team|crowd|audience)\s+{_IS}|[a-z]+\s+{_MADE})\b{_NO_PART}"
)
_COMPARED: Final = lazy_pattern(
    r"\bmore\s+than\b|\bless\s+than\b|\bincrease|\bdecrease|\bchange|\bcompared\b|\bthe\s+number\b"
)
_DECREASE: Final = lazy_pattern(
    r"\bwhat\s+(?:is\s+the\s+)?percent(?:age)?\s+(?:discount\b|(?:decrease|reduction|drop)\s+in\s+the"
    rf"\s+{_SIZES}\b|(?:is|was|did|does|has|will)\s+(?:the\s+|its\s+|[a-z]+'s\s+)(?:[a-z']+\s+)"
    rf"{{0,2}}?{_SIZES}\s+(?:[a-z]+\s+){{0,3}}?(?:decrease[ds]?|reduced?|drop(?:ped)?|fall(?:en)?|fell"
    r"|shrunk|lowered)\b)"
)
_ANGLE: Final = lazy_pattern(
    rf"\b(?:{ASK})\s+(?:the\s+)?(?:degree\s+)?(?:measure|size|value)?(?:\s*,?\s*in\s+"
    r"degrees\s*,?\s*)?\s*(?:of\s+)?"
    r"(?:the\s+)?(?:(acute|obtuse|smallest|largest|interior|vertex|base|remaining|third|other"
    r"|missing)\s+)*"
    r"(?:interior\s+)?(?:angle\b(?!s)|\\angle\s*\{?[a-z]{1,3}|m\\angle)"
)
_NOT_AN_ANGLE: Final = lazy_pattern(
    r"\bradians?\b|\\angle[^.?]{1,40}[+*/-]|\btan|\bsin|\bcos|\bsum\b|\btotal\b|\bturn|\brotat"
    r"|\bsweep|\bcover|\bhands?\b|\bminus\b|\bplus\b|\btimes\b|=\s*-|\bcopies\b|\bspin|\brevol"
    r"|\bwheel|\bmov"
    r"|\bdirected\b"
    r"|\bpolar\b|\bcomplex\b|\bin\s+terms\b|\bfraction\b|\bratio\b|\bangle\s+between\b"
)
_OPTION: Final = lazy_pattern(
    r"(?:\(|\\t?(?:ext)?(?:bf|rm)?\{\s*\(?|(?:^|\n)\s*)([a-j])\s*[).](?=\s|\}|\\|\)|\d)"
)


def read_chance(reading: Reading) -> Iterator[Stated]:
    """Read that a probability itself is asked for, as a number up to 1 or in per cent."""
    if found := reading.asked(_CHANCE_IN_PERCENT):
        percent = True
    else:
        found = reading.asked(_CHANCE)
        percent = bool(found and _PERCENT.search(reading.plain))
    if found is None or _NOT_A_CHANCE.search(reading.plain):
        return
    if percent and not reading.reworked:
        words = "The answer is a probability: from 0 to 1, or from 0 to 100 percent."
        yield Stated("bound", between(0, 100), found.span(), words)
    elif not percent and not reading.recoded:
        words = "The answer is a probability: from 0 to 1."
        yield Stated("bound", between(0, 1), found.span(), words)


def read_share(reading: Reading) -> Iterator[Stated]:
    """Read that the share of a whole, or a decrease, is asked for in percent."""
    if not reading.question or reading.recoded:
        return
    found = reading.asked(_SHARE)
    if found and not any(
        one.search(reading.plain, *reading.question) for one in (_COMPARED, _PEERS)
    ):
        words = "The answer is the percentage of a whole: from 0 to 100."
        yield Stated("bound", between(0, 100), found.span(), words)
    elif found := reading.asked(_DECREASE):
        words = "The answer is a decrease in percent: at most 100."
        yield Stated("bound", at_most(100), found.span(), words)


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
    following = "abcdefghijk"[len(letters) : len(letters) + 1]
    if re.search(rf"(?:\(|\n\s*){following or '(?!)'}[).]", reading.plain):
        return  # "(D)none of these": a further letter, written in another way than the others
    if len(letters) >= 3 and letters == "ABCDEFGHIJ"[: len(letters)]:
        words = f"An answer that is a letter is one of {', '.join(letters)}."
        yield Stated("format", option(letters), (found[0].start(), found[-1].end()), words)
