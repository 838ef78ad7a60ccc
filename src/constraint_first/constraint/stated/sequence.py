"""Runs of numbers: consecutive ones, ranked ones, sums of multiples."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction
from typing import Final

from constraint_first.constraint.predicate import (
    above,
    all_of,
    at_least,
    at_most,
    below,
    congruent,
    divisible,
)
from constraint_first.constraint.stated.numeral import (
    INTEGER,
    NUMBERS,
    ORDINALS,
    WORDS,
    to_integer,
    to_integers,
)
from constraint_first.constraint.stated.reading import ASK, Reading
from constraint_first.constraint.stated.statement import Stated
from constraint_first.pattern import lazy_pattern

_COUNT: Final = rf"(?:({INTEGER})|({'|'.join(WORDS)}))"
_RUN: Final = lazy_pattern(
    rf"(?:\b(?P<words>{'|'.join(WORDS)})\s+|(?P<count>{INTEGER})\s+)?\bconsecutive\s+"
    r"(?:positive\s+)?"
    r"(?:(?P<parity>even|odd)\s+(?:positive\s+)?(?:integers|numbers)|multiples\s+of\s+"
    rf"(?P<step>{INTEGER})|(?:integers|numbers|whole\s+numbers))"
)
_EXTREME: Final = (
    r"(?:(?P<rank>second|third|fourth|fifth)\s+)?"
    r"(?P<end>largest|smallest|greatest|least|biggest|middle)"
)
_ASKED: Final = lazy_pattern(
    rf"\b(?:{ASK})\s+(?:the\s+)?(?:value\s+of\s+the\s+)?{_EXTREME}"
    r"(?:\s+(?:(?:[a-z]+\s+)?number|integer|one|term|of\s+(?:them|these|the)))?(?=\s*(?:[?.]"
    r"|in\b|on\b|of\b|\d|(?:\w+\s+)?(?:integers|numbers|consecutive)\b))"
)
_HOLDS: Final = lazy_pattern(rf"\bhas\s+the\s+[a-z]+\s+with\s+the\s+{_EXTREME}\s+number\b")
_SUM: Final = lazy_pattern(
    rf"\b(?:gets|give|make|sum\s+(?:of\s+[^.?!,]{{1,40}}?)?is|adds?\s+up\s+to|(?:the|their)\s+"
    rf"sum\s+is|a\s+sum\s+of|sum\s+to|total)\s+({INTEGER})"
)


_OPERATED: Final = lazy_pattern(
    r"\b(?:divided|times|plus|minus|multiplied|squared?s?|cubed?s?|half|halved|doubled|gaps?"
    r"|and\s+how)\b"
)
_COUNTED: Final = lazy_pattern(r"(?<=number)\s+of\s+(?!(?:them|these|the)\b)")
# A sum of something else than all the numbers.
_OTHER_SUM: Final = lazy_pattern(
    r"\bsquare|\bcube|\brecipro|\bfirst\b|\blast\b|\bsmallest\s+and|\blargest\s+and|\bdigit"
    r"|\btwice\b|\btimes\b|\bproduct|\bdifference|\bleast\s+and|\bgreatest\s+and|\bother"
)


def _run_length(found: re.Match[str]) -> int | None:
    if found["count"]:
        return to_integer(found["count"])
    return WORDS.get(found["words"]) if found["words"] else None


def read_consecutive(reading: Reading) -> Iterator[Stated]:
    """Read that one of some consecutive numbers is asked for, and on which side of their mean."""
    asked = reading.asked(_ASKED)
    runs = [*_RUN.finditer(reading.plain)]
    if reading.question is None or reading.recoded or len(runs) != 1:
        return
    run = runs[0]
    if asked is None and re.search(
        r"\bwhat\s+number\s+is\b", reading.plain[slice(*reading.question)]
    ):
        asked = _HOLDS.search(reading.plain)
    if asked is None or _OPERATED.search(reading.plain, *reading.question):
        return
    if _COUNTED.match(reading.plain, asked.end()):
        return
    step = 2 if run["parity"] else to_integer(run["step"]) if run["step"] else 1
    residue = 1 if run["parity"] == "odd" else 0
    words = f"The answer leaves the remainder {residue} when divided by {step}."
    if step:
        yield Stated("modular", congruent(residue, step), run.span(), words)
        yield from _side(reading.plain, run, asked, step)


def _side(plain: str, run: re.Match[str], asked: re.Match[str], step: int) -> Iterator[Stated]:
    """Say between what the asked number lies, given the sum of all."""
    total = [*_SUM.finditer(plain)]
    count = _run_length(run) or _count_elsewhere(plain, run, total)
    rank = ORDINALS[asked["rank"] or "first"]
    if _OTHER_SUM.search(plain):
        return
    if not count or len(total) != 1 or asked["end"] == "middle" or 2 * rank > count:
        return
    mean, reach = Fraction(to_integer(total[0][1]), count), step * count
    large = asked["end"] in ("largest", "greatest", "biggest")
    low, high = (mean, mean + reach) if large else (mean - reach, mean)
    words = f"The answer is {'above' if large else 'below'} the mean of the numbers, {mean}."
    yield Stated("bound", all_of(above(low), below(high)), asked.span(), words)


def _count_elsewhere(plain: str, run: re.Match[str], total: list[re.Match[str]]) -> int | None:
    """How many numbers there are, where the text has but one more number that can say so."""
    taken = [run.span(), *(found.span() for found in total)]
    others = [
        to_integer(one.group())
        for one in _ALL.finditer(plain)
        if not any(start <= one.start() < end for start, end in taken)
    ]
    return others[0] if len(others) == 1 else None


_MEAN: Final = lazy_pattern(
    r"\b(?:mean|average)\s+of\b|\bhalfway\s+between\b|\b(?:their|arithmetic)\s+(?:mean|average)\b"
)
_ODD: Final = lazy_pattern(
    r"\b(even|odd)\s+(?:positive\s+)?(?:numbers?|integers|seats|side)\b|\bconsecutive\s+(?:even"
    r"|odd)\b"
)
_LEAST: Final = lazy_pattern(
    r"\b(?:at\s+least|(?:smallest|least)(?:\s+number)?\s+(?:is|being|one\s+is)|beginning\s+"
    rf"with(?:\s+number)?|starting\s+(?:at|with|from))\s+({INTEGER})"
    rf"|(?:\bnumber\s+({INTEGER})\s+is\s+the\s+(?:smallest|least)|\bfrom\s+({INTEGER})\s+on\b)"
    rf"|\b(?:(?P<top>largest|greatest)|smallest|least)\s+of\s+{INTEGER}\s+consecutive\s+(?:even"
    rf"|odd)\s+integers\s+is\s+({INTEGER})"
)
_ALL: Final = lazy_pattern(INTEGER)


def read_mean(reading: Reading) -> Iterator[Stated]:
    """Read that the mean of a run of odd or even numbers is asked for, whose least is given."""
    if reading.question is None or reading.recoded:
        return
    plain = reading.plain
    least, numbers = _LEAST.search(plain), [*_ALL.finditer(plain)]
    if (
        least is None
        or len(numbers) != 2
        or not (_ODD.search(plain) and _MEAN.search(plain, *reading.question))
    ):
        return
    group = next(number for number in (1, 2, 3, 5) if least[number])
    low, at = to_integer(least[group]), least.start(group)
    count = next(to_integer(one.group()) for one in numbers if one.start() != at)
    if count > 1:
        high = low + 2 * (count - 1)
        if least["top"]:
            low, high = 2 * low - high, low
        words = f"The answer is a mean of numbers from {low} to {high}, all different."
        yield Stated("bound", all_of(above(low), below(high)), least.span(), words)


_MULTIPLES: Final = lazy_pattern(
    rf"\bmultiples?\s+of\s+({INTEGER})|\ball\s+(?:its|the|of\s+the)\s+numbers\s+(?:being\s+"
    rf"|are\s+)?divisible\s+by\s+({INTEGER})"
)
_SUM_ASKED: Final = lazy_pattern(
    rf"\b(?:{ASK})\s+(?:their\s+sum\b|the\s+sum\s+of\s+(?:the|these|all|them|those)\s*(?:the\s+)?"
    r"(?:list|numbers|multiples|terms|integers|(?:\d+\s+)?(?:largest|smallest|first"
    r"|positive)\s+multiples)?\s*(?=[?.]|of\b|less|that|between|from))|\bwhat\s+"
    r"do\b[^?]{0,60}\badd\s+up\s+to\b"
)


_EACH_MULTIPLE: Final = lazy_pattern(r"\b(?:each|every)\b[^.?!;,]{0,30}?\ba?\s*multiple\s+of\b")
_TOTAL_ASKED: Final = lazy_pattern(
    r"\bhow\s+many\b[^?]{0,60}\b(?:in\s+the\s+(?:choir|whole)|altogether|in\s+all|in\s+total"
    r"|whole)\b"
)


_NOT_ALL: Final = lazy_pattern(
    r"\bnot\b|\bneither\b|\bexcept\b|\bother\b|\bor\b|\bdivided\b|\bhalf\b|\bhow\s+far\b|\b"
    r"(?:than|from|of)\s+(?:an?|some|any)\s+"
    r"multiple\b|\bsuch\s+that\b|\bsquare|\bcube|\bdigits?\b|\bproduct|\btwice\b|[+^]"
)


def read_multiples(reading: Reading) -> Iterator[Stated]:
    """Read that a sum of multiples is asked for, which is a multiple again."""
    if reading.question is None:
        return
    found = [*_MULTIPLES.finditer(reading.plain)]
    steps = {to_integer(one[1] or one[2]) for one in found}
    if len(steps) == 1 and _EACH_MULTIPLE.search(reading.plain):
        if not _TOTAL_ASKED.search(reading.plain, *reading.question):
            return
    elif len(steps) != 1 or not _SUM_ASKED.search(reading.plain, *reading.question):
        return
    if _NOT_ALL.search(reading.plain):
        return
    by = steps.pop()
    if by:
        words = f"The answer is a sum of multiples of {by}, and so one itself."
        for one in found:
            yield Stated("modular", divisible(by), one.span(), words)


_RANK: Final = lazy_pattern(
    rf"\b(?:{ASK})\s+(?:the\s+)?(?P<rank>second|third|fourth|fifth)\s+(?P<end>largest|smallest"
    r"|greatest|lowest|highest|least)\b"
)
_ONCE: Final = lazy_pattern(
    r"\b(?:duplicates|(?:only|counted|there|stands)\s+once|same\s+element|as\s+one\s+(?:number"
    r"|value)"
    r"|same\s+[a-z]+\s+twice|distinct|repeated)\b"
)
_LIST: Final = lazy_pattern(NUMBERS)
_MADE: Final = lazy_pattern(
    r"\bsum\b|\bproduct\b|\bdifference|\bratio\b|\bdigits?\b|\bform|\bmade\b|\barrang|\bchoos"
    r"|\bchosen"
    r"|\bfraction|\bpossible\b|\bdivisor|\bfactor|\bmultipl|\baverage|\bmean\b|\bmedian\b"
    r"|\bpairs?\b"
)


def read_rank(reading: Reading) -> Iterator[Stated]:
    """Read that the second largest, say, of listed values is asked for, not the largest."""
    if reading.question is None or reading.recoded:
        return
    plain = reading.plain
    asked = reading.asked(_RANK)
    once = [*_ONCE.finditer(plain)] if asked else []
    if not once:
        return
    lists = [values for one in _LIST.finditer(plain) if len(values := to_integers(one.group())) > 2]
    if asked is None or not once or len(lists) != 1 or _MADE.search(plain):
        return
    values = sorted(set(lists[0]))
    rank = ORDINALS[asked["rank"]]
    if len(values) < rank:
        return
    if asked["end"] in ("largest", "greatest", "highest"):
        predicate, words = at_most(values[-rank]), f"below the largest value, {values[-1]}"
    else:
        predicate, words = at_least(values[rank - 1]), f"above the smallest value, {values[0]}"
    for one in once:
        begin = max(plain.rfind(mark, 0, one.start()) for mark in ".?!,;") + 1
        yield Stated("bound", predicate, (begin, one.end()), f"The answer is {words}.")
