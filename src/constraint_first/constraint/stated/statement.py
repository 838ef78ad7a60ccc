"""A constraint that a text states; the check of an answer against it, and its certain repair."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from constraint_first.answer.value import AnswerValue, read_answer
from constraint_first.constraint.predicate import (
    Predicate,
    Truth,
    between,
    holds,
    is_of_text,
    parts,
    truth_of,
)
from constraint_first.constraint.stage1 import Kind


@dataclass(frozen=True, slots=True)
class Stated:
    """A constraint on the answer that the text states, with the words that prove it."""

    kind: Kind
    """One of the paper's eight kinds."""
    predicate: Predicate
    span: tuple[int, int]
    """Where the text says it: ``text[start:end]``."""
    sentence: str
    """The same in words, for a person and for a prompt."""
    certain: bool = field(default=False, compare=False)
    """Whether the words leave no other reading, so that an answer in another form may be repaired
    by it."""

    def quote(self, text: str) -> str:
        return text[slice(*self.span)]


def check_stated(stated: Iterable[Stated], answer: str) -> tuple[tuple[Stated, Truth], ...]:
    """Say of each constraint whether an answer meets it, breaks it or cannot be judged by it."""
    listed = [*stated]
    value = None if all(is_of_text(one.predicate) for one in listed) else read_answer(answer)
    return tuple((one, _truth(one, answer, value)) for one in listed)


def _truth(one: Stated, answer: str, value: AnswerValue | None) -> Truth:
    if is_of_text(one.predicate):
        return truth_of(one.predicate, answer)
    return "undecided" if value is None or _is_share(one, answer) else holds(one.predicate, value)


def _is_share(one: Stated, answer: str) -> bool:
    """Whether a probability is answered in per cent, which are read as their own number."""
    return one.predicate == _CHANCE and ("%" in answer or "percent" in answer)


_CHANCE: Final = between(0, 1)


def repair(stated: Iterable[Stated], answer: str) -> str | None:
    """Write an answer that breaks a constraint in the form asked for, where that is certain.

    An integer is reduced where its remainder is asked for; the two parts of a fraction in lowest
    terms are added where their sum is asked for. None where nothing is broken, where the words can
    be read in another way, or where another value would be needed.
    """
    value = read_answer(answer)
    if value is None or value.number is None:
        return None
    mended = {
        new
        for one in stated
        if one.certain
        for predicate in parts(one.predicate)
        if (new := _mend(dict(predicate), value)) is not None
    }
    return str(mended.pop()) if len(mended) == 1 else None


def _mend(predicate: dict[str, object], value: AnswerValue) -> int | None:
    number = value.coefficient
    match predicate:
        case {"op": "least_residue", "modulus": int(modulus)} if number.denominator == 1:
            return None if 0 <= number < modulus else number.numerator % modulus
        case {"op": "encoded", "factors": [1, 1], "of": "fraction"} if (
            value.form == "fraction" and value.reduced
        ):
            return number.numerator + number.denominator if number > 0 else None
        case _:
            return None
