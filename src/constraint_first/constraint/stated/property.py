"""Properties of a whole number in running text: *even, greater than 78 and a multiple of 3*.

``read_properties`` starts where a text begins to describe a number and goes on from property to
property as long as nothing but connecting words stands between them. It stops at the first word it
does not know, and at *or* and *not*: what it returns is stated without an if.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final, Literal, TypeAlias, cast

from constraint_first.constraint.predicate import (
    Predicate,
    above,
    at_least,
    at_most,
    below,
    between,
    congruent,
    digit_sum,
    divides,
    divisible,
    parity,
    prime,
    square,
)
from constraint_first.constraint.stage1 import Kind
from constraint_first.constraint.stated.numeral import (
    INTEGER,
    NUMBERS,
    WORDS,
    to_integer,
    to_integers,
)
from constraint_first.constraint.stated.statement import Stated
from constraint_first.pattern import lazy_pattern

_Found: TypeAlias = Iterator[tuple[Kind, Predicate, str]]
_Builder: TypeAlias = Callable[[re.Match[str]], _Found]

_N: Final = f"({INTEGER})"
_L: Final = f"({NUMBERS})"
# What may follow the number of a bound: a noun would make it a bound on something else.
_FOLLOW: Final = (
    r"(?=\s*(?:[.,;:?!)]|$|(?:and(?!\s+\d+(?!\d|\s+(?:more|less)\s+than))|but|that|which|is|are"
    r"|has|have|it|whose|with|of|inclusive"
    r"|exclusive|leaves?|can|such|when|what|where|if|in|on|there|for|as|so|by|the|divisible|do"
    r"|goes|without|neither|second|marbles|met(?:re|er)s)\b))"
)
# What follows a word for a property of numbers: any other noun may be something else, like *the
# odd one out* or *the prime factorization*.
_OF_A_NUMBER: Final = (
    r"(?=\s*(?:[.,;:?!)]|$|(?:number|integer|multiple|divisor|factor|digit|value|year|code|one"
    r"(?!\s+out)|ones|and|but|that|which|whose|with|[a-z]|composite|positive|negative|natural|whole"
    r"|two|three|four|five|six|\d+|perfect|square|prime|between|greater|less|larger|smaller|bigger"
    r"|above|below|under|over|common|in|for|it|page|divisible)\b))"
)
_EACH: Final = r"(?:(?:both|each\s+of|all\s+of|all|the|numbers?|integers?)\s+)*"
_YEAR: Final = r"(?:(?:the\s+)?(?:year|second|minute|day)\s+)?"


def digits_range(length: int) -> Predicate:
    """Require a positive whole number of so many digits."""
    return between(10 ** (length - 1), 10**length - 1)


def _parity(found: re.Match[str]) -> _Found:
    which = cast("Literal['even', 'odd']", found[1])
    yield "parity", parity(which), f"The answer is {which}."


def _divisible(found: re.Match[str]) -> _Found:
    for by in to_integers(found[1]):
        if by:
            yield "modular", divisible(by), f"The answer is a multiple of {by}."


def _divides(found: re.Match[str]) -> _Found:
    for number in filter(None, to_integers(found[1])):
        yield "structure", divides(number), f"The answer divides {number}."


def _congruent(found: re.Match[str]) -> _Found:
    residue, modulus = to_integer(found["residue"]), to_integer(found["modulus"])
    if "less" in found.group():
        residue = -residue
    if modulus:
        rest = residue % modulus
        words = f"The answer leaves the remainder {rest} when divided by {modulus}."
        yield "modular", congruent(rest, modulus), words


def _between(found: re.Match[str]) -> _Found:
    low, high = to_integer(found[1]), to_integer(found[2])
    if low <= high:
        yield "bound", between(low, high), f"The answer is from {low} to {high}."


def _bound(build: Callable[[int], Predicate], words: str) -> _Builder:
    def read(found: re.Match[str]) -> _Found:
        value = to_integer(found[1])
        yield "bound", build(value), f"The answer is {words} {value}."

    return read


def _digit_sum(found: re.Match[str]) -> _Found:
    total = to_integer(found[1])
    yield "structure", digit_sum(total), f"The digits of the answer add up to {total}."


def _length(found: re.Match[str]) -> _Found:
    length = WORDS.get(found[1]) or int(found[1])
    if 0 < length <= 30:
        yield "bound", digits_range(length), f"The answer has {found[1]} digits."


def _digits(found: re.Match[str]) -> _Found:
    yield from _length(found)
    total = to_integer(found[2])
    yield "structure", digit_sum(total), f"The digits of the answer add up to {total}."


def _prime(_: re.Match[str]) -> _Found:
    yield "structure", prime(), "The answer is a prime number."


def _square(_: re.Match[str]) -> _Found:
    yield "structure", square(), "The answer is a perfect square."


_COUNT: Final = rf"({'|'.join(WORDS)}|\d\d?)"
_PROPERTIES: Final[tuple[tuple[re.Pattern[str], _Builder], ...]] = tuple(
    (lazy_pattern(pattern), build)
    for pattern, build in (
        (
            rf"(even|odd)\b(?!\s+numbers?\s+(?:of|out)\b){_OF_A_NUMBER}",
            _parity,
        ),
        (rf"(?:exactly\s+|evenly\s+)?divisible\s+by\s+{_EACH}{_L}{_FOLLOW}", _divisible),
        (rf"multiple\s+of\s+{_EACH}{_L}{_FOLLOW}", _divisible),
        (rf"{_EACH}{_L}\s+as\s+(?:a\s+)?(?:divisor|factor)s?\b", _divisible),
        (rf"(?:can\s+)?be\s+divided\s+by\s+{_N}\s+without\s+(?:a\s+)?remainder", _divisible),
        (rf"(?:(?:positive|proper)\s+)?(?:divisor|factor)\s+of\s+{_EACH}{_L}{_FOLLOW}", _divides),
        (rf"(?:divides|goes\s+into)\s+{_N}(?:\s+without\s+remainder)?{_FOLLOW}", _divides),
        (
            rf"(?P<residue>{INTEGER})\s+(?:more|less)\s+than\s+a\s+multiple\s+of\s+"
            rf"(?P<modulus>{INTEGER})",
            _congruent,
        ),
        (
            rf"leav(?:es?|ing)\s+(?:a\s+|the\s+)?remainder\s+(?:of\s+)?(?P<residue>{INTEGER})\s+"
            r"(?:when|on|upon|if|after)\s+(?:it\s+is\s+)?(?:divided|division|dividing)\s+by\s+"
            rf"(?P<modulus>{INTEGER})",
            _congruent,
        ),
        (
            rf"congruent\s+to\s+(?P<residue>{INTEGER})\s+(?:modulo|mod)\s+(?P<modulus>{INTEGER})",
            _congruent,
        ),
        (rf"(?:strictly\s+)?between\s+{_N}\s+and\s+{_N}{_FOLLOW}", _between),
        (rf"from\s+{_N}\s+to\s+{_N}{_FOLLOW}", _between),
        (
            r"(?:(?:strictly\s+)?(?:greater|larger|more|bigger|higher)\s+than|above|over"
            rf"|exceeds|after)\s+{_YEAR}{_N}{_FOLLOW}",
            _bound(above, "greater than"),
        ),
        (
            r"(?:(?:strictly\s+)?(?:less|smaller|fewer|lower)\s+than|below|under|before)\s+"
            rf"{_YEAR}{_N}{_FOLLOW}",
            _bound(below, "less than"),
        ),
        (
            rf"(?:at\s+least|not?\s+(?:less|fewer|smaller)\s+than)\s+{_N}{_FOLLOW}",
            _bound(at_least, "at least"),
        ),
        (
            r"(?:at\s+most|not?\s+(?:more|greater|larger|bigger)\s+than|(?:does\s+)?not\s+"
            rf"exceed(?:ing)?)\s+{_N}{_FOLLOW}",
            _bound(at_most, "at most"),
        ),
        (
            rf"(?:a\s+|the\s+)?digit\s+sum\s+(?:of\s+|is\s+|equal\s+to\s+|equals\s+)?{_N}",
            _digit_sum,
        ),
        (
            rf"digits\s+(?:of\s+(?:a|the|this)\s+(?:[a-z]+\s+){{0,2}}[a-z]+\s+)?(?:add\s+up\s+"
            rf"to|sum\s+to|with\s+(?:the\s+)?sum|have\s+(?:a|the)\s+sum\s+(?:of\s+)?)\s*{_N}",
            _digit_sum,
        ),
        (
            r"(?:the\s+)?sum\s+of\s+(?:its|whose|the)\s+digits\s+(?:is|equals|is\s+equal\s+"
            rf"to)\s+{_N}{_FOLLOW}",
            _digit_sum,
        ),
        (rf"{_COUNT}\s+digits\s+with\s+(?:the\s+)?sum\s+{_N}", _digits),
        (rf"{_COUNT}\s*-?\s*digits?\b(?!\s+(?:with|whose|that)\b)", _length),
        (rf"prime\b{_OF_A_NUMBER}", _prime),
        (r"(?:a\s+)?perfect\s+square\b", _square),
    )
)

_LINK: Final = lazy_pattern(
    r"[\s,]*(?:\b(?:and|but|that|which|is|are|be|being|both|also|it|must|has|have|lies?|whose|with"
    r"|having|exactly|there|wants?|only|possible|other|a|an|its|their|the|number|integer|whole"
    r"|positive|year|code|page|still|of\s+some\s+[a-z]+)\b[\s,]*)*"
)
# How a property can begin; it spares most places the trial of every pattern.
_OPENING: Final = lazy_pattern(
    r"even|odd|exactly|divis|multiple|both|each|all|the\b|number|integer|can\b|be\b|positive|proper"
    r"|factor|divides|goes|\d|leav|congruent|strictly|between|from|greater|larger|more|bigger"
    r"|higher"
    r"|above|over|exceeds|after|less|smaller|fewer|lower|below|under|before|at\b|not?\b|does"
    r"|a\b|digit"
    rf"|sum|prime|perfect|{'|'.join(WORDS)}"
)
_OR: Final = lazy_pattern(r"[\s,]*(?:of\s+them\s*)?or\b|\s*(?:plus|minus|times)\b")
_MOST: Final = 12


def read_properties(plain: str, start: int, end: int) -> tuple[list[Stated], int]:
    """Read the properties that follow one another from a place on, and where they end."""
    found: list[Stated] = []
    position = start
    for _ in range(_MOST):
        link = _LINK.match(plain, position, end)
        at = link.end() if link else position
        one = _read_one(plain, at, end)
        if one is None:
            break
        stated, after = one
        if _OR.match(plain, after, end):
            return [], start
        found.extend(stated)
        position = after
    return found, position


def _read_one(plain: str, at: int, end: int) -> tuple[list[Stated], int] | None:
    if not _OPENING.match(plain, at, end):
        return None
    for pattern, build in _PROPERTIES:
        if match := pattern.match(plain, at, end):
            stated = [Stated(kind, rule, match.span(), words) for kind, rule, words in build(match)]
            return stated, match.end()
    return None
