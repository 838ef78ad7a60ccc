"""What a wrong answer shows, as far as the answer itself can tell (paper: Error Taxonomy).

An answer is compared with the right one and with the demands on it. These are predicates, whoever
states them: the gold constraints of a ConstraintBench item, or the problem's own text. Nothing here
is a guess about reasoning.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, Literal, TypeAlias, cast

from constraint_first.analysis.audit.requirement import read_demands
from constraint_first.answer.expression.value import AnswerValue, read_answer, same
from constraint_first.answer.judgement.workers import shared
from constraint_first.benchmark.constraintbench.item import ERRORS, ErrorType, Item, Tempting
from constraint_first.constraint.demand import between, integer
from constraint_first.constraint.predicate import Predicate, holds, parts
from constraint_first.constraint.router import aime_convention

__all__ = [
    "CONSTRAINT_LABELS",
    "FIX_LABELS",
    "MISTAKES",
    "MISTAKE_LABELS",
    "Demands",
    "Mistake",
    "mistake",
]

Mistake: TypeAlias = ErrorType | Literal["no_answer"]
"""The classes of ConstraintBench, and answers that are not given."""

MISTAKES: Final[tuple[Mistake, ...]] = (*ERRORS[:-1], "no_answer", "other")
"""All classes, those that name a constraint first."""

MISTAKE_LABELS: Final[dict[Mistake, str]] = {
    "forgot_modular_reduction": "Forgot modular reduction",
    "not_an_integer": "Non-integer answer",
    "encoded_form_not_applied": "Wrong encoded format",
    "out_of_range": "Range violation",
    "ignored_parity": "Ignored parity",
    "broken_condition": "Stated condition not met",
    "misled_by_cue": "Misled by a cue",
    "arithmetic": "Arithmetic error",
    "no_answer": "No answer",
    "other": "Other",
}
"""The classes as tables print them."""

CONSTRAINT_LABELS: Final[dict[Mistake, str]] = {
    "forgot_modular_reduction": "Modular",
    "encoded_form_not_applied": "Format (encoded)",
    "ignored_parity": "Parity",
    "out_of_range": "Range or bound",
    "not_an_integer": "Domain (integer)",
    "broken_condition": "Stated condition (propagation)",
}
"""The constraint that an error breaks, for the classes that name one; the paper's four first."""

FIX_LABELS: Final[dict[Mistake, str]] = {
    **MISTAKE_LABELS,
    "forgot_modular_reduction": "Mod reduction",
    "not_an_integer": "Domain fix",
    "encoded_form_not_applied": "Format fix",
    "out_of_range": "Range fix",
    "ignored_parity": "Parity check",
    "broken_condition": "Propagation",
}
"""What is put right where such an error goes, as the paper's problem-by-problem tables name it.

The paper does not define propagation. Here it is that an answer meets conditions together which
the other did not: all that the problem states of it, not some.
"""


@dataclass(frozen=True, slots=True)
class Demands:
    """The right answer to a problem, and what is demanded of any answer to it."""

    gold: str | None
    predicates: tuple[Predicate, ...]
    tempting: tuple[Tempting, ...] = ()
    """Wrong answers that are known beforehand, each with the error it shows."""

    @classmethod
    def of_item(cls, item: Item) -> Demands:
        """Give what the gold constraints of a ConstraintBench item demand."""
        predicates = (part for one in item.constraints for part in parts(one.predicate))
        return cls(item.answer, tuple(predicates), item.tempting)

    @classmethod
    def of_text(cls, text: str, gold: str | None, benchmark: str = "") -> Demands:
        """Give what a problem's text demands, and what its right answer shows: a whole number."""
        right = read_answer(gold or "")
        whole = right is not None and holds(integer(), right) == "holds"
        aime = (between(0, 999),) if aime_convention(benchmark) else ()
        return cls(gold, (*((integer(),) if whole else ()), *read_demands(text), *aime))


def mistake(answer: str | None, demands: Demands) -> Mistake:
    """Classify a wrong answer to a problem.

    A tempting answer carries its label. Any other is judged by the demands that the right answer
    meets: first whether it is the right value before its last step (the reduction, the encoding),
    then which demand it breaks. An answer that has the right value breaks none. An arithmetic error
    is known from a label alone: an answer that meets every demand shows no more than that it is
    wrong.
    """
    if answer is None or not answer.strip():
        return "no_answer"
    value, gold = read_answer(answer), read_answer(demands.gold or "")
    if gold is None:
        return "other"
    predicates = [one for one in demands.predicates if holds(one, gold) != "violated"]
    if value is None:
        return _without_value(answer, predicates, gold)
    if same(value, gold):
        return "other"
    label = _label(demands.tempting, value)
    if label and label != "forgot_modular_reduction":
        return label
    if _unreduced(predicates, value, gold):
        return "forgot_modular_reduction"
    if _unencoded(predicates, answer, value, gold):
        return "encoded_form_not_applied"
    # A labelled answer that is not the right one modulo what is asked for ignores a congruence or
    # a divisibility within the problem, as a wrong candidate of a search does.
    return _broken(predicates, value) or ("broken_condition" if label else "other")


