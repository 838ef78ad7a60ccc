"""Digits in reverse order: how large a number can be that is read backwards."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from constraint_first.constraint.predicate import all_of, between, integer
from constraint_first.constraint.stated.numeral import (
    INTEGER,
    NUMBERS,
    WORDS,
    to_integer,
    to_integers,
)
from constraint_first.constraint.stated.reading import Reading
from constraint_first.constraint.stated.statement import Stated
from constraint_first.pattern import lazy_pattern

_REVERSED: Final = lazy_pattern(
    r"\bbackwards\b|\brevers(?:e|ed|es|ing)\b|\bback\s+to\s+front\b|\bright\s+to\s+left\b"
    r"|\border\s+of\s+(?:its|the)\s+digits\b|\bthe\s+wrong\s+order\b|\bturned\s+round\b"
)
_LENGTH: Final = lazy_pattern(rf"\b({'|'.join(WORDS)}|\d)(?:\s*-\s*digit\s+number|\s+digits)\b")
_CHANGE: Final = lazy_pattern(rf"\b(larger|greater|bigger|smaller)\s+by\s+({INTEGER})")
_OTHER_ONE: Final = lazy_pattern(
    r"\b(?:new|reversed|larger|smaller|resulting|bigger|(?<!digit\s)sum|difference)\b"
)
_SUM: Final = lazy_pattern(r"(?<![\d.^*/+-])\d+(?:\s*\+\s*\d+)+(?!\s*[\d.^*/+\\-])")
_TOTAL: Final = lazy_pattern(r"\btotal\b|\bsum\b")


def read_reversal(reading: Reading) -> Iterator[Stated]:
    """Read the range of a number that becomes larger or smaller, or is asked for, backwards."""
    plain = reading.plain
    backwards = _REVERSED.search(plain)
    if reading.question is None or reading.recoded or backwards is None:
        return
    change, length = _CHANGE.search(plain), _LENGTH.search(plain)
    if change and length:
        yield from _original(plain[slice(*reading.question)], change, length)
    elif change is None:
        yield from _result(plain, backwards)


def _original(question: str, change: re.Match[str], length: re.Match[str]) -> Iterator[Stated]:
    """The number that is asked for, before it is reversed."""
    asked = _CHANGE.sub(" ", re.sub(_REVERSED.pattern, " ", question))
    if _OTHER_ONE.search(asked):
        return
    digits = WORDS.get(length[1]) or int(length[1])
    low, high, by = 10 ** (digits - 1), 10**digits - 1, to_integer(change[2])
    low, high = (low + by, high) if change[1] == "smaller" else (low, high - by)
    words = f"The answer is from {low} to {high}, or its reverse would have more or fewer digits."
    yield Stated("bound", all_of(integer(), between(low, high)), change.span(), words)


def _result(plain: str, backwards: re.Match[str]) -> Iterator[Stated]:
    """A sum that the text spells out, told backwards."""
    sums = [*_SUM.finditer(plain)]
    lists = [values for one in _LIST.finditer(plain) if len(values := to_integers(one.group())) > 1]
    if len(sums) == 1:
        total = sum(to_integers(sums[0].group()))
    elif not sums and len(lists) == 1 and _TOTAL.search(plain):
        total = sum(lists[0])
    else:
        return
    if total % 10 == 0 or _CHANGED.search(plain):
        return
    digits = len(str(total))
    low, high = 10 ** (digits - 1) + 1, 10**digits - 1
    begin = max(plain.rfind(mark, 0, backwards.start()) for mark in ".?!,") + 1
    words = f"The answer is a number of {digits} digits that does not end in 0."
    yield Stated("format", all_of(integer(), between(low, high)), (begin, backwards.end()), words)


_LIST: Final = lazy_pattern(NUMBERS)
_CHANGED: Final = lazy_pattern(
    r"\b(?:subtract|multipl|divid|minus|times|difference|twice|half|then\s+add|add\s+\d+\s+to)"
)
