"""What a wrong answer shows, as far as the answer itself can tell (paper: Error Taxonomy).

An answer is compared with what its problem's text says about answers: a modulus, a code such as
m + n, a range. Whatever these do not decide is "other"; nothing here is a guess about reasoning.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction
from typing import Final, Literal, TypeAlias, get_args

from cfr.analysis.audit.requirement import Range, Requirement, read_requirement
from cfr.analysis.audit.scoring import classify
from cfr.answer.expression.value import read_answer
from cfr.answer.judgement.workers import shared
from cfr.benchmark.constraintbench.item import ErrorType, Item
from cfr.constraint.router import aime_convention

__all__ = ["MISTAKES", "MISTAKE_LABELS", "Mistake", "mistake", "mistake_on_item"]

_ERROR_TYPES: Final[tuple[ErrorType, ...]] = get_args(ErrorType)
Mistake: TypeAlias = ErrorType | Literal["no_answer"]
"""The classes of ConstraintBench, and answers that were not given."""

MISTAKES: Final[tuple[Mistake, ...]] = (
    *(kind for kind in _ERROR_TYPES if kind != "other"),
    *("no_answer", "other"),
)

MISTAKE_LABELS: Final[dict[Mistake, str]] = {
    "forgot_modular_reduction": "Forgot modular reduction",
    "not_an_integer": "Non-integer answer",
    "encoded_form_not_applied": "Wrong encoded format",
    "out_of_range": "Range violation",
    "ignored_parity": "Ignored parity",
    "misled_by_cue": "Misled by a cue",
    "arithmetic": "Arithmetic error",
    "no_answer": "No answer",
    "other": "Other",
}
"""The classes as tables print them."""

_LONGEST: Final = 1_000  # no number that is meant as an answer is written longer
_LONGEST_CONSTANT: Final = 200
_AIME: Final = Range(0, 999)


def mistake(text: str, gold: str | None, answer: str | None, benchmark: str = "") -> Mistake:
    """Classify a wrong answer to a problem."""
    if answer is None or not answer.strip():
        return "no_answer"
    right = _number(gold or "")
    if right is None or len(answer) > _LONGEST:
        return "other"
    value, required = _number(answer), read_requirement(text)
    if value == right:
        return "other"
    if value is not None and _unreduced(required, value, right):
        return "forgot_modular_reduction"
    if right.denominator == 1 and _is_whole(answer, value) is False:
        coded = _encoded(required, answer, value, right)
        return "encoded_form_not_applied" if coded else "not_an_integer"
    ranges = (*required.ranges, *((_AIME,) if aime_convention(benchmark) else ()))
    broken = value is not None and any(right in r and value not in r for r in ranges)
    return "out_of_range" if broken else "other"


def mistake_on_item(item: Item, answer: str | None) -> Mistake:
    """Classify a wrong answer to a ConstraintBench item by its gold constraints."""
    if answer is None or not answer.strip():
        return "no_answer"
    # An answer of the right value that was judged wrong all the same broke no constraint of ours.
    return classify(item, answer) or "other"


def _unreduced(required: Requirement, value: Fraction, right: Fraction) -> bool:
    whole = right.denominator == 1
    return whole and any(0 <= right < m and (value - right) % m == 0 for m in required.moduli)


def _encoded(required: Requirement, answer: str, value: Fraction | None, right: Fraction) -> bool:
    """Say whether the parts of an answer, put together as the text demands, are the right one."""
    return any(
        len(parts) == len(code)
        and sum(factor * part for factor, part in zip(code, parts, strict=True)) == right
        for parts in _parts(answer, value)
        for code in required.codes
    )


_WRITTEN: Final = re.compile(
    r"(?:\\(?:[dt]?frac|sqrt|pi|cdot|left|right|[,;:! ()])|sqrt|[\d\s+\-−*/(){}\[\]√π$])+"
)
_INDEX: Final = re.compile(r"\[[^\]]*\]")
_BARE_ROOT: Final = re.compile(r"(?<![\d\s])\s*(?:\\?sqrt|√)")


def _parts(answer: str, value: Fraction | None) -> Iterator[list[int]]:
    """List the whole numbers that an answer is made of: 3√5/7 is 3, 5, 7 and 0.75 is 3, 4."""
    if value is not None:
        yield [abs(value.numerator), value.denominator]
    if len(answer) <= _LONGEST_CONSTANT and _WRITTEN.fullmatch(answer):
        plain = _INDEX.sub("", answer)
        yield [int(digits) for digits in re.findall(r"\d+", plain)]
        # A root without a factor has the factor 1.
        yield [int(digits) for digits in re.findall(r"\d+", _BARE_ROOT.sub(r"1\\sqrt", plain))]


def _is_whole(answer: str, value: Fraction | None) -> bool | None:
    """Say whether an answer is a whole number; None where it is no number, or too long to tell."""
    if value is not None:
        return value.denominator == 1
    return None if len(answer) > _LONGEST_CONSTANT else shared().is_whole(answer)


def _number(text: str) -> Fraction | None:
    value = read_answer(text)
    return None if value is None else value.number
