"""Counts: *how many* of things that come in whole numbers only."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from constraint_first.constraint.predicate import all_of, at_least, integer
from constraint_first.constraint.stated.reading import Reading
from constraint_first.constraint.stated.statement import Stated
from constraint_first.pattern import lazy_pattern

# Things of mathematics, and people: none of them is ever given in halves. Apples, hours, dollars
# and cups are, so they are not here.
_THINGS: Final = (
    "integers|numbers|primes|prime numbers|digits|ways|solutions|roots|zeros|zeroes|divisors"
    "|factors|multiples|pairs|triples|quadruples|tuples|subsets|permutations|combinations"
    "|arrangements|sequences|paths|functions|polynomials|triangles|rectangles|quadrilaterals"
    "|parallelograms|trapezoids|polygons|vertices|edges|faces|diagonals|intersections"
    "|elements|palindromes|perfect squares|perfect cubes"
    "|strings|codes|passwords|license plates|outcomes|colorings"
    "|colourings|tilings|lattice points"
    "|handshakes|committees|teams|outfits|values|matrices|partitions|games|matches"
    "|people|persons|students|children|kids|boys|girls|men|women|players|teachers|adults|guests"
    "|passengers|members|friends|classmates|workers|employees|customers|visitors|voters"
)
_ADJECTIVES: Final = (
    r"(?:\s+(?!of\b|more\b|as\b|fewer\b|less\b|hours?\b|times\b|[a-z]*illions?\b|thousands?\b"
    r"|hundreds?\b|dozens?\b)"
    r"[a-z0-9\-']+(?:\s*-\s*[a-z]+)?){0,4}?"
)
_HOW_MANY: Final = lazy_pattern(
    rf"\bhow\s+many{_ADJECTIVES}\s+(?:{_THINGS})\b"
    r"|\b(?:find|determine|compute|calculate|what\s+is)\s+the\s+(?:total\s+)?number\s+"
    rf"of{_ADJECTIVES}\s+(?:{_THINGS})\b"
)
# An average of whole things need not be whole, and neither need a share.
_FRACTIONAL: Final = lazy_pattern(
    r"average|mean\b|expect|per\b|estimate|approximate|percent|%|ratio\b|rate\b|typical|mixed\b"
    r"|decimal|fraction\b|probab|each\s+(?:day|hour|week|month|year|minute)\b"
    r"|(?:for|to)\s+(?:each|every|one)\b|ahead\b|behind\b|back\b"
    r"|in\s+(?:thousands|millions|hundreds|dozens|billions)\b"
)


def read_count(reading: Reading) -> Iterator[Stated]:
    """Read that a number of whole things is asked for: an integer, not negative."""
    if reading.question is None:
        return
    found = reading.asked(_HOW_MANY)
    if found is None or reading.recoded or _FRACTIONAL.search(reading.plain, *reading.question):
        return
    yield Stated(
        "domain",
        all_of(integer(), at_least(0)),
        found.span(),
        "The answer is a count: an integer, not negative.",
    )