def _label(tempting: Sequence[Tempting], value: AnswerValue) -> ErrorType | None:
    for lure in tempting:
        known = read_answer(lure.answer)
        if known is not None and same(value, known):
            return lure.error
    return None


_CONDITIONS: Final = tuple("congruent divisible divides square digit_sum digits_ordered".split())

# What breaking a predicate says about the error, the most telling first. Predicates that pin the
# answer to one value (encoded, rounded, in_unit, counts, root) are absent: every wrong answer
# breaks those.
_BROKEN: Final[tuple[tuple[str, Mistake], ...]] = (
    ("integer", "not_an_integer"),
    ("between", "out_of_range"),
    ("above", "out_of_range"),
    ("below", "out_of_range"),
    ("least_residue", "out_of_range"),
    ("parity", "ignored_parity"),
    *((op, "broken_condition") for op in _CONDITIONS),
    ("form", "encoded_form_not_applied"),
    ("reduced", "encoded_form_not_applied"),
    ("not_whole", "misled_by_cue"),
)
_REDUCING: Final = ("least_residue", "encoded")
_INTEGRAL: Final = ("integer", "parity", "least_residue", *_CONDITIONS)


def _broken(predicates: Sequence[Predicate], value: AnswerValue) -> Mistake | None:
    broken = {str(one["op"]) for one in predicates if holds(one, value) == "violated"}
    for op, error in _BROKEN:
        if op in broken:
            # A fraction is no remainder either, but its error is that it is a fraction.
            return "not_an_integer" if op in _INTEGRAL and not _is_whole(value) else error
    return None


def _is_whole(value: AnswerValue) -> bool:
    return value.number is not None and value.number.denominator == 1


def _unreduced(predicates: Sequence[Predicate], value: AnswerValue, gold: AnswerValue) -> bool:
    """Say whether an answer is the right one before the reduction that the problem asks for."""
    if value.number is None or gold.number is None:
        return False
    gap = value.number - gold.number
    moduli = (one.get("modulus") for one in predicates if one["op"] in _REDUCING)
    return any(gap % modulus == 0 for modulus in moduli if isinstance(modulus, int))


def _unencoded(
    predicates: Sequence[Predicate], answer: str, value: AnswerValue | None, gold: AnswerValue
) -> bool:
    """Say whether an answer is a value that was still to be written as a code, such as m + n.

    Where a gold constraint says that it is, any fraction or root will do. A code that the text
    names may belong to something else, so the parts of the answer must make the right one.
    """
    codes = [one for one in predicates if one["op"] == "encoded"]
    if any("parts" in one for one in codes):
        return value is None or value.form in ("fraction", "surd")
    if value is not None and _is_whole(value):
        return False
    return any(
        len(numbers) == len(factors)
        and sum(f * n for f, n in zip(factors, numbers, strict=True)) == gold.number
        for one in codes
        for factors in (cast("list[int]", one["factors"]),)
        for numbers in _numbers(answer, None if value is None else value.number)
    )


_LONGEST: Final = 200  # no constant that is meant as an answer is written longer
_WRITTEN: Final = re.compile(
    r"(?:\\(?:[dt]?frac|sqrt|pi|cdot|left|right|[,;:! ()])|sqrt|[\d\s+\-−*/(){}\[\]√π$])+"
)
_INDEX: Final = re.compile(r"\[[^\]]*\]")
_BARE_ROOT: Final = re.compile(r"(?<![\d\s])\s*(?:\\?sqrt|√)")


def _numbers(answer: str, value: Fraction | None) -> Iterator[list[int]]:
    """List the whole numbers that an answer is made of: 3√5/7 is 3, 5, 7 and 0.75 is 3, 4."""
    if value is not None:
        yield [abs(value.numerator), value.denominator]
    if len(answer) <= _LONGEST and _WRITTEN.fullmatch(answer):
        plain = _INDEX.sub("", answer)
        yield [int(digits) for digits in re.findall(r"\d+", plain)]
        # A root without a factor has the factor 1.
        yield [int(digits) for digits in re.findall(r"\d+", _BARE_ROOT.sub(r"1\\sqrt", plain))]


def _without_value(answer: str, predicates: Sequence[Predicate], gold: AnswerValue) -> Mistake:
    """Classify an answer such as 1 + √2, of which no more can be told than that it is not whole."""
    integral = any(one["op"] in _INTEGRAL or "parts" in one for one in predicates)
    if not integral or len(answer) > _LONGEST or shared().is_whole(answer) is not False:
        return "other"
    coded = _unencoded(predicates, answer, None, gold)
    return "encoded_form_not_applied" if coded else "not_an_integer"
