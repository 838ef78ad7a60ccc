"""Shares in a ratio: a whole share is a multiple of its term."""

from __future__ import annotations

import re
from collections.abc import Iterator
from math import gcd
from typing import Final

from constraint_first.constraint.predicate import divisible
from constraint_first.constraint.stated.reading import Reading
from constraint_first.constraint.stated.statement import Stated
from constraint_first.pattern import lazy_pattern

_RATIO: Final = lazy_pattern(
    r"\b(?:in\s+)?the\s+ratio\s+(?:of\s+)?(\d+(?:\s*:\s*\d+)+)(?!\s*[:.]?\d)"
)
_NAME: Final = r"[A-Z][a-z]+"
_NAMES: Final = lazy_pattern(rf"\b{_NAME}(?:, {_NAME})*,? and {_NAME}\b")
_ASKED: Final = lazy_pattern(
    r"(?:[Hh]ow many|[Ff]ind the number of) (?!more|fewer|less|hours|dollars|litres|liters|cups"
    r"|minutes|metres|meters|miles|kilo|pounds|grams|cents|years|ounces|gallons|feet|inches|days"
    r"|weeks|euros|rupees|yuan|tons|yards|acres|percent)[a-z]+(?: [a-z]+)?"
    rf"(?: does| do| did| will| are for| that| is for)+ (?:then )?({_NAME})\b"
)
# Whatever changes the shares after they are made.
_CHANGED: Final = lazy_pattern(
    r"\b(?:then|later|after[a-z]*|originally|before|half|percent|more\s+than|fewer\s+than|left|now"
    r"|remain[a-z]*|eats?|ate|gives?|gave|given|spends?|spent|buys?|bought|sells?|sold|los"
    r"(?:es?|t|ing)"
    r"|finds|found|uses?|used|adds?|takes\s+away|throws?|wins?\s+\d+\s+more|receives?|of\s+"
    r"(?:hers|his|theirs)|returns?)\b|%"
)


def read_ratio(reading: Reading) -> Iterator[Stated]:
    """Read that the share of a named person is asked for, and by what it can be divided."""
    if reading.question is None or reading.recoded:
        return
    ratios = [*_RATIO.finditer(reading.plain)]
    asked = _ASKED.search(reading.text, *reading.question)
    if len(ratios) != 1 or asked is None or _CHANGED.search(reading.plain, ratios[0].end()):
        return
    terms = [int(term) for term in ratios[0][1].split(":")]
    lists = [re.findall(_NAME, one.group()) for one in _NAMES.finditer(reading.text)]
    fitting = [names for names in lists if len(names) == len(terms) and asked[1] in names]
    common = gcd(*terms)
    if len(fitting) != 1 or not common:
        return
    term = terms[fitting[0].index(asked[1])] // common
    if term and _comes_out(reading.plain, ratios[0], sum(terms) // common):
        words = f"The answer is a whole share, and so a multiple of {term}."
        yield Stated("modular", divisible(term), ratios[0].span(), words)


def _comes_out(plain: str, ratio: re.Match[str], parts: int) -> bool:
    """Whether a number of the text, or a difference of two, can be shared without a fraction."""
    given = plain[: ratio.start()] + plain[ratio.end() :]
    numbers = [int(one) for one in _NUMBER.findall(given)][:_MOST]
    differences = (first - second for first in numbers for second in (0, *numbers))
    return any(value > 0 and value % parts == 0 for value in differences)


_NUMBER: Final = lazy_pattern(r"(?<![\d.,])\d{1,9}(?![\d.,]*\d)")
_MOST: Final = 10
