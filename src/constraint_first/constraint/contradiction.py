"""Whether what somebody says of an answer can be true beside what the problem's text states.

Values of many kinds are tried out, and whole numbers around those that either of them names. A
statement contradicts the text where some of them satisfy the text and none of those the statement;
a text that cannot be read contradicts nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from fractions import Fraction
from functools import cache
from itertools import chain
from math import isqrt
from typing import Final

from constraint_first.answer.expression.value import AnswerValue, read_answer
from constraint_first.constraint.claim import names_of_answer, read_claims
from constraint_first.constraint.predicate import Predicate, holds
from constraint_first.constraint.stated import Stated

__all__ = ["contradicts"]

_WHOLE_TO: Final = 1_000
_WHOLE: Final = (*range(-20, _WHOLE_TO + 1), *(10**power for power in range(4, 10)))
_NUMBER: Final = re.compile(r"\d{1,18}")
_MOST_NAMED: Final = 8
_OTHER: Final = ("0.5", "2.25", "12.5", "-0.75", r"\sqrt{2}", r"3\sqrt{5}")


def contradicts(stated: Iterable[Stated], said: str, problem: str) -> bool:
    """Say whether a sentence about the answer of a problem cannot hold beside what is stated."""
    claims = [
        claim.predicate
        for claim in read_claims(said, names_of_answer(problem))
        if claim.subject == "answer"
    ]
    if not claims:
        return False
    facts = [one.predicate for one in stated]
    possible = False
    for value in chain(_values(), _values_near([*facts, *claims])):
        if _allows(facts, value):
            possible = True
            if _allows(claims, value):
                return False
    return possible


def _allows(predicates: Iterable[Predicate], value: AnswerValue) -> bool:
    return all(holds(one, value) != "violated" for one in predicates)


def _values_near(predicates: Iterable[Predicate]) -> Iterator[AnswerValue]:
    """Give whole numbers from those on that predicates name, and squares behind them."""
    named = {int(found) for one in predicates for found in _NUMBER.findall(repr(one))}
    for number in sorted(one for one in named if one > _WHOLE_TO)[:_MOST_NAMED]:
        root = isqrt(number)
        squares = ((root + more) ** 2 for more in range(1, 4))
        for whole in chain(range(number - 20, number + _WHOLE_TO + 1), squares):
            yield AnswerValue(Fraction(whole))


@cache
def _values() -> tuple[AnswerValue, ...]:
    fractions = (f"{top}/{bottom}" for bottom in range(2, 13) for top in range(1, 2 * bottom))
    texts = (*map(str, _WHOLE), *fractions, *_OTHER)
    return tuple(value for text in texts if (value := read_answer(text)) is not None)
