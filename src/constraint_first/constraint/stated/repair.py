"""Certain repairs: the right answer in the wrong form, mended without asking a model again."""

from __future__ import annotations

from collections.abc import Iterable

from constraint_first.answer.value import AnswerValue, read_answer
from constraint_first.constraint.predicate import parts
from constraint_first.constraint.stated.statement import Stated


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
