"""Whether what somebody says of an answer can be true beside what the problem's text states.

Values of many kinds are tried out. A statement contradicts the text where some of them satisfy the
text and none of those the statement; a text that cannot be read contradicts nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Final

from cfr.answer.expression.value import AnswerValue, read_answer
from cfr.constraint.claim import names_of_answer, read_claims
from cfr.constraint.predicate import Predicate, holds
from cfr.constraint.stated import Stated

__all__ = ["contradicts"]

_WHOLE: Final = (*range(-20, 1_001), *(10**power for power in range(4, 10)))
_OTHER: Final = ("0.5", "2.25", "12.5", "-0.75", r"\sqrt{2}", r"3\sqrt{5}")


def contradicts(stated: Iterable[Stated], said: str, problem: str) -> bool:
    """Say whether a sentence about the answer of a problem cannot hold beside what is stated."""
    claims = [
        claim.predicate
        for claim in read_claims(said, names_of_answer(problem))
        if claim.subject == "answer"
    ]
    facts = [one.predicate for one in stated]
    possible = [value for value in _values() if _allows(facts, value)] if claims else []
    return bool(possible) and not any(_allows(claims, value) for value in possible)


def _allows(predicates: Iterable[Predicate], value: AnswerValue) -> bool:
    return all(holds(one, value) != "violated" for one in predicates)


@cache
def _values() -> tuple[AnswerValue, ...]:
    fractions = (f"{top}/{bottom}" for bottom in range(2, 13) for top in range(1, 2 * bottom))
    texts = (*map(str, _WHOLE), *fractions, *_OTHER)
    return tuple(value for text in texts if (value := read_answer(text)) is not None)
