"""An answer as it is written, read as an exact number or an option letter.

Only what ConstraintBench's own answers and its predicates need: integers, fractions, decimals,
``a\\sqrt{b}``, percent signs and the letters A to E. Anything else is None, never a guess.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from math import gcd
from typing import Literal, TypeAlias, get_args

__all__ = ["FORMS", "Form", "Reading", "decimal", "read_answer", "same", "show"]

Form: TypeAlias = Literal["integer", "fraction", "decimal", "surd", "choice"]
"""How an answer is written."""

FORMS: tuple[Form, ...] = get_args(Form)

_MOST_DIGITS = 60  # an answer of this benchmark is short; a longer one is no answer to it
_WRAPPED = re.compile(r"\\(?:boxed|text|textbf|mathrm|mathbf)\{([^{}]*)\}")
_EQUATION = re.compile(r"^\\?[a-zA-Z]\w*\s*=\s*")
_CHOICE = re.compile(r"^\(?([A-E])\)?[.:]?$|^\(([A-E])\)\s*\S.*$")
_FRACTION = re.compile(r"^([+-]?)(?:\\frac\{?(\d+)\}?\{?(\d+)\}?|(\d+)/(\d+))$")
_DECIMAL = re.compile(r"^[+-]?(?:\d+|\d*\.\d+|\d+\.)$")
_SURD = re.compile(r"^([+-]?)(\d*)\*?\\?(?:sqrt|√)[{(]?(\d+)[})]?$")
_UNIT = re.compile(r"(?<=\d)\s*(?:[a-z]+(?:\^\d)?|\\?%|\^\\circ|°)\.?$")
_THOUSANDS = re.compile(r"(?<=\d)(?:,|\{,\}|\\,)(?=\d{3}(?!\d))")


@dataclass(frozen=True, slots=True)
class Reading:
    """An exact value ``coefficient`` times the root of ``radicand``, or an option letter."""

    coefficient: Fraction
    radicand: int = 1
    form: Form = "integer"
    letter: str = ""
    written: tuple[int, int] | None = None
    """Numerator and denominator as they stand, before any reduction."""

    @property
    def number(self) -> Fraction | None:
        """The value where it is a rational number as written."""
        return self.coefficient if self.radicand == 1 and not self.letter else None

    @property
    def reduced(self) -> bool:
        """Whether a fraction stands in lowest terms."""
        return self.written is None or gcd(*self.written) == 1


def read_answer(text: str) -> Reading | None:
    """Read an answer; None where it is none of the forms above."""
    bare = _strip(text)
    if choice := _CHOICE.match(bare):
        return Reading(Fraction(0), form="choice", letter=choice[1] or choice[2])
    compact = _UNIT.sub("", bare).replace(" ", "")
    if len(compact) > _MOST_DIGITS:
        return None
    return _read_fraction(compact) or _read_decimal(compact) or _read_surd(compact)


def _strip(text: str) -> str:
    bare = text.strip().replace("$", "").replace("\\dfrac", "\\frac").replace("\\tfrac", "\\frac")
    while (inner := _WRAPPED.sub(r"\1", bare)) != bare:
        bare = inner
    bare = bare.replace("\\left", "").replace("\\right", "").replace("−", "-").replace("\\ ", " ")
    return _EQUATION.sub("", _THOUSANDS.sub("", bare).strip().removesuffix(".").strip())


def _read_fraction(text: str) -> Reading | None:
    if not (match := _FRACTION.match(text)):
        return None
    above, below = int(match[2] or match[4]), int(match[3] or match[5])
    if not below:
        return None
    value = Fraction(above, below) * (-1 if match[1] == "-" else 1)
    return Reading(value, form="fraction", written=(above, below))


def _read_decimal(text: str) -> Reading | None:
    if not _DECIMAL.match(text):
        return None
    return Reading(Fraction(text), form="decimal" if "." in text else "integer")


def _read_surd(text: str) -> Reading | None:
    if not (match := _SURD.match(text)):
        return None
    factor = int(match[2] or 1) * (-1 if match[1] == "-" else 1)
    return Reading(Fraction(factor), int(match[3]), "surd")


def same(first: Reading, second: Reading) -> bool:
    """Whether two answers have the same value, however they are written."""
    if first.letter or second.letter:
        return first.letter == second.letter
    # Comparing sign and square tells 2√3 from √12 no more than it should: not at all.
    return _signed_square(first) == _signed_square(second)


def _signed_square(reading: Reading) -> Fraction:
    return reading.coefficient * abs(reading.coefficient) * reading.radicand


def show(value: int | Fraction | str) -> str:
    """Write a value the way this benchmark writes answers: ``12``, ``3/7``; a text as it stands."""
    return value if isinstance(value, str) else str(value)


def decimal(value: Fraction | int, places: int) -> str:
    """Write a value with a fixed number of decimals; what does not fit is an error."""
    scaled = Fraction(value) * 10**places
    if scaled.denominator != 1:
        raise ValueError(f"{value} has more than {places} decimals")
    digits = str(abs(scaled.numerator)).rjust(places + 1, "0")
    sign = "-" if scaled < 0 else ""
    return f"{sign}{digits[:-places]}.{digits[-places:]}" if places else f"{sign}{digits}"
