"""Remainders and digits that are asked for: whole numbers of a known range."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from constraint_first.constraint.predicate import all_of, between, congruent, integer, least_residue
from constraint_first.constraint.stated.numeral import INTEGER, ORDINALS, WORDS, to_integer
from constraint_first.constraint.stated.reading import ASK, Reading
from constraint_first.constraint.stated.statement import Stated
from constraint_first.pattern import lazy_pattern

_ASKED: Final = lazy_pattern(
    rf"\b{ASK}\s+(?:(?:its|the|a)\s+)?(?:(?:positive|non-?negative|least|smallest)\s+)*"
    r"(?:remainder|residue)\b"
)
_DIVISOR: Final = lazy_pattern(
    r"\b(?:divided\s+by|divides\s+(?:the\s+result|it|this|that)\s+by|dividing\s+by|division\s+"
    rf"by|modulo|mod(?:ulo)?)\s+({INTEGER})"
)
# The remainder itself, of one division, and nothing is done with it afterwards.
_CERTAIN: Final = lazy_pattern(
    r"[^.?!;]{0,60}?\bremainder\s+(?:when|if|after|of|that|obtained|upon|on)\b[^.?!;]{0,300}?"
    rf"\b(?:divided|dividing|division)\s+by\s+{INTEGER}\s*(?:[.?!]\s*)?$"
)
_DIVIDES: Final = lazy_pattern(r"\bdivi(?:ded|des|ding|sion)\s+(?:[a-z]+\s+){0,3}?by\b|\bmod")
_COMBINED: Final = lazy_pattern(
    r"\b(?:plus|minus|times|multiplied\s+by|added\s+to)\s+(?:the|its)\s+(?:remainder|residue"
    r"|quotient|[a-z]+\s+digit)"
    r"|\bas\s+a\s+(?:fraction|percent|decimal)|\bremainders\b|\bdigit\s+(?:plus|minus|times"
    r"|divided|multiplied)\b"
)
_POLYNOMIAL: Final = lazy_pattern(r"\bpolynomial|\bdivided\s+by\s+\(?\d*\s*[a-z]\s*[\^+-]|\bmatri")
_MODULO: Final = lazy_pattern(
    rf"\b(?:{ASK})\s[^,;?]{{1,120}}?[\s(,](?:modulo|mod|\\pmod"
    rf"|\\bmod)\s*\{{?\s*({INTEGER})\s*\}}?\s*\)?\s*(?:[.?]|,\s*(?:as\s+)?an\s+integer)"
)
_NOT_THE_RESIDUE: Final = lazy_pattern(
    r"\bhow\s+many|\bnumber\s+of|\bsum\b|\ball\b|\bsolutions?\b|\bsmallest|\blargest|\bleast\b"
    r"|\bgreatest|\border\b|\bproduct\s+of|\bvalues\b|\bsuch\s+that|\bsatisf|\binverses\b"
    r"|\bpositive|\bcongruent|\\equiv|\bwhich\b|="
)
_LAST: Final = lazy_pattern(
    rf"\b{ASK}\s+the\s+(?:last|final|rightmost)\s+({'|'.join(WORDS)}|\d)\s+(?:nonzero\s+)?digits\b"
    rf"(?!\s+(?:are|is|and|add)\b)"
)
_PLACE: Final = lazy_pattern(
    rf"\b{ASK}\s+the\s+(?:(?:last|final|leading|first|leftmost|rightmost|middle|unknown|missing|"
    r"units|unit's|ones|tens|hundreds|thousands|ten-?thousands|tenths|hundredths"
    rf"|{'|'.join(ORDINALS)})\s+)"
    rf"(?:nonzero\s+|decimal\s+)?digit\b(?!s)"
)


def read_remainder(reading: Reading) -> Iterator[Stated]:
    if reading.question is None or reading.recoded:
        return
    start, end = reading.question
    if _POLYNOMIAL.search(reading.plain) or _COMBINED.search(reading.plain, start, end):
        return
    if asked := reading.asked(_ASKED):
        divisors = [*_DIVISOR.finditer(reading.plain, start, end)]
        divisors = divisors or (
            []
            if _DIVIDES.search(reading.plain, start, end)
            else [*_DIVISOR.finditer(reading.plain)]
        )
        if divisors:
            # In a nested remainder the outer divisor is one of them, and the largest is safe.
            largest = max(to_integer(found[1]) for found in divisors)
            stop = max(asked.end(), divisors[-1].end())
            span = (min(asked.start(), divisors[0].start()), stop)
            certain = len(divisors) == 1 and bool(_CERTAIN.match(reading.plain, asked.start()))
            yield from _residue(largest, span, certain=certain)
    elif not _NOT_THE_RESIDUE.search(reading.plain, start, end) and (
        found := reading.asked(_MODULO)
    ):
        yield from _residue(to_integer(found[1]), found.span())


def _residue(modulus: int, span: tuple[int, int], *, certain: bool = False) -> Iterator[Stated]:
    if modulus > 0:
        words = f"The answer is a remainder: an integer from 0 to {modulus - 1}."
        yield Stated("modular", least_residue(modulus), span, words, certain=certain)


def read_digit(reading: Reading) -> Iterator[Stated]:
    """Read that one digit, or the last few digits, of a number are asked for."""
    if reading.question is None or reading.recoded:
        return
    if _COMBINED.search(reading.plain, *reading.question):
        return
    if found := reading.asked(_PLACE):
        words = "The answer is a digit: an integer from 0 to 9."
        yield Stated("modular", all_of(integer(), between(0, 9)), found.span(), words)
    elif found := reading.asked(_LAST):
        length = WORDS.get(found[1]) or int(found[1])
        words = f"The answer is the last {found[1]} digits of a number: at most {length} digits."
        yield Stated("modular", least_residue(10**length), found.span(), words)


_R: Final = rf"(?P<residue>{INTEGER})"
_M: Final = rf"(?P<modulus>{INTEGER})"
_SUM_IS: Final = tuple(
    lazy_pattern(pattern)
    for pattern in (
        rf"\b(?:sum|total)\b[^.?!]{{0,40}}?\bcongruent\s+to\s+{_R}\s+(?:modulo|mod)\s+{_M}",
        rf"\b(?:sum|total)\b[^.?!]{{0,40}}?\b(?:modulo|mod)\s+{_M}\s*,?\s*(?:which\s+)?(?:is"
        rf"|today)\s+{_R}",
        rf"\bremainder\s+of\s+(?:their|the)\s+sum\s+modulo\s+{_M}\s*,\s*in\s+this\s+case\s+{_R}",
        rf"\bdivided\s+by\s+{_M}\s*,\s*the\s+sum\b[^.?!]{{0,120}}?\bleaves?\s+(?:the\s+|a\s+"
        rf")?remainder\s+{_R}",
        rf"\bmodulo\s+{_M}\s*,?\s*(?:the\s+)?(?:sum|total)\s+is\s+{_R}",
        rf"\b(?:sum|total)\b[^.?!]{{0,20}}?\bleaves\s+(?:the\s+|a\s+)?remainder\s+(?:of\s+"
        rf")?{_R}\s+(?:on|when|upon)\s+(?:division|divided)\s+by\s+{_M}",
        rf"\bcheck\s+the\s+sum\b[^.?!]{{0,60}}?\bremainder\s+when\s+divided\s+by\s+"
        rf"{_M}[^.?!]{{0,60}}?\bfinds\s+{_R}",
    )
)
_DIVIDEND: Final = lazy_pattern(
    rf"\b(?:integer|number)\s+(?:[a-z]\s+)?is\s+divided\s+by\s+{_M}\s*[.;,]\s+(?:and\s+)?"
    rf"(?:the\s+)?remainder\s+is\s+{_R}"
    rf"|\bwith\s+remainder\s+(?P<rest>{INTEGER})\s*,\s*the\s+number\s+[a-z]\s+is\s+divided\s+"
    rf"by\s+(?P<by>{INTEGER})"
)
_DIVIDEND_ASKED: Final = lazy_pattern(
    rf"\b{ASK}\s+(?:(?:the|this)\s+)?(?:integer|number|[a-z])\s*[?.]"
)
_SUM_ASKED: Final = lazy_pattern(
    rf"\b(?:{ASK}|how\s+large\s+is|what\s+does)\s+the\s+(?:sum|total|addition)\b"
    r"(?!\s+of\s+(?:their|the|its|all)\s+(?:[a-z]+\s+)?(?:square|cube|digit|recip|factor"
    r"|divisor|remainder))|\bhow\s+"
    rf"many\b[^?]{{0,60}}\b(?:today|in\s+all|altogether|in\s+total)\b"
    r"|\bnumber\s+of\b[^.?]{0,60}\btogether\b"
)


def read_check(reading: Reading) -> Iterator[Stated]:
    """Read the remainder that is told of a sum or a number, where that itself is asked for."""
    if reading.question is None:
        return
    if (found := _DIVIDEND.search(reading.plain)) and _DIVIDEND_ASKED.search(
        reading.plain, *reading.question
    ):
        yield from _told(
            found["residue"] or found["rest"], found["modulus"] or found["by"], found.span()
        )
    if not _SUM_ASKED.search(reading.plain, *reading.question):
        return
    for pattern in _SUM_IS:
        if found := pattern.search(reading.plain):
            yield from _told(found["residue"], found["modulus"], found.span())
            return


def _told(residue: str, modulus: str, span: tuple[int, int]) -> Iterator[Stated]:
    rest, by = to_integer(residue), to_integer(modulus)
    if rest < by:
        words = f"The answer leaves the remainder {rest} when divided by {by}."
        yield Stated("modular", congruent(rest, by), span, words)
