"""Reading all the constraints that a text states.

Every rule names the words without which it has nothing to say. One pass of an Aho-Corasick
automaton finds which of them occur, and only those rules run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final, TypeAlias

from ahocorasick_rs import AhoCorasick

from cfr.constraint.stated.asked import read_asked
from cfr.constraint.stated.calendar import read_days
from cfr.constraint.stated.chance import read_angle, read_chance, read_options, read_share
from cfr.constraint.stated.combination import read_combination
from cfr.constraint.stated.count import read_count
from cfr.constraint.stated.draw import read_draw
from cfr.constraint.stated.encoding import read_encoding
from cfr.constraint.stated.entity import read_entity
from cfr.constraint.stated.grouping import read_grouping
from cfr.constraint.stated.mixture import (
    read_between_others,
    read_kinds,
    read_pieces,
    read_price,
)
from cfr.constraint.stated.ratio import read_ratio
from cfr.constraint.stated.reading import LONGEST, Reading, plain_text
from cfr.constraint.stated.remainder import read_check, read_digit, read_remainder
from cfr.constraint.stated.reversal import read_reversal
from cfr.constraint.stated.rounding import read_rounding
from cfr.constraint.stated.selection import read_extremes, read_pairs, read_without
from cfr.constraint.stated.sequence import (
    read_consecutive,
    read_mean,
    read_multiples,
    read_rank,
)
from cfr.constraint.stated.statement import Stated

__all__ = ["read_stated"]

_MONTHS: Final = ("january", "february", "march", "april", "may", "june", "july", "august", "ember", "october")
Rule: TypeAlias = Callable[[Reading], Iterator[Stated]]

_RULES: Final[tuple[tuple[Rule, tuple[str, ...]], ...]] = (
    (read_remainder, ("remainder", "residue", "mod")),
    (read_check, ("mod", "remainder")),
    (read_ratio, ("ratio",)),
    (read_days, (*_MONTHS,)),
    (read_reversal, ("revers", "backwards", "to front", "to left", "order of", "round")),
    (read_draw, ("denominator", "frac{", "/n")),
    (read_kinds, ("how many", "number of")),
    (read_between_others, (" than ",)),
    (read_pieces, ("centimet",)),
    (read_price, ("round",)),
    (read_without, ("multiple", "divisible by")),
    (read_extremes, (" and the ",)),
    (read_pairs, ("every two", "each other", "any two", "everyone")),
    (read_digit, ("digit",)),
    (
        read_asked,
        (
            *("integer", "number", "multiple", "divisor", "factor", "even", "odd", "divisible"),
            *("largest", "smallest", "greatest", "least"),
        ),
    ),
    (
        read_entity,
        ("even", "odd", "divi", "multiple", "than", "digit", "between", "under", "below", "before"),
    ),
    (read_count, ("how many", "number of")),
    (
        read_grouping,
        ("rows of", " of ", "equal", "steps of", "together"),
    ),
    (read_combination, ("how many", "number of", " in ")),
    (read_consecutive, ("consecutive",)),
    (read_mean, ("mean", "average", "halfway")),
    (read_multiples, ("multiple", "divisible by")),
    (read_rank, ("second", "third", "fourth", "fifth")),
    (read_rounding, ("nearest", "decimal")),
    (read_chance, ("probability", "likely")),
    (read_share, ("percent",)),
    (read_angle, ("angle",)),
    (read_options, ("(c)", "c)", "c.")),
    (read_encoding, ("+", "integer", "lowest", "simpl", "denominator", "prime", "ratio")),
)


def read_stated(text: str) -> tuple[Stated, ...]:
    """Read the constraints on the answer that a problem's text states, in the text's order."""
    if len(text) > LONGEST:
        return ()
    plain = plain_text(text)
    called = {
        rank
        for word, _, _ in _WORDS.find_matches_as_indexes(plain, overlapping=True)
        for rank in _CALLED[word]
    }
    reading = Reading(text, plain)
    if not called or reading.question is None or reading.in_parts:
        return ()
    found = {
        (one.span, str(one.predicate)): one
        for rank in sorted(called)
        for one in _RULES[rank][0](reading)
    }
    return tuple(sorted(found.values(), key=lambda one: (one.span, one.kind)))


_KEYS: Final = sorted({word for _, words in _RULES for word in words})
_WORDS: Final = AhoCorasick(_KEYS)
_CALLED: Final = [
    [rank for rank, (_, words) in enumerate(_RULES) if word in words] for word in _KEYS
]
